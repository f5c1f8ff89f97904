/** Solves set cover exactly, by branch and bound on the rarest element. */
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
  const raised = Math.max(bound, count + subsetsAtLeast(s, depth));
  if (raised >= s.size) return;
  if (isCovered(s, depth)) {
    record(s, count);
    return;
  }
  for (const subset of options(s, depth, rarest(s, depth))) {
    if (raised >= s.size) return;
    s.chosen[count] = subset;
    descend(s, depth);
    choose(s, depth + 1, subset);
    explore(s, depth + 1, count + 1, raised);
    // Exclude this subset from the next branches, because all covers with it were explored.
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
  const bound = Math.min(size, openBound);
  return { answer, value: size, bound, proven: bound === size, nodes };
}

/** Returns the size of the cover that takes all subsets. */
export function trivial({ subsets }: SetCoverInstance): number {
  return subsets.rows;
}

/**
 * Returns the default maximum number of search nodes: about one second of CPU time, because a node costs about subsets
 * × elements. Instances with 30 subsets and 40 elements never reach it.
 */
function nodesMaxDefault({ subsets }: SetCoverInstance): number {
  return Math.ceil(3.5e8 / (subsets.rows * subsets.columns));
}
