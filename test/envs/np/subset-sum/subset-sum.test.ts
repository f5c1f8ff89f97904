/** The worked example of FORGE A.5.2. */
import { describe, expect, test } from "vitest";
import { sumAt } from "../../../../envs/lib/parse-lists.ts";
import type { SubsetSumInstance } from "../../../../envs/np/subset-sum/generate.ts";
import { subsetSum } from "../../../../envs/np/subset-sum/index.ts";
import { resolveParameters } from "../../../../envs/parameters.ts";
import { draw, levelOf, toldOfExample } from "../draws.ts";

const FIVE: SubsetSumInstance = { target: 10, numbers: Int32Array.of(2, 3, 7, 8, 5), planted: [2, 1] };

describe("the paper's example", () => {
  test("has optimum 3, by the paper's subset", () => {
    expect(subsetSum.solver?.solve(FIVE)).toMatchObject({ answer: [0, 1, 4], value: 3, bound: 3, proven: true });
    expect(subsetSum.verify(FIVE, [0, 1, 4])).toEqual({ kind: "feasible", objective: 3 });
    expect(subsetSum.trivial?.(FIVE)).toBe(0);
  });
});

describe("verify", () => {
  test("agrees with the sum being the target, for all subsets", () => {
    for (let choice = 0; choice < 32; choice++) {
      const subset = [0, 1, 2, 3, 4].filter((index) => (choice >> index) & 1);
      const sum = subset.reduce((all, index) => all + FIVE.numbers[index]!, 0);
      const facts = sum === 10 ? { kind: "feasible", objective: subset.length } : { kind: "infeasible" };
      expect(subsetSum.verify(FIVE, subset)).toMatchObject(facts);
      expect(subsetSum.verify(FIVE, subset.toReversed())).toMatchObject(facts);
    }
  });

  test("equal numbers at two indices are two numbers", () => {
    const twice = { target: 4, numbers: Int32Array.of(2, 2, 4), planted: [2] };
    expect(subsetSum.verify(twice, [0, 1])).toEqual({ kind: "feasible", objective: 2 });
    expect(subsetSum.solver?.solve(twice)).toMatchObject({ answer: [0, 1], value: 2, proven: true });
  });
});

describe("generate", () => {
  // test/envs/np/reference checks the level of the papers' code.
  const own = subsetSum.levels.filter(({ name }) => name !== "reference");

  test.each(own)("at level $name counts and numbers are those of the papers", ({ parameters }) => {
    const [counts, planted, numbers] = [new Set<number>(), new Set<number>(), new Set<number>()];
    for (let seed = 0; seed < 400; seed++) {
      const instance = draw(subsetSum, parameters, seed);
      const count = instance.numbers.length;
      counts.add(count);
      planted.add(instance.planted.length);
      for (const number of instance.numbers) numbers.add(number);
      expect(sumAt(instance.numbers, instance.planted)).toBe(instance.target);
      expect(instance.planted.length).toBeLessThanOrEqual(count - 2);
      // All numbers together are too many: there is something to choose.
      expect(subsetSum.solver?.solve(instance).value).toBeLessThan(count);
    }
    const range = (name: string): readonly number[] => [parameters[`${name}_min`]!, parameters[`${name}_max`]!];
    expect([Math.min(...counts), Math.max(...counts)]).toEqual(range("numbers"));
    expect([Math.min(...planted), Math.max(...planted)]).toEqual(range("planted"));
    expect([Math.min(...numbers), Math.max(...numbers)]).toEqual(range("value"));
  });

  test("refuses a target of all numbers but one", () => {
    const message = "planted_min must be at least 2 below numbers_min: 4 > 5 − 2";
    const refused = { kind: "invalid", field: "parameters", message };
    expect(resolveParameters(subsetSum, { numbers_min: 5 })).toEqual(refused);
    expect(resolveParameters(subsetSum, { value_min: 6, value_max: 5 }).kind).toBe("invalid");
  });

  test("the same numbers and target are the same task, whatever was planted", () => {
    expect(subsetSum.canonical({ ...FIVE, planted: [0, 3] })).toBe(subsetSum.canonical(FIVE));
    expect(subsetSum.canonical({ ...FIVE, target: 11 })).not.toBe(subsetSum.canonical(FIVE));
  });
});

describe("prompt", () => {
  test("is as it is", () => {
    const [message] = subsetSum.render({ ...FIVE, target: 13 }, "answer_tag");
    expect(message).toMatchInlineSnapshot(`
      {
        "content": "Choose as many as possible of 5 numbers, which stand at the indices 0 to 4, so that those chosen sum up to exactly a target. The same number may stand at several indices.
      Write your choice as a list of indices, in square brackets and separated by commas, in any order and each once.

      The target comes first below; then come the numbers, as index=number.

      Example with 5 numbers:
      target: 10
      numbers: 0=2 1=3 2=7 3=8 4=5
      A largest choice is [0, 1, 4], of 3 numbers: 2 + 3 + 5 = 10.

      Your task:
      target: 13
      numbers: 0=2 1=3 2=7 3=8 4=5

      Write your final answer, and nothing else, between <answer> and </answer>.",
        "role": "user",
      }
    `);
  });

  test("shows an example that is optimal", () => {
    const told = toldOfExample(subsetSum, FIVE, { ...FIVE, target: 13 });
    const [, text, count] = /A largest choice is (.*), of (\d+) numbers/.exec(told) ?? [];
    expect([text, Number(count)]).toEqual(["[0, 1, 4]", subsetSum.solver?.solve(FIVE).value]);
  });

  test("of 20 numbers takes at most 1,000 characters", () => {
    const parameters = { ...levelOf(subsetSum, "benchmark"), numbers_min: 20, value_min: 15 };
    const [message] = subsetSum.render(draw(subsetSum, parameters, 1), "think_answer");
    expect(message?.content).toMatch(/^[\n -~]*$/);
    expect(message?.content.length).toBeLessThanOrEqual(1000);
  });
});
