import { expect, test } from "vitest";
import { LIMITS } from "../../../envs/countdown/instance.ts";
import { combine, hits, makeValues, STEP_KINDS, STEPS } from "../../../envs/countdown/solve.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { apply, type Fraction, same, whole } from "./reference.ts";

test("steps from the largest instances stay exact", () => {
  const rng = rngFor("steps test");
  const { numbersMax, numberMax } = LIMITS;
  const values = makeValues(1);
  let largest = 0;
  for (let run = 0; run < 3000; run++) {
    const numbers = Array.from({ length: numbersMax }, () => numberMax - rng.int(0, 3));
    let pairs: readonly (readonly [number, number])[] = numbers.map((number) => [number, 1] as const);
    let exact: readonly Fraction[] = numbers.map(whole);
    while (pairs.length > 1) {
      const [i, j] = rng.shuffle(pairs.map((_, at) => at)) as [number, number];
      const kind = rng.int(0, STEP_KINDS - 1);
      const { operator, swapped } = STEPS[kind]!;
      const [a, b] = swapped ? [exact[j]!, exact[i]!] : [exact[i]!, exact[j]!];
      const expected = apply(operator, a, b);
      expect(combine(values, 0, kind, ...pairs[i]!, ...pairs[j]!)).toBe(expected !== undefined);
      if (expected === undefined) break;
      const [num, den] = [values.nums[0]!, values.dens[0]!];
      expect(same([BigInt(num), BigInt(den)], expected)).toBe(true);
      largest = Math.max(largest, Math.abs(num), Math.abs(den));
      pairs = [...pairs.filter((_, at) => at !== i && at !== j), [num, den]];
      exact = [...exact.filter((_, at) => at !== i && at !== j), expected];
    }
  }
  expect(largest).toBeLessThan(2 ** 53);
  expect(2 ** (numbersMax - 1) * numberMax ** numbersMax).toBeLessThan(2 ** 53);
});

test("hits counts the steps that combine makes", () => {
  const rng = rngFor("steps test", "hits");
  const values = makeValues(1);
  for (let run = 0; run < 20_000; run++) {
    const part = () => rng.int(-6, 6);
    const nonzero = () => rng.pick([-3, -2, -1, 1, 2, 3]);
    const [an, ad, bn, bd, target] = [part(), nonzero(), part(), nonzero(), rng.int(1, 8)];
    let expected = 0;
    for (let kind = 0; kind < STEP_KINDS; kind++) {
      const defined = combine(values, 0, kind, an, ad, bn, bd);
      if (defined && values.nums[0] === target * values.dens[0]!) expected++;
    }
    expect(hits(an, ad, bn, bd, target)).toBe(expected);
  }
});
