/** Places the vertices of a picture in the plane. */
import { type Graph, neighbours } from "../../envs/lib/graph.ts";
import type { Point } from "./picture.ts";

// The functions below find points in the plane whose distances approximate given distances. The same input always gives
// the same points.

/**
 * Returns the distance of two different points, which are numbered from 0 to size − 1. Positive and symmetric; need not
 * be a metric.
 */
export type Distance = (a: number, b: number) => number;

const POWER_STEPS = 150;
const STRESS_SWEEPS = 80;
/**
 * The golden angle, in radians. Start vectors that differ by it point in different directions however many there are.
 */
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

/**
 * Returns points whose distances approximate those of `distance`, by classical scaling and then stress majorization,
 * which gives short distances the most weight. The points are centred at the origin.
 */
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

/**
 * Returns the squared distances, doubly centred and multiplied by −½. These are the inner products of the points, if
 * such points exist (Torgerson, 1952).
 */
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
 * Writes the points' coordinates along the principal axis of the matrix, and removes that axis from the matrix. Uses
 * power iteration with half the largest row sum added to the diagonal. Without this shift, a negative eigenvalue could
 * be the largest in magnitude. Distances that are not a metric lead to negative eigenvalues.
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
 * Moves each point in turn to the weighted mean of the positions at the wanted distance from each other point. The
 * weight is one over the distance squared (Gansner, Koren and North, "Graph drawing by stress majorization", 2004,
 * section 2.3).
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

/**
 * Returns the unit vector from point j to point i. If the points coincide, returns an arbitrary but fixed direction.
 */
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

export interface Box {
  readonly width: number;
  readonly height: number;
}

/** Returns the size of an area that has room for this many vertices. */
export function boxFor(vertices: number): Box {
  const scale = Math.max(1, Math.sqrt(vertices / 50));
  return { width: Math.round(640 * scale), height: Math.round(480 * scale) };
}

/** Radius of a drawn vertex, in pixels. */
export const VERTEX_RADIUS = 11;

/**
 * Returns points for a graph's vertices. The distance of two points is about proportional to the number of edges on a
 * shortest path between the vertices.
 */
export function graphPoints(graph: Graph, box: Box): readonly Point[] {
  const hops = Array.from({ length: graph.vertices }, (_, v) => hopsFrom(graph, v));
  return spread(
    fitted(
      embed(graph.vertices, (a, b) => (hops[a] as Float64Array)[b] as number),
      box,
    ),
    box,
  );
}

/**
 * Returns the number of edges on a shortest path from a vertex to each. Unreachable vertices get a fixed larger
 * distance.
 */
function hopsFrom(graph: Graph, start: number): Float64Array {
  const hops = new Float64Array(graph.vertices).fill(-1);
  hops[start] = 0;
  const queue = [start];
  for (const v of queue) {
    for (const w of neighbours(graph, v)) {
      if (hops[w] !== -1) continue;
      hops[w] = (hops[v] as number) + 1;
      queue.push(w);
    }
  }
  const far = Math.min(4, Math.sqrt(graph.vertices) + 1);
  return hops.map((each) => (each === -1 ? far : each));
}

/** Scales and moves the points to fill a box, with room for a vertex at its border. */
export function fitted(points: readonly Point[], { width, height }: Box): readonly Point[] {
  const [left, right] = extent(points.map(({ x }) => x));
  const [top, bottom] = extent(points.map(({ y }) => y));
  const rim = VERTEX_RADIUS + 8;
  const across = (width - 2 * rim) / Math.max(right - left, 1e-9);
  const down = (height - 2 * rim) / Math.max(bottom - top, 1e-9);
  // Limit how much one scale may exceed the other. Otherwise points on a line would be spread out by enlarged rounding
  // errors.
  const [scaleX, scaleY] = [Math.min(across, 2.5 * down), Math.min(down, 2.5 * across)];
  return points.map(({ x, y }) => ({
    x: width / 2 + scaleX * (x - (left + right) / 2),
    y: height / 2 + scaleY * (y - (top + bottom) / 2),
  }));
}

function extent(values: readonly number[]): readonly [number, number] {
  return [Math.min(...values), Math.max(...values)];
}

const SPREAD_SWEEPS = 60;

/** Pushes points apart, in a fixed number of sweeps, so that vertices do not overlap if the box has room for them. */
export function spread(points: readonly Point[], { width, height }: Box): readonly Point[] {
  const apart = 2 * VERTEX_RADIUS + 6;
  const moved = points.map(({ x, y }) => ({ x, y }));
  for (let sweep = 0; sweep < SPREAD_SWEEPS; sweep++) {
    for (const [i, a] of moved.entries()) {
      for (const [j, b] of moved.entries()) {
        if (j <= i) continue;
        const [dx, dy] = [b.x - a.x, b.y - a.y];
        const gap = Math.hypot(dx, dy);
        if (gap >= apart) continue;
        const push = (apart - gap) / 2;
        const [ux, uy] = gap > 1e-6 ? [dx / gap, dy / gap] : [Math.cos(i + j), Math.sin(i + j)];
        a.x -= push * ux;
        a.y -= push * uy;
        b.x += push * ux;
        b.y += push * uy;
      }
    }
    for (const point of moved) {
      point.x = Math.min(width - VERTEX_RADIUS - 4, Math.max(VERTEX_RADIUS + 4, point.x));
      point.y = Math.min(height - VERTEX_RADIUS - 4, Math.max(VERTEX_RADIUS + 4, point.y));
    }
  }
  return moved;
}

/** Returns the point of a circle at a share of the circumference (from 0 to 1), clockwise from the top. */
export function onCircle(centre: Point, radius: number, share: number): Point {
  const angle = 2 * Math.PI * share - Math.PI / 2;
  return { x: centre.x + radius * Math.cos(angle), y: centre.y + radius * Math.sin(angle) };
}

/** Returns the radius of a circle on which this many vertices fit side by side, at least `least`. */
export function circleRadius(vertices: number, least: number): number {
  return Math.max(least, (vertices * (2 * VERTEX_RADIUS + 5)) / (2 * Math.PI));
}
