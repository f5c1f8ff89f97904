/**
 * Holds data pools, i.e. files of rows read as instances. Returns rows by seed, by hash, or in the order of a
 * permutation.
 */
import type { Environment, Split } from "./environment.ts";
import { deriveSeed, permuted } from "./lib/rng.ts";
import { madeOf, type MakeResult } from "./origin.ts";
import { decodeInstance, POOL_SPLITS, type PoolColumns, type RawRow, readUnit } from "./pool-columns.ts";
import {
  type FinishedPool,
  finishPool,
  hashFinder,
  type PoolSummary,
  rejectionText,
  type RowRange,
} from "./pool-finish.ts";
import { instanceFamily } from "./splits.ts";

export interface PoolRow<Instance = unknown> {
  /** Number of the row in the file, from 0. */
  readonly index: number;
  readonly instance: Instance;
  readonly level: string;
  readonly split: Split;
  /** Hash of the instance, 16 hex digits. */
  readonly hash: string;
}

export interface Pool<Instance = unknown> extends PoolSummary {
  readonly name: string;
  /**
   * Id of the environment. If it is a twin (asks another question about another environment's instances), the id of
   * that environment.
   */
  readonly environment: string;
  readonly definition: Environment<Instance>;
  readonly size: number;
  readonly columns: PoolColumns;
  /** Reasons for rejection, as texts such as "line 3 and 7 more: not JSON". */
  readonly reasons: readonly string[];
}

export function poolOf<Instance>(
  definition: Environment<Instance>,
  name: string,
  { columns, summary }: FinishedPool,
): Pool<Instance> {
  const reasons = summary.rejections.map((each) => rejectionText(summary.lines, each));
  const environment = instanceFamily(definition);
  return { name, environment, definition, size: columns.rows.length, columns, ...summary, reasons };
}

/** Reads a pool from JSONL text, synchronously. Meant for pools of some thousand rows that need no sandbox. */
export function loadPool<Instance>(
  environment: Environment<Instance>,
  name: string,
  jsonl: string,
  selection: readonly RowRange[] = [],
): Pool<Instance> {
  return poolOf(environment, name, finishedPool(environment, name, jsonl, selection));
}

/** Reads the rows of a pool from JSONL text. Returns typed arrays with all rows (PoolColumns), and a summary. */
export function finishedPool<Instance>(
  environment: Environment<Instance>,
  name: string,
  jsonl: string,
  selection: readonly RowRange[] = [],
): FinishedPool {
  const unit = readUnit(environment, linesOf(jsonl));
  if (unit.waiting.length > 0)
    throw new Error(
      `the pool '${name}' cannot ship with its environment: its rows hold Python, which only a sandbox may read`,
    );
  return finishPool(environment, [unit], selection, true);
}

function* linesOf(jsonl: string): Iterable<RawRow> {
  for (const [row, json] of jsonl.split("\n").entries()) yield { row, json };
}

/** Returns the row at a position in the pool, from 0 to size − 1. */
export function rowOf<Instance>(pool: Pool<Instance>, place: number): PoolRow<Instance> {
  const { definition, columns } = pool;
  const group = columns.groups[place];
  if (group === undefined)
    throw new Error(`bug: pool '${pool.name}' has ${pool.size} rows, and none at position ${place}`);
  const bytes = columns.bytes.subarray(columns.ends[place - 1] ?? 0, columns.ends[place]);
  return {
    index: columns.rows[place] as number,
    instance: decodeInstance(definition, bytes),
    level: definition.levels[Math.floor(group / POOL_SPLITS.length)]?.name ?? "",
    split: POOL_SPLITS[group % POOL_SPLITS.length] as Split,
    hash: hashAt(columns, place),
  };
}

function hashAt({ hashes }: PoolColumns, place: number): string {
  const half = (i: number): string => (hashes[i] as number).toString(16).padStart(8, "0");
  return half(2 * place) + half(2 * place + 1);
}

/**
 * Caches, for each pool that was searched by hash, the function that finds a row's position. It takes 8 to 16 bytes a
 * row.
 */
const finders = new WeakMap<Pool, ReturnType<typeof hashFinder>>();

/** Returns the position of the row whose task has this hash (16 hex digits), or −1. A pool holds each task once. */
export function placeOfHash(pool: Pool, hash: string): number {
  return placeOfHalves(pool, parseInt(hash.slice(0, 8), 16), parseInt(hash.slice(8, 16), 16));
}

/** Returns the position of the row with this hash, or −1. `high` and `low` are the halves of the hash, 32 bits each. */
export function placeOfHalves(pool: Pool, high: number, low: number): number {
  let find = finders.get(pool);
  if (find === undefined) {
    const { hashes } = pool.columns;
    find = hashFinder(hashes, pool.size);
    for (let place = 0; place < pool.size; place++) find(hashes[2 * place]!, hashes[2 * place + 1]!, place);
    finders.set(pool, find);
  }
  return find(high, low);
}

/** Returns the pool position of the row with this number in the file, or −1 if the pool does not hold that row. */
export function rowPlace({ columns: { rows } }: Pool, number: number): number {
  let [from, to] = [0, rows.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((rows[middle] as number) < number) from = middle + 1;
    else to = middle;
  }
  return rows[from] === number ? from : -1;
}

/**
 * Returns the row with this hash. `number` is a hint that saves a search: the row's number in the file when the task
 * was issued.
 */
export function findRow<Instance>(pool: Pool<Instance>, number: number, hash: string): PoolRow<Instance> | undefined {
  const before = rowPlace(pool, number);
  const place = before >= 0 && hashAt(pool.columns, before) === hash ? before : placeOfHash(pool, hash);
  return place < 0 ? undefined : rowOf(pool, place);
}

/** Returns the range of a level's and split's rows in `columns.members`: its start and its length. */
function groupOf({ definition, columns }: Pool, level: string, split: Split) {
  const levelIndex = definition.levels.findIndex(({ name }) => name === level);
  const group = levelIndex * POOL_SPLITS.length + POOL_SPLITS.indexOf(split);
  const start = columns.starts[group] ?? 0;
  return { start, count: levelIndex < 0 ? 0 : (columns.starts[group + 1] as number) - start };
}

/** Returns the positions in the pool of the rows of a level and a split. */
export function placesOf(pool: Pool, level: string, split: Split): Uint32Array {
  const { start, count } = groupOf(pool, level, split);
  return pool.columns.members.subarray(start, start + count);
}

/**
 * Returns 52 bits of a hash, which are equal for two rows if the answer to one reveals the answer to the other. Other
 * rows share a number only by a collision.
 */
export function problemAt({ columns: { problems, hashes } }: Pool, place: number): number {
  const keys = problems.length === 0 ? hashes : problems;
  return (keys[2 * place] as number) * 2 ** 20 + ((keys[2 * place + 1] as number) >>> 12);
}

export function rowCount(pool: Pool, level: string, split: Split): number {
  return groupOf(pool, level, split).count;
}

/** Returns the number of rows of each level and split. Omits those without rows. */
export function groupCounts(
  pool: Pool,
): readonly { readonly level: string; readonly split: Split; readonly rows: number }[] {
  const groups = pool.definition.levels.flatMap(({ name: level }) =>
    POOL_SPLITS.map((split) => ({ level, split, rows: rowCount(pool, level, split) })),
  );
  return groups.filter(({ rows }) => rows > 0);
}

/** Returns the number of rows of each level of the environment, over all splits. */
export function rowCounts(pool: Pool): Readonly<Record<string, number>> {
  const countOf = (level: string): number => POOL_SPLITS.reduce((sum, split) => sum + rowCount(pool, level, split), 0);
  return Object.fromEntries(pool.definition.levels.map(({ name }) => [name, countOf(name)]));
}

/**
 * Returns a text for errors about a missing level. It lists the levels with rows in the split. If the split has no rows
 * at all, it lists the levels of all splits.
 */
export function levelsText(pool: Pool, split: Split): string {
  const groups = groupCounts(pool);
  const here = groups.filter((group) => group.split === split);
  const listed = here.length > 0 ? here : groups;
  const texts = listed.map(({ level, split: where, rows }) => `'${level}' in ${where} (${rows} rows)`);
  return texts.length === 0 ? "it has no rows at all" : `it has ${texts.join(", ")}`;
}

/** Returns the row that the seed chooses among the rows of a level and a split. Each row is equally likely. */
export function pickRow<Instance>(
  pool: Pool<Instance>,
  level: string,
  split: Split,
  seed: bigint,
): MakeResult<Instance> {
  const { start, count } = groupOf(pool, level, split);
  if (count === 0) return noRows(pool, level, split);
  const hash = deriveSeed("pick-row", pool.environment, pool.name, level, split, seed);
  return makeRow(pool, pool.columns.members[start + Number(hash % BigInt(count))]!, 0);
}

/**
 * Returns the row at position `ordinal`, from 0, of a walk through seeded permutations of the rows. After the last row,
 * the walk begins a new permutation. The task key's epoch is the number of completed permutations. `rankAt` returns the
 * rank of the row at a position in the pool.
 */
export function rowAt<Instance>(
  pool: Pool<Instance>,
  level: string,
  split: Split,
  seed: bigint,
  ordinal: number,
  rankAt?: (place: number) => number,
): MakeResult<Instance> {
  const { start, count } = groupOf(pool, level, split);
  if (count === 0) return noRows(pool, level, split);
  const epoch = Math.floor(ordinal / count);
  const key = [pool.environment, pool.name, level, split, seed, epoch] as const;
  return makeRow(pool, pool.columns.members[start + permuted(count, ordinal % count, ...key)]!, epoch, rankAt);
}

/**
 * Returns the row with this hash as a task of a walk through the pool (rowAt). `epoch` is the number of permutations
 * that the walk had completed.
 */
export function rowOfHash<Instance>(
  pool: Pool<Instance>,
  { hash, epoch }: { readonly hash: string; readonly epoch: number },
  rankAt?: (place: number) => number,
): MakeResult<Instance> {
  const place = placeOfHash(pool, hash);
  if (place < 0) return { kind: "exhausted", message: `pool '${pool.name}' no longer has the row with hash ${hash}` };
  return makeRow(pool, place, epoch, rankAt);
}

function makeRow<Instance>(
  pool: Pool<Instance>,
  place: number,
  epoch: number,
  rankAt?: (place: number) => number,
): MakeResult<Instance> {
  const { instance, hash, index } = rowOf(pool, place);
  const origin = { kind: "row", pool: pool.name, row: index, contentHash: hash } as const;
  const made = madeOf(pool.definition, origin, hash, instance);
  if (made.kind !== "made") return made;
  const key = { ...made.key, ...(rankAt && { rank: rankAt(place) }), ...(epoch > 0 && { epoch }) };
  return { kind: "made", key, instance };
}

function noRows(pool: Pool, level: string, split: Split): { readonly kind: "exhausted"; readonly message: string } {
  const message = `pool '${pool.name}' of ${pool.environment} has no rows of level '${level}' in split ${split}; ${levelsText(pool, split)}`;
  return { kind: "exhausted", message };
}
