import { describe, expect, test } from "vitest";
import { type CountdownParameters, fits, generator, tierOf } from "../../../envs/countdown/generate.ts";
import { type CountdownInstance, LIMITS } from "../../../envs/countdown/instance.ts";
import { countdown } from "../../../envs/countdown/index.ts";
import { countSolutions } from "../../../envs/countdown/solve.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { resolveParameters } from "../../../envs/parameters.ts";

const { levels: tiers, parameters } = generator;
const defaults = Object.fromEntries(parameters.map((each) => [each.name, each.defaultValue]));

function custom(given: Partial<CountdownParameters>) {
  return { ...defaults, ...given };
}

/** Instances that the generator draws and accepts for these parameters. */
function generated(name: string, given: Readonly<Record<string, number>>, count: number): readonly CountdownInstance[] {
  const rng = rngFor("tiers test", name);
  const kept: CountdownInstance[] = [];
  for (let tried = 0; kept.length < count && tried < 100 * count; tried++) {
    const instance = generator.generate(given, rng);
    if (instance !== undefined && generator.accepts!(instance, given)) kept.push(instance);
  }
  expect(kept.length).toBe(count);
  return kept;
}

describe("tiers", () => {
  test("are T0 to T3 and OOD, and only OOD is for evaluation only", () => {
    expect(tiers.map((each) => each.name)).toEqual(["T0", "T1", "T2", "T3", "OOD"]);
    expect(tiers.filter((each) => each.evaluationOnly).map((each) => each.name)).toEqual(["OOD"]);
  });

  test("give each parameter a value in its range", () => {
    for (const each of tiers) {
      expect(Object.keys(each.parameters)).toEqual(parameters.map(({ name }) => name));
      for (const { name, min, max } of parameters) {
        expect(each.parameters[name]).toBeGreaterThanOrEqual(min);
        expect(each.parameters[name]).toBeLessThanOrEqual(max);
      }
    }
  });

  test.each([
    ["small targets of three numbers", [1, 2, 3], 6, "T0"],
    ["the last small target", [10, 15, 5], 30, "T0"],
    ["one solution does not make three numbers sparse", [10, 5, 2], 25, "T0"],
    ["three numbers, the first larger target", [10, 15, 6], 31, "T1"],
    ["three numbers to 75", [50, 20, 5], 75, "T1"],
    ["three numbers above 75", [50, 20, 6], 76, "T1"],
    ["Curriculum RLOO's own row", [44, 19, 35], 98, "T1"],
    ["three numbers, the largest target", [50, 40, 50], 100_000, "T1"],
    ["four numbers with a small target", [1, 2, 6, 8], 24, "T1"],
    ["four numbers to 75", [40, 20, 10, 5], 75, "T1"],
    ["four numbers above 75", [40, 20, 10, 6], 76, "T2"],
    ["four numbers to 150", [80, 40, 20, 10], 150, "T2"],
    ["four numbers above 150", [80, 40, 20, 11], 151, "T3"],
    ["four numbers to 1,000", [100, 10, 3, 3], 1000, "T3"],
    ["four numbers above 1,000", [100, 10, 5, 4], 1054, "T3"],
    ["five numbers above 1,000", [100, 10, 5, 4, 1], 1055, "OOD"],
    ["four numbers with one solution, whatever the target", [1, 3, 4, 6], 24, "T3"],
    ["five numbers", [1, 2, 3, 4, 5], 15, "OOD"],
    ["six numbers", [1, 2, 3, 4, 5, 6], 21, undefined],
    ["two numbers", [1, 2], 3, undefined],
    ["three numbers without a solution", [50, 50, 50], 7, undefined],
    ["four numbers without a solution", [97, 89, 83, 91], 777, undefined],
  ])("%s: %j -> %i is %s", (_, numbers, target, tier) => {
    expect(tierOf({ numbers, target })).toBe(tier);
  });

  test("sparse is at most three solutions", () => {
    const rng = rngFor("tiers test", "sparse");
    const seen = new Set<number>();
    for (let tried = 0; tried < 4000; tried++) {
      const numbers = Array.from({ length: 4 }, () => rng.int(1, 99));
      const target = rng.int(1, 150);
      const solutions = countSolutions(numbers, target);
      const plain = target <= 75 ? "T1" : "T2";
      expect(tierOf({ numbers, target })).toBe(solutions === 0 ? undefined : solutions <= 3 ? "T3" : plain);
      seen.add(solutions);
    }
    for (const solutions of [0, 1, 2, 3, 4, 5]) expect(seen).toContain(solutions);
  });

  test("hold every solvable instance of three or four numbers", () => {
    const rng = rngFor("tiers test", "every row");
    for (let tried = 0; tried < 3000; tried++) {
      const numbers = Array.from({ length: rng.int(3, 4) }, () => rng.int(1, 200));
      const target = rng.int(1, rng.pick([100, 1000, 100_000]));
      expect(tierOf({ numbers, target }) !== undefined).toBe(countSolutions(numbers, target, 1) > 0);
    }
  });

  test("never overlap", () => {
    const rng = rngFor("tiers test", "overlap");
    for (let tried = 0; tried < 2000; tried++) {
      const numbers = Array.from({ length: rng.int(2, 5) }, () => rng.int(1, 30));
      const instance = { numbers, target: rng.int(1, 300) };
      const fitting = tiers.filter((each) => fits(instance, each.parameters as CountdownParameters));
      expect(fitting.length).toBeLessThanOrEqual(1);
      if (fitting.length > 0) expect(fitting[0]?.name).toBe(tierOf(instance));
    }
  });
});

describe("generator", () => {
  test.each(tiers.map((each) => [each.name, each.parameters] as const))(
    "what it makes for %s belongs there",
    (name, given) => {
      for (const instance of generated(name, given, 200)) {
        expect(tierOf(instance), JSON.stringify(instance)).toBe(name);
        expect(instance.numbers.every((number) => number >= 1 && number <= 99)).toBe(true);
        expect(Number.isInteger(instance.target)).toBe(true);
      }
    },
  );

  test("T1 has three numbers and four, T3 large targets and sparse small ones", () => {
    const lengths = generated("T1", tiers[1]!.parameters, 200).map(({ numbers }) => numbers.length);
    expect(new Set(lengths)).toEqual(new Set([3, 4]));
    const targets = generated("T3", tiers[3]!.parameters, 300).map(({ target }) => target);
    expect(targets.some((target) => target <= 150)).toBe(true);
    expect(targets.some((target) => target > 150)).toBe(true);
  });

  test("the same stream gives the same instance", () => {
    for (const { name, parameters: given } of tiers) {
      const make = (seed: number) => generator.generate(given, rngFor("tiers test", name, seed));
      for (let seed = 0; seed < 50; seed++) expect(make(seed)).toEqual(make(seed));
      expect(make(1)).not.toEqual(make(2));
    }
  });

  test("takes counts of solutions as parameters", () => {
    const rare = custom({ numbers_min: 4, solutions_max: 2 });
    for (const { numbers, target } of generated("rare", rare, 50)) {
      expect(countSolutions(numbers, target)).toBeLessThanOrEqual(2);
    }
    const plenty = custom({ numbers_min: 4, solutions_min: 40 });
    for (const { numbers, target } of generated("plenty", plenty, 50)) {
      expect(countSolutions(numbers, target)).toBeGreaterThanOrEqual(40);
    }
    const most = custom({ numbers_min: 5, numbers_max: 5, solutions_min: 128 });
    for (const { numbers, target } of generated("most", most, 5)) expect(countSolutions(numbers, target)).toBe(128);
  });

  test("takes the size of numbers and targets as parameters, up to the limits", () => {
    const large = custom({
      numbers_min: 6,
      numbers_max: 6,
      number_min: 190,
      number_max: LIMITS.numberMax,
      target_min: 10_000,
      target_max: LIMITS.targetMax,
    });
    for (const { numbers, target } of generated("large", large, 5)) {
      expect(numbers.length).toBe(6);
      expect(numbers.every((number) => number >= 190 && number <= 200)).toBe(true);
      expect(target).toBeGreaterThanOrEqual(10_000);
      expect(countSolutions(numbers, target, 1)).toBe(1);
    }
  });

  test("makes nothing for targets out of reach", () => {
    const rng = rngFor("tiers test", "targets out of reach");
    const given = custom({ number_max: 1, target_min: 900 });
    for (let tried = 0; tried < 20; tried++) expect(generator.generate(given, rng)).toBeUndefined();
  });

  test.each([
    ["numbers_min", { numbers_min: 5, numbers_max: 4 }],
    ["number_min", { number_min: 50, number_max: 40 }],
    ["target_min", { target_min: 50, target_max: 40 }],
    ["solutions_min", { solutions_min: 50, solutions_max: 40 }],
  ])("is never asked for more at least than at most: %s", (name, given) => {
    const refused = { kind: "invalid", field: "parameters" };
    expect(resolveParameters(countdown, given)).toMatchObject(refused);
    expect(resolveParameters(countdown, given)).toHaveProperty(
      "message",
      expect.stringContaining(`${name} must not be above`),
    );
  });
});
