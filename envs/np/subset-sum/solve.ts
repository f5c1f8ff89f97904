/** Solves subset sum exactly: dynamic programming finds the largest count of numbers for each sum. */
import type { Solution } from "../../environment.ts";
import { solveCore } from "../../lib/knapsack-core.ts";
import type { IndexList as Subset } from "../../lib/parse-lists.ts";
import type { SubsetSumInstance } from "./generate.ts";

/**
 * Maximum number of states of the dynamic programming. It limits 500 numbers to half a second of CPU time; the
 * benchmark level needs fewer than 1,000 states.
 */
const STATES_MAX = 5_000_000;

export function solve({ target, numbers, planted }: SubsetSumInstance, nodesMax = STATES_MAX): Solution<Subset> {
  const order = [...numbers.keys()].sort((a, b) => (numbers[a] as number) - (numbers[b] as number) || a - b);
  // Pose a knapsack problem whose capacity must be filled exactly: each number is a weight of value 1. Small numbers
  // come first.
  const weights = order.map((index) => numbers[index] as number);
  const problem = { weights, values: order.map(() => 1), capacity: target, exact: true };
  const core = solveCore(problem, planted.length, nodesMax);
  const swapped = core.value < core.bound ? fillBySwaps(weights, target, core.value) : undefined;
  const subset = (swapped ?? core.chosen)?.map((position) => order[position] as number) ?? planted;
  const answer = [...subset].sort((a, b) => a - b);
  const value = answer.length;
  return { answer, value, bound: core.bound, proven: value === core.bound, nodes: core.states };
}

/** Returns the objective of the empty set. It is 0 for any target. */
export function trivial(): number {
  return 0;
}

// The functions below improve the choice if the dynamic programming runs out of states. There are then many numbers of
// many sizes, and nearly any sum can be made. The functions take as many of the smallest numbers as fit, then swap a
// few for larger ones until the sum is exact.

/**
 * Maximum number of pairs of a chosen and another number that the swaps examine, about a tenth of a second of CPU time.
 */
const PAIRS_MAX = 10_000_000;

interface Swaps {
  /** Numbers of the task, ascending. */
  readonly numbers: readonly number[];
  /** Positions in `numbers` of the chosen numbers. */
  readonly inside: number[];
  /** Positions in `numbers` of the numbers that are not chosen. */
  readonly outside: number[];
  /**
   * One swap for each amount that a swap can add to the sum, from minus the largest number to plus the largest number.
   * A swap is stored as inside index · numbers.length + outside index + 1, or 0 for none.
   */
  readonly byDifference: Int32Array;
  /** Target minus the current sum. */
  lacking: number;
}

/** Index in `inside` of the number to remove, and index in `outside` of the number to add. */
type Swap = readonly [out: number, into: number];

/** Returns the positions of more than `least` numbers that sum to the target, or undefined if none were found. */
function fillBySwaps(numbers: readonly number[], target: number, least: number): readonly number[] | undefined {
  let [count, sum] = [0, 0];
  while (count < numbers.length && sum + numbers[count]! <= target) sum += numbers[count++]!;
  const byDifference = new Int32Array(2 * numbers.at(-1)! + 1);
  for (let left = PAIRS_MAX; count > least && left > 0; sum -= numbers[--count]!) {
    const positions = [...numbers.keys()];
    const lists = { inside: positions.slice(0, count), outside: positions.slice(count) };
    const swaps: Swaps = { numbers, byDifference, ...lists, lacking: target - sum };
    const pairs = 2 * count * (numbers.length - count);
    for (; swaps.lacking > 0 && left > 0; left -= pairs) if (!improve(swaps)) break;
    if (swaps.lacking === 0) return swaps.inside;
  }
  return undefined;
}

/**
 * Makes the one or two swaps that reach the target, or the swap that adds most without exceeding it. Returns false if
 * no swap helps.
 */
function improve(swaps: Swaps): boolean {
  const largest = collect(swaps);
  if (largest === undefined) return false;
  const pair = differenceOf(swaps, largest) < swaps.lacking ? twoSwaps(swaps) : undefined;
  for (const swap of pair ?? [largest]) apply(swaps, swap);
  return true;
}

/**
 * Stores a swap for each possible difference. Returns the swap that adds most without exceeding the amount that the sum
 * lacks.
 */
function collect(swaps: Swaps): Swap | undefined {
  const { numbers, inside, outside, byDifference, lacking } = swaps;
  byDifference.fill(0);
  const zero = byDifference.length >>> 1;
  let [largest, found]: [number, Swap | undefined] = [0, undefined];
  for (let out = 0; out < inside.length; out++) {
    for (let into = 0; into < outside.length; into++) {
      const difference = numbers[outside[into]!]! - numbers[inside[out]!]!;
      byDifference[zero + difference] = out * numbers.length + into + 1;
      if (difference <= largest || difference > lacking) continue;
      [largest, found] = [difference, [out, into]];
    }
  }
  return found;
}

/**
 * Returns two swaps of four different numbers that together add the amount that the sum lacks. Returns undefined if the
 * stored swaps contain none.
 */
function twoSwaps(swaps: Swaps): readonly [Swap, Swap] | undefined {
  const { numbers, inside, outside, byDifference, lacking } = swaps;
  const zero = byDifference.length >>> 1;
  for (let out = 0; out < inside.length; out++) {
    for (let into = 0; into < outside.length; into++) {
      const other = byDifference[zero + lacking - (numbers[outside[into]!]! - numbers[inside[out]!]!)] ?? 0;
      if (other === 0) continue;
      const second: Swap = [Math.floor((other - 1) / numbers.length), (other - 1) % numbers.length];
      if (second[0] !== out && second[1] !== into) return [[out, into], second];
    }
  }
  return undefined;
}

function differenceOf({ numbers, inside, outside }: Swaps, [out, into]: Swap): number {
  return numbers[outside[into]!]! - numbers[inside[out]!]!;
}

function apply(swaps: Swaps, swap: Swap): void {
  const { inside, outside } = swaps;
  const [out, into] = swap;
  swaps.lacking -= differenceOf(swaps, swap);
  [inside[out], outside[into]] = [outside[into]!, inside[out]!];
}
