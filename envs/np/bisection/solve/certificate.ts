/** Bounds that hold although they are computed in floating point. */
import type { Node } from "./node.ts";
import type { Relaxation } from "./relaxation.ts";

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
