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
import type { Node, Problem } from "./problem.ts";

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
const PENALTY_GRID = 2 ** 20;

export function relaxationOf({ n, total }: Problem, rng: Rng): Relaxation {
  // Of rank √(2n) there is no false minimum (Barvinok 1995, Pataki 1998); nor was there any of this rank.
  const rank = Math.max(4, Math.ceil(Math.sqrt(n)));
  const vectors = Float64Array.from({ length: n * rank }, () => rng.float() - 0.5);
  for (let v = 0; v < n; v++) normalize(vectors.subarray(v * rank, (v + 1) * rank));
  const penalty = Math.ceil(((PENALTY * 2 * total) / (n * n)) * PENALTY_GRID) / PENALTY_GRID;
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

// Bounds that hold although they are computed in floating point.

/** Multipliers, penalty and weights are multiples of 1/GRID below 2^33, so that sums and matrix entries are exact. */
const GRID = 2 ** 20;

/** Room for the matrices of nodes of up to n − 1 free vertices. */
export function matrixFor(n: number): Float64Array {
  return new Float64Array((n + 1) * (n + 1));
}

/**
 * Whether the relaxation's multipliers, all moved by the same amount so that their sum is just above `target`, prove
 * that the form of relaxation.ts is above `target` for all spins. The scratch matrix is from matrixFor.
 */
export function provesAbove(relaxation: Relaxation, node: Node, target: number, matrix: Float64Array): boolean {
  const { multipliers } = relaxation;
  const { free, problem } = node;
  const size = free.length + 1;
  let sum = multipliers[problem.n]!;
  for (const v of free) sum += multipliers[v]!;
  // A little more than asked, for rounding to the grid takes some off.
  const move = (target + 0.01 - sum) / size;
  const shifted = (at: number): number => Math.floor((multipliers[at]! + move) * GRID) / GRID;
  let exact = fillMatrix(relaxation, node, shifted, matrix);
  exact += shifted(problem.n);
  return exact > target && isPositive(matrix, size);
}

/** Writes the lower triangle of C − Diag(d), e first. Returns the sum of the free vertices' d. */
function fillMatrix(
  { penalty }: Relaxation,
  { problem, free, pull, balance }: Node,
  shifted: (at: number) => number,
  matrix: Float64Array,
): number {
  const { n, weight } = problem;
  const size = free.length + 1;
  let sum = 0;
  matrix[0] = penalty * balance * balance - shifted(n);
  for (let i = 1; i < size; i++) {
    const v = free[i - 1]!;
    const row = i * size;
    matrix[row] = penalty * balance - pull[v]!;
    for (let j = 1; j < i; j++) matrix[row + j] = penalty - weight[v * n + free[j - 1]!]!;
    const own = shifted(v);
    matrix[row + i] = penalty - own;
    sum += own;
  }
  return sum;
}

/**
 * Whether a symmetric matrix is surely positive semidefinite, by its lower triangle, which is overwritten. If Cholesky's
 * method ends, what it factored is positive semidefinite but for an error of at most γ/(1 − γ) times its trace, where
 * γ = (size + 1)u/(1 − (size + 1)u) and u = 2^-53 (Higham 2002, theorem 10.3; Rump, "Verification of positive
 * definiteness", 2006). So a little more than that is taken off the diagonal first: 2^-44 is twice as much at size 250.
 */
function isPositive(matrix: Float64Array, size: number): boolean {
  let trace = 0;
  for (let i = 0; i < size; i++) trace += matrix[i * size + i]!;
  if (!(size <= 250 && trace < 2 ** 33)) return false;
  const margin = Math.ceil(trace * 2 ** -24) * 2 ** -20;
  for (let i = 0; i < size; i++) {
    const row = i * size;
    for (let j = 0; j < i; j++) {
      const other = j * size;
      matrix[row + j] = (matrix[row + j]! - dot(matrix, row, other, j)) / matrix[other + j]!;
    }
    const pivot = matrix[row + i]! - margin - dot(matrix, row, row, i);
    if (!(pivot > 0)) return false;
    matrix[row + i] = Math.sqrt(pivot);
  }
  return true;
}

function dot(matrix: Float64Array, a: number, b: number, length: number): number {
  let sum = 0;
  for (let k = 0; k < length; k++) sum += matrix[a + k]! * matrix[b + k]!;
  return sum;
}

// A certified bound without search.

const SWEEPS = 300;

/** The best whole bound from `least`, which is known to hold, up to `most` that a node's relaxation proves for its cuts. */
export function rootBound(relaxation: Relaxation, root: Node, least: number, most: number): number {
  const { problem } = root;
  for (let sweeps = 0; sweeps < SWEEPS; sweeps++) {
    if (sweeps % 5 === 0) sumVectors(relaxation, root);
    sweep(relaxation, root);
  }
  const matrix = matrixFor(problem.n);
  let [low, high] = [least, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    // A cut above middle − 1 is at least middle.
    const agreement = problem.total - 2 * (middle - 1);
    if (provesAbove(relaxation, root, -2 * (agreement - root.agreement), matrix)) low = middle;
    else high = middle - 1;
  }
  return low;
}
