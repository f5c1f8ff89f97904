/** The worked example of FORGE A.5.3. */
import { describe, expect, test } from "vitest";
import { sumAt } from "../../../../envs/lib/parse-lists.ts";
import type { KnapsackInstance } from "../../../../envs/np/knapsack/generate.ts";
import { knapsack } from "../../../../envs/np/knapsack/index.ts";
import { resolveParameters } from "../../../../envs/parameters.ts";
import { draw, levelOf, toldOfExample } from "../draws.ts";

const FOUR: KnapsackInstance = {
  capacity: 20,
  weights: Int32Array.of(3, 4, 7, 8),
  values: Int32Array.of(4, 5, 10, 11),
};

describe("the paper's example", () => {
  test("has optimum 26: the paper's choice of 25 is beaten", () => {
    expect(knapsack.verify(FOUR, [0, 2, 3])).toEqual({ kind: "feasible", objective: 25 });
    expect(knapsack.verify(FOUR, [1, 2, 3])).toEqual({ kind: "feasible", objective: 26 });
    expect(knapsack.solver?.solve(FOUR)).toMatchObject({ answer: [1, 2, 3], value: 26, bound: 26, proven: true });
    expect(knapsack.trivial?.(FOUR)).toBe(19);
  });
});

describe("verify", () => {
  test("agrees with the weight being within the capacity, for all choices", () => {
    for (let choice = 0; choice < 16; choice++) {
      const items = [0, 1, 2, 3].filter((item) => (choice >> item) & 1);
      const fits = items.reduce((sum, item) => sum + FOUR.weights[item]!, 0) <= 20;
      const value = items.reduce((sum, item) => sum + FOUR.values[item]!, 0);
      const facts = fits ? { kind: "feasible", objective: value } : { kind: "infeasible" };
      expect(knapsack.verify(FOUR, items)).toMatchObject(facts);
      expect(knapsack.verify(FOUR, items.toReversed())).toMatchObject(facts);
    }
  });

  test("where nothing fits, nothing is the best choice", () => {
    const none = { ...FOUR, capacity: 2 };
    expect(knapsack.solver?.solve(none)).toMatchObject({ answer: [], value: 0, bound: 0, proven: true });
    expect(knapsack.verify(none, [])).toEqual({ kind: "feasible", objective: 0 });
  });
});

describe("generate", () => {
  test("counts, weights, and values per weight are all those of the range, and no others", () => {
    const [counts, weights, ratios] = [new Set<number>(), new Set<number>(), new Set<number>()];
    const parameters = { ...levelOf(knapsack, "easy"), items_max: 18, weight_min: 10, weight_max: 14 };
    for (let seed = 0; seed < 200; seed++) {
      const instance = draw(knapsack, parameters, seed);
      counts.add(instance.weights.length);
      for (const [item, weight] of instance.weights.entries()) {
        weights.add(weight);
        ratios.add(Math.floor((10 * (instance.values[item]! + 0.5)) / weight));
      }
    }
    expect([...counts].sort()).toEqual([15, 16, 17, 18]);
    expect([...weights].sort()).toEqual([10, 11, 12, 13, 14]);
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(18);
    expect(Math.max(...ratios)).toBeLessThanOrEqual(25);
    for (let tenths = 18; tenths < 25; tenths++) expect(ratios).toContain(tenths);
  });

  test.each(knapsack.levels)("at level $name about the planted items fit, and never all", ({ parameters }) => {
    for (let seed = 0; seed < 100; seed++) {
      const { capacity, weights } = draw(knapsack, parameters, seed);
      expect(capacity).toBeGreaterThanOrEqual(parameters["planted_min"]! * parameters["weight_min"]!);
      expect(capacity).toBeLessThan(sumAt(weights, [...weights.keys()]));
    }
  });

  test("where everything would fit, no instance is drawn", () => {
    const parameters = { ...levelOf(knapsack, "easy"), planted_min: 14, planted_max: 14, items_max: 15, factor_min: 2 };
    expect(() => draw(knapsack, { ...parameters, factor_max: 2 }, 1)).toThrow("gives no instance");
  });

  test("refuses as many planted items as there may be items", () => {
    const message = "planted_max must be below items_min: 15 ≥ 15";
    const refused = { kind: "invalid", field: "parameters", message };
    expect(resolveParameters(knapsack, { items_min: 15, planted_max: 15 })).toEqual(refused);
    expect(resolveParameters(knapsack, { ratio_min: 3, ratio_max: 2 }).kind).toBe("invalid");
  });

  test("refuses a trap that could be worth more than the solver reckons exactly", () => {
    // 0.9 · 490 · 100,000 · 100 does not fit 32 bits: values were negative, and beyond 2^53 no bound holds.
    const sizes = { items_min: 500, planted_min: 300, planted_max: 490, weight_max: 100_000, ratio_max: 100 };
    expect(resolveParameters(knapsack, { ...sizes, reference: 1 })).toEqual({
      kind: "invalid",
      field: "parameters",
      message:
        "planted_max, weight_max or ratio_max is too large with reference = 1: a trap of weight 44100000 may be worth 4410000000, which exceeds exact arithmetic",
    });
    expect(resolveParameters(knapsack, sizes).kind).toBe("ok");
    const within = resolveParameters(knapsack, { ...sizes, reference: 1, weight_max: 2000, ratio_max: 10 });
    if (within.kind !== "ok") throw new Error(within.message);
    for (let seed = 0; seed < 20; seed++) {
      const { capacity, weights, values } = draw(knapsack, within.parameters, seed);
      expect(Math.min(capacity, ...weights, ...values)).toBeGreaterThan(0);
    }
  });
});

describe("prompt", () => {
  test("is as it is", () => {
    const [message] = knapsack.render(
      { capacity: 9, weights: Int32Array.of(5, 6), values: Int32Array.of(7, 8) },
      "answer_tag",
    );
    expect(message).toMatchInlineSnapshot(`
      {
        "content": "Choose from 2 items, numbered from 0 to 1, those that are worth the most together and weigh no more than a capacity.
      Write your choice as a list of the items' numbers, in square brackets and separated by commas, in any order and each once.

      The capacity comes first below; then each line gives an item and, after the colon, its weight and its value.

      Example with 4 items:
      capacity: 20
      0: weight=3 value=4
      1: weight=4 value=5
      2: weight=7 value=10
      3: weight=8 value=11
      A best choice is [1, 2, 3], which weighs 4 + 7 + 8 = 19 and is worth 5 + 10 + 11 = 26.

      Your task:
      capacity: 9
      0: weight=5 value=7
      1: weight=6 value=8

      Write your final answer, and nothing else, between <answer> and </answer>.",
        "role": "user",
      }
    `);
  });

  test("shows an example that is optimal", () => {
    const told = toldOfExample(knapsack, FOUR, { ...FOUR, capacity: 9 });
    const [, text, value] = /A best choice is (.*), which .* = (\d+)\./.exec(told) ?? [];
    expect([text, Number(value)]).toEqual(["[1, 2, 3]", knapsack.solver?.solve(FOUR).value]);
  });

  test("of 80 items takes at most 2,750 characters", () => {
    const parameters = { ...levelOf(knapsack, "benchmark"), items_min: 80, weight_min: 190 };
    const [message] = knapsack.render(draw(knapsack, parameters, 1), "think_answer");
    expect(message?.content).toMatch(/^[\n -~]*$/);
    expect(message?.content.length).toBeLessThanOrEqual(2750);
  });
});
