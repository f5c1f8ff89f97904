/** The worked example of FORGE A.5.1. */
import { describe, expect, test } from "vitest";
import { bitMatrixOf, countOnes, onesOf } from "../../../../envs/lib/bit-matrix.ts";
import { setCover } from "../../../../envs/np/set-cover/index.ts";
import { draw, drawBenchmark, toldOfExample } from "../draws.ts";

const SIX = {
  subsets: bitMatrixOf(6, [
    [0, 1, 2],
    [2, 3],
    [0, 4],
    [3, 4, 5],
    [1, 2, 5],
  ]),
};

describe("the paper's example", () => {
  test("has optimum 2: the paper's cover of 3 is beaten", () => {
    expect(setCover.verify(SIX, [0, 3, 4])).toEqual({ kind: "feasible", objective: 3 });
    expect(setCover.verify(SIX, [0, 3])).toEqual({ kind: "feasible", objective: 2 });
    expect(setCover.solver?.solve(SIX)).toMatchObject({ answer: [0, 3], value: 2, bound: 2, proven: true });
    expect(setCover.trivial?.(SIX)).toBe(5);
  });
});

describe("verify", () => {
  test("agrees with the union being the universe, for all choices", () => {
    for (let choice = 0; choice < 32; choice++) {
      const cover = [0, 1, 2, 3, 4].filter((s) => (choice >> s) & 1);
      const union = new Set(cover.flatMap((s) => onesOf(SIX.subsets, s)));
      const facts = union.size === 6 ? { kind: "feasible", objective: cover.length } : { kind: "infeasible" };
      expect(setCover.verify(SIX, cover)).toMatchObject(facts);
      expect(setCover.verify(SIX, cover.toReversed())).toMatchObject(facts);
    }
  });
});

describe("generate", () => {
  test("subsets are of all the sizes asked for, and cover the universe", () => {
    const sizes = { elements_min: 20, elements_max: 21, subsets_min: 30, subsets_max: 32, subset_size_factor: 0.4 };
    const [seenElements, seenSubsets, seenSizes] = [new Set<number>(), new Set<number>(), new Set<number>()];
    for (let seed = 0; seed < 100; seed++) {
      const { subsets } = draw(setCover, sizes, seed);
      seenElements.add(subsets.columns);
      seenSubsets.add(subsets.rows);
      for (let s = 0; s < subsets.rows; s++) seenSizes.add(countOnes(subsets, s));
    }
    expect([...seenElements].sort()).toEqual([20, 21]);
    expect([...seenSubsets].sort()).toEqual([30, 31, 32]);
    for (const size of [4, 5, 6, 7, 8]) expect(seenSizes).toContain(size);
    expect(Math.min(...seenSizes)).toBe(4);
  });

  test.each([0, 0.05, 0.4, 1])("no instance is impossible, with a subset size factor of %d", (subset_size_factor) => {
    for (let seed = 0; seed < 200; seed++) {
      const sizes = { elements_min: 1, elements_max: 12, subsets_min: 1, subsets_max: 6, subset_size_factor };
      const { subsets } = draw(setCover, sizes, seed);
      const all = Array.from({ length: subsets.rows }, (_, s) => s);
      expect(setCover.verify({ subsets }, all)).toEqual({ kind: "feasible", objective: subsets.rows });
    }
  });
});

describe("prompt", () => {
  test("is as it is", () => {
    const [message] = setCover.render({ subsets: bitMatrixOf(3, [[0, 1], [], [1, 2]]) }, "answer_tag");
    expect(message).toMatchInlineSnapshot(`
      {
        "content": "Cover a universe with as few subsets as possible: choose subsets such that each of the 3 elements, numbered from 0 to 2, is in at least one of them. There are 3 subsets to choose from, numbered from 0 to 2.
      Write the choice as a list of the numbers of the chosen subsets, in square brackets and separated by commas, in any order and each once.

      Each line below gives a subset and, after the colon, its elements.

      Example with 6 elements and 5 subsets:
      0: 0 1 2
      1: 2 3
      2: 0 4
      3: 3 4 5
      4: 1 2 5
      A smallest cover is [0, 3], of 2 subsets.

      Your task:
      0: 0 1
      1: none
      2: 1 2

      Write your final answer, and nothing else, between <answer> and </answer>.",
        "role": "user",
      }
    `);
  });

  test("shows an example that is optimal", () => {
    const told = toldOfExample(setCover, SIX, { subsets: bitMatrixOf(3, [[0, 1], [], [1, 2]]) });
    const [, text, size] = /A smallest cover is (.*), of (\d+)/.exec(told) ?? [];
    expect([text, Number(size)]).toEqual(["[0, 3]", setCover.solver?.solve(SIX).value]);
  });

  test("at benchmark level takes at most 2,100 characters", () => {
    for (let seed = 0; seed < 200; seed++) {
      const [message] = setCover.render(drawBenchmark(setCover, seed), "think_answer");
      expect(message?.content).toMatch(/^[\n -~]*$/);
      expect(message?.content.length).toBeLessThanOrEqual(2100);
    }
  });
});
