/**
 * Finds maximum cliques by branch and bound over bitsets, with colourings as bounds (San Segundo, Rodríguez-Losada and
 * Jiménez, "An exact bit-parallel algorithm for the maximum clique problem", 2011).
 */
import type { Solution } from "../environment.ts";
import { lowestBit } from "./bit-matrix.ts";
import { adjacent, degree, type Graph, neighbours } from "./graph.ts";

// State of a search. Vertices are numbered by their position in the search order. Arrays "by depth" have one part for
// each depth, i.e. number of chosen vertices.

interface Search {
  readonly vertices: number;
  /** Number of 32-bit words in a set of vertices. */
  readonly words: number;
  /** Set of the neighbours of each vertex. */
  readonly rows: Int32Array;
  /** By depth: the vertices adjacent to all chosen ones, without those that were already branched on. */
  readonly candidates: Int32Array;
  /** By depth: the candidates to branch on, from last to first. */
  readonly branches: Int32Array;
  /** By depth: the colours of the candidates to branch on, ascending. */
  readonly colours: Int32Array;
  /** Scratch memory of `colour`: the candidates without a colour. */
  readonly uncoloured: Int32Array;
  /** Scratch memory of `colour`: the candidates that may still get the current colour. */
  readonly available: Int32Array;
  readonly chosen: Int32Array;
  /** Largest clique found, in the first `size` entries. */
  readonly best: Int32Array;
  size: number;
  nodes: number;
  /** Maximum number of nodes to explore. The search leaves further nodes unexplored. */
  readonly nodesMax: number;
  /** Greatest bound of the nodes left unexplored. 0 if the search was complete. */
  openBound: number;
}

function searchOf(graph: Graph, order: Int32Array, nodesMax: number): Search {
  const n = graph.vertices;
  const words = (n + 31) >>> 5;
  const sets = (count: number): Int32Array => new Int32Array(count * words);
  const rows = sets(n);
  for (let a = 0; a < n; a++) {
    for (let b = 0; b < n; b++)
      if (adjacent(graph, order[a]!, order[b]!)) rows[a * words + (b >>> 5)]! |= 1 << (b & 31);
  }
  const candidates = sets(n + 1);
  for (let v = 0; v < n; v++) candidates[v >>> 5]! |= 1 << (v & 31);
  const state = { vertices: n, words, rows, candidates, nodesMax, size: 0, nodes: 0, openBound: 0 };
  const lists = { branches: new Int32Array(n * (n + 1)), colours: new Int32Array(n * (n + 1)) };
  const scratch = { uncoloured: sets(1), available: sets(1) };
  return { ...state, ...lists, ...scratch, chosen: new Int32Array(n), best: new Int32Array(n) };
}

/** Computes the candidates of the next depth: those adjacent to v. Returns false if there are none. */
function narrow({ candidates, rows, words }: Search, depth: number, v: number): boolean {
  let any = 0;
  for (let w = 0, from = depth * words, row = v * words; w < words; w++) {
    any |= candidates[from + words + w] = candidates[from + w]! & rows[row + w]!;
  }
  return any !== 0;
}

/** Stores the first `size` chosen vertices as the largest clique. */
function record(s: Search, size: number): void {
  s.best.set(s.chosen.subarray(0, size));
  s.size = size;
}

/** Returns the first candidate at a depth of the search. There must be at least one. */
function firstCandidate({ candidates, words }: Search, depth: number): number {
  let w = 0;
  while (candidates[depth * words + w] === 0) w++;
  return w * 32 + lowestBit(candidates[depth * words + w]!);
}

// Finds a first clique without search. From each vertex, repeatedly adds the first candidate. Stores the largest
// result.

function cliqueGreedily(s: Search): void {
  for (let v = 0; v < s.vertices; v++) {
    s.chosen[0] = v;
    let size = 1;
    for (let more = narrow(s, 0, v); more; size++) {
      const next = firstCandidate(s, size);
      s.chosen[size] = next;
      more = narrow(s, size, next);
    }
    if (size > s.size) record(s, size);
  }
}

// Orders the vertices so that a vertex of least degree is last, one of least degree among the rest is before it, and
// so on. Colourings in this order use few colours. The search branches first on vertices with few candidates.

function coreFirst(graph: Graph): Int32Array {
  const { vertices } = graph;
  const lists = Array.from({ length: vertices }, (_, v) => neighbours(graph, v));
  const left = Int32Array.from({ length: vertices }, (_, v) => degree(graph, v));
  const order = new Int32Array(vertices);
  for (let place = vertices - 1; place >= 0; place--) {
    let least = -1;
    for (let v = 0; v < vertices; v++) {
      if (left[v]! >= 0 && (least < 0 || left[v]! < left[least]!)) least = v;
    }
    order[place] = least;
    left[least] = -1;
    for (const w of lists[least]!) if (left[w]! > 0) left[w] = left[w]! - 1;
  }
  return order;
}

// Colours the candidates of a depth, class by class. Lists, by ascending colour, those whose colour leaves room for a
// larger clique, because only they need branches. Returns their number.

function colour(s: Search, depth: number): number {
  const { words, uncoloured, available, branches, colours } = s;
  // Number of colour classes that need no branches. With the chosen vertices, they cannot give a clique larger than the
  // best.
  const free = s.size - depth;
  const start = depth * s.vertices;
  for (let w = 0; w < words; w++) uncoloured[w] = s.candidates[depth * words + w]!;
  let count = 0;
  for (let k = 1; !isEmpty(uncoloured); k++) {
    available.set(uncoloured);
    for (let v = takeFirst(s); v >= 0; v = takeFirst(s)) {
      if (k <= free) continue;
      branches[start + count] = v;
      colours[start + count++] = k;
    }
  }
  return count;
}

/**
 * Removes the first available vertex from the uncoloured ones, and its neighbours from the available ones. Returns −1
 * if no vertex is available.
 */
function takeFirst({ words, rows, uncoloured, available }: Search): number {
  for (let w = 0; w < words; w++) {
    const word = available[w]!;
    if (word === 0) continue;
    const v = w * 32 + lowestBit(word);
    const rest = ~(word & -word);
    uncoloured[w]! &= rest;
    available[w] = word & rest;
    for (let u = w, row = v * words; u < words; u++) available[u]! &= ~rows[row + u]!;
    return v;
  }
  return -1;
}

function isEmpty(set: Int32Array): boolean {
  for (const word of set) if (word !== 0) return false;
  return true;
}

// Explores the node with `depth` chosen vertices. No clique that contains these vertices is larger than `bound`.

function explore(s: Search, depth: number, bound: number): void {
  if (s.nodes >= s.nodesMax) {
    s.openBound = Math.max(s.openBound, bound);
    return;
  }
  s.nodes++;
  const start = depth * s.vertices;
  for (let at = start + colour(s, depth) - 1; at >= start; at--) {
    // `colours[at]` is the number of colours of the candidates up to this one. A clique has at most one vertex of each
    // colour.
    const reach = depth + s.colours[at]!;
    if (reach <= s.size) return;
    const v = s.branches[at]!;
    s.chosen[depth] = v;
    if (narrow(s, depth, v)) explore(s, depth + 1, reach);
    else if (depth + 1 > s.size) record(s, depth + 1);
    s.candidates[depth * s.words + (v >>> 5)]! &= ~(1 << (v & 31));
  }
}

/** Default budget of nodes: about one second at 128 vertices, and never used up at 50. */
export const CLIQUE_NODES_MAX = 150_000;

/**
 * Finds a maximum clique of a graph with at least one vertex. If the search uses up its nodes, returns the largest
 * clique found, and a bound on the size of every clique. The vertices ascend.
 */
export function maxClique(graph: Graph, nodesMax: number): Solution<readonly number[]> {
  const order = coreFirst(graph);
  const search = searchOf(graph, order, nodesMax);
  cliqueGreedily(search);
  explore(search, 0, graph.vertices);
  const { best, size, openBound, nodes } = search;
  const answer = Array.from(best.subarray(0, size), (v) => order[v] as number).sort((a, b) => a - b);
  const bound = Math.max(size, openBound);
  return { answer, value: size, bound, proven: bound === size, nodes };
}
