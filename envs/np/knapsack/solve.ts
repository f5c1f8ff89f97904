/** Solves knapsack exactly: a greedy choice first, then dynamic programming for a better one. */
import type { Solution } from "../../environment.ts";
import { solveCore } from "../../lib/knapsack-core.ts";
import { type IndexList as Choice, sumAt } from "../../lib/parse-lists.ts";
import type { KnapsackInstance } from "./generate.ts";

/**
 * Maximum number of states of the dynamic programming. It limits 500 items to half a second of CPU time; the benchmark
 * level needs fewer than 5,000 states.
 */
const STATES_MAX = 5_000_000;

export function solve(instance: KnapsackInstance, nodesMax = STATES_MAX): Solution<Choice> {
  const { weights, values, capacity } = instance;
  const order = byRatio(instance);
  const problem = {
    capacity,
    exact: false,
    weights: order.map((item) => weights[item] as number),
    values: order.map((item) => values[item] as number),
  };
  const greedy = firstFit(instance, order);
  const core = solveCore(problem, sumAt(values, greedy), nodesMax);
  const found = core.chosen?.map((position) => order[position] as number) ?? greedy;
  // If the states run out, try the items in their original order too. It may give a better choice if all ratios are
  // equal, because sorting by ratio then has no effect.
  const given = core.value < core.bound ? firstFit(instance, [...weights.keys()]) : found;
  const choice = sumAt(values, given) > core.value ? given : found;
  const answer = [...choice].sort((a, b) => a - b);
  const value = sumAt(values, answer);
  return { answer, value, bound: core.bound, proven: value === core.bound, nodes: core.states };
}

/** Returns the total value of a trivial choice, which takes each item that still fits, in numerical order. */
export function trivial(instance: KnapsackInstance): number {
  return sumAt(instance.values, firstFit(instance, [...instance.weights.keys()]));
}

/** Returns the items by falling value per weight. Of items with equal ratios, the lighter comes first. */
function byRatio({ weights, values }: KnapsackInstance): readonly number[] {
  const weight = (item: number): number => weights[item] as number;
  const value = (item: number): number => values[item] as number;
  return [...weights.keys()].sort(
    (a, b) => value(b) * weight(a) - value(a) * weight(b) || weight(a) - weight(b) || a - b,
  );
}

/** Returns a choice: in the given order, each item that still fits the remaining capacity. */
function firstFit({ weights, capacity }: KnapsackInstance, order: readonly number[]): Choice {
  let free = capacity;
  return order.filter((item) => {
    const weight = weights[item] as number;
    if (weight > free) return false;
    free -= weight;
    return true;
  });
}
