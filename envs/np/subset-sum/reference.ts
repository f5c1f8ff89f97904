/**
 * Generates numbers as the papers' public code does for its benchmark (OliverLeeXZ/NP-Engine, NP_tasks/subset_sum).
 * Draws as many sets of equal size and equal sum as fit. The remaining numbers are random.
 */
import { type Rng, sample } from "../../lib/rng.ts";

/**
 * Range of the number of sets to draw. Sets that do not fit into the instance are left out, so that nearly always one
 * set remains.
 */
const SETS = [5, 6] as const;
/** Maximum difference between a number in a set and the least possible number. */
const SPREAD_MAX = 15;
/** Maximum number of tries to find another set of the same sum. If none is found, the instance has fewer sets. */
const TRIES_MAX = 200;

interface Sizes {
  readonly numbers_min: number;
  readonly numbers_max: number;
  readonly planted_min: number;
  readonly planted_max: number;
  readonly value_min: number;
  readonly value_max: number;
}

/** Returns the numbers, and the indices of the first set, whose sum is the target. */
export function makeNumbers(p: Sizes, rng: Rng): { readonly numbers: Int32Array; readonly planted: readonly number[] } {
  const wanted = rng.int(p.numbers_min, p.numbers_max);
  const size = rng.int(p.planted_min, p.planted_max);
  const sets = Math.min(rng.int(...SETS), Math.max(1, Math.floor(wanted / size)));
  const high = Math.min(p.value_max, p.value_min + SPREAD_MAX);
  const made = [draw(size, p.value_min, high, rng)];
  while (made.length < sets) {
    const other = another(made, p.value_min, high, rng);
    if (other === undefined) break;
    made.push(other);
  }
  const count = Math.max(wanted, size * made.length);
  const values = [...made.flat(), ...draw(count - size * made.length, p.value_min, p.value_max, rng)];
  const places = sample(count, count, rng);
  const numbers = new Int32Array(count);
  for (const [i, value] of values.entries()) numbers[places[i] as number] = value;
  return { numbers, planted: places.slice(0, size).toSorted((a, b) => a - b) };
}

function draw(count: number, low: number, high: number, rng: Rng): number[] {
  return Array.from({ length: count }, () => rng.int(low, high));
}

/** Returns another set of the same size and sum that differs from all earlier ones, or undefined if none was found. */
function another(made: readonly (readonly number[])[], low: number, high: number, rng: Rng): number[] | undefined {
  const [first = []] = made;
  const nameOf = (set: readonly number[]): string => set.toSorted((a, b) => a - b).join(" ");
  const known = new Set(made.map(nameOf));
  const sum = first.reduce((total, value) => total + value, 0);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const set = draw(first.length, low, high, rng);
    let lacking = sum - set.reduce((total, value) => total + value, 0);
    while (lacking !== 0) {
      const at = rng.int(0, set.length - 1);
      const value = set[at] as number;
      const moved = Math.max(low, Math.min(high, value + lacking));
      lacking -= moved - value;
      set[at] = moved;
    }
    if (!known.has(nameOf(set))) return set;
  }
  return undefined;
}
