/** Chooses the rows of a sample: a given number, taken from each category in proportion to its size. */
import { rngFor } from "../../envs/lib/rng.ts";

/** Category of rows, with the row numbers of its rows in the file. */
export interface Category {
  readonly name: string;
  readonly rows: readonly number[];
}

export interface Chosen {
  readonly name: string;
  /** Number of rows in the category. */
  readonly available: number;
  readonly rows: readonly number[];
}

/**
 * Chooses `count` rows in total, or all if there are fewer. Each category gets its share, rounded by the largest
 * remainder so that the shares add up. The same seed and file give the same choice. The choice within a category
 * depends on other categories only by their numbers of rows.
 */
export function chooseRows(categories: readonly Category[], count: number, seed: string): readonly Chosen[] {
  const shares = sharesOf(
    categories.map(({ rows }) => rows.length),
    count,
  );
  return categories.map(({ name, rows }, i) => ({
    name,
    available: rows.length,
    rows: pick(rows, shares[i] ?? 0, name, seed),
  }));
}

/**
 * Divides a total in proportion to counts, by the largest remainder (Hamilton). Of equal remainders, the first wins.
 */
export function sharesOf(counts: readonly number[], total: number): readonly number[] {
  const sum = counts.reduce((before, count) => before + count, 0);
  if (total >= sum) return counts;
  const shares = counts.map((count) => Math.floor((total * count) / sum));
  const remainders = counts.map((count, i) => ({ i, remainder: (total * count) % sum }));
  remainders.sort((a, b) => b.remainder - a.remainder || a.i - b.i);
  const left = total - shares.reduce((before, share) => before + share, 0);
  for (const { i } of remainders.slice(0, left)) shares[i] = (shares[i] ?? 0) + 1;
  return shares;
}

/** Returns `count` random rows, each with the same probability. */
function pick(rows: readonly number[], count: number, name: string, seed: string): readonly number[] {
  if (count >= rows.length) return rows;
  const rng = rngFor("pools sample", seed, name);
  const shuffled = [...rows];
  for (let i = 0; i < count; i++) {
    const j = rng.int(i, shuffled.length - 1);
    [shuffled[i], shuffled[j]] = [shuffled[j] as number, shuffled[i] as number];
  }
  return shuffled.slice(0, count);
}
