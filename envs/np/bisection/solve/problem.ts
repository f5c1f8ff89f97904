/** Represents a bisection instance, and a node of the search, in the form that the solver needs. */
import type { BisectionInstance } from "../generate.ts";

/**
 * Bisection in terms of spins. A side is a spin, 1 or −1. The agreement of spins is the sum of weight · spin · spin
 * over the edges, which is the total weight minus twice the cut. The solver maximises the agreement over spins whose
 * sum is 0.
 */
export interface Problem {
  /**
   * Number of vertices, always even. If the instance has an odd number, a vertex without edges is added to fill the
   * smaller side.
   */
  readonly n: number;
  /** Symmetric n × n matrix, with 0 for a missing edge. */
  readonly weight: Int32Array;
  readonly neighbours: readonly Int32Array[];
  /** Total weight of the edges at each vertex. */
  readonly degree: Int32Array;
  /** Total weight of all edges. */
  readonly total: number;
}

export function problemOf({ vertices, edges }: BisectionInstance): Problem {
  const n = vertices + (vertices % 2);
  const weight = new Int32Array(n * n);
  const degree = new Int32Array(n);
  const lists = Array.from({ length: n }, (): number[] => []);
  let total = 0;
  for (const { a, b, weight: w } of edges) {
    weight[a * n + b] = weight[b * n + a] = w;
    lists[a]!.push(b);
    lists[b]!.push(a);
    degree[a] = degree[a]! + w;
    degree[b] = degree[b]! + w;
    total += w;
  }
  return { n, weight, neighbours: lists.map((list) => Int32Array.from(list)), degree, total };
}

/** Returns the agreement of spins: the sum of weight · spin · spin over the edges. A spin of 0 contributes nothing. */
export function agreementOf(problem: Problem, spins: Int8Array): number {
  let twice = 0;
  for (let v = 0; v < problem.n; v++) if (spins[v] !== 0) twice += spins[v]! * pullOn(problem, spins, v);
  return twice / 2;
}

/**
 * Returns how strongly the neighbours of vertex v pull its spin towards 1: the sum of their spins, weighted by the
 * edges.
 */
export function pullOn({ n, weight, neighbours }: Problem, spins: Int8Array, v: number): number {
  let pull = 0;
  for (const u of neighbours[v]!) pull += weight[v * n + u]! * spins[u]!;
  return pull;
}

/**
 * Returns the weight of the cut of two sides whose spins have this agreement (sum of weight · spin · spin over the
 * edges).
 */
export function cutOf({ total }: Problem, agreement: number): number {
  return (total - agreement) / 2;
}

/**
 * Node of the search. The sides (spins) of some vertices are decided. The undecided ones are a smaller problem of the
 * same kind.
 */
export interface Node {
  readonly problem: Problem;
  /** Spin of each vertex, 0 while undecided. */
  readonly spins: Int8Array;
  readonly free: Int32Array;
  /** For each vertex, how strongly the decided vertices pull its spin towards 1. */
  readonly pull: Int32Array;
  /** Sum of the decided spins. It is 0 if as many vertices are on one side (1) as on the other (−1). */
  readonly balance: number;
  /** Agreement (sum of weight · spin · spin) over the edges between decided vertices. */
  readonly agreement: number;
}

export function nodeOf(problem: Problem, spins: Int8Array): Node {
  const free: number[] = [];
  let balance = 0;
  for (const [v, spin] of spins.entries()) {
    if (spin === 0) free.push(v);
    balance += spin;
  }
  const pull = Int32Array.from(spins, (_, v) => pullOn(problem, spins, v));
  return { problem, spins, free: Int32Array.from(free), pull, balance, agreement: agreementOf(problem, spins) };
}

/** Returns the only spins that complete a node in which one side is full, or undefined if neither side is full. */
export function completed({ spins, free, balance }: Node): Int8Array | undefined {
  if (Math.abs(balance) !== free.length) return undefined;
  return spins.map((spin) => (spin === 0 ? -Math.sign(balance) : spin));
}
