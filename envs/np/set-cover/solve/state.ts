/**
 * Holds which subset contains which element, in both directions, and the state of a search. Sets are rows of bits in
 * 32-bit words.
 */
import { bitCount, type BitMatrix, hasBit } from "../../../lib/bit-matrix.ts";

export interface Search {
  readonly subsets: number;
  readonly elements: number;
  /** Number of 32-bit words in a set of elements. */
  readonly elementWords: number;
  /** Number of 32-bit words in a set of subsets. */
  readonly subsetWords: number;
  /** Set of the elements of each subset, as rows of bits. */
  readonly holds: Int32Array;
  /** Set of the subsets that hold each element, as rows of bits. */
  readonly heldBy: Int32Array;
  /** Elements still to cover, as a row of bits for each depth of the search. */
  readonly uncovered: Int32Array;
  /** Subsets that may still be chosen, as a row of bits for each depth of the search. */
  readonly usable: Int32Array;
  /** Number of uncovered elements that each usable subset covers. */
  readonly gain: Int32Array;
  /** Scratch memory for computing a bound, with one number for each element. */
  readonly weight: Int32Array;
  readonly chosen: Int32Array;
  /** Smallest cover found, in the first `size` entries. `size` is Infinity before the first one. */
  readonly best: Int32Array;
  size: number;
  nodes: number;
  /** Maximum number of nodes. The search then leaves the remaining nodes unexplored. */
  readonly nodesMax: number;
  /** Least bound of the nodes left unexplored. Infinity if the search was complete. */
  openBound: number;
}

/** Creates a search at its root, with nothing covered. Every element must be in at least one subset. */
export function searchOf(subsets: BitMatrix, nodesMax: number): Search {
  const { rows, columns } = subsets;
  const [elementWords, subsetWords] = [(columns + 31) >>> 5, (rows + 31) >>> 5];
  const holds = new Int32Array(subsets.bits);
  const heldBy = new Int32Array(columns * subsetWords);
  for (let s = 0; s < rows; s++) {
    for (let e = 0; e < columns; e++) if (hasBit(subsets, s, e)) heldBy[e * subsetWords + (s >>> 5)]! |= 1 << (s & 31);
  }
  // Number of depths of the search: 0 to `columns`, because each choice covers at least one more element.
  const depths = columns + 1;
  const uncovered = new Int32Array(depths * elementWords);
  for (let e = 0; e < columns; e++) uncovered[e >>> 5]! |= 1 << (e & 31);
  const usable = new Int32Array(depths * subsetWords);
  for (let s = 0; s < rows; s++) usable[s >>> 5]! |= 1 << (s & 31);
  const sizes = { subsets: rows, elements: columns, elementWords, subsetWords };
  const scratch = { gain: new Int32Array(rows), weight: new Int32Array(columns) };
  const lists = { chosen: new Int32Array(columns), best: new Int32Array(columns) };
  return {
    ...sizes,
    holds,
    heldBy,
    uncovered,
    usable,
    ...scratch,
    ...lists,
    size: Infinity,
    nodes: 0,
    nodesMax,
    openBound: Infinity,
  };
}

export function isIn(sets: Int32Array, words: number, row: number, member: number): boolean {
  return ((sets[row * words + (member >>> 5)]! >>> (member & 31)) & 1) === 1;
}

export function drop(sets: Int32Array, words: number, row: number, member: number): void {
  sets[row * words + (member >>> 5)]! &= ~(1 << (member & 31));
}

/** Returns how many members row `a` of `sets` has in common with row `row` of `within`. */
export function countWithin(sets: Int32Array, words: number, a: number, within: Int32Array, row: number): number {
  let count = 0;
  for (let w = 0; w < words; w++) count += bitCount(sets[a * words + w]! & within[row * words + w]!);
  return count;
}

/** Chooses a subset at a depth: removes its elements from the uncovered ones, and the subset from the usable ones. */
export function choose(s: Search, depth: number, subset: number): void {
  const { elementWords: words, uncovered, holds } = s;
  for (let w = 0; w < words; w++) uncovered[depth * words + w]! &= ~holds[subset * words + w]!;
  drop(s.usable, s.subsetWords, depth, subset);
}

/** Computes how many uncovered elements each subset covers, 0 for a subset that is not usable. */
export function computeGains(s: Search, depth: number): void {
  for (let subset = 0; subset < s.subsets; subset++) {
    const usable = isIn(s.usable, s.subsetWords, depth, subset);
    s.gain[subset] = usable ? countWithin(s.holds, s.elementWords, subset, s.uncovered, depth) : 0;
  }
}

export function isCovered({ uncovered, elementWords: words }: Search, depth: number): boolean {
  for (let w = 0; w < words; w++) if (uncovered[depth * words + w] !== 0) return false;
  return true;
}

/** Copies the uncovered elements and the usable subsets of this depth to the next depth, where the search continues. */
export function descend({ uncovered, elementWords, usable, subsetWords }: Search, depth: number): void {
  uncovered.copyWithin((depth + 1) * elementWords, depth * elementWords, (depth + 1) * elementWords);
  usable.copyWithin((depth + 1) * subsetWords, depth * subsetWords, (depth + 1) * subsetWords);
}

/** Stores the first `size` chosen subsets as the smallest cover found. */
export function record(s: Search, size: number): void {
  s.best.set(s.chosen.subarray(0, size));
  s.size = size;
}
