/** Loads data pools: those that ship with environments, and files that the operator names by --pool. */
import type { Pool } from "../../envs/pool.ts";
import { didYouMean } from "../../envs/lib/text.ts";
import type { ColumnNames } from "../../envs/pool-view.ts";
import type { Registry } from "../../envs/registry.ts";
import type { PoolReader, ReaderOptions } from "./read.ts";
import { type PoolFile, readPoolPath } from "./selection.ts";
import { columnRemedy, remarkLines } from "./report.ts";
import { shippedPools } from "./shipped.ts";

export interface NamedPath {
  readonly name: string;
  /** Path of the file. May begin with an environment's id and end with a selection of rows: see selection.ts. */
  readonly path: string;
}

/**
 * Column that is called `column` in the file and `name` in its environment, as given by --column. Undefined `pool`: the
 * name holds for all pools.
 */
export interface NamedColumn {
  readonly pool: string | undefined;
  readonly name: string;
  readonly column: string;
}

export type PoolsResult =
  | {
      readonly kind: "ok";
      readonly pools: ReadonlyMap<string, Pool>;
      /** Reason why rows could not be checked, by the pool's name. */
      readonly failures: ReadonlyMap<string, string>;
    }
  | { readonly kind: "invalid"; readonly message: string };

export interface PoolOptions extends ReaderOptions {
  readonly columns?: readonly NamedColumn[];
}

/**
 * Returns all pools by name. Rows of shipped pools are not checked by resources here, because the environments' tests
 * check them.
 */
export async function loadPools(
  registry: Registry,
  named: readonly NamedPath[],
  options: PoolOptions,
): Promise<PoolsResult> {
  const pools = shippedPools(registry);
  const failures = new Map<string, string>();
  // The reader is imported only if the operator named a pool. Importing all file formats takes longer than a short
  // command.
  const opened = async () => (await import("./read.ts")).createPoolReader(registry, options);
  let reader: PoolReader | undefined;
  const { columns = [] } = options;
  const problems = unknownPools(named, columns);
  try {
    for (const { name, path: given } of named) {
      if (pools.has(name)) {
        problems.push(`--pool ${name}: there is a pool of that name already: choose another name`);
        continue;
      }
      const read = await readNamed((reader ??= await opened()), registry, name, {
        given,
        names: namesFor(name, columns),
      });
      if (typeof read === "string") problems.push(`--pool ${name}=${given}: ${read}`);
      else {
        pools.set(name, read.pool);
        if (read.failure !== undefined) failures.set(name, read.failure);
      }
    }
  } finally {
    await reader?.close();
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

/** Returns the column names for one pool. A name that the operator gave for this pool replaces one for all pools. */
export function namesFor(pool: string, columns: readonly NamedColumn[]): ColumnNames {
  const own = columns.filter((each) => each.pool === undefined || each.pool === pool);
  const ordered = [...own.filter((each) => each.pool === undefined), ...own.filter((each) => each.pool === pool)];
  return [...new Map(ordered.map(({ name, column }) => [name, column]))];
}

/** Reads one pool. Returns the pool, or an error message, also if the pool has no rows. */
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

/** Returns the error message for a pool without rows. Undefined: the pool has rows. */
function emptiness(pool: Pool, { path, selection }: PoolFile): string | undefined {
  if (pool.size > 0) return undefined;
  const has = selection.length === 0 ? "it has" : "its selection has";
  const remedy = columnRemedy(pool.rejections[0]?.reason ?? "");
  return [`${has} no rows that hold a task${remedy}`, ...remarkLines(path, pool)].join("\n");
}
