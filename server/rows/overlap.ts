/**
 * Finds rows that two pools, or two parts of a pool, have in common. A model that trains on one part would know answers
 * of the other part.
 */
import type { Split } from "../../envs/environment.ts";
import { placesOf, type Pool, problemAt, rowOf } from "../../envs/pool.ts";
import { mapInSlices } from "../base/time-slices.ts";

/** Part of a pool: its rows of one level and one split. */
export interface PoolPart {
  readonly pool: Pool;
  readonly level: string;
  readonly split: Split;
}

export interface Overlap {
  /** Number of rows of the first part whose problem also occurs in the other part. */
  readonly rows: number;
  readonly of: number;
  /**
   * Number of rows of the first part whose problem has another answer in the other part. The answers of at most
   * COMPARED_MAX rows are compared.
   */
  readonly contradicting: number;
  /** Numbers of the first common row in the two files. Undefined: no row is common. */
  readonly first?: readonly [row: number, other: number];
}

/** Maximum number of common rows whose answers are compared. One comparison may take milliseconds. */
const COMPARED_MAX = 256;

/** Number of rows that are processed in one go. Between two chunks, other work may run. */
const CHUNK = 1024;

/** Cache of results. Pools do not change after loading, so results stay valid. */
const known = new WeakMap<Pool, Known>();
type Known = Map<string, { readonly other: Pool; readonly overlap: Promise<Overlap> }>;

export function overlapOf(one: PoolPart, other: PoolPart): Promise<Overlap> {
  const own: Known = known.get(one.pool) ?? new Map<string, never>();
  known.set(one.pool, own);
  const key = JSON.stringify([one.level, one.split, other.pool.name, other.level, other.split]);
  const before = own.get(key);
  if (before?.other === other.pool) return before.overlap;
  const overlap = find(one, other);
  own.set(key, { other: other.pool, overlap });
  return overlap;
}

async function find(one: PoolPart, other: PoolPart): Promise<Overlap> {
  const [places, others] = [one, other].map(({ pool, level, split }) => placesOf(pool, level, split)) as [
    Uint32Array,
    Uint32Array,
  ];
  // Rows of different environments never count as the same problem.
  if (one.pool.environment !== other.pool.environment) return { rows: 0, of: places.length, contradicting: 0 };
  const placeOf = new Map<number, number>();
  await inChunks(others, (place) => void placeOf.set(problemAt(other.pool, place), place));
  let [rows, contradicting, compared] = [0, 0, 0];
  let first: Overlap["first"];
  const { rows: reader } = one.pool.definition;
  await inChunks(places, (place) => {
    const twin = placeOf.get(problemAt(one.pool, place));
    if (twin === undefined) return;
    rows++;
    const isCompared = compared < COMPARED_MAX && reader?.agrees !== undefined;
    if (first !== undefined && !isCompared) return;
    const [row, twinRow] = [rowOf(one.pool, place), rowOf(other.pool, twin)];
    first ??= [row.index, twinRow.index];
    if (!isCompared || row.hash === twinRow.hash) return;
    compared++;
    if (reader?.agrees?.(row.instance, twinRow.instance) === false) contradicting++;
  });
  return { rows, of: places.length, contradicting, ...(first && { first }) };
}

async function inChunks(places: Uint32Array, work: (place: number) => void): Promise<void> {
  const chunks = Array.from({ length: Math.ceil(places.length / CHUNK) }, (_, i) => i * CHUNK);
  await mapInSlices(chunks, (from) => {
    for (const place of places.subarray(from, from + CHUNK)) work(place);
  });
}
