/** Tests generated math tasks on values near the right one, and on other spellings of the right one. */
import { expect, test } from "vitest";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import type { Facts, Parsed } from "../../../envs/facts.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { arithmetic } from "../../../envs/math/arithmetic/index.ts";
import { linear } from "../../../envs/math/linear/index.ts";
import { type Fraction, fraction, fractionOf, plus, shown } from "./reference.ts";

/** Tasks of each level. */
const TASKS = 40;

interface Asked {
  readonly text: string;
  readonly takes: (answer: string) => boolean;
}

function asked<Instance, Answer>(environment: SyncEnvironment<Instance, Answer>): readonly Asked[] {
  return environment.levels.flatMap(({ name, parameters }) =>
    Array.from({ length: TASKS }, (_, i): Asked => {
      const instance = environment.generator!.generate(parameters, rngFor("near", name, i)) as Instance;
      const text = environment.solver!.format(environment.solver!.solve(instance).answer);
      const takes = (answer: string): boolean => {
        const parsed: Parsed<Answer> = environment.parse(answer, instance);
        if (parsed.kind === "malformed") return false;
        const facts: Facts = environment.verify(instance, parsed.answer);
        return facts.kind === "graded" && facts.solved;
      };
      return { text, takes };
    }),
  );
}

const VALUE = /-?\d+(?:\/\d+)?/g;

/** The answer with each of its values in turn replaced. */
function replaced(text: string, change: (value: Fraction) => readonly string[]): readonly string[] {
  return [...text.matchAll(VALUE)].flatMap(({ 0: value, index }) =>
    change(fractionOf(value)).map((other) => text.slice(0, index) + other + text.slice(index + value.length)),
  );
}

function misses({ num, den }: Fraction): readonly string[] {
  const value = { num, den };
  const near = [
    ...[plus(value, fraction(1n)), plus(value, fraction(-1n)), plus(value, fraction(1n, 1_000_000_007n))],
    ...[fraction(num + 1n, den), fraction(num, den + 1n), fraction(10n * num, den)],
  ];
  const others = num === 0n ? [] : [fraction(-num, den), ...(num * num === den * den ? [] : [fraction(den, num)])];
  const rounded = den === 1n ? `${num}.0001` : (Number(num) / Number(den)).toFixed(6);
  const texts = [...near, ...others].filter((each) => shown(each) !== shown(value)).map(shown);
  return den > 1n && (num * 1_000_000n) % den === 0n ? texts : [...texts, rounded];
}

function spellings({ num, den }: Fraction): readonly string[] {
  const [sign, size] = num < 0n ? ["-", -num] : ["", num];
  const mixed = den > 1n && size > den ? [`${sign}${size / den}\\frac{${size % den}}{${den}}`] : [];
  const plain =
    den === 1n ? [`${num}.0`, `\\frac{${num}}{1}`] : [`${sign}\\frac{${size}}{${den}}`, `\\dfrac{${num}}{${den}}`];
  return [...plain, ...mixed, `${num * 6n}/${den * 6n}`, `${sign === "" ? "+" : "−"}${size}/${den}`];
}

test.each([
  ["math/arithmetic", asked(arithmetic)],
  ["math/linear", asked(linear)],
] as const)("%s takes the value however it is spelled, and none beside it", (_, tasks) => {
  let tried = 0;
  for (const { text, takes } of tasks) {
    for (const miss of replaced(text, misses)) {
      tried++;
      expect(takes(miss), `${miss} for ${text}`).toBe(false);
    }
    for (const same of replaced(text, spellings)) expect(takes(same), `${same} for ${text}`).toBe(true);
  }
  expect(tried).toBeGreaterThan(1000);
});
