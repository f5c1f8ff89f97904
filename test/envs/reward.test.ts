import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countdown } from "../../envs/countdown/index.ts";
import type { Baseline, Goal } from "../../envs/environment.ts";
import type { Findings } from "../../envs/facts.ts";
import { tsp } from "../../envs/np/tsp/index.ts";
import { qualityRatio, type RewardScheme, type ToPrice } from "../../envs/reward/scheme.ts";
import { resolveScheme, rewardSchemes } from "../../envs/reward/schemes.ts";

const OPTIMIZATION = ["quality", "binary", "optimal_only", "coarse", "normalized"] as const;

function proven(value: number): Baseline {
  return { value, bound: value, proven: true };
}

function scheme(name: string): RewardScheme {
  return rewardSchemes[name] as RewardScheme;
}

function findings(goal: Goal, objective: number, best: number, trivial: number): ToPrice {
  const facts: Findings = { kind: "feasible", objective };
  const rest = { formatValid: true, tidiness: undefined, parameters: {} };
  return { goal, findings: facts, baseline: proven(best), trivial, ...rest };
}

/** The rewards under OPTIMIZATION, in that order. */
function rewards(given: ToPrice): readonly number[] {
  return OPTIMIZATION.map((name) => scheme(name).price(given).reward);
}

describe("optimisation", () => {
  // By hand, from FORGE 3.1 and docs/glossary.md: 1 + (ratio; 1; optimum or not; coarse; normalized).
  test.each<readonly [string, Goal, number, number, number, readonly number[]]>([
    ["an optimal tour", "minimize", 80, 80, 120, [2, 2, 2, 1.6, 2]],
    ["a tour half way", "minimize", 100, 80, 120, [1.8, 2, 1, 1 + 120 / 220, 1.5]],
    ["the trivial tour", "minimize", 120, 80, 120, [1 + 80 / 120, 2, 1, 1.5, 1]],
    ["worse than trivial", "minimize", 160, 80, 120, [1.5, 2, 1, 1 + 120 / 280, 1]],
    ["an optimal packing", "maximize", 26, 26, 13, [2, 2, 2, 1 + 26 / 39, 2]],
    ["a packing", "maximize", 19.5, 26, 13, [1.75, 2, 1, 1.6, 1.5]],
    ["nothing packed", "maximize", 0, 26, 13, [1, 2, 1, 1, 1]],
    ["0/0 to minimise", "minimize", 0, 0, 0, [2, 2, 2, 2, 2]],
    ["0/0 to maximise", "maximize", 0, 0, 0, [2, 2, 2, 2, 2]],
    ["a zero optimum missed", "minimize", 5, 0, 5, [1, 2, 1, 1.5, 1]],
    ["trivial is optimal, and reached", "minimize", 7, 7, 7, [2, 2, 2, 1.5, 2]],
    ["trivial is optimal, and missed", "minimize", 14, 7, 7, [1.5, 2, 1, 1 + 7 / 21, 1]],
    ["the empty schedule", "maximize", 0, 8, 0, [1, 2, 1, 2, 1]],
    // Objectives of mounted environments may be negative: rewards then equal those of the magnitudes with the goal
    // reversed.
    ["a loss to maximise", "maximize", -20, -10, -40, [1.5, 2, 1, 1 + 40 / 60, 1 + 20 / 30]],
    ["the least loss", "maximize", -10, -10, -40, [2, 2, 2, 1.8, 2]],
    ["an energy to minimise", "minimize", -5, -10, -2, [1.5, 2, 1, 1 + 5 / 7, 1 + 3 / 8]],
    ["a loss where a gain is known", "maximize", -20, 10, -40, [1, 2, 1, 1 + 40 / 60, 1.4]],
    ["a gain over a trivial loss", "maximize", 5, 10, -40, [1.5, 2, 1, 2, 1.9]],
    ["a loss under a trivial gain", "maximize", -5, 10, 2, [1, 2, 1, 1, 1]],
    ["an energy above 0", "minimize", 5, -10, -2, [1, 2, 1, 1, 1]],
    ["a loss where nothing is lost at best", "maximize", -5, 0, -10, [1, 2, 1, 1 + 10 / 15, 1.5]],
  ])("%s", (_, goal, objective, best, trivial, expected) => {
    expect(rewards(findings(goal, objective, best, trivial))).toEqual(expected);
  });

  test("an answer that counts without its closing mark has −1 for its format, whatever its share", () => {
    const given = findings("minimize", 100, 80, 120);
    expect(rewards({ ...given, formatValid: false })).toEqual(rewards(given).map((reward) => reward - 2));
    const [format] = scheme("quality").price({ ...given, formatValid: false }).components;
    expect(format).toEqual({ name: "format", value: -1, weight: 1 });
  });

  test("infeasible is −0.5 and malformed −2.5, in all", () => {
    const given = findings("minimize", 80, 80, 120);
    expect(rewards({ ...given, findings: { kind: "infeasible", violation: "no" } })).toEqual(Array(5).fill(-0.5));
    expect(rewards({ ...given, findings: { kind: "malformed", reason: "no" } })).toEqual(Array(5).fill(-2.5));
  });

  test("a bounded baseline that is beaten counts as met; its bound, when met, as the optimum", () => {
    const given: ToPrice = { ...findings("minimize", 90, 0, 120), baseline: { value: 100, bound: 80, proven: false } };
    expect(rewards(given)).toEqual([2, 2, 1, 1 + 120 / 210, 2]);
    expect(rewards({ ...given, findings: { kind: "feasible", objective: 80 } })[2]).toBe(2);
  });

  test("an answer better than a trivial one that is the best known has all of the improvement", () => {
    const smaller: ToPrice = {
      ...findings("minimize", 90, 0, 100),
      baseline: { value: 100, bound: 80, proven: false },
    };
    const larger: ToPrice = {
      ...findings("maximize", 110, 0, 100),
      baseline: { value: 100, bound: 120, proven: false },
    };
    for (const given of [smaller, larger]) expect(scheme("normalized").price(given).reward).toBe(2);
    const worse: ToPrice = { ...larger, findings: { kind: "feasible", objective: 90 } };
    expect(scheme("normalized").price(worse).reward).toBe(1);
    // A search that ran out of nodes may know of nothing as good.
    const behind: ToPrice = { ...larger, baseline: { value: 95, bound: 120, proven: false } };
    const improvements = [95, 99, 100, 110].map((objective) => {
      const given: ToPrice = { ...behind, findings: { kind: "feasible", objective } };
      return scheme("normalized").price(given).reward - 1;
    });
    expect(improvements).toEqual([0, 0, 1, 1]);
  });

  test("whatever the signs, a better objective is never paid less, and no reward leaves its range", () => {
    const number = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -1e6, max: 1e6 }));
    const property = fc.property(
      fc.constantFrom<Goal>("minimize", "maximize"),
      fc.tuple(number, number, number, number),
      (goal, [trivial, ...objectives]) => {
        const [best = 0, ...others] = objectives.toSorted((a, b) => (goal === "minimize" ? a - b : b - a));
        const paid = [best, ...others].map((objective) => rewards(findings(goal, objective, best, trivial)));
        for (const [i, scheme] of OPTIMIZATION.entries()) {
          const falling = paid.map((each) => each[i] as number);
          expect(falling, scheme).toEqual(falling.toSorted((a, b) => b - a));
          for (const reward of falling) expect(reward >= 1 && reward <= 2).toBe(true);
        }
      },
    );
    fc.assert(property, { numRuns: 2000 });
  });

  test("what cannot be said is left out of the sum", () => {
    const given: ToPrice = { ...findings("minimize", 80, 80, 120), baseline: undefined, trivial: undefined };
    expect(rewards(given)).toEqual([1, 2, 1, 1, 1]);
    expect(scheme("quality").price(given).components.at(-1)).toEqual({
      name: "quality",
      value: undefined,
      weight: 1,
      reason: "the task has no baseline to compare the answer with",
    });
  });
});

test("the ratio where something is zero", () => {
  const open = { value: 5, bound: 0, proven: false };
  expect([0, 4, 5, 10].map((objective) => qualityRatio("minimize", objective, open))).toEqual([1, 1, 1, 0.5]);
  expect([0, 10].map((objective) => qualityRatio("minimize", objective, proven(0)))).toEqual([1, 0]);
  expect(qualityRatio("maximize", 0, proven(0))).toBe(1);
  expect([0, 3].map((objective) => qualityRatio("maximize", objective, { value: 0, bound: 9, proven: false }))).toEqual(
    [1, 1],
  );
});

test("an objective beyond the certified bound is a bug of ours", () => {
  expect(() => qualityRatio("minimize", 79, proven(80))).toThrow(
    "objective 79 to minimize beats the certified bound 80: the verifier or the solver is wrong",
  );
  expect(() => qualityRatio("maximize", 81, proven(80))).toThrow("beats");
  expect(() => qualityRatio("minimize", 79, { value: 90, bound: 80, proven: false })).toThrow("beats");
});

describe("graded", () => {
  const given = findings("satisfy", 1, 1, 0);
  test("1, format_score or 0", () => {
    const price = (facts: Findings, score: number): number =>
      scheme("graded").price({ ...given, findings: facts, parameters: { format_score: score } }).reward;
    expect(price({ kind: "feasible" }, 0.1)).toBe(1);
    expect(price({ kind: "infeasible", violation: "no" }, 0.1)).toBe(0.1);
    expect(price({ kind: "infeasible", violation: "no" }, 0)).toBe(0);
    expect(price({ kind: "malformed", reason: "no" }, 0.1)).toBe(0);
  });
});

test("every reward is the weighted sum of its defined components, and lies in the scheme's range", () => {
  const objective = fc.integer({ min: 0, max: 1000 });
  const facts = fc.oneof(
    fc.constant<Findings>({ kind: "malformed", reason: "no" }),
    fc.constant<Findings>({ kind: "infeasible", violation: "no" }),
    objective.map((value): Findings => ({ kind: "feasible", objective: value })),
  );
  const goal = fc.constantFrom<Goal>("minimize", "maximize");
  fc.assert(
    fc.property(goal, facts, objective, objective, fc.double({ min: 0, max: 1, noNaN: true }), (g, f, far, t, fs) => {
      const met = f.kind === "feasible" ? (f.objective as number) : far;
      const best = g === "minimize" ? Math.min(met, far) : Math.max(met, far);
      for (const each of Object.values(rewardSchemes)) {
        const defaults = Object.fromEntries(each.parameters.map(({ name, defaultValue }) => [name, defaultValue]));
        const parameters = { ...defaults, format_score: fs };
        const { reward, components } = each.price({
          goal: g,
          findings: f,
          formatValid: far % 2 === 0,
          baseline: proven(best),
          trivial: t,
          tidiness: undefined,
          parameters,
        });
        const { min, max } = each.range(parameters);
        expect(reward).toBeGreaterThanOrEqual(min);
        expect(reward).toBeLessThanOrEqual(max);
        expect(components.reduce((sum, { value, weight }) => sum + (value ?? 0) * weight, 0)).toBeCloseTo(reward, 12);
      }
    }),
  );
});

describe("resolveScheme", () => {
  test("fills in the environment's default and the scheme's defaults", () => {
    expect(resolveScheme(tsp, "", {})).toMatchObject({ kind: "ok", scheme: { name: "quality", parameters: {} } });
    const graded = { name: "graded", parameters: { format_score: 0.1 } };
    expect(resolveScheme(countdown, "", {})).toMatchObject({ kind: "ok", scheme: graded });
    const given = resolveScheme(countdown, "graded", { format_score: 0.5 });
    expect(given).toMatchObject({ scheme: { parameters: { format_score: 0.5 } } });
  });

  test.each([
    ["qualty", {}, "name", "np/tsp has no reward scheme 'qualty'; did you mean 'quality'?"],
    ["graded", {}, "name", "np/tsp has no reward scheme 'graded'"],
    ["__proto__", {}, "name", "np/tsp has no reward scheme '__proto__'"],
    ["quality", { alpha: 1 }, "parameters", "unknown parameter 'alpha'"],
  ])("refuses %s with %o", (name, values, field, message) => {
    expect(resolveScheme(tsp, name, values)).toEqual({ kind: "invalid", field, message });
  });

  test.each([-0.1, 1.1, NaN, Infinity])("refuses a format_score of %d", (value) => {
    const resolved = resolveScheme(countdown, "graded", { format_score: value });
    const message = `format_score must be from 0 to 1; got ${value}`;
    expect(resolved).toEqual({ kind: "invalid", field: "parameters.format_score", message });
  });
});
