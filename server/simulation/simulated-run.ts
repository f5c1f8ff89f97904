/** Configurations of runs with simulated students, made from those of real runs. */
import { noConstraints, type RunConfig } from "../curriculum/types.ts";
import { deriveSeed } from "../../envs/lib/rng.ts";

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
