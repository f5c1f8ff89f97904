/** A bisection instance as the solver sees it. */
import type { BisectionInstance } from "../generate.ts";

/**
 * A side is a spin, 1 or −1. The agreement of spins is the sum of weight · spin · spin over the edges: the total weight
 * less twice the cut. The solver maximises it over spins whose sum is 0.
 */
export interface Problem {
  /** Even: where the instance's count is odd, a vertex without edges is added, and takes the place that is left. */
  readonly n: number;
  /** Symmetric n × n matrix, 0 where there is no edge. */
  readonly weight: Int32Array;
  /** For each vertex, those that it shares an edge with. */
  readonly neighbours: readonly Int32Array[];
  /** For each vertex, the weight of its edges. */
  readonly degree: Int32Array;
  /** The weight of all edges. */
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

/** The agreement of spins; a spin of 0 agrees with nothing. */
export function agreementOf(problem: Problem, spins: Int8Array): number {
  let twice = 0;
  for (let v = 0; v < problem.n; v++) if (spins[v] !== 0) twice += spins[v]! * pullOn(problem, spins, v);
  return twice / 2;
}

/** How strongly a vertex's neighbours ask it to be 1. */
export function pullOn({ n, weight, neighbours }: Problem, spins: Int8Array, v: number): number {
  let pull = 0;
  for (const u of neighbours[v]!) pull += weight[v * n + u]! * spins[u]!;
  return pull;
}

/** The cut that spins of this agreement make. */
export function cutOf({ total }: Problem, agreement: number): number {
  return (total - agreement) / 2;
}

/** A node of the search: some spins are decided, and the rest is a smaller problem of the same kind. */
export interface Node {
  readonly problem: Problem;
  /** 0 where nothing is decided yet. */
  readonly spins: Int8Array;
  /** The vertices not decided. */
  readonly free: Int32Array;
  /** For each vertex, how strongly the decided ones ask it to be 1. */
  readonly pull: Int32Array;
  /** The sum of the decided spins. */
  readonly balance: number;
  /** The agreement among the decided vertices. */
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

/** The only spins that balance a node where one side is full; undefined: neither is. */
export function completed({ spins, free, balance }: Node): Int8Array | undefined {
  if (Math.abs(balance) !== free.length) return undefined;
  return spins.map((spin) => (spin === 0 ? -Math.sign(balance) : spin));
}
