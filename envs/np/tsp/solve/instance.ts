/** A TSP instance with distances scaled, so that fractional multipliers are exact integers. */

export interface Instance {
  readonly n: number;
  /** A power of two; every bound is computed in units of 1/scale. */
  readonly scale: number;
  /** n × n, row by row: distance × scale. */
  readonly cost: Int32Array;
}

/**
 * |multiplier| at most: with costs up to 2^27 a reduced cost (cost + 2 multipliers),
 * and the difference of two, stays inside 32 bits, and any sum over a tour inside the 53 exact bits of a double.
 */
export const multiplierMax = 2 ** 28;
const costMax = 2 ** 27;
const scaleMax = 2 ** 10;

export function scaleInstance(distances: readonly (readonly number[])[]): Instance {
  const n = distances.length;
  let longest = 1;
  for (const row of distances) for (const distance of row) if (distance > longest) longest = distance;
  let scale = scaleMax;
  while (scale > 1 && longest * scale > costMax) scale /= 2;
  const cost = new Int32Array(n * n);
  for (let i = 0; i < n; i++) {
    const row = distances[i]!;
    for (let j = 0; j < n; j++) cost[i * n + j] = i === j ? 0 : row[j]! * scale;
  }
  return { n, scale, cost };
}

/** The smallest tour length (an integer) that a scaled lower bound still allows. */
export function lengthAtLeast(bound: number, scale: number): number {
  return Math.ceil(bound / scale);
}
