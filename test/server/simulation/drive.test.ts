/** A simulated run is a run: the same core, the same draws. */
import { expect, test } from "vitest";
import { policyOf, candidates, recommended, uniform } from "../../../bench/curriculum/policies.ts";
import { places } from "../../../bench/curriculum/setting.ts";
import { drive } from "../../../server/simulation/drive-run.ts";
import { configOf } from "../../../bench/curriculum/run-config.ts";
import type { Student } from "../../../server/simulation/student.ts";
import { students } from "../../../server/simulation/students.ts";
import { ask, bench, codecs, feedbackFor, made, sourceOf, value } from "../curriculum/support.ts";

const shape = { batches: 20, promptsPerUpdate: 16, numGenerations: 4, lag: 1 };

test("what it draws is what a run with a store, a clock and tasks draws", async () => {
  // A student that solves everything, so that the feedback is always the same.
  const knowing: Student<null> = {
    learnable: places.map(() => true),
    target: 1,
    initial: null,
    chance: () => 1,
    success: () => places.map(() => 1),
    learn: () => null,
  };
  const config = configOf(places, policyOf(recommended, places, shape), shape, "x");
  const simulated = [...drive(config, knowing, "x")].map(({ counts, probabilities }) => ({ counts, probabilities }));

  const arms = config.arms.map((arm) => ({ ...arm, spec: { id: arm.id } }));
  const source = { ...codecs, ...sourceOf(({ arm: { id }, ordinal }) => made(`${id}:${ordinal}`)) };
  const { runs } = bench({ source });
  value(await runs.create("run", { ...config, arms, evaluationArms: [], timeToLiveMs: 1e9 }));
  for (let cursor = 0; cursor < config.length; cursor += shape.promptsPerUpdate) {
    const { tasks } = value(await ask(runs, "run", cursor, shape.promptsPerUpdate));
    const items = tasks.flatMap((task) =>
      Array.from({ length: shape.numGenerations }, (_, sample) => feedbackFor(task, sample, 1)),
    );
    value(await runs.recordFeedback("run", items));
  }
  const { items } = value(await runs.history("run", 0, 1000));
  const real = items.flatMap((item) =>
    item.kind === "batch" ? [{ counts: item.counts, probabilities: item.probabilities }] : [],
  );
  expect(simulated).toEqual(real);
  // The simulated policy went through its tiers.
  expect(new Set(simulated.map(({ probabilities }) => JSON.stringify(probabilities))).size).toBeGreaterThan(2);
});

test.each(candidates)("$name: the same seed gives the same run, another another one", (candidate) => {
  const steps = (seed: string) => {
    const student = students[0]!.create(seed, places);
    return [...drive(configOf(places, policyOf(candidate, places, shape), shape, seed), student, seed)];
  };
  const run = steps("x/0");
  expect(steps("x/0")).toEqual(run);
  expect(steps("x/1")).not.toEqual(run);
  expect(run).toHaveLength(shape.batches);
  for (const { counts, probabilities, useful, solved } of run) {
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(shape.promptsPerUpdate);
    expect(probabilities.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 9);
    expect(useful).toBeLessThanOrEqual(shape.promptsPerUpdate);
    expect(solved).toBeLessThanOrEqual(shape.promptsPerUpdate * shape.numGenerations);
  }
});

test("a step goes about as far whatever the size of the update batch", () => {
  const scoreWith = (promptsPerUpdate: number): number => {
    const wide = { ...shape, batches: 30, promptsPerUpdate };
    const scores = ["x/0", "x/1", "x/2", "x/3"].map((seed) => {
      const config = configOf(places, policyOf(uniform, places, shape), wide, seed);
      return [...drive(config, students[0]!.create(seed, places), seed)].at(-1)?.score ?? 0;
    });
    return scores.reduce((sum, score) => sum + score, 0) / scores.length;
  };
  expect(Math.abs(scoreWith(16) - scoreWith(64))).toBeLessThan(0.05);
});

test("under dynamic sampling the reserve is let out as groups prove useless, and counts as rollouts", () => {
  const config = configOf(places, policyOf(uniform, places, shape), shape, "x");
  const student = students[0]!.create("x/0", places);
  const dynamicSampling = { oversampleMax: 2, alike: "solved" } as const;
  const steps = [...drive({ ...config, dynamicSampling }, student, "x")];
  expect(steps).toHaveLength(shape.batches);
  for (const { counts, useful } of steps) {
    const sampled = counts.reduce((sum, count) => sum + count, 0);
    expect(useful).toBeLessThanOrEqual(shape.promptsPerUpdate);
    // A batch samples until it has enough useful groups, or until all there are have been sampled.
    expect(useful === shape.promptsPerUpdate || sampled === 2 * shape.promptsPerUpdate).toBe(true);
  }
});
