/** Finds the environment to which a pool's file belongs, if the operator named none. */
import type { Environment } from "../../envs/environment.ts";
import { fileProblem, rejectionText } from "../../envs/pool-finish.ts";
import type { UnitColumns } from "../../envs/pool-columns.ts";
import type { Registry } from "../../envs/registry.ts";
import { type ColumnNames, wantedColumns } from "../../envs/pool-view.ts";
import type { Examine } from "./examine.ts";
import { columnRemedy } from "./report.ts";
import type { PoolFile } from "./selection.ts";
import { type Batch, batchesOf, columnsOf, type Source } from "./pool-files.ts";

/**
 * Number of rows of a Parquet file that each environment tries to read. Of other files, each environment tries a whole
 * batch, because their rows are cheap to read.
 */
const TRIED_ROWS = 256;

/** Maximum number of environments for which an error message gives reasons. */
const TOLD_MAX = 3;

interface Tried {
  readonly environment: Environment;
  /** The rows that the environment read from the beginning of the file, or the reason why it cannot read them. */
  readonly unit: UnitColumns | string;
}

/**
 * Returns the environment of a file, or an error message. Environments that read at least half as many rows as the best
 * one are candidates. The candidate that uses the most columns wins, or among equals the one that reads the most rows.
 *
 * Columns are compared first, so that a few bad rows do not change a file's environment.
 */
export async function findOwner(
  registry: Registry,
  examine: Examine,
  { path, names }: Pick<PoolFile, "path" | "names">,
  source: Source,
): Promise<Environment | string> {
  const batch = await firstBatch(source);
  if (batch === undefined) return "it is empty";
  const tried: Tried[] = [];
  for (const environment of newestWithRows(registry)) {
    const { id, version } = environment;
    tried.push({ environment, unit: await examine({ environment: id, version, batch, names }) });
  }
  // If the columns cannot be read, the attempts to read rows give the reason.
  const columns = await columnsOf(source).catch(() => []);
  const most = Math.max(...tried.map(rowsOf));
  if (most === 0)
    return (
      absentIn(tried, names) ??
      `no environment can read its rows: ${reasons(tried, columns, source.format === "lines")}`
    );
  const able = tried.filter((each) => 2 * rowsOf(each) >= most);
  const nearest = mostOf(able, (each) => sharedBy(each, columns, names));
  const [best, ...others] = mostOf(nearest, rowsOf).map(({ environment }) => environment);
  if (best === undefined || others.length === 0) return best ?? "there are no environments with pools";
  const ids = [best, ...others].map(({ id }) => id);
  return `its rows can be read by ${ids.slice(0, -1).join(", ")} and by ${ids.at(-1)}: name their environment, as in --pool name=${best.id}:${path}; to use several, give the file several times, under different names`;
}

/** Returns the file's first batch that has rows. For Parquet it is cut to TRIED_ROWS. */
async function firstBatch(source: Source): Promise<Batch | undefined> {
  for await (const batch of batchesOf(source)) {
    const [start = 0, end = 0] = batch.bounds;
    if (batch.form.kind === "parquet") return { ...batch, bounds: [start, Math.min(end, TRIED_ROWS)] };
    if (batch.form.kind === "arrow" || batch.bounds.length > 0) return batch;
  }
  return undefined;
}

/**
 * Returns a message if a column name that the operator gave occurs in no row. Such a wrong name explains why no
 * environment can read the file.
 */
function absentIn(tried: readonly Tried[], names: ColumnNames): string | undefined {
  const [unit] = tried.flatMap((each) => (typeof each.unit === "string" ? [] : [each.unit]));
  return unit && fileProblem([{ ...unit, proofs: [] }], names);
}

function mostOf(tried: readonly Tried[], measure: (each: Tried) => number): readonly Tried[] {
  const most = Math.max(0, ...tried.map(measure));
  return tried.filter((each) => measure(each) === most);
}

/** Returns the number of the file's columns that an environment uses. */
function sharedBy({ environment: { rows } }: Tried, columns: readonly string[], names: ColumnNames = []): number {
  return rows?.columns === undefined ? 0 : (wantedColumns(rows, names, columns)?.length ?? 0);
}

function newestWithRows(registry: Registry): readonly Environment[] {
  return registry.environments.filter((environment) => {
    const newest = registry.find(environment.id);
    const hasOwn = environment.rows !== undefined && environment.twinOf === undefined;
    return hasOwn && newest.kind === "found" && newest.environment === environment;
  });
}

function rowsOf({ unit }: Tried): number {
  return typeof unit === "string" ? 0 : unit.rows.length + unit.waiting.length;
}

/** Returns why no environment can read the file. Names only the environments that use most of its columns. */
function reasons(tried: readonly Tried[], columns: readonly string[], lines: boolean): string {
  const [why = "", ...others] = new Set(tried.map((each) => whyNot(each, lines)));
  // A reason that all environments give, e.g. that the rows are not JSON, is reported once.
  if (others.length === 0 && tried.length > 1) return why;
  const nearest = mostOf(tried, (each) => sharedBy(each, columns));
  if (nearest.length <= TOLD_MAX) {
    const each = nearest.map(({ environment, unit }) => `${environment.id}: ${whyNot({ environment, unit }, lines)}`);
    return `${each.join("; ")}${told(columns)}${columnRemedy(each[0] ?? "")}`;
  }
  const wanted = tried.map(({ environment: { id, rows } }) => `${id}: ${quoted(rows?.columns ?? [])}`);
  const has = columns.length === 0 ? "its beginning has no columns" : `its columns are ${quoted(columns)}`;
  return `${has}; the environments read these columns (${wanted.join("; ")})${columnRemedy("column answer")}`;
}

function told(columns: readonly string[]): string {
  return columns.length === 0 ? "" : `; its columns are ${quoted(columns)}`;
}

/** Maximum number of columns that an error message lists. */
const NAMES_MAX = 6;

function quoted(names: readonly string[]): string {
  if (names.length === 0) return "any";
  const shown = names.slice(0, NAMES_MAX).map((name) => `'${name}'`);
  return [...shown, ...(names.length > NAMES_MAX ? ["…"] : [])].join(", ");
}

function whyNot({ unit }: Tried, lines: boolean): string {
  if (typeof unit === "string") return unit;
  const [rejection] = unit.rejections;
  return rejection === undefined ? "it is empty" : rejectionText(lines, rejection);
}
