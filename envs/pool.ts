/** Data pools: rows of JSON, read into instances once, and taken by seed or in a permutation. */
import type { Environment, RowReader, Split } from "./environment.ts";
import { deriveSeed, permuted } from "./lib/rng.ts";
import { madeOf, type MakeResult } from "./origin.ts";
import { instanceHash, splitOf } from "./splits.ts";

export interface PoolRow<Instance = unknown> {
  /** The line's number in the file, from 0. */
  readonly index: number;
  readonly instance: Instance;
  readonly level: string;
  readonly split: Split;
  /** 16 hex digits. */
  readonly hash: string;
}

export interface Pool<Instance = unknown> {
  readonly name: string;
  /** The environment's id. */
  readonly environment: string;
  readonly definition: Environment<Instance>;
  readonly rows: readonly PoolRow<Instance>[];
  readonly rowByIndex: ReadonlyMap<number, PoolRow<Instance>>;
  /** Rows by "level/split". */
  readonly groups: ReadonlyMap<string, readonly PoolRow<Instance>[]>;
  /** Lines that hold no task. */
  readonly rejected: number;
  /** Why, for the first few of them. */
  readonly reasons: readonly string[];
}

/** Reasons kept: enough to see what is wrong with a file. */
const REASONS_MAX = 5;

type ReadRow<Instance> = { readonly row: PoolRow<Instance> } | { readonly reason: string };

/**
 * Reads a pool's JSONL. Empty lines are passed over; a line that is not JSON, not a task, of no level, or a task that
 * came before is rejected and counted.
 */
export function loadPool<Instance>(environment: Environment<Instance>, name: string, jsonl: string): Pool<Instance> {
  const reader = environment.rows;
  if (reader === undefined) throw new Error(`${environment.id} has no data pools`);
  const byHash = new Map<string, PoolRow<Instance>>();
  const reasons: string[] = [];
  for (const [index, line] of jsonl.split("\n").entries()) {
    if (line.trim() === "") continue;
    const read = readLine(environment, reader, index, line);
    const repeated = "row" in read ? byHash.get(read.row.hash) : undefined;
    if ("reason" in read) reasons.push(`line ${index + 1}: ${read.reason}`);
    else if (repeated !== undefined) reasons.push(`line ${index + 1}: the same task as line ${repeated.index + 1}`);
    else byHash.set(read.row.hash, read.row);
  }
  const rows = [...byHash.values()];
  return {
    ...{ name, environment: environment.id, definition: environment, rows },
    rowByIndex: new Map(rows.map((row) => [row.index, row])),
    groups: Map.groupBy(rows, ({ level, split }) => groupKey(level, split)),
    ...{ rejected: reasons.length, reasons: reasons.slice(0, REASONS_MAX) },
  };
}

function readLine<Instance>(
  environment: Environment<Instance>,
  reader: RowReader<Instance>,
  index: number,
  line: string,
): ReadRow<Instance> {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return { reason: "not JSON" };
  }
  const read = reader.read(json);
  if (read.kind === "malformed") return { reason: read.reason };
  const level = reader.levelOf(read.answer);
  if (level === undefined) return { reason: "of no level" };
  const hash = instanceHash(environment, read.answer);
  return { row: { index, instance: read.answer, level, split: splitOf(environment, read.answer), hash } };
}

function groupKey(level: string, split: Split): string {
  return `${level}/${split}`;
}

/** The rows of a level and a split, in the file's order. */
function rowsOf<Instance>(pool: Pool<Instance>, level: string, split: Split): readonly PoolRow<Instance>[] {
  return pool.groups.get(groupKey(level, split)) ?? [];
}

/** How many rows there are of a level and a split. */
export function rowCount(pool: Pool, level: string, split: Split): number {
  return rowsOf(pool, level, split).length;
}

/** How many rows there are of each level of the environment, whatever the split. */
export function rowCounts(pool: Pool): Readonly<Record<string, number>> {
  const countOf = (level: string): number => pool.rows.filter((row) => row.level === level).length;
  return Object.fromEntries(pool.definition.levels.map(({ name }) => [name, countOf(name)]));
}

/** The row of a seed, each as likely. */
export function pickRow<Instance>(
  pool: Pool<Instance>,
  level: string,
  split: Split,
  seed: bigint,
): MakeResult<Instance> {
  const rows = rowsOf(pool, level, split);
  if (rows.length === 0) return noRows(pool, level, split);
  const hash = deriveSeed("pick-row", pool.environment, pool.name, level, split, seed);
  return makeRow(pool, rows[Number(hash % BigInt(rows.length))] as PoolRow<Instance>);
}

/** The ordinal-th row, from 0, of a walk through a seeded permutation of the rows; after the last one, of a new one. */
export function rowAt<Instance>(
  pool: Pool<Instance>,
  level: string,
  split: Split,
  seed: bigint,
  ordinal: number,
): MakeResult<Instance> {
  const rows = rowsOf(pool, level, split);
  if (rows.length === 0) return noRows(pool, level, split);
  const epoch = Math.floor(ordinal / rows.length);
  const key = [pool.environment, pool.name, level, split, seed, epoch] as const;
  return makeRow(pool, rows[permuted(rows.length, ordinal % rows.length, ...key)] as PoolRow<Instance>);
}

function makeRow<Instance>(pool: Pool<Instance>, row: PoolRow<Instance>): MakeResult<Instance> {
  const { instance, hash, index } = row;
  const origin = { kind: "row", pool: pool.name, row: index, contentHash: hash } as const;
  return madeOf(pool.definition, origin, hash, instance);
}

function noRows(pool: Pool, level: string, split: Split): { readonly kind: "exhausted"; readonly message: string } {
  const message = `pool '${pool.name}' of ${pool.environment} has no rows of level '${level}' in split ${split}; it has ${JSON.stringify(rowCounts(pool))} over all splits`;
  return { kind: "exhausted", message };
}
