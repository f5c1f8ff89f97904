/** The exact solver: dynamic programming, from each sum to the largest count of numbers that makes it. */
import type { Solution } from "../../environment.ts";
import { solveCore } from "../../lib/core-dp.ts";
import type { IndexList as Subset } from "../../lib/lists.ts";
import type { SubsetSumInstance } from "./generate.ts";

/** Keeps 500 numbers to half a second of CPU time; benchmark level took fewer than 1,000 at most. */
const STATES_MAX = 5_000_000;

export function solve({ target, numbers, planted }: SubsetSumInstance, nodesMax = STATES_MAX): Solution<Subset> {
  const order = [...numbers.keys()].sort((a, b) => (numbers[a] as number) - (numbers[b] as number) || a - b);
  // A knapsack to be filled exactly, where each number weighs what it is and is worth 1: the small ones come first.
  const weights = order.map((index) => numbers[index] as number);
  const problem = { weights, values: order.map(() => 1), capacity: target, exact: true };
  const { chosen, value, bound, states } = solveCore(problem, planted.length, nodesMax);
  const subset = chosen?.map((position) => order[position] as number) ?? planted;
  const answer = [...subset].sort((a, b) => a - b);
  return { answer, value, bound, proven: value === bound, nodes: states };
}

/** The objective of no number at all, whatever the target. */
export function trivial(): number {
  return 0;
}
