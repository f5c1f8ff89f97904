/**
 * The semidefinite relaxation of a node. A spin becomes a unit vector of a few dimensions, where the decided vertices
 * all lie along the first axis, e (those of spin −1 against it); the sum of all vectors is to be 0.
 *
 * Let C be the matrix, over e and the free vertices, of the quadratic form
 *   penalty · |balance · e + Σ v_i|² − 2 · (Σ pull_i · v_i·e + Σ_{i<j} weight_ij · v_i·v_j).
 * On balanced spins its value is −2 · (agreement − the node's agreement). If C − Diag(d) is positive semidefinite, the
 * value is at least Σ d, whatever the penalty: that bounds the cut from below.
 *
 * Vectors that make the form small are found a vector at a time, each the best against the others (Wang, Chang and
 * Kolter, "The mixing method", 2017); where nothing moves any more, their multipliers d solve the dual problem.
 */
import type { Rng } from "../../../lib/rng.ts";
import type { Node } from "./node.ts";
import type { Problem } from "./problem.ts";

export interface Relaxation {
  readonly rank: number;
  /** A multiple of 2^-20, so that C is exact. */
  readonly penalty: number;
  /** Vectors of length 1, one for each vertex of the problem. Those of decided vertices are not looked at. */
  vectors: Float64Array;
  /** Multipliers: for e at n, for vertex v at v. */
  readonly multipliers: Float64Array;
  /** The sum of all vectors. */
  readonly sum: Float64Array;
  readonly scratch: Float64Array;
}

/** In units of the mean weight over all pairs. Larger is stronger but slower to settle; this was best by measurement. */
const PENALTY = 8;
const GRID = 2 ** 20;

export function relaxationOf({ n, total }: Problem, rng: Rng): Relaxation {
  // Of rank √(2n) there is no false minimum (Barvinok 1995, Pataki 1998); nor was there any of this rank.
  const rank = Math.max(4, Math.ceil(Math.sqrt(n)));
  const vectors = Float64Array.from({ length: n * rank }, () => rng.float() - 0.5);
  for (let v = 0; v < n; v++) normalize(vectors.subarray(v * rank, (v + 1) * rank));
  const penalty = Math.ceil(((PENALTY * 2 * total) / (n * n)) * GRID) / GRID;
  const [sum, scratch] = [new Float64Array(rank), new Float64Array(rank)];
  return { rank, penalty, vectors, multipliers: new Float64Array(n + 1), sum, scratch };
}

function normalize(vector: Float64Array): void {
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
  for (let k = 0; k < vector.length; k++) vector[k] = vector[k]! / length;
}

/** Adds the vectors up anew: for a new node, and against the rounding of many sweeps. */
export function sumVectors({ rank, vectors, sum }: Relaxation, { free, balance }: Node): void {
  sum.fill(0);
  sum[0] = balance;
  for (const v of free) for (let k = 0; k < rank; k++) sum[k] = sum[k]! + vectors[v * rank + k]!;
}

/** Improves every free vertex's vector once. Returns about the form's value: the sum of the multipliers. */
export function sweep(relaxation: Relaxation, node: Node): number {
  const { rank, penalty, vectors, multipliers, sum } = relaxation;
  const { problem, free, pull, balance } = node;
  let value = 0;
  let decided = 0;
  for (const v of free) {
    const length = forceOn(relaxation, node, v);
    multipliers[v] = penalty - length;
    value += penalty - length;
    if (length > 0) turn(relaxation, v, -1 / length);
    decided -= pull[v]! * vectors[v * rank]!;
  }
  decided += penalty * balance * sum[0]!;
  multipliers[problem.n] = decided;
  return value + decided;
}

/** Writes what the form's other terms multiply a vertex's vector by, and returns its length. */
function forceOn({ rank, penalty, vectors, sum, scratch }: Relaxation, node: Node, v: number): number {
  const { problem, spins, pull } = node;
  const own = v * rank;
  for (let k = 0; k < rank; k++) scratch[k] = penalty * (sum[k]! - vectors[own + k]!);
  scratch[0] = scratch[0]! - pull[v]!;
  const row = v * problem.n;
  const neighbours = problem.neighbours[v]!;
  for (let i = 0; i < neighbours.length; i++) {
    const u = neighbours[i]!;
    if (spins[u] !== 0) continue;
    const weight = problem.weight[row + u]!;
    for (let k = 0; k < rank; k++) scratch[k] = scratch[k]! - weight * vectors[u * rank + k]!;
  }
  let square = 0;
  for (let k = 0; k < rank; k++) square += scratch[k]! * scratch[k]!;
  return Math.sqrt(square);
}

/** Sets a vertex's vector to the scratch vector, scaled. */
function turn({ rank, vectors, sum, scratch }: Relaxation, v: number, scale: number): void {
  for (let k = 0; k < rank; k++) {
    const next = scratch[k]! * scale;
    sum[k] = sum[k]! + next - vectors[v * rank + k]!;
    vectors[v * rank + k] = next;
  }
}
