/** Which environment a pool's file is for, where nobody said it. */
import type { Environment } from "../../../envs/environment.ts";
import { rejectionText } from "../../../envs/pool-finish.ts";
import type { UnitColumns } from "../../../envs/pool-columns.ts";
import type { Registry } from "../../../envs/registry.ts";
import { columnsOf, type Unit } from "./units.ts";
import type { Done, PoolWork } from "./work.ts";

/** Rows of a Parquet file that are tried. Of lines a unit is: they are cheap to read by themselves. */
const TRIED_ROWS = 256;

/** Environments whose reasons are told. */
const TOLD_MAX = 3;

interface Tried {
  readonly environment: Environment;
  readonly unit: Done<UnitColumns>;
}

/**
 * The environment that can read most rows of the file's beginning, or what is wrong. Where two can read as many nobody
 * knows whose the rows are: then it has to be said.
 */
export async function findOwner(
  registry: Registry,
  work: PoolWork,
  path: string,
  [first]: readonly Unit[],
): Promise<Environment | string> {
  if (first === undefined) return "it is empty";
  const unit = first.kind === "lines" ? first : { ...first, end: Math.min(first.end, TRIED_ROWS) };
  const tried: Tried[] = [];
  for (const environment of newestWithRows(registry)) {
    const { id, version } = environment;
    tried.push({ environment, unit: await work.unit({ environment: id, version, path, unit }) });
  }
  const most = Math.max(0, ...tried.map(rowsOf));
  if (most === 0) return `no environment can read its rows: ${await reasons(tried, path, first.kind === "lines")}`;
  const [best, ...others] = tried.filter((each) => rowsOf(each) === most).map(({ environment }) => environment);
  if (best === undefined || others.length === 0) return best ?? "it is empty";
  const ids = [best, ...others].map(({ id }) => id);
  return `its rows can be read by ${ids.slice(0, -1).join(", ")} and by ${ids.at(-1)}: say whose they are, as in --pool name=${best.id}:${path}; a file may be given twice, with two names`;
}

function newestWithRows(registry: Registry): readonly Environment[] {
  return registry.environments.filter((environment) => {
    const newest = registry.find(environment.id);
    const hasOwn = environment.rows !== undefined && environment.twinOf === undefined;
    return hasOwn && newest.kind === "found" && newest.environment === environment;
  });
}

function rowsOf({ unit }: Tried): number {
  return unit.kind === "done" ? unit.value.rows.length : 0;
}

/** Of the environments that look at most of the file's columns. */
async function reasons(tried: readonly Tried[], path: string, lines: boolean): Promise<string> {
  const columns = await columnsOf(path);
  const shared = ({ environment: { rows } }: Tried): number =>
    rows?.columns?.filter((name) => columns.includes(name)).length ?? 0;
  const most = Math.max(0, ...tried.map(shared));
  const nearest = tried.filter((each) => shared(each) === most);
  if (nearest.length <= TOLD_MAX) return nearest.map((each) => reasonOf(each, lines)).join("; ");
  const wanted = tried.map(({ environment: { id, rows } }) => `${id}: ${quoted(rows?.columns ?? [])}`);
  const has = columns.length === 0 ? "its beginning has no columns" : `its columns are ${quoted(columns)}`;
  return `${has}; environments look at these (${wanted.join("; ")})`;
}

function quoted(names: readonly string[]): string {
  return names.length === 0 ? "any" : names.map((name) => `'${name}'`).join(", ");
}

function reasonOf({ environment: { id }, unit }: Tried, lines: boolean): string {
  if (unit.kind === "problem") return `${id}: ${unit.message}`;
  const [rejection] = unit.value.rejections;
  return `${id}: ${rejection === undefined ? "it is empty" : rejectionText(lines, rejection)}`;
}
