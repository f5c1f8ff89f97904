/** Data pools: those that ship with environments, and those that the operator names, of any size. */
import { readFileSync, statSync } from "node:fs";
import { loadPool, type Pool } from "../../envs/pool.ts";
import { didYouMean } from "../../envs/lib/text.ts";
import type { ColumnNames } from "../../envs/pool-view.ts";
import type { Registry } from "../../envs/registry.ts";
import type { OpenPorts } from "./checks.ts";
import { type PoolReport, type PoolStage, readPoolFile } from "./read.ts";
import { type PoolFile, readPoolPath } from "./selection.ts";
import { type PoolThreads, startPoolThreads } from "./threads.ts";
import { isPlain } from "./units.ts";
import { poolWork } from "./work.ts";
import { rejectionLines } from "./report.ts";

export interface NamedPath {
  readonly name: string;
  /** May begin with an environment and end with a selection: see pool-files/selection.ts. */
  readonly path: string;
}

/** A column of pools' files that has another name than their environment knows; of one pool, or of all. */
export interface NamedColumn {
  readonly pool: string | undefined;
  readonly name: string;
  readonly column: string;
}

export type PoolsResult =
  | {
      readonly kind: "ok";
      readonly pools: ReadonlyMap<string, Pool>;
      /** Why rows of pools could not be checked, by the pool's name. */
      readonly failures: ReadonlyMap<string, string>;
    }
  | { readonly kind: "invalid"; readonly message: string };

export interface PoolOptions {
  readonly threads: number;
  /** Modules of environments beside Gradus's own. */
  readonly environmentFiles: readonly string[];
  readonly columns?: readonly NamedColumn[];
  /** Where pools that were read once are kept; undefined: nowhere. */
  readonly folder: string | undefined;
  /** What rows are checked with. Left out: nothing, and they count as unchecked. */
  readonly openPorts?: OpenPorts;
  /** Told how many parts of a pool's file are read, then how many of its rows are checked. */
  readonly onProgress?: (pool: string, done: number, total: number, stage: PoolStage) => void;
}

/** Up to here a file of lines is read in this thread: one would take longer to start. */
const READ_HERE_BYTES = 256 * 1024;

/** What is read at a stretch here: some milliseconds of work. */
const STRETCH_BYTES = 16 * 1024;

/** By name. Pools that ship are not checked by asking the outside: a test of each environment does that. */
export async function loadPools(
  registry: Registry,
  named: readonly NamedPath[],
  options: PoolOptions,
): Promise<PoolsResult> {
  const pools = shippedPools(registry);
  const failures = new Map<string, string>();
  const reader = createPoolReader(registry, options);
  const { columns = [] } = options;
  const problems = unknownPools(named, columns);
  try {
    for (const { name, path: given } of named) {
      if (pools.has(name)) {
        problems.push(`--pool ${name}: there is a pool of that name already`);
        continue;
      }
      const read = await readNamed(reader, registry, name, { given, names: namesFor(name, columns) });
      if (typeof read === "string") problems.push(`--pool ${name}=${given}: ${read}`);
      else {
        pools.set(name, read.pool);
        if (read.failure !== undefined) failures.set(name, read.failure);
      }
    }
  } finally {
    await reader.close();
  }
  return problems.length === 0 ? { kind: "ok", pools, failures } : { kind: "invalid", message: problems.join("\n") };
}

function unknownPools(named: readonly NamedPath[], columns: readonly NamedColumn[]): string[] {
  const names = named.map(({ name }) => name);
  return columns.flatMap(({ pool, name, column }) =>
    pool === undefined || names.includes(pool)
      ? []
      : [`--column ${pool}:${name}=${column}: there is no --pool ${pool}${didYouMean(pool, names)}`],
  );
}

/** The names of a pool's columns: of what is said twice the pool's own. */
export function namesFor(pool: string, columns: readonly NamedColumn[]): ColumnNames {
  const own = columns.filter((each) => each.pool === undefined || each.pool === pool);
  const ordered = [...own.filter((each) => each.pool === undefined), ...own.filter((each) => each.pool === pool)];
  return [...new Map(ordered.map(({ name, column }) => [name, column]))];
}

/** A pool with rows, or what is wrong. */
async function readNamed(
  reader: PoolReader,
  registry: Registry,
  name: string,
  { given, names }: { readonly given: string; readonly names: ColumnNames },
) {
  const file = readPoolPath(given, registry, names);
  if (file.kind === "invalid") return file.message;
  const read = await reader.read(name, file);
  return typeof read === "string" ? read : (emptiness(read.pool, file) ?? read);
}

function shippedPools(registry: Registry): Map<string, Pool> {
  const pools = new Map<string, Pool>();
  for (const environment of registry.environments) {
    const shipped = environment.rows?.defaultPool;
    // A twin's are its environment's.
    if (shipped === undefined || environment.twinOf !== undefined) continue;
    const { name, file } = shipped;
    const other = pools.get(name);
    if (other !== undefined)
      throw new Error(
        `pools that ship have names of their own: ${other.environment} and ${environment.id} have '${name}'`,
      );
    pools.set(name, loadPool(environment, name, readFileSync(file, "utf8")));
  }
  return pools;
}

export interface PoolReader {
  /** The pool of a file, which may have no rows, or what is wrong with the file. */
  read(name: string, file: PoolFile): Promise<PoolReport | string>;
  close(): Promise<void>;
}

const noPorts: OpenPorts = async () => ({ ports: {}, missing: {} });

/** Large files are read in threads, which are started for the first of them. */
export function createPoolReader(registry: Registry, options: PoolOptions): PoolReader {
  const { environmentFiles, folder, openPorts = noPorts, onProgress } = options;
  let threads: PoolThreads | undefined;
  return {
    read(name, file) {
      const isSmall = readsHere(file.path);
      const work = isSmall ? poolWork(registry, STRETCH_BYTES) : (threads ??= startPoolThreads(options)).work;
      const folders = { folder: isSmall ? undefined : folder, checksFolder: folder };
      return readPoolFile({ registry, work, name, file, environmentFiles, ...folders, openPorts, onProgress });
    },
    close: async () => threads?.close(),
  };
}

/** What cannot be looked at is left to who reads it. */
function readsHere(path: string): boolean {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return false;
    return !stats.isFile() || (stats.size <= READ_HERE_BYTES && isPlain(path));
  } catch {
    return true;
  }
}

/** What is wrong with a pool that has no rows. */
function emptiness(pool: Pool, { path, selection }: PoolFile): string | undefined {
  if (pool.size > 0) return undefined;
  const has = selection.length === 0 ? "it has" : "its selection has";
  return [`${has} no rows that hold a task`, ...rejectionLines(path, pool)].join("\n");
}
