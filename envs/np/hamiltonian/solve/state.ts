/**
 * Holds the decisions of a search node: which vertices and edges the cycle uses. Derives further decisions from them.
 */
import { type BitMatrix, hasBit, onesOf } from "../../../lib/bit-matrix.ts";

export const OPEN = 0;
export const IN = 1;
export const OUT = 2;

export interface State {
  /** Edges that the cycle may still use. */
  readonly edges: BitMatrix;
  readonly degree: Int32Array;
  /** Decision on each vertex: OPEN (undecided), IN the cycle, or OUT of it. */
  readonly role: Uint8Array;
  /** Number of edges at each vertex that the cycle must use, at most 2. */
  readonly used: Uint8Array;
  /** Other ends of the edges at each vertex that the cycle must use, with two entries for each vertex. */
  readonly joined: Int32Array;
  /** For each end of a path of used edges, the path's other end. A vertex without used edges is a path of its own. */
  readonly end: Int32Array;
  /** For each end of a path of used edges, the number of the path's vertices. */
  readonly size: Int32Array;
  /** Number of vertices that the cycle may still visit (those that are not OUT). */
  left: number;
}

/** Longest cycle found so far. The search looks only for longer ones. */
export interface Incumbent {
  cycle: readonly number[];
}

export function stateOf(adjacency: BitMatrix): State {
  const n = adjacency.rows;
  return {
    edges: { ...adjacency, bits: adjacency.bits.slice() },
    degree: Int32Array.from({ length: n }, (_, v) => onesOf(adjacency, v).length),
    role: new Uint8Array(n),
    used: new Uint8Array(n),
    joined: new Int32Array(2 * n).fill(-1),
    end: Int32Array.from({ length: n }, (_, v) => v),
    size: new Int32Array(n).fill(1),
    left: n,
  };
}

export function copyOf(state: State): State {
  return {
    edges: { ...state.edges, bits: state.edges.bits.slice() },
    degree: state.degree.slice(),
    role: state.role.slice(),
    used: state.used.slice(),
    joined: state.joined.slice(),
    end: state.end.slice(),
    size: state.size.slice(),
    left: state.left,
  };
}

export function isUsed({ joined }: State, a: number, b: number): boolean {
  return joined[2 * a] === b || joined[2 * a + 1] === b;
}

/**
 * Makes every decision that follows from the changes to the vertices in `changed`. Returns false if no cycle longer
 * than the incumbent is left.
 */
export function settle(state: State, incumbent: Incumbent, changed: number[]): boolean {
  const { role, degree, used } = state;
  for (;;) {
    if (state.left <= incumbent.cycle.length) return false;
    const v = changed.pop();
    if (v === undefined) {
      if (state.left > incumbent.cycle.length + 1 || !includeAll(state, changed)) return true;
      continue;
    }
    if (role[v] === OUT) continue;
    if (degree[v]! < 2) {
      if (role[v] === IN) return false;
      exclude(state, v, changed);
    } else if (role[v] === IN && degree[v] === 2 && used[v]! < 2) {
      for (const u of onesOf(state.edges, v)) if (!isUsed(state, v, u)) use(state, incumbent, v, u, changed);
    }
  }
}

/**
 * Puts every open vertex on the cycle, because a cycle longer than the incumbent needs them all. Returns false if no
 * vertex was open.
 */
function includeAll({ role }: State, changed: number[]): boolean {
  for (const [v, each] of role.entries()) {
    if (each !== OPEN) continue;
    role[v] = IN;
    changed.push(v);
  }
  return changed.length > 0;
}

export function include({ role }: State, v: number, changed: number[]): void {
  role[v] = IN;
  changed.push(v);
}

export function exclude(state: State, v: number, changed: number[]): void {
  state.role[v] = OUT;
  state.left--;
  for (const u of onesOf(state.edges, v)) drop(state, v, u, changed);
}

/** Removes an edge, which the cycle then cannot use. */
export function drop({ edges, degree }: State, a: number, b: number, changed: number[]): void {
  const { bits, words } = edges;
  for (const [v, u] of [
    [a, b],
    [b, a],
  ] as const) {
    bits[v * words + (u >>> 5)] = bits[v * words + (u >>> 5)]! & ~(1 << (u & 31));
    degree[v] = degree[v]! - 1;
    changed.push(v);
  }
}

/** Decides that the cycle uses an edge. Does nothing if the edge was removed. */
export function use(state: State, incumbent: Incumbent, a: number, b: number, changed: number[]): void {
  const { edges, used, joined, end, size } = state;
  if (!hasBit(edges, a, b)) return;
  const [first, last] = [end[a]!, end[b]!];
  end[first] = last;
  end[last] = first;
  size[first] = size[last] = size[a]! + size[b]!;
  for (const [v, u] of [
    [a, b],
    [b, a],
  ] as const) {
    joined[2 * v + used[v]!] = u;
    used[v] = used[v]! + 1;
    include(state, v, changed);
    if (used[v] === 2) for (const w of onesOf(edges, v)) if (!isUsed(state, v, w)) drop(state, v, w, changed);
  }
  if (size[first] < 3 || !hasBit(edges, first, last)) return;
  // Store the cycle that the edge between the path's ends closes, then remove the edge, because it can close no other
  // cycle.
  if (size[first] > incumbent.cycle.length) incumbent.cycle = pathFrom(state, first);
  drop(state, first, last, changed);
}

function pathFrom({ joined }: State, first: number): readonly number[] {
  const path = [first];
  for (let [before, v] = [-1, first]; ;) {
    const next = joined[2 * v] === before ? joined[2 * v + 1]! : joined[2 * v]!;
    if (next < 0) return path;
    path.push(next);
    [before, v] = [v, next];
  }
}

/** Vertices of a block: a part of the graph that no single vertex separates. Every cycle lies within one block. */
export type Block = readonly number[];

interface Walk {
  readonly adjacency: BitMatrix;
  /** Time at which the depth-first search reached each vertex, from 1, or 0 if not yet. */
  readonly reached: Int32Array;
  /**
   * For each vertex, the earliest time of a vertex that an edge leads back to, from the vertex itself or from one below
   * it in the search tree.
   */
  readonly low: Int32Array;
  readonly stack: number[];
  readonly blocks: Block[];
  time: number;
}

/**
 * Returns the blocks of at least three vertices, by depth-first search (Hopcroft and Tarjan 1973). A block is a part
 * that no single vertex separates.
 */
export function blocksOf(adjacency: BitMatrix): readonly Block[] {
  const n = adjacency.rows;
  const walk: Walk = { adjacency, reached: new Int32Array(n), low: new Int32Array(n), stack: [], blocks: [], time: 0 };
  for (let v = 0; v < n; v++) if (walk.reached[v] === 0) visit(walk, v, -1);
  return walk.blocks;
}

function visit(walk: Walk, v: number, from: number): void {
  const { reached, low, stack } = walk;
  reached[v] = low[v] = ++walk.time;
  stack.push(v);
  for (const u of onesOf(walk.adjacency, v)) {
    if (u === from) continue;
    if (reached[u]! > 0) {
      low[v] = Math.min(low[v], reached[u]!);
      continue;
    }
    visit(walk, u, v);
    low[v] = Math.min(low[v], low[u]!);
    // Nothing below u leads back above v, so v and the stack from u on are a block.
    if (low[u]! < reached[v]) continue;
    const block = [v, ...stack.splice(stack.indexOf(u))];
    if (block.length >= 3) walk.blocks.push(block);
  }
}
