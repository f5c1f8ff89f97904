/** Seeded instances of every kind that the solver must stand. */

export type Matrix = readonly (readonly number[])[];
export type Random = (bound: number) => number;

/** Mulberry32: integers from 0 to bound - 1. */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

export function uniform(n: number, min: number, max: number, random: Random): Matrix {
  const rows = Array.from({ length: n }, () => new Array<number>(n).fill(0));
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) rows[i]![j] = rows[j]![i] = min + random(max - min + 1);
  }
  return rows;
}

export function euclidean(n: number, side: number, random: Random): Matrix {
  const points = Array.from({ length: n }, () => [random(side), random(side)] as const);
  return points.map(([x, y]) => points.map(([u, v]) => Math.round(Math.hypot(x - u, y - v))));
}

/** A cheap cycle through all cities, hidden among dear edges. */
export function planted(n: number, random: Random): Matrix {
  const rows = uniform(n, 50, 100, random).map((row) => [...row]);
  const order = shuffled(n, random);
  for (let k = 0; k < n; k++) {
    const a = order[k]!;
    const b = order[(k + 1) % n]!;
    rows[a]![b] = rows[b]![a] = random(5);
  }
  return rows;
}

/** Two clusters joined by long edges only: bounds are weak, subtours cheap. */
export function clustered(n: number, random: Random): Matrix {
  const rows = uniform(n, 1, 10, random);
  return rows.map((row, i) => row.map((d, j) => (i % 2 === j % 2 ? d : d + 200)));
}

/** The 0/1 distances of a sparse random graph: a question of Hamiltonicity. */
export function zeroOne(n: number, random: Random): Matrix {
  return uniform(n, 0, 99, random).map((row, i) => row.map((d, j) => (i === j || d * n < 350 ? 0 : 1)));
}

export function shuffled(n: number, random: Random): number[] {
  const order = Array.from({ length: n }, (_, v) => v);
  for (let k = n - 1; k > 0; k--) {
    const other = random(k + 1);
    [order[k], order[other]] = [order[other]!, order[k]!];
  }
  return order;
}

export function relabelled(distances: Matrix, order: readonly number[]): Matrix {
  return order.map((a) => order.map((b) => distances[a]![b]!));
}

/** Generators by name, one for each kind. */
export const kinds: Readonly<Record<string, (n: number, random: Random) => Matrix>> = {
  "1 to 100": (n, random) => uniform(n, 1, 100, random),
  "1 to 10": (n, random) => uniform(n, 1, 10, random),
  "1 to 1000": (n, random) => uniform(n, 1, 1000, random),
  "0 to 1e6": (n, random) => uniform(n, 0, 1e6, random),
  "0 to 2": (n, random) => uniform(n, 0, 2, random),
  "all 7": (n, random) => uniform(n, 7, 7, random),
  "all 0": (n, random) => uniform(n, 0, 0, random),
  "near 1e6": (n, random) => uniform(n, 999_990, 1e6, random),
  "zero or one": zeroOne,
  "Euclidean 1000": (n, random) => euclidean(n, 1000, random),
  "Euclidean 20": (n, random) => euclidean(n, 20, random),
  planted,
  clustered,
};
