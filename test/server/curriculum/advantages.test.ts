import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { advantagesOf } from "../../../server/curriculum/core/signals.ts";

const rloo = (group: readonly number[]) => advantagesOf(group).rloo;
const grpo = (group: readonly number[]) => advantagesOf(group).grpo;
const meanAndStd = (group: readonly number[]) => {
  const { mean, std } = advantagesOf(group);
  return { mean, std };
};

const rewards = fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 2, maxLength: 16 });

describe("RLOO", () => {
  test("is the reward less the mean of the others", () => {
    const close = (expected: number): unknown => expect.closeTo(expected, 12);
    expect(rloo([1, 0, 0, 0])).toEqual([1, close(-1 / 3), close(-1 / 3), close(-1 / 3)]);
    expect(rloo([3, 1])).toEqual([2, -2]);
  });

  test("has nothing to compare one reward with", () => {
    expect(rloo([])).toEqual([]);
    expect(rloo([5])).toEqual([0]);
  });

  test("equals its definition for any rewards", () => {
    fc.assert(
      fc.property(rewards, (group) => {
        for (const [k, advantage] of rloo(group).entries()) {
          const others = group.filter((_, j) => j !== k);
          const mean = others.reduce((sum, reward) => sum + reward, 0) / others.length;
          expect(advantage).toBeCloseTo((group[k] as number) - mean, 9);
        }
      }),
    );
  });
});

describe("GRPO", () => {
  test("is centred and divided by the population's standard deviation", () => {
    expect(grpo([1, 0])).toEqual([1, -1]);
    expect(meanAndStd([1, 0, 0, 0])).toEqual({ mean: 0.25, std: Math.sqrt(3) / 4 });
  });

  test("has mean 0 and deviation 1, whatever the rewards' mean", () => {
    fc.assert(
      fc.property(rewards, (group) => {
        const { std } = meanAndStd(group);
        fc.pre(std > 1e-6);
        const after = meanAndStd(grpo(group));
        expect(after.mean).toBeCloseTo(0, 6);
        expect(after.std).toBeCloseTo(1, 6);
      }),
    );
  });
});

test("equal rewards have advantages of exactly 0, although sums of them round", () => {
  for (const reward of [0.1, 0.7, -2.5, 1 / 3]) {
    for (let count = 1; count <= 64; count++) {
      const group = new Array<number>(count).fill(reward);
      expect([...rloo(group), ...grpo(group)].every((advantage) => advantage === 0)).toBe(true);
      expect(meanAndStd(group)).toEqual({ mean: reward, std: 0 });
    }
  }
});
