/** Which rows of a file a sample takes: a number of them, of each category in proportion. Pure. */
import { rngFor } from "../../envs/lib/rng.ts";

/** Rows of one category, by their numbers in the file. */
export interface Category {
  readonly name: string;
  readonly rows: readonly number[];
}

export interface Chosen {
  readonly name: string;
  /** How many rows there were. */
  readonly available: number;
  readonly rows: readonly number[];
}

/**
 * `count` rows, or all: of each category its share, rounded by the largest remainder, so that the shares add up. The same
 * for the same seed and file; of one category it depends on nothing in another but how many rows that has.
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

/** Whole shares of a total in proportion to counts, by the largest remainder (Hamilton); of equal ones the first. */
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

/** So many of the rows, each as likely. */
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
