/**
 * Solves set cover exactly: branch and bound on the rarest element, with dominance between subsets and between
 * elements.
 */
import type { Solution } from "../../../environment.ts";
import { lowestBit } from "../../../lib/bit-matrix.ts";
import type { IndexList as Cover } from "../../../lib/parse-lists.ts";
import type { SetCoverInstance } from "../generate.ts";
import {
  choose,
  computeGains,
  countWithin,
  descend,
  drop,
  isCovered,
  isIn,
  record,
  reduce,
  type Search,
  searchOf,
} from "./state.ts";

// Integer that represents a weight of 1. The weights of 200 elements fit 32 bits, and rounding down keeps a bound
// valid.

const UNIT = 2 ** 22;

/**
 * Returns a lower bound on the number of further subsets that a node needs. It is 0 only if everything is covered. Each
 * uncovered element weighs 1 over the largest gain of a subset that holds it. Hence no subset covers a weight above 1,
 * and the node needs at least as many subsets as the total weight. This is a dual solution of the linear relaxation.
 */
function subsetsAtLeast(s: Search, depth: number): number {
  computeGains(s, depth);
  const { weight: most, elementWords: words, uncovered, holds, gain } = s;
  most.fill(0);
  for (let subset = 0; subset < s.subsets; subset++) {
    const own = gain[subset]!;
    for (let w = 0; own > 0 && w < words; w++) {
      for (let word = holds[subset * words + w]! & uncovered[depth * words + w]!; word !== 0; word &= word - 1) {
        const e = w * 32 + lowestBit(word);
        if (own > most[e]!) most[e] = own;
      }
    }
  }
  let sum = 0;
  for (const gainMost of most) if (gainMost > 0) sum += Math.floor(UNIT / gainMost);
  return Math.ceil(sum / UNIT);
}

const ROUNDS = 300;

/**
 * Returns a lower bound on the size of any cover, by subgradient ascent on the Lagrangian dual. For any weights of the
 * elements, a cover needs at least their sum minus, for each subset, its weight beyond 1. See Beasley, "A Lagrangian
 * heuristic for set-covering problems", 1990. The weights are integers, so the sum is exact. `upper` is the size of a
 * known cover.
 */
function subsetsAtLeastOverall(s: Search, upper: number): number {
  const { subsets, elements, elementWords, holds, weight } = s;
  const lists = Array.from({ length: subsets }, (_, subset) =>
    Array.from({ length: elements }, (_, e) => e).filter((e) => isIn(holds, elementWords, subset, e)),
  );
  const slope = new Int32Array(elements);
  weight.fill(Math.floor((UNIT * upper) / elements));
  let best = 0;
  let step = 1;
  for (let round = 0; round < ROUNDS; round++) {
    const value = dual(lists, weight, slope);
    if (value > best) best = value;
    else step *= 0.98;
    const steepness = slope.reduce((sum, g) => sum + g * g, 0);
    if (steepness === 0) break;
    const stride = (step * (upper * UNIT - value)) / steepness;
    for (let e = 0; e < elements; e++)
      weight[e] = Math.min(UNIT, Math.max(0, Math.round(weight[e]! + stride * slope[e]!)));
  }
  return Math.ceil(best / UNIT);
}

/**
 * Returns the value of the Lagrangian dual at these weights, times UNIT. Sets `slope` of each element to 1 minus the
 * number of subsets with a weight above 1 that contain it.
 */
function dual(lists: readonly (readonly number[])[], weight: Int32Array, slope: Int32Array): number {
  slope.fill(1);
  let value = weight.reduce((sum, each) => sum + each, 0);
  for (const list of lists) {
    const beyond = list.reduce((sum, e) => sum + weight[e]!, 0) - UNIT;
    if (beyond <= 0) continue;
    value -= beyond;
    for (const e of list) slope[e]!--;
  }
  return value;
}

/** Finds a first cover: repeatedly chooses the subset that covers the most remaining elements. */
function coverGreedily(s: Search): void {
  descend(s, 0);
  let count = 0;
  while (!isCovered(s, 1)) {
    computeGains(s, 1);
    const subset = s.gain.reduce((best, gain, candidate) => (gain > s.gain[best]! ? candidate : best), 0);
    s.chosen[count++] = subset;
    choose(s, 1, subset);
  }
  record(s, count);
}

/** Explores the node whose first `count` subsets are chosen. No cover that contains them is smaller than `bound`. */
function explore(s: Search, depth: number, count: number, bound: number): void {
  if (s.nodes >= s.nodesMax) {
    s.openBound = Math.min(s.openBound, bound);
    return;
  }
  s.nodes++;
  if (count + subsetsAtLeast(s, depth) >= s.size) return;
  const chosen = reduce(s, depth, count);
  if (chosen < 0 || chosen >= s.size) return;
  if (isCovered(s, depth)) {
    record(s, chosen);
    return;
  }
  const raised = Math.max(bound, chosen + subsetsAtLeast(s, depth));
  for (const subset of options(s, depth, rarest(s, depth))) {
    if (raised >= s.size) return;
    s.chosen[chosen] = subset;
    descend(s, depth);
    choose(s, depth + 1, subset);
    explore(s, depth + 1, chosen + 1, raised);
    // All covers with this subset were explored.
    drop(s.usable, s.subsetWords, depth, subset);
  }
}

/** Returns the uncovered element that the fewest usable subsets hold, to branch on. */
function rarest(s: Search, depth: number): number {
  let found = -1;
  let fewest = Infinity;
  for (let e = 0; e < s.elements; e++) {
    if (!isIn(s.uncovered, s.elementWords, depth, e)) continue;
    const count = countWithin(s.heldBy, s.subsetWords, e, s.usable, depth);
    if (count >= fewest) continue;
    found = e;
    fewest = count;
  }
  return found;
}

/** Returns the usable subsets that hold an element. Subsets that cover the most uncovered elements come first. */
function options(s: Search, depth: number, element: number): readonly number[] {
  const list: number[] = [];
  for (let subset = 0; subset < s.subsets; subset++) {
    if (isIn(s.usable, s.subsetWords, depth, subset) && isIn(s.holds, s.elementWords, subset, element)) {
      list.push(subset);
    }
  }
  return list.sort((a, b) => s.gain[b]! - s.gain[a]! || a - b);
}

/** Finds a smallest cover. Its subsets are in ascending order. */
export function solve(instance: SetCoverInstance, nodesMax = nodesMaxDefault(instance)): Solution<Cover> {
  const search = searchOf(instance.subsets, nodesMax);
  coverGreedily(search);
  explore(search, 0, 0, 1);
  const { best, size, openBound, nodes } = search;
  const answer = Array.from(best.subarray(0, size)).sort((a, b) => a - b);
  // Compare with a stronger bound at the root, because the bounds of open nodes are hardly better than the root's.
  const bound = openBound < size ? Math.min(size, Math.max(openBound, subsetsAtLeastOverall(search, size))) : size;
  return { answer, value: size, bound, proven: bound === size, nodes };
}

/** Returns the size of the cover that takes all subsets. */
export function trivial({ subsets }: SetCoverInstance): number {
  return subsets.rows;
}

/**
 * Returns the default maximum number of search nodes: about one second of CPU time, because a node costs about subsets
 * × elements. 30 subsets and 40 elements never reach it.
 */
function nodesMaxDefault({ subsets }: SetCoverInstance): number {
  return Math.ceil(3.5e8 / (subsets.rows * subsets.columns));
}
