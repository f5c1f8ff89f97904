/** Random expression trees: the numbers are a tree's leaves, the target is its value (paper 004, section 3.4). */
import type { Generator } from "../environment.ts";
import type { Rng } from "../lib/rng.ts";
import type { CountdownInstance } from "./instance.ts";
import { type Values, combine, makeValues } from "./steps.ts";
import { type CountdownParameters, fits, lowestTarget } from "./tiers.ts";

/** Trees tried in one draw. A tree of T0 fits one time in 26, so that one draw in 160 finds none and is drawn anew. */
const TREES_MAX = 128;

/** a+b, a·b, a−b, a/b; which value is a is drawn, so the steps from b to a are not needed. */
const KINDS = [0, 1, 2, 4] as const;

export const generator: Generator<CountdownInstance> = { draw, accepts: fits };

function draw(p: CountdownParameters, rng: Rng): CountdownInstance | undefined {
  if (p.numbers_min > p.numbers_max || p.number_min > p.number_max) return undefined;
  const values = makeValues(p.numbers_max);
  const drawn: number[] = [];
  for (let tried = 0; tried < TREES_MAX; tried++) {
    const length = rng.int(p.numbers_min, p.numbers_max);
    for (let i = 0; i < length; i++) drawn[i] = rng.int(p.number_min, p.number_max);
    const target = drawValue(drawn, length, values, rng);
    if (Number.isInteger(target) && target >= lowestTarget(p, length) && target <= p.target_max) {
      return { numbers: drawn.slice(0, length), target };
    }
  }
  return undefined;
}

/**
 * The value of a random tree over the first `length` numbers: two values drawn at random become one until one is left.
 * NaN where it divides by zero. Whole exactly if the value is, for both parts are exact and below 2^53.
 */
function drawValue(numbers: readonly number[], length: number, values: Values, rng: Rng): number {
  const { nums, dens } = values;
  for (let i = 0; i < length; i++) {
    nums[i] = numbers[i]!;
    dens[i] = 1;
  }
  for (let last = length - 1; last > 0; last--) {
    const i = rng.int(0, last);
    const other = rng.int(0, last - 1);
    const j = other >= i ? other + 1 : other;
    if (!combine(values, Math.min(i, j), rng.pick(KINDS), nums[i]!, dens[i]!, nums[j]!, dens[j]!)) return NaN;
    nums[Math.max(i, j)] = nums[last]!;
    dens[Math.max(i, j)] = dens[last]!;
  }
  return nums[0]! / dens[0]!;
}
