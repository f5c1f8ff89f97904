/** Data pools: those that ship with environments, and those that the operator names, of any size. */
import { readFileSync, statSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Environment } from "../../envs/environment.ts";
import { loadPool, type Pool, poolOf } from "../../envs/pool.ts";
import type { RowRange, UnitColumns } from "../../envs/pool-columns.ts";
import type { Registry } from "../../envs/registry.ts";
import { type PoolFile, readPoolPath } from "./pool-files/selection.ts";
import { type PoolThreads, startPoolThreads } from "./pool-files/threads.ts";
import { isParquet } from "./pool-files/units.ts";
import { type Done, type FilePlan, poolWork, type PoolWork } from "./pool-files/work.ts";

export interface NamedPath {
  readonly name: string;
  /** May end with a selection: see pool-files/selection.ts. */
  readonly path: string;
}

export type PoolsResult =
  | { readonly kind: "ok"; readonly pools: ReadonlyMap<string, Pool> }
  | { readonly kind: "invalid"; readonly message: string };

export interface PoolOptions {
  readonly threads: number;
  /** Modules of environments beside Gradus's own. */
  readonly environmentFiles: readonly string[];
  /** Where pools that were read once are kept; undefined: nowhere. */
  readonly folder: string | undefined;
  /** Told how many parts of a pool's file are read. */
  readonly onProgress?: (pool: string, done: number, total: number) => void;
}

/** Up to here a file of lines is read in this thread: one would take longer to start. */
const READ_HERE_BYTES = 256 * 1024;

/** What is read at a stretch here: some milliseconds of work. */
const STRETCH_BYTES = 16 * 1024;

/** By name. A pool belongs to the environment that can read its rows. */
export async function loadPools(
  registry: Registry,
  named: readonly NamedPath[],
  options: PoolOptions,
): Promise<PoolsResult> {
  const pools = new Map<string, Pool>();
  for (const environment of registry.environments) {
    const shipped = environment.rows?.defaultPool;
    if (shipped === undefined || environment.twinOf !== undefined) continue;
    pools.set(shipped.name, loadPool(environment, shipped.name, readFileSync(shipped.file, "utf8")));
  }
  let threads: PoolThreads | undefined;
  try {
    for (const { name, path: given } of named) {
      if (pools.has(name)) return { kind: "invalid", message: `--pool ${name}: there is a pool of that name already` };
      const file = readPoolPath(given);
      if (file.kind === "invalid") return { kind: "invalid", message: `--pool ${name}=${given}: ${file.message}` };
      const isSmall = readsHere(file.path);
      const work = isSmall ? poolWork(registry, STRETCH_BYTES) : (threads ??= startPoolThreads(options)).work;
      const folder = isSmall ? undefined : options.folder;
      const read = await readPool({ ...options, folder, registry, work, name, file });
      if (typeof read === "string") return { kind: "invalid", message: `--pool ${name}=${given}: ${read}` };
      pools.set(name, read);
    }
  } finally {
    await threads?.close();
  }
  return { kind: "ok", pools };
}

/** What cannot be looked at is left to who reads it. */
function readsHere(path: string): boolean {
  try {
    const stats = statSync(path);
    return !stats.isFile() || (stats.size <= READ_HERE_BYTES && !isParquet(path));
  } catch {
    return true;
  }
}

interface Reading extends PoolOptions {
  readonly registry: Registry;
  readonly work: PoolWork;
  readonly name: string;
  readonly file: PoolFile;
}

/** The pool, or what is wrong with the file. */
async function readPool(reading: Reading): Promise<Pool | string> {
  const { work, name, file, folder, environmentFiles } = reading;
  const planned = await work.plan(file.path);
  if (planned.kind === "problem") return planned.message;
  const { units, ...plan } = planned.value;
  const found = await findReader(reading, units);
  if (typeof found === "string") return found;
  const { environment, first } = found;
  const request = {
    ...{ environment: environment.id, version: environment.version, path: file.path },
    ...{ plan, selection: file.selection, environmentFiles },
  };
  if (folder !== undefined) {
    const kept = await work.cached({ ...request, folder });
    if (kept.kind === "done" && kept.value !== undefined) return poolOf(environment, name, kept.value);
  }
  const read = await readUnits(reading, environment, units, first);
  if (typeof read === "string") return read;
  const finished = await work.finish({ ...request, folder, units: read });
  if (finished.kind === "problem") return finished.message;
  const pool = poolOf(environment, name, finished.value);
  return pool.size > 0 ? pool : `${shown(file.selection)} no rows that hold a task`;
}

function shown(selection: readonly RowRange[]): string {
  return selection.length === 0 ? "it has" : "its selection has";
}

/** The first environment that can read any row of the first unit, with what it read. */
async function findReader({ registry, work, file }: Reading, [unit]: FilePlan["units"]) {
  const readers = registry.environments.filter(({ rows, twinOf }) => rows !== undefined && twinOf === undefined);
  const reasons: string[] = [];
  for (const environment of readers) {
    const { id, version } = environment;
    if (unit === undefined) {
      reasons.push(`${id}: it is empty`);
      continue;
    }
    const first = await work.unit({ environment: id, version, path: file.path, unit });
    if (first.kind === "done" && first.value.rows.length > 0) return { environment, first: first.value };
    reasons.push(`${id}: ${reasonOf(first)}`);
  }
  return `no environment can read its rows (${reasons.join("; ")})`;
}

function reasonOf(first: Done<UnitColumns>): string {
  if (first.kind === "problem") return first.message;
  const [rejection] = first.value.rejections;
  return rejection === undefined ? "it is empty" : `line ${rejection.row + 1}: ${rejection.reason}`;
}

/** All units in their order. As many are read at once as there are threads. */
async function readUnits(
  { work, name, file, onProgress }: Reading,
  { id: environment, version }: Environment,
  units: FilePlan["units"],
  first: UnitColumns,
): Promise<readonly UnitColumns[] | string> {
  let done = 1;
  onProgress?.(name, done, units.length);
  const rest = units.slice(1).map(async (unit) => {
    await nextTurn();
    const read = await work.unit({ environment, version, path: file.path, unit });
    onProgress?.(name, ++done, units.length);
    return read;
  });
  const results = await Promise.all(rest);
  const problem = results.find((result) => result.kind === "problem");
  if (problem !== undefined) return problem.message;
  return [first, ...results.flatMap((result) => (result.kind === "done" ? [result.value] : []))];
}
