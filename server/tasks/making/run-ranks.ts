/**
 * Where the rows of a run stand among each other, from easy to hard: each of all the rows that the run's arms have, or
 * those of a group of arms, by the difficulties that their pools keep. Rows that are alike are told apart by their hashes.
 */
import { LRUCache } from "lru-cache";
import type { Split } from "../../../envs/environment.ts";
import { placesOf, type Pool } from "../../../envs/pool.ts";
import { isWithin } from "../../curriculum/policies/ranks.ts";
import type { Arm, RankRange } from "../../curriculum/types.ts";
import type { TaskSpec } from "../spec.ts";

/** Orders of rows that are kept: four bytes a row each. */
const ORDERS_MAX = 32;

/** Ranks are kept in journals: six digits tell a million rows apart. */
const DIGITS = 1e6;

type RankedArm = Pick<Arm<TaskSpec>, "spec" | "rankGroup"> & { readonly removed?: boolean };

/** The rows of one arm, in the order of the run. */
export interface ArmRanks {
  /** Of the row at a place of the arm's pool: the share of rows that are easier, in [0, 1). */
  readonly at: (place: number) => number;
  /** How many of the arm's rows a slice has. */
  readonly within: (range: RankRange) => number;
}

export interface RunRanks {
  /** Undefined: the arm draws no rows, or from a pool whose rows have no ranks. `among`: all arms of its run. */
  of(arm: RankedArm, among: readonly RankedArm[]): ArmRanks | undefined;
}

/** Rows that an arm draws from. */
interface Part {
  readonly name: string;
  readonly pool: Pool;
  readonly level: string;
  readonly split: Split;
}

/** The rows of some parts together. */
interface Order {
  readonly total: number;
  /** By a part's name: how many of all rows are easier than its own, which come from the easiest to the hardest. */
  readonly easier: ReadonlyMap<string, Uint32Array>;
}

export function createRunRanks(pools: ReadonlyMap<string, Pool>): RunRanks {
  const orders = new LRUCache<string, Order>({ max: ORDERS_MAX });
  const partOf = ({ spec }: RankedArm): Part | undefined => {
    const pool = spec.source === "real" ? pools.get(spec.pool) : undefined;
    if (pool === undefined || pool.ranking.source === undefined) return undefined;
    const { level, split } = spec;
    return { name: JSON.stringify([pool.name, level, split]), pool, level, split };
  };
  /** The parts of the arms that an arm is ranked among, each once: what another measure ranks is in no order with it. */
  const partsAmong = ({ rankGroup }: RankedArm, own: Part, among: readonly RankedArm[]): readonly Part[] => {
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

function ranksIn({ total, easier }: Order, { name, pool }: Part): ArmRanks {
  const own = easier.get(name) ?? new Uint32Array(0);
  const rankOf = (before: number): number => Math.floor((DIGITS * before) / total) / DIGITS;
  /** How many of the arm's rows have a rank below a limit: ranks go up. */
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

/** Places of a part's rows, from the easiest: its pool has ranked them. */
function sortedPlaces({ pool, level, split }: Part): Uint32Array {
  const places = placesOf(pool, level, split);
  const sorted = new Uint32Array(places.length);
  for (const place of places) sorted[pool.columns.ranks[place]!] = place;
  return sorted;
}

/** Merges the parts, each of which is in order: a comparison with the head of each for every row. */
function orderOf(parts: readonly Part[]): Order {
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
