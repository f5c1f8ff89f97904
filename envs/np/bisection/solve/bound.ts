/**
 * Computes a lower bound on the cuts of a search node by a semidefinite relaxation. A spin (a vertex's side, 1 or −1)
 * becomes a unit vector of a few dimensions. The decided vertices lie along the first axis, e (those of spin −1 against
 * it). The sum of all vectors shall be 0. Let C be the matrix, over e and the free vertices, of this quadratic form.
 *
 * ```
 * penalty · |balance · e + Σ v_i|² − 2 · (Σ pull_i · v_i·e + Σ_{i<j} weight_ij · v_i·v_j).
 * ```
 *
 * On balanced spins its value is −2 · (agreement − the node's agreement). If C − Diag(d) is positive semidefinite, the
 * value is at least Σ d for any penalty. This bounds the cut from below. The vectors are improved one at a time, each
 * to its best given the others (Wang, Chang and Kolter, "The mixing method", 2017). When no vector moves any more,
 * their multipliers d solve the dual problem.
 */
import type { Rng } from "../../../lib/rng.ts";
import type { Node, Problem } from "./problem.ts";

export interface Relaxation {
  readonly rank: number;
  /**
   * Weight of the term that penalises unbalanced sides in the quadratic form. A multiple of 2^-20, so that the form's
   * matrix is exact.
   */
  readonly penalty: number;
  /**
   * Unit vectors, one for each vertex, which the relaxation has in place of sides. The vectors of vertices whose sides
   * are decided are unused.
   */
  vectors: Float64Array;
  /** Multipliers of the relaxation's dual problem: entry v for vertex v, and entry n for the first axis. */
  readonly multipliers: Float64Array;
  /** Sum of all vectors, in which all decided vertices together count as `balance` times the first axis. */
  readonly sum: Float64Array;
  readonly scratch: Float64Array;
}

/**
 * Penalty for unbalanced sides, in units of the mean weight over all pairs. A larger value gives a stronger bound but
 * converges more slowly. This value was the best in measurements.
 */
const PENALTY = 8;
const PENALTY_GRID = 2 ** 20;

export function relaxationOf({ n, total }: Problem, rng: Rng): Relaxation {
  // With vectors of √(2n) dimensions every local minimum is global (Barvinok 1995, Pataki 1998). With this lower rank,
  // no other local minimum was found either.
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

/** Recomputes the sum of the vectors. Needed for a new node, and to remove the rounding errors of many sweeps. */
export function sumVectors({ rank, vectors, sum }: Relaxation, { free, balance }: Node): void {
  sum.fill(0);
  sum[0] = balance;
  for (const v of free) for (let k = 0; k < rank; k++) sum[k] = sum[k]! + vectors[v * rank + k]!;
}

/**
 * Improves the vector of every free vertex once. Returns the sum of the multipliers, which approximates the value of
 * the quadratic form.
 */
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

/** Writes to `scratch` the vector that multiplies vertex v's own vector in the quadratic form. Returns its length. */
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

/** Sets a vertex's vector to the scratch vector times `scale`. */
function turn({ rank, vectors, sum, scratch }: Relaxation, v: number, scale: number): void {
  for (let k = 0; k < rank; k++) {
    const next = scratch[k]! * scale;
    sum[k] = sum[k]! + next - vectors[v * rank + k]!;
    vectors[v * rank + k] = next;
  }
}

// The functions below compute certified bounds, which hold although they are computed in floating point.

/** Multipliers, penalty and weights are multiples of 1/GRID below 2^33, so that sums and matrix entries are exact. */
const GRID = 2 ** 20;

/** Allocates the matrix that provesAbove overwrites, for nodes of up to n − 1 free vertices. */
export function matrixFor(n: number): Float64Array {
  return new Float64Array((n + 1) * (n + 1));
}

/**
 * Returns whether the relaxation's multipliers prove that the quadratic form exceeds `target` for all spins. Shifts all
 * multipliers by the same amount first, so that their sum is just above `target`. Overwrites `matrix`, which comes from
 * matrixFor.
 */
export function provesAbove(relaxation: Relaxation, node: Node, target: number, matrix: Float64Array): boolean {
  const { multipliers } = relaxation;
  const { free, problem } = node;
  const size = free.length + 1;
  let sum = multipliers[problem.n]!;
  for (const v of free) sum += multipliers[v]!;
  // Shift by a little more, because rounding to the grid reduces the sum.
  const move = (target + 0.01 - sum) / size;
  const shifted = (at: number): number => Math.floor((multipliers[at]! + move) * GRID) / GRID;
  let exact = fillMatrix(relaxation, node, shifted, matrix);
  exact += shifted(problem.n);
  return exact > target && isPositive(matrix, size);
}

/**
 * Writes the lower triangle of C − Diag(d), for the matrix C of the quadratic form and its shifted multipliers d. Row 0
 * is the axis e of the decided vertices. Returns the sum of the multipliers over the free vertices.
 */
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
 * Returns whether a symmetric matrix is certainly positive semidefinite. Reads and overwrites its lower triangle. If
 * Cholesky's method finishes, the matrix is positive semidefinite up to an error of γ/(1 − γ) times its trace. Here γ =
 * (size + 1)u/(1 − (size + 1)u) and u = 2^-53 (Higham 2002, theorem 10.3; Rump, "Verification of positive
 * definiteness", 2006). The diagonal is first reduced by 2^-44 times the trace, twice that error at size 250.
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

// Number of sweeps over the vectors that rootBound makes before it certifies a bound.

const SWEEPS = 300;

/**
 * Returns the largest integer from `least` to `most` that the relaxation proves as a lower bound on the node's cuts.
 * `least` must be known to be a lower bound.
 */
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
    // Cuts are integers, so a cut above middle − 1 is at least middle.
    const agreement = problem.total - 2 * (middle - 1);
    if (provesAbove(relaxation, root, -2 * (agreement - root.agreement), matrix)) low = middle;
    else high = middle - 1;
  }
  return low;
}
