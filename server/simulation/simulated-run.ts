/** Configurations of runs with simulated students. */
import { checkConfig } from "../curriculum/check-config.ts";
import { type Arm, noConstraints, type Policy, type RunConfig } from "../curriculum/types.ts";
import { deriveSeed } from "../../envs/lib/rng.ts";
import type { Place } from "./student.ts";

/** Shape of a run. */
export interface Shape {
  readonly batches: number;
  readonly promptsPerUpdate: number;
  readonly numGenerations: number;
  /** Feedback lag. */
  readonly lag: number;
}

/** Returns the configuration of a run over arms that are only positions. Rewards are 0 and 1, and no task repeats. */
export function configOf(places: readonly Place[], policy: Policy, shape: Shape, seed: string): RunConfig<null> {
  const { batches, promptsPerUpdate, numGenerations, lag } = shape;
  const top = Math.max(...places.map(({ level }) => level));
  const arms = places.map(({ id, level }): Arm<null> => ({
    id,
    spec: null,
    source: "synthetic",
    weight: 1,
    hard: 2 * level > top,
    rewardRange: { min: 0, max: 1 },
    resource: undefined,
    removed: false,
  }));
  const config: RunConfig<null> = {
    arms,
    policy,
    seed: deriveSeed("simulated run", seed),
    numGenerations,
    promptsPerUpdate,
    length: batches * promptsPerUpdate,
    lag: { kind: "batches", count: lag },
    feedbackSource: "step",
    dynamicSampling: undefined,
    ignoresRounding: true,
    lateFeedback: undefined,
    promptTemplate: undefined,
    evaluationArms: [],
    groupTimeoutMs: undefined,
    timeToLiveMs: 1,
    given: "",
  };
  const found = checkConfig(config);
  if (found !== undefined) throw new Error(`${found.field}: ${found.message}`);
  return config;
}

/** Returns a run's configuration for a named student and a number of update batches. */
export function simulatedRun<Spec>(config: RunConfig<Spec>, student: string, updates: number): RunConfig<Spec> {
  const seed = deriveSeed("simulate", config.seed, student);
  return { ...config, seed, length: updates * config.promptsPerUpdate };
}

/** Returns the run with equal weights for all arms, except those of weight 0, and without constraints. */
export function equalShares<Spec>(config: RunConfig<Spec>): RunConfig<Spec> {
  const policy = { ...config.policy, kind: "mixture", config: null, constraints: noConstraints };
  return { ...config, policy, arms: config.arms.map((arm) => ({ ...arm, weight: arm.weight === 0 ? 0 : 1 })) };
}
