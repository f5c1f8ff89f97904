/**
 * Holds which subset contains which element, in both directions, and the state of a search. Sets are bits in 32-bit
 * words. An array "by depth" has one row for each depth of the search.
 */
import { bitCount, type BitMatrix, hasBit } from "../../../lib/bit-matrix.ts";

export interface Search {
  readonly subsets: number;
  readonly elements: number;
  /** Number of words that hold a set of elements, and a set of subsets. */
  readonly elementWords: number;
  readonly subsetWords: number;
  /** Set of the elements of each subset, as rows of bits. */
  readonly holds: Int32Array;
  /** Set of the subsets that hold each element, as rows of bits. */
  readonly heldBy: Int32Array;
  /** Elements still to cover, and subsets that may cover them, at each depth. */
  readonly uncovered: Int32Array;
  readonly usable: Int32Array;
  /** Number of uncovered elements that each usable subset covers. */
  readonly gain: Int32Array;
  /** Scratch memory of the bounds, with one number for each element. */
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
  // Number of depths. Each choice covers at least one element, so that the deepest is `columns`.
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

/** Returns whether set a is contained in set b, as far as the members in row `row` of `within` are concerned. */
function isWithin(sets: Int32Array, words: number, a: number, b: number, within: Int32Array, row: number): boolean {
  for (let w = 0; w < words; w++) {
    if ((sets[a * words + w]! & ~sets[b * words + w]! & within[row * words + w]!) !== 0) return false;
  }
  return true;
}

/** Returns the number of members that set a shares with row `row` of `within`. */
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

/** Copies the sets of this depth to the next depth, where the search continues. */
export function descend({ uncovered, elementWords, usable, subsetWords }: Search, depth: number): void {
  uncovered.copyWithin((depth + 1) * elementWords, depth * elementWords, (depth + 1) * elementWords);
  usable.copyWithin((depth + 1) * subsetWords, depth * subsetWords, (depth + 1) * subsetWords);
}

/** Stores the first `size` chosen subsets as the smallest cover found. */
export function record(s: Search, size: number): void {
  s.best.set(s.chosen.subarray(0, size));
  s.size = size;
}

/**
 * Simplifies a node until nothing changes. Chooses each subset that alone can cover some element, and writes it to
 * `chosen` from `count` on. Returns the new count, or −1 if an element can no longer be covered.
 */
export function reduce(s: Search, depth: number, count: number): number {
  let chosen = count;
  for (let changed = true; changed;) {
    const subsetsDropped = dropSubsets(s, depth);
    const elementsDropped = dropElements(s, depth);
    const forced = chooseForced(s, depth, chosen);
    if (forced < 0) return forced;
    changed = subsetsDropped || elementsDropped || forced > chosen;
    chosen = forced;
  }
  return chosen;
}

/**
 * Drops each subset whose uncovered elements another subset also covers. Of equal subsets, the last stays. Returns
 * whether any was dropped.
 */
function dropSubsets(s: Search, depth: number): boolean {
  const { subsets, holds, elementWords, uncovered, usable, subsetWords, gain } = s;
  computeGains(s, depth);
  let dropped = false;
  for (let a = 0; a < subsets; a++) {
    if (!isIn(usable, subsetWords, depth, a)) continue;
    let needed = gain[a]! > 0;
    for (let b = 0; b < subsets && needed; b++) {
      if (b === a || gain[b]! < gain[a]!) continue;
      needed = !isWithin(holds, elementWords, a, b, uncovered, depth);
    }
    if (needed) continue;
    drop(usable, subsetWords, depth, a);
    gain[a] = 0;
    dropped = true;
  }
  return dropped;
}

/**
 * Drops each element that every cover of some other element covers too. Of equal elements, the last stays. Returns
 * whether any was dropped.
 */
function dropElements(s: Search, depth: number): boolean {
  const { elements, elementWords, uncovered, heldBy, subsetWords, usable } = s;
  let dropped = false;
  for (let e = 0; e < elements; e++) {
    if (!isIn(uncovered, elementWords, depth, e)) continue;
    for (let f = 0; f < elements; f++) {
      if (f === e || !isIn(uncovered, elementWords, depth, f)) continue;
      if (!isWithin(heldBy, subsetWords, f, e, usable, depth)) continue;
      drop(uncovered, elementWords, depth, e);
      dropped = true;
      break;
    }
  }
  return dropped;
}

/**
 * Chooses each subset that alone can cover some element. Returns the new count of chosen subsets, or −1 if no subset
 * can cover an element.
 */
function chooseForced(s: Search, depth: number, count: number): number {
  let chosen = count;
  for (let e = 0; e < s.elements; e++) {
    if (!isIn(s.uncovered, s.elementWords, depth, e)) continue;
    const options = countWithin(s.heldBy, s.subsetWords, e, s.usable, depth);
    if (options === 0) return -1;
    if (options > 1) continue;
    let only = 0;
    while (!isIn(s.usable, s.subsetWords, depth, only) || !isIn(s.heldBy, s.subsetWords, e, only)) only++;
    s.chosen[chosen++] = only;
    choose(s, depth, only);
  }
  return chosen;
}
