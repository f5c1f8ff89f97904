/**
 * Computes a certified bound on the length of a cycle from separators. Suppose that removing s ≥ 1 vertices
 * (separators) leaves a graph in parts. Without the separators that it visits, a cycle is at most s paths, each within
 * one part. It therefore has at most s vertices plus those of the s largest parts.
 */
import { bitCount, countOnes, lowestBit } from "../../../lib/bit-matrix.ts";
import type { BitMatrix } from "../../../lib/bit-matrix.ts";

/** Set of vertices as bits, 32 to a word. */
export type VertexSet = Uint32Array;

export interface Separation {
  readonly separators: VertexSet;
  /** Upper bound on the number of vertices of a cycle. */
  readonly bound: number;
  /**
   * Number of parts minus number of separators, or −1 without separators. If it is not negative, a cycle that meets the
   * bound visits as many parts as there are separators.
   */
  readonly surplus: number;
}

export function has(set: VertexSet, v: number): boolean {
  return ((set[v >>> 5]! >>> (v & 31)) & 1) === 1;
}

export function toggle(set: VertexSet, v: number): void {
  set[v >>> 5] = set[v >>> 5]! ^ (1 << (v & 31));
}

export function sizeOf(set: VertexSet): number {
  let size = 0;
  for (const word of set) size += bitCount(word);
  return size;
}

export function setOf(vertices: Iterable<number>, words: number): VertexSet {
  const set = new Uint32Array(words);
  for (const v of vertices) toggle(set, v);
  return set;
}

/** Returns the connected part that contains `start`, and removes its vertices from `left`. */
function takePart({ words, bits }: BitMatrix, start: number, left: VertexSet): VertexSet {
  const part = new Uint32Array(words);
  const fresh = new Uint32Array(words);
  toggle(fresh, start);
  toggle(left, start);
  for (let w = 0; w < words;) {
    const word = fresh[w]!;
    if (word === 0) {
      w++;
      continue;
    }
    const v = w * 32 + lowestBit(word);
    toggle(fresh, v);
    toggle(part, v);
    for (let k = 0; k < words; k++) {
      const next = bits[v * words + k]! & left[k]!;
      fresh[k] = fresh[k]! | next;
      left[k] = left[k]! & ~next;
    }
    w = 0;
  }
  return part;
}

/** Returns the connected parts of the vertices in `present` after the separators are removed. */
export function partsOf(adjacency: BitMatrix, present: VertexSet, separators: VertexSet): readonly VertexSet[] {
  const left = present.map((word, w) => word & ~separators[w]!);
  const parts: VertexSet[] = [];
  for (let w = 0; w < left.length; w++) {
    while (left[w] !== 0) parts.push(takePart(adjacency, w * 32 + lowestBit(left[w]!), left));
  }
  return parts;
}

function separationBy(adjacency: BitMatrix, present: VertexSet, separators: VertexSet): Separation {
  const sizes = partsOf(adjacency, present, separators).map(sizeOf);
  const count = sizeOf(separators);
  const surplus = count === 0 ? -1 : sizes.length - count;
  // Count the largest part also without separators, because a cycle then lies within one part.
  const kept = sizes.sort((a, b) => b - a).slice(0, Math.max(1, count));
  return { separators, surplus, bound: kept.reduce((sum, size) => sum + size, count) };
}

/**
 * Orders separations: the smaller bound first. Of equal bounds, the one with more surplus parts is closer to a better
 * bound.
 */
function byBound(one: Separation, other: Separation): number {
  return one.bound - other.bound || other.surplus - one.surplus;
}

/**
 * Returns the best separation that a local search finds. For each k, the search starts from the neighbours of the k
 * vertices of least degree as separators. The best `climbs` starts are then improved by adding or removing single
 * vertices. Stops at a bound of at most `enough`.
 */
export function searchSeparators(adjacency: BitMatrix, present: VertexSet, enough: number, climbs: number): Separation {
  const starts = [separationBy(adjacency, present, new Uint32Array(adjacency.words))];
  for (const separators of neighbourhoods(adjacency, present)) {
    const start = separationBy(adjacency, present, separators);
    if (start.bound <= enough) return start;
    starts.push(start);
  }
  starts.sort(byBound);
  let best = starts[0]!;
  for (const start of starts.slice(0, climbs)) {
    const climbed = improved(adjacency, present, start, enough);
    if (byBound(climbed, best) < 0) best = climbed;
    if (best.bound <= enough) break;
  }
  return best;
}

function* neighbourhoods(adjacency: BitMatrix, present: VertexSet): Generator<VertexSet> {
  const { words, bits, rows } = adjacency;
  const order = Array.from({ length: rows }, (_, v) => v).filter((v) => has(present, v));
  const degree = order.map((v) => countOnes(adjacency, v));
  const degreeOf = new Map(order.map((v, i) => [v, degree[i]!]));
  order.sort((a, b) => degreeOf.get(a)! - degreeOf.get(b)!);
  const inner = new Uint32Array(words);
  const around = new Uint32Array(words);
  for (const v of order) {
    toggle(inner, v);
    for (let w = 0; w < words; w++) around[w] = around[w]! | bits[v * words + w]!;
    const separators = around.map((word, w) => word & ~inner[w]! & present[w]!);
    // Skip separators that are at least half of all vertices. They leave at most as many parts as separators, so their
    // bound would be all vertices.
    if (2 * sizeOf(separators) < order.length) yield separators;
  }
}

/** Adds or removes single separators while that improves the separation. Stops at a bound of at most `enough`. */
function improved(adjacency: BitMatrix, present: VertexSet, start: Separation, enough: number): Separation {
  let best = start;
  for (let v = 0, since = 0; since < adjacency.rows && best.bound > enough; v = (v + 1) % adjacency.rows, since++) {
    if (!has(present, v)) continue;
    const separators = best.separators.slice();
    toggle(separators, v);
    const next = separationBy(adjacency, present, separators);
    if (byBound(next, best) >= 0) continue;
    best = next;
    since = 0;
  }
  return best;
}
