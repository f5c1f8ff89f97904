/** Configurations of runs with simulated students, over arms that are only positions. */
import { deriveSeed } from "../../envs/lib/rng.ts";
import { checkConfig } from "../../server/curriculum/check-config.ts";
import type { Arm, Policy, RunConfig } from "../../server/curriculum/types.ts";
import type { ArmPosition } from "../../server/simulation/student.ts";

export interface Shape {
  readonly batches: number;
  readonly promptsPerUpdate: number;
  readonly numGenerations: number;
  readonly lag: number;
}

/** Returns the configuration of a run over arms that are only positions. Rewards are 0 and 1, and no task repeats. */
export function configOf(places: readonly ArmPosition[], policy: Policy, shape: Shape, seed: string): RunConfig<null> {
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
