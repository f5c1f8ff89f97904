/** Data pools: rows read into instances once, and taken by seed or in a permutation. */
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
  /** The row's number in the file, from 0. */
  readonly index: number;
  readonly instance: Instance;
  readonly level: string;
  readonly split: Split;
  /** 16 hex digits. */
  readonly hash: string;
}

export interface Pool<Instance = unknown> extends PoolSummary {
  readonly name: string;
  /** The environment's id; of a twin that of the one whose instances it has. */
  readonly environment: string;
  readonly definition: Environment<Instance>;
  /** How many rows there are. */
  readonly size: number;
  readonly columns: PoolColumns;
  /** Why rows are rejected, in words, e.g. "line 3 and 7 more: not JSON". */
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

/** Reads a pool's JSONL, here and now: for pools of some thousand rows, none of which has to wait for a sandbox. */
export function loadPool<Instance>(
  environment: Environment<Instance>,
  name: string,
  jsonl: string,
  selection: readonly RowRange[] = [],
): Pool<Instance> {
  return poolOf(environment, name, finishedPool(environment, name, jsonl, selection));
}

/** What a pool's JSONL comes to, as it may be kept. */
export function finishedPool<Instance>(
  environment: Environment<Instance>,
  name: string,
  jsonl: string,
  selection: readonly RowRange[] = [],
): FinishedPool {
  const unit = readUnit(environment, linesOf(jsonl));
  if (unit.waiting.length > 0) throw new Error(`rows of '${name}' hold Python, which a sandbox has to read first`);
  return finishPool(environment, [unit], selection, true);
}

function* linesOf(jsonl: string): Iterable<RawRow> {
  for (const [row, json] of jsonl.split("\n").entries()) yield { row, json };
}

/** The row at a place, from 0 to size − 1. */
export function rowOf<Instance>(pool: Pool<Instance>, place: number): PoolRow<Instance> {
  const { definition, columns } = pool;
  const group = columns.groups[place];
  if (group === undefined) throw new Error(`pool '${pool.name}' has ${pool.size} rows, and none at place ${place}`);
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

/** Places by hash, of pools that were asked: 8 to 16 bytes a row. */
const finders = new WeakMap<Pool, ReturnType<typeof hashFinder>>();

/** The place of the row whose task has a hash of 16 hex digits; −1: the pool has none such. A pool has each task once. */
export function placeOfHash(pool: Pool, hash: string): number {
  return placeOfHalves(pool, parseInt(hash.slice(0, 8), 16), parseInt(hash.slice(8, 16), 16));
}

/** As placeOfHash; `high` and `low`: the halves of the hash, 32 bits each. */
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

/** The place of the row of a number in the file; −1: it is none of the pool's. */
export function rowPlace({ columns: { rows } }: Pool, number: number): number {
  let [from, to] = [0, rows.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((rows[middle] as number) < number) from = middle + 1;
    else to = middle;
  }
  return rows[from] === number ? from : -1;
}

/** The row of a hash. `number`: which it had in the file, and mostly still has. */
export function findRow<Instance>(pool: Pool<Instance>, number: number, hash: string): PoolRow<Instance> | undefined {
  const before = rowPlace(pool, number);
  const place = before >= 0 && hashAt(pool.columns, before) === hash ? before : placeOfHash(pool, hash);
  return place < 0 ? undefined : rowOf(pool, place);
}

/** Where the rows of a level and a split lie in the members, and how many they are. */
function groupOf({ definition, columns }: Pool, level: string, split: Split) {
  const levelIndex = definition.levels.findIndex(({ name }) => name === level);
  const group = levelIndex * POOL_SPLITS.length + POOL_SPLITS.indexOf(split);
  const start = columns.starts[group] ?? 0;
  return { start, count: levelIndex < 0 ? 0 : (columns.starts[group + 1] as number) - start };
}

/** The places of the rows of a level and a split. */
export function placesOf(pool: Pool, level: string, split: Split): Uint32Array {
  const { start, count } = groupOf(pool, level, split);
  return pool.columns.members.subarray(start, start + count);
}

/** A number that two rows share exactly if they are the same problem, but for one in 2^52. */
export function problemAt({ columns: { problems, hashes } }: Pool, place: number): number {
  const keys = problems.length === 0 ? hashes : problems;
  return (keys[2 * place] as number) * 2 ** 20 + ((keys[2 * place + 1] as number) >>> 12);
}

/** How many rows there are of a level and a split. */
export function rowCount(pool: Pool, level: string, split: Split): number {
  return groupOf(pool, level, split).count;
}

/** How many rows there are of each level and split that has any. */
export function groupCounts(
  pool: Pool,
): readonly { readonly level: string; readonly split: Split; readonly rows: number }[] {
  const groups = pool.definition.levels.flatMap(({ name: level }) =>
    POOL_SPLITS.map((split) => ({ level, split, rows: rowCount(pool, level, split) })),
  );
  return groups.filter(({ rows }) => rows > 0);
}

/** How many rows there are of each level of the environment, whatever the split. */
export function rowCounts(pool: Pool): Readonly<Record<string, number>> {
  const countOf = (level: string): number => POOL_SPLITS.reduce((sum, split) => sum + rowCount(pool, level, split), 0);
  return Object.fromEntries(pool.definition.levels.map(({ name }) => [name, countOf(name)]));
}

/** Which levels a pool has rows of, for whoever asked for another one: in the split, or else in any. */
export function levelsText(pool: Pool, split: Split): string {
  const groups = groupCounts(pool);
  const here = groups.filter((group) => group.split === split);
  const told = here.length > 0 ? here : groups;
  const texts = told.map(({ level, split: where, rows }) => `'${level}' in ${where} (${rows} rows)`);
  return texts.length === 0 ? "it has rows of no level" : `it has ${texts.join(", ")}`;
}

/** The row of a seed, each as likely. */
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
 * The ordinal-th row, from 0, of a walk through a seeded permutation of the rows; after the last one, of a new one. How
 * often it has gone through all is the key's epoch. `rankAt` gives the rank of the row at a place of the pool.
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

/** The row of a hash, of which it is known how often a walk had gone through all rows. */
export function rowOfHash<Instance>(
  pool: Pool<Instance>,
  { hash, epoch }: { readonly hash: string; readonly epoch: number },
  rankAt?: (place: number) => number,
): MakeResult<Instance> {
  const place = placeOfHash(pool, hash);
  if (place < 0) return { kind: "exhausted", message: `pool '${pool.name}' has no row of the hash ${hash} any more` };
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
