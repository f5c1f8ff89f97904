/** Independent exact methods on the knapsack problem, to check the solver against. */
import type { KnapsackInstance } from "../../../../envs/np/knapsack/generate.ts";

/** Every choice: 2^items steps. */
export function bestOfAll({ capacity, weights, values }: KnapsackInstance): number {
  let best = 0;
  for (let choice = 0; choice < 2 ** weights.length; choice++) {
    let [weight, value] = [0, 0];
    for (let item = 0; item < weights.length; item++) {
      if (((choice >> item) & 1) === 0) continue;
      weight += weights[item]!;
      value += values[item]!;
    }
    if (weight <= capacity) best = Math.max(best, value);
  }
  return best;
}

/** Depth-first branch and bound with the linear relaxation (Horowitz and Sahni 1974). */
export function branchAndBound({ capacity, weights, values }: KnapsackInstance): number {
  const ratio = (item: number): number => values[item]! / weights[item]!;
  const order = [...weights.keys()].sort((a, b) => ratio(b) - ratio(a));
  const relaxed = (from: number, free: number): number => {
    let value = 0;
    for (let at = from; at < order.length && free > 0; at++) {
      const item = order[at]!;
      const share = Math.min(1, free / weights[item]!);
      value += share * values[item]!;
      free -= share * weights[item]!;
    }
    return value;
  };
  let best = 0;
  const extend = (at: number, free: number, value: number): void => {
    best = Math.max(best, value);
    // Values are whole numbers.
    if (at === order.length || value + relaxed(at, free) < best + 1 - 1e-6) return;
    const item = order[at]!;
    if (weights[item]! <= free) extend(at + 1, free - weights[item]!, value + values[item]!);
    extend(at + 1, free, value);
  };
  extend(0, capacity, 0);
  return best;
}

/** The textbook's table: the largest value for each capacity. */
export function bestByCapacity({ capacity, weights, values }: KnapsackInstance): number {
  const best = new Float64Array(capacity + 1);
  for (const [item, weight] of weights.entries()) {
    for (let free = capacity; free >= weight; free--) {
      best[free] = Math.max(best[free]!, best[free - weight]! + values[item]!);
    }
  }
  return best[capacity]!;
}
