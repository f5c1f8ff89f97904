import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { advantagesOf, outcomeOf, reportedOutcome } from "../../../server/curriculum/advantages.ts";
import { signals } from "../../../server/curriculum/signals.ts";

const range = { min: -3, max: 3 };
const rloo = (group: readonly number[]) => advantagesOf(group, range).rloo;
const grpo = (group: readonly number[]) => advantagesOf(group, range).grpo;
const meanAndStd = (group: readonly number[]) => {
  const { mean, std } = advantagesOf(group, range);
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
        // Rewards that lie nearer to each other are equal but for rounding.
        fc.pre(Math.max(...group) - Math.min(...group) > 1e-8);
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

describe("rewards that only rounding tells apart", () => {
  const unit = { min: 0, max: 1 };
  const noisy = [...new Array<number>(7).fill(0.1 + 0.2), 0.3];

  test.each([
    ["a sum that rounds", noisy, unit],
    ["the same around 0", [1e-17, 0, -1e-17, 0], unit],
    ["far from 0", [1000.1 + 0.2, 1000.3, 1000.3], { min: 1000, max: 1001 }],
    ["a wide range, where rounding is coarser", [5e8, 5e8 + 1e-7], { min: -1e9, max: 1e9 }],
    ["a scheme of one value", [0.1 + 0.2, 0.3], { min: 0.3, max: 0.3 }],
    ["rewards near the ends of a range that is not around 0", [-2.5, -2.5 + 4e-16], { min: -2.5, max: 1 }],
  ])("have no advantages, no deviation and no signal: %s", (_, group, of) => {
    const { rloo, grpo, mean, std } = advantagesOf(group, of);
    expect([...rloo, ...grpo, std].every((value) => value === 0)).toBe(true);
    expect(mean).toBeCloseTo(group[0] as number, 6);
    const outcome = outcomeOf(group, 0, 0, of);
    expect([outcome.deviation, outcome.advantage]).toEqual([0, 0]);
    expect(signals.ABSOLUTE_ADVANTAGE(outcome, of)).toBe(0);
  });

  test.each([
    [[0.3, 0.3 + 2e-9], unit],
    [[0, 1e-6], { min: -2.5, max: 1 }],
    [[0, 0, 0, 1], unit],
    [[5e8, 5e8 + 3], { min: -1e9, max: 1e9 }],
  ])("a spread of %j in %j is one", (group, of) => {
    const { rloo, std } = advantagesOf(group, of);
    expect(std).toBeGreaterThan(0);
    expect(rloo.some((advantage) => advantage !== 0)).toBe(true);
    expect(outcomeOf(group, 0, 0, of).advantage).toBeGreaterThan(0);
  });

  test("reported advantages of rounding are none, and equal ones are", () => {
    expect(reportedOutcome([5e-17, -5e-17], 0.3, unit).advantage).toBe(0);
    expect(reportedOutcome([0.5, 0.5], 0.3, unit).advantage).toBe(0.5);
  });

  test("a run of a server that told them apart still does", () => {
    expect(outcomeOf(noisy, 0).advantage).toBeGreaterThan(0);
    expect(reportedOutcome([5e-17], null).advantage).toBe(5e-17);
  });
});
