/**
 * Ranks a run's rows from easy to hard, among the rows of all its arms or of a group of arms. Rows are ordered by the
 * difficulties in their pools, and rows of equal difficulty by their hashes.
 */
import { LRUCache } from "lru-cache";
import type { Split } from "../../../envs/environment.ts";
import { placesOf, type Pool } from "../../../envs/pool.ts";
import { isWithin } from "../../curriculum/policies/ranks.ts";
import type { Arm, RankRange } from "../../curriculum/types.ts";
import type { TaskSpec } from "../spec.ts";

/** Maximum number of cached orders of rows by difficulty. An order takes four bytes for each row. */
const ORDERS_MAX = 32;

/**
 * Number of steps from 0 to 1 to which ranks are rounded down. Six digits distinguish a million rows and keep journals,
 * which store ranks, short.
 */
const DIGITS = 1e6;

type RankedArm = Pick<Arm<TaskSpec>, "spec" | "rankGroup"> & { readonly removed?: boolean };

export interface ArmRanks {
  /**
   * Returns the rank of the row at a position in its pool: the share of all ranked rows that are easier, in [0, 1).
   */
  readonly at: (place: number) => number;
  /** Returns the number of the arm's rows whose ranks are in a range. Ranks are numbers in [0, 1). */
  readonly within: (range: RankRange) => number;
}

export interface RunRanks {
  /**
   * Returns the ranks of an arm's rows. `among` are all arms of its run. Undefined: the arm draws no rows, or its pool
   * does not rank them.
   */
  of(arm: RankedArm, among: readonly RankedArm[]): ArmRanks | undefined;
}

/** Rows from which an arm draws: those of one level and split of a pool. */
interface ArmRows {
  readonly name: string;
  readonly pool: Pool;
  readonly level: string;
  readonly split: Split;
}

/** Order, from the easiest row to the hardest, of the rows of several arms together. */
interface Order {
  readonly total: number;
  /**
   * Number of easier rows in the whole order, for each row of each set. Sets are found by name; their rows are in order
   * from the easiest on.
   */
  readonly easier: ReadonlyMap<string, Uint32Array>;
}

export function createRunRanks(pools: ReadonlyMap<string, Pool>): RunRanks {
  const orders = new LRUCache<string, Order>({ max: ORDERS_MAX });
  const partOf = ({ spec }: RankedArm): ArmRows | undefined => {
    const pool = spec.source === "real" ? pools.get(spec.pool) : undefined;
    if (pool === undefined || pool.ranking.source === undefined) return undefined;
    const { level, split } = spec;
    return { name: JSON.stringify([pool.name, level, split]), pool, level, split };
  };
  /**
   * Returns the sets of rows that are ranked together with an arm's own rows, without duplicates. Pools whose rows are
   * ranked by another measure are left out.
   */
  const partsAmong = ({ rankGroup }: RankedArm, own: ArmRows, among: readonly RankedArm[]): readonly ArmRows[] => {
    const group = among.filter((arm) => arm.rankGroup === rankGroup && arm.removed !== true);
    const parts = group.flatMap((arm) => partOf(arm) ?? []);
    const alike = parts.filter(({ pool }) => pool.ranking.source === own.pool.ranking.source);
    return [...new Map([own, ...alike].map((part) => [part.name, part])).values()];
  };
  return {
    of(arm, among) {
      const own = partOf(arm);
      if (own === undefined) return undefined;
      const parts = [...partsAmong(arm, own, among)].sort((a, b) => (a.name < b.name ? -1 : 1));
      const key = parts.map(({ name }) => name).join();
      const order = orders.get(key) ?? orderOf(parts);
      orders.set(key, order);
      return ranksIn(order, own);
    },
  };
}

function ranksIn({ total, easier }: Order, { name, pool }: ArmRows): ArmRanks {
  const own = easier.get(name) ?? new Uint32Array(0);
  const rankOf = (before: number): number => Math.floor((DIGITS * before) / total) / DIGITS;
  /**
   * Returns how many of the arm's rows have a rank for which `isBelow` is true. Uses a binary search, because the ranks
   * are in ascending order.
   */
  const below = (isBelow: (rank: number) => boolean): number => {
    let [from, to] = [0, own.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (isBelow(rankOf(own[middle]!))) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  return {
    at: (place) => rankOf(own[pool.columns.ranks[place]!] ?? 0),
    within: (range) => below((rank) => rank < range.min || isWithin(range, rank)) - below((rank) => rank < range.min),
  };
}

/**
 * Returns the positions in the pool of the rows of a level and split, from the easiest row on. The pool must have
 * ranked its rows.
 */
function sortedPlaces({ pool, level, split }: ArmRows): Uint32Array {
  const places = placesOf(pool, level, split);
  const sorted = new Uint32Array(places.length);
  for (const place of places) sorted[pool.columns.ranks[place]!] = place;
  return sorted;
}

/** Merges the sorted sets of rows into one order. In each step it takes the easiest of the sets' next rows. */
function orderOf(parts: readonly ArmRows[]): Order {
  const heads = parts.map((part) => {
    const sorted = sortedPlaces(part);
    return { columns: part.pool.columns, sorted, easier: new Uint32Array(sorted.length), next: 0 };
  });
  type Head = (typeof heads)[number];
  const isEasier = (a: Head, b: Head): boolean => {
    const [one, other] = [a.sorted[a.next]!, b.sorted[b.next]!];
    const by = a.columns.difficulties[one]! - b.columns.difficulties[other]!;
    if (by !== 0) return by < 0;
    const { hashes } = a.columns;
    const high = hashes[2 * one]! - b.columns.hashes[2 * other]!;
    return (high || hashes[2 * one + 1]! - b.columns.hashes[2 * other + 1]!) < 0;
  };
  const total = heads.reduce((sum, { sorted }) => sum + sorted.length, 0);
  for (let before = 0; before < total; before++) {
    let least: Head | undefined;
    for (const head of heads) {
      if (head.next === head.sorted.length) continue;
      if (least === undefined || isEasier(head, least)) least = head;
    }
    if (least !== undefined) least.easier[least.next++] = before;
  }
  return { total, easier: new Map(heads.map(({ easier }, i) => [parts[i]!.name, easier])) };
}
