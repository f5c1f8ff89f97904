/**
 * Generates items as the papers' public code does for its benchmark (OliverLeeXZ/NP-Engine, NP_tasks/knapsack). The
 * total weight of some items, times a factor, is the capacity. Of the other items, four in ten are heavy and of low
 * value per weight, and four in ten are light and of low value per weight. Two in ten are traps: they weigh at least
 * half as much as all items that set the capacity, and have the same value per weight.
 */
import { type Rng, sample } from "../../lib/rng.ts";
import type { Range } from "../../parameters.ts";

const HEAVY: Range = [300, 600];
const CHEAP: Range = [30, 100];
/** Value per weight of heavy and of light items, which is low. */
const POOR: Range = [0.8, 1.1];
/** Weight of a trap, as a share of the total weight of the items that set the capacity. */
const TRAP: Range = [0.5, 0.9];
const HEAVY_SHARE = 0.4;
const CHEAP_SHARE = 0.4;

/** Maximum value of an item, because values must fit 32 bits. */
const VALUE_MAX = 2 ** 31 - 1;
/** Limit of total weight times greatest value, below which the solver's bounds are exact. */
const EXACT_MAX = 2 ** 53;

interface Sizes {
  readonly items_min: number;
  readonly items_max: number;
  readonly planted_min: number;
  readonly planted_max: number;
  readonly weight_min: number;
  readonly weight_max: number;
  readonly ratio_min: number;
  readonly ratio_max: number;
  readonly factor_min: number;
  readonly factor_max: number;
}

interface Item {
  readonly weight: number;
  readonly value: number;
}

/** Returns an error text if items of these sizes could exceed exact arithmetic, or undefined if they cannot. */
export function sizesProblem(p: Sizes): string | undefined {
  const planted = p.planted_max * p.weight_max;
  const trap = Math.floor(TRAP[1] * planted);
  const weight = Math.max(trap, HEAVY[1], p.weight_max);
  const value = weight * Math.max(p.ratio_max, POOR[1]);
  const total = planted + Math.max(...otherEnds(p)) * weight;
  if (value <= VALUE_MAX && total * value < EXACT_MAX) return undefined;
  return `planted_max, weight_max or ratio_max is too large with reference = 1: a trap of weight ${trap} may be worth ${Math.floor(value)}, which exceeds exact arithmetic`;
}

/** Returns the two limits, in any order, of the number of items that do not set the capacity. */
function otherEnds(p: Sizes): Range {
  return [p.items_min - p.planted_min, p.items_max - p.planted_max];
}

/** Returns the capacity, and the weight and value of each item. */
export function makeItems(p: Sizes, rng: Rng) {
  const ratio: Range = [p.ratio_min, p.ratio_max];
  const planted = Array.from({ length: rng.int(p.planted_min, p.planted_max) }, () =>
    itemOf(rng.int(p.weight_min, p.weight_max), ratio, rng),
  );
  const weight = planted.reduce((sum, item) => sum + item.weight, 0);
  const ends = otherEnds(p);
  const others = Array.from({ length: rng.int(Math.min(...ends), Math.max(...ends)) }, () =>
    otherItem(weight, ratio, rng),
  );
  const capacity = Math.floor(weight * between([p.factor_min, p.factor_max], rng));
  const items = [...planted, ...others];
  const order = sample(items.length, items.length, rng).map((i) => items[i] as Item);
  return {
    capacity,
    weights: Int32Array.from(order, (item) => item.weight),
    values: Int32Array.from(order, (item) => item.value),
  };
}

function otherItem(planted: number, ratio: Range, rng: Rng): Item {
  const kind = rng.float();
  if (kind < HEAVY_SHARE) return itemOf(rng.int(...HEAVY), POOR, rng);
  if (kind < HEAVY_SHARE + CHEAP_SHARE) return itemOf(rng.int(...CHEAP), POOR, rng);
  const [least, most] = TRAP.map((share) => Math.max(1, Math.floor(planted * share))) as [number, number];
  return itemOf(rng.int(least, most), ratio, rng);
}

function itemOf(weight: number, ratio: Range, rng: Rng): Item {
  return { weight, value: Math.max(1, Math.floor(weight * between(ratio, rng))) };
}

function between([min, max]: Range, rng: Rng): number {
  return min + (max - min) * rng.float();
}
