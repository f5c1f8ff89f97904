/**
 * Maximum cliques: branch and bound over bitsets, with colourings as bounds (San Segundo, Rodríguez-Losada and Jiménez,
 * "An exact bit-parallel algorithm for the maximum clique problem", 2011).
 */
import { lowestBit } from "./bit-matrix.ts";
import { adjacent, degree, type Graph, neighbours } from "./graph.ts";

// The state of a search; vertices are places in its order. Arrays by depth hold a slice for each clique size.

interface Search {
  readonly vertices: number;
  /** 32-bit words in a set of vertices. */
  readonly words: number;
  /** The neighbours of each vertex. */
  readonly rows: Int32Array;
  /** By depth: the vertices adjacent to all that are chosen, less those already branched on. */
  readonly candidates: Int32Array;
  /** By depth: the candidates to branch on, the last first, and their colours, which ascend. */
  readonly branches: Int32Array;
  readonly colours: Int32Array;
  /** Scratch of `colour`: the classes by colour, and two sets. */
  readonly classes: Int32Array;
  readonly uncoloured: Int32Array;
  readonly available: Int32Array;
  readonly chosen: Int32Array;
  /** The largest clique found: the first `size` of these. */
  readonly best: Int32Array;
  size: number;
  nodes: number;
  /** Nodes are left open from this count on. */
  readonly nodesMax: number;
  /** The greatest bound of the nodes left open; 0 when the search was complete. */
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
  const scratch = { classes: sets(n + 2), uncoloured: sets(1), available: sets(1) };
  return { ...state, ...lists, ...scratch, chosen: new Int32Array(n), best: new Int32Array(n) };
}

/** The candidates one deeper: those adjacent to v. False if there are none. */
function narrow({ candidates, rows, words }: Search, depth: number, v: number): boolean {
  let any = 0;
  for (let w = 0, from = depth * words, row = v * words; w < words; w++) {
    any |= candidates[from + words + w] = candidates[from + w]! & rows[row + w]!;
  }
  return any !== 0;
}

/** Keeps the first vertices chosen as the largest clique. */
function record(s: Search, size: number): void {
  s.best.set(s.chosen.subarray(0, size));
  s.size = size;
}

/** The first candidate at a depth that has any. */
function firstCandidate({ candidates, words }: Search, depth: number): number {
  let w = 0;
  while (candidates[depth * words + w] === 0) w++;
  return w * 32 + lowestBit(candidates[depth * words + w]!);
}

// A first clique: from each vertex, the first candidate as long as there is one; the largest is kept.

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

// The vertices with a vertex of least degree last, before it one of least degree among the rest, and so on. Colourings
// made in this order use few colours, and the search branches first on the vertices with few candidates.

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

// Colours the candidates at a depth, class by class, and lists those whose colour leaves room for a larger clique, by
// ascending colour: only they need branches. Returns how many there are.

function colour(s: Search, depth: number): number {
  const { words, classes, uncoloured, available, branches, colours } = s;
  // A clique within the classes up to this one, with what is chosen, is no larger than the largest found.
  const free = s.size - depth;
  const start = depth * s.vertices;
  for (let w = 0; w < words; w++) uncoloured[w] = s.candidates[depth * words + w]!;
  let count = 0;
  for (let k = 1; !isEmpty(uncoloured);) {
    classes.fill(0, k * words, (k + 1) * words);
    available.set(uncoloured);
    let kept = 0;
    for (let v = takeFirst(s); v >= 0; v = takeFirst(s)) {
      if (k > free) {
        if (recolour(s, v, free)) continue;
        branches[start + count] = v;
        colours[start + count++] = k;
      } else classes[k * words + (v >>> 5)]! |= 1 << (v & 31);
      kept++;
    }
    if (kept > 0) k++;
  }
  return count;
}

/** Takes the first available vertex out of the uncoloured, and its neighbours out of the available; −1: there is none. */
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

/**
 * Finds v a place in the classes up to `free`: in one where its only neighbour can go to another (Tomita et al., "A
 * simple and faster branch-and-bound algorithm for finding a maximum clique", 2010, section 3.2: Re-NUMBER).
 */
function recolour(s: Search, v: number, free: number): boolean {
  for (let k = 1; k <= free; k++) {
    const other = onlyNeighbour(s, v, k);
    if (other === SEVERAL) continue;
    if (other !== NONE && !moveAway(s, other, k, free)) continue;
    s.classes[k * s.words + (v >>> 5)]! |= 1 << (v & 31);
    return true;
  }
  return false;
}

const NONE = -1;
const SEVERAL = -2;

/** The one neighbour of v in a class, or NONE, or SEVERAL. */
function onlyNeighbour({ words, rows, classes }: Search, v: number, k: number): number {
  let found = NONE;
  for (let w = 0; w < words; w++) {
    const common = classes[k * words + w]! & rows[v * words + w]!;
    if (common === 0) continue;
    if (found !== NONE || (common & (common - 1)) !== 0) return SEVERAL;
    found = w * 32 + lowestBit(common);
  }
  return found;
}

/** Moves v from its class to another, up to `free`, that holds none of its neighbours. */
function moveAway(s: Search, v: number, from: number, free: number): boolean {
  for (let k = 1; k <= free; k++) {
    if (k === from || onlyNeighbour(s, v, k) !== NONE) continue;
    s.classes[from * s.words + (v >>> 5)]! &= ~(1 << (v & 31));
    s.classes[k * s.words + (v >>> 5)]! |= 1 << (v & 31);
    return true;
  }
  return false;
}

function isEmpty(set: Int32Array): boolean {
  for (const word of set) if (word !== 0) return false;
  return true;
}

// Explores the node of the `depth` vertices chosen; no clique that contains them is larger than `bound`.

function explore(s: Search, depth: number, bound: number): void {
  if (s.nodes >= s.nodesMax) {
    s.openBound = Math.max(s.openBound, bound);
    return;
  }
  s.nodes++;
  const start = depth * s.vertices;
  for (let at = start + colour(s, depth) - 1; at >= start; at--) {
    // All candidates up to this one are coloured with so many colours, and a clique takes one of each.
    const reach = depth + s.colours[at]!;
    if (reach <= s.size) return;
    const v = s.branches[at]!;
    s.chosen[depth] = v;
    if (narrow(s, depth, v)) explore(s, depth + 1, reach);
    else if (depth + 1 > s.size) record(s, depth + 1);
    s.candidates[depth * s.words + (v >>> 5)]! &= ~(1 << (v & 31));
  }
}

export interface CliqueSolution {
  /** Pairwise adjacent vertices, ascending. */
  readonly clique: readonly number[];
  /** Certified: no clique is larger. Equal to the clique's size when proven. */
  readonly bound: number;
  readonly proven: boolean;
  /** Branch-and-bound nodes searched. */
  readonly nodes: number;
}

/** About a second at 128 vertices, and never reached at 50. */
export const CLIQUE_NODES_MAX = 150_000;

/** A maximum clique of a graph with at least one vertex; the largest found with a bound where the nodes run out. */
export function maxClique(graph: Graph, nodesMax: number): CliqueSolution {
  const order = coreFirst(graph);
  const search = searchOf(graph, order, nodesMax);
  cliqueGreedily(search);
  explore(search, 0, graph.vertices);
  const { best, size, openBound, nodes } = search;
  const clique = Array.from(best.subarray(0, size), (v) => order[v] as number).sort((a, b) => a - b);
  const bound = Math.max(size, openBound);
  return { clique, bound, proven: bound === size, nodes };
}
