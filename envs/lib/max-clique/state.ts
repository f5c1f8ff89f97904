import { lowestBit } from "../bit-matrix.ts";
import { adjacent } from "../graph.ts";
import type { Graph } from "../graph.ts";

/** The state of a search; vertices are places in its order. Arrays by depth hold a slice for each clique size. */
export interface Search {
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

export function searchOf(graph: Graph, order: Int32Array, nodesMax: number): Search {
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
export function narrow({ candidates, rows, words }: Search, depth: number, v: number): boolean {
  let any = 0;
  for (let w = 0, from = depth * words, row = v * words; w < words; w++) {
    any |= candidates[from + words + w] = candidates[from + w]! & rows[row + w]!;
  }
  return any !== 0;
}

/** Keeps the first vertices chosen as the largest clique. */
export function record(s: Search, size: number): void {
  s.best.set(s.chosen.subarray(0, size));
  s.size = size;
}

/** The first candidate at a depth that has any. */
export function firstCandidate({ candidates, words }: Search, depth: number): number {
  let w = 0;
  while (candidates[depth * words + w] === 0) w++;
  return w * 32 + lowestBit(candidates[depth * words + w]!);
}
