/** The exact solver: branch and bound on the rarest element, with dominance on both sides. */
import type { Solution } from "../../../environment.ts";
import { type BitMatrix, lowestBit } from "../../../lib/bit-matrix.ts";
import type { IndexList as Cover } from "../../../lib/lists.ts";
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

// Weights are whole numbers of these units: those of 200 elements fit 32 bits, and rounding down keeps a bound valid.

const UNIT = 2 ** 22;

/**
 * How many more subsets a node takes at least; 0 only if all is covered. Each uncovered element weighs 1 over the largest
 * gain of a subset that holds it. So no subset covers a weight above 1, and it takes as many as all weigh together (a
 * dual solution of the linear relaxation).
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
 * How many subsets any cover takes at least, by subgradient ascent on the Lagrangian dual: whatever the weights of the
 * elements, a cover takes their sum less what each subset holds beyond 1 (Beasley, "A Lagrangian heuristic for
 * set-covering problems", 1990). The weights are whole numbers, so the sum is exact; `upper` is the size of a cover.
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

/** The dual's value at these weights, in units; its slope says how often each element is left out of what pays. */
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

/** A first cover: always the subset that covers most of what is left. */
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

/** Explores the node whose first `count` subsets are chosen; no cover that contains them is smaller than `bound`. */
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
    // All covers with this subset are seen.
    drop(s.usable, s.subsetWords, depth, subset);
  }
}

/** The uncovered element that the fewest usable subsets hold. */
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

/** The usable subsets that hold an element, those that cover most first. */
function options(s: Search, depth: number, element: number): readonly number[] {
  const list: number[] = [];
  for (let subset = 0; subset < s.subsets; subset++) {
    if (isIn(s.usable, s.subsetWords, depth, subset) && isIn(s.holds, s.elementWords, subset, element)) {
      list.push(subset);
    }
  }
  return list.sort((a, b) => s.gain[b]! - s.gain[a]! || a - b);
}

export interface CoverSolution {
  /** Ascending. */
  readonly cover: readonly number[];
  readonly value: number;
  /** Certified: no cover is smaller. */
  readonly bound: number;
  readonly proven: boolean;
  /** Branch-and-bound nodes searched. */
  readonly nodes: number;
}

/** A smallest choice of rows with a one in every column; each column has one. */
function solveSetCover(subsets: BitMatrix, nodesMax: number): CoverSolution {
  const search = searchOf(subsets, nodesMax);
  coverGreedily(search);
  explore(search, 0, 0, 1);
  const { best, size, openBound, nodes } = search;
  const cover = Array.from(best.subarray(0, size)).sort((a, b) => a - b);
  // Where nodes were left open, their bounds are hardly better than the root's, which more work can raise.
  const bound = openBound < size ? Math.min(size, Math.max(openBound, subsetsAtLeastOverall(search, size))) : size;
  return { cover, value: size, bound, proven: bound === size, nodes };
}

export function solve(instance: SetCoverInstance, nodesMax = nodesMaxDefault(instance)): Solution<Cover> {
  const { cover, ...rest } = solveSetCover(instance.subsets, nodesMax);
  return { answer: cover, ...rest };
}

/** The objective of all subsets together. */
export function trivial({ subsets }: SetCoverInstance): number {
  return subsets.rows;
}

/** A node costs about subsets × elements: this is about a second of CPU time, and never reached at 30 and 40. */
function nodesMaxDefault({ subsets }: SetCoverInstance): number {
  return Math.ceil(3.5e8 / (subsets.rows * subsets.columns));
}
