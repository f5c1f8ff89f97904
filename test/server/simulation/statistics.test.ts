/** Medians with runs that never arrived, and intervals. */
import { expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { createOutcomeCounter, createPointCounter } from "../../../server/simulation/simulated-outcome.ts";
import { configOf } from "../../../bench/curriculum/run-config.ts";
import { equalShares } from "../../../server/simulation/simulated-run.ts";
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
  const life = (...scores: readonly number[]) => {
    const counter = createOutcomeCounter({ learnable: [true, false], target: 0.75 }, 8);
    for (const score of scores) counter.add({ score, counts: [12, 4], useful: 8 });
    return counter.life();
  };
  const fell = { rolloutsToTarget: 3 * 128, final: 0.6, successMean: 0.5, wasted: 0.25, useful: 0.5 };
  expect(life(0.1, 0.5, 0.8, 0.6)).toEqual(fell);
  expect(life(0.1, 0.7).rolloutsToTarget).toBeNull();
});

test("points merge the update batches of a run, and those of several runs at the same place", () => {
  const step = (a: number, score: number) => {
    return { counts: [a, 4 - a], probabilities: [a / 4, 1 - a / 4], solved: a, useful: 0, score, success: [score, 0] };
  };
  const counter = createPointCounter(2, 2);
  for (const [batch, one] of [step(1, 0.1), step(3, 0.2), step(4, 0.3)].entries()) counter.add(batch, one);
  const last = { tasks: 4, counts: [4, 0], probabilities: [1, 0], solvedShare: 0.5, score: 0.3, success: [0.3, 0] };
  const first = {
    tasks: 8,
    counts: [4, 4],
    probabilities: [0.5, 0.5],
    solvedShare: 0.25,
    score: 0.2,
    success: [0.2, 0],
  };
  expect(counter.points()).toEqual([first, last]);
  counter.add(2, step(0, 0.5));
  const both = {
    tasks: 8,
    counts: [4, 4],
    probabilities: [0.5, 0.5],
    solvedShare: 0.25,
    score: 0.5,
    success: [0.5, 0],
  };
  expect(counter.points()).toEqual([first, both]);
});
