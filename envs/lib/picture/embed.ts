/** Points in the plane whose distances are about those given. The same input gives the same points: no chance is used. */
import type { Point } from "./picture.ts";

/** Positive for any two different of the numbers 0 … size − 1, and the same both ways; it need not be a metric. */
export type Distance = (a: number, b: number) => number;

const POWER_STEPS = 150;
const STRESS_SWEEPS = 80;
/** The angle that keeps successive directions apart. */
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

/** Classical scaling, made better by stress majorization, which heeds short distances most. Centred at the origin. */
export function embed(size: number, distance: Distance): readonly Point[] {
  const matrix = Float64Array.from({ length: size * size }, (_, at) => {
    const [a, b] = [Math.floor(at / size), at % size];
    return a === b ? 0 : distance(a, b);
  });
  const xs = new Float64Array(size);
  const ys = new Float64Array(size);
  const inner = innerProducts(matrix, size);
  principal(inner, xs);
  principal(inner, ys);
  for (let sweep = 0; sweep < STRESS_SWEEPS; sweep++) relax(matrix, xs, ys);
  return centred(xs, ys);
}

/** Doubly centred squares: the inner products of the points, if there are such (Torgerson, 1952). */
function innerProducts(matrix: Float64Array, size: number): Float64Array {
  const squares = matrix.map((d) => d * d);
  const means = Float64Array.from({ length: size }, (_, row) => {
    let sum = 0;
    for (let column = 0; column < size; column++) sum += squares[row * size + column] as number;
    return sum / size;
  });
  const mean = means.reduce((sum, each) => sum + each, 0) / Math.max(1, size);
  return squares.map(
    (square, at) => -0.5 * (square - (means[Math.floor(at / size)] as number) - (means[at % size] as number) + mean),
  );
}

/**
 * Writes the coordinates along the principal axis, and takes it out of the matrix. Power iteration on the matrix with
 * half its largest row sum added to the diagonal, so that no negative eigenvalue (there are some where the distances are
 * no metric) is the largest in magnitude.
 */
function principal(inner: Float64Array, coordinates: Float64Array): void {
  const size = coordinates.length;
  let vector = Float64Array.from(coordinates, (_, i) => Math.cos(i * GOLDEN_ANGLE + 1));
  let shift = 0;
  for (let row = 0; row < size; row++) shift = Math.max(shift, rowSum(inner, row, size) / 2);
  let value = 0;
  for (let step = 0; step < POWER_STEPS; step++) {
    const next = multiplied(inner, vector, shift);
    const norm = Math.hypot(...next);
    if (norm === 0) return;
    value = norm - shift;
    vector = next.map((each) => each / norm);
  }
  const scale = Math.sqrt(Math.max(0, value));
  for (let i = 0; i < size; i++) coordinates[i] = scale * (vector[i] as number);
  for (let at = 0; at < size * size; at++) {
    inner[at] =
      (inner[at] as number) - value * (vector[Math.floor(at / size)] as number) * (vector[at % size] as number);
  }
}

function rowSum(matrix: Float64Array, row: number, size: number): number {
  let sum = 0;
  for (let column = 0; column < size; column++) sum += Math.abs(matrix[row * size + column] as number);
  return sum;
}

function multiplied(matrix: Float64Array, vector: Float64Array, shift: number): Float64Array {
  const size = vector.length;
  return vector.map((own, row) => {
    let sum = shift * own;
    for (let column = 0; column < size; column++) {
      sum += (matrix[row * size + column] as number) * (vector[column] as number);
    }
    return sum;
  });
}

/**
 * Moves each point in turn to the weighted mean of where the others want it, with weights of one over the distance
 * squared (Gansner, Koren and North, "Graph drawing by stress majorization", 2004, section 2.3).
 */
function relax(matrix: Float64Array, xs: Float64Array, ys: Float64Array): void {
  const size = xs.length;
  for (let i = 0; i < size; i++) {
    let [x, y, weights] = [0, 0, 0];
    for (let j = 0; j < size; j++) {
      if (i === j) continue;
      const wanted = matrix[i * size + j] as number;
      const [dx, dy] = direction(xs, ys, i, j);
      const weight = 1 / (wanted * wanted);
      x += weight * ((xs[j] as number) + wanted * dx);
      y += weight * ((ys[j] as number) + wanted * dy);
      weights += weight;
    }
    if (weights === 0) continue;
    xs[i] = x / weights;
    ys[i] = y / weights;
  }
}

/** The unit vector to point i from point j; any, but the same each time, if they coincide. */
function direction(xs: Float64Array, ys: Float64Array, i: number, j: number): readonly [number, number] {
  const dx = (xs[i] as number) - (xs[j] as number);
  const dy = (ys[i] as number) - (ys[j] as number);
  const length = Math.hypot(dx, dy);
  if (length > 1e-9) return [dx / length, dy / length];
  const angle = (i * xs.length + j) * GOLDEN_ANGLE;
  return [Math.cos(angle), Math.sin(angle)];
}

function centred(xs: Float64Array, ys: Float64Array): readonly Point[] {
  const middle = (all: Float64Array): number => all.reduce((sum, each) => sum + each, 0) / all.length;
  const [x, y] = [middle(xs), middle(ys)];
  return Array.from(xs, (each, i) => ({ x: each - x, y: (ys[i] as number) - y }));
}
