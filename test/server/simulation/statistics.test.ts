/** Medians with runs that never arrived, and intervals. */
import { expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { lifeOf } from "../../../server/simulation/life.ts";
import { configOf, equalShares } from "../../../server/simulation/simulated-run.ts";
import { noConstraints } from "../../../server/curriculum/types.ts";
import { scoreOf, type Student } from "../../../server/simulation/student.ts";
import { bootstrap, mean, median, quantile } from "../../../server/simulation/statistics.ts";

test("a run that never arrived is later than any other", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([1, 2, 3, 4])).toBe(2.5);
  expect(median([1, Infinity, 2])).toBe(2);
  expect(median([1, Infinity, Infinity])).toBe(Infinity);
  expect(median([1, 2, Infinity, Infinity])).toBe(Infinity);
  expect(quantile([0, 10], 0.25)).toBe(2.5);
});

test("the bootstrap's interval holds a mean about as often as it says", () => {
  let held = 0;
  for (let i = 0; i < 100; i++) {
    const rng = rngFor("sample", i);
    const values = Array.from({ length: 40 }, () => rng.float());
    const { low, high } = bootstrap(values.length, (at) => mean(at.map((place) => values[place] ?? 0)), `x${i}`);
    expect(low).toBeLessThanOrEqual(high);
    held += Number(low <= 0.5 && 0.5 <= high);
  }
  expect(held).toBeGreaterThan(85);
});

test("where nothing can be learnt the score is 0, and no share of nothing", () => {
  expect(scoreOf({ learnable: [false], success: () => [0.5] } as unknown as Student, undefined)).toBe(0);
});

test("equal shares are of the arms that the run draws from: one that is out stays out", () => {
  const shape = { batches: 2, promptsPerUpdate: 4, numGenerations: 2, lag: 1 };
  const places = ["a", "b", "c"].map((id, level) => ({ id, family: "f", level }));
  const policy = { kind: "mixture", config: null, constraints: noConstraints } as const;
  const config = configOf(places, policy, shape, "s");
  const weights = [0, 3, 1];
  const given = { ...config, arms: config.arms.map((arm, i) => ({ ...arm, weight: weights[i] ?? 1 })) };
  expect(equalShares(given).arms.map(({ weight }) => weight)).toEqual([0, 1, 1]);
});

test("a life arrives with the batch after which it is first at the target, even if it falls back", () => {
  const life = (...scores: readonly number[]) =>
    lifeOf(
      scores.map((score) => ({ score, counts: [12, 4], useful: 8 })),
      { learnable: [true, false], target: 0.75 },
      8,
    );
  const fell = { rolloutsToTarget: 3 * 128, final: 0.6, wasted: 0.25, useful: 0.5 };
  expect(life(0.1, 0.5, 0.8, 0.6)).toEqual(fell);
  expect(life(0.1, 0.7).rolloutsToTarget).toBeNull();
});
