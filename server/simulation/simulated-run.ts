/** Derives configurations of simulated runs from those of real runs. */
import { noConstraints, type RunConfig } from "../curriculum/types.ts";
import { deriveSeed } from "../../envs/lib/rng.ts";

/**
 * Returns the configuration of a simulated run with `updates` update batches. Its seed depends on the student's name,
 * so that the runs of two students draw differently.
 */
export function simulatedRun<Spec>(config: RunConfig<Spec>, student: string, updates: number): RunConfig<Spec> {
  const seed = deriveSeed("simulate", config.seed, student);
  return { ...config, seed, length: updates * config.promptsPerUpdate };
}

/**
 * Returns the configuration with a policy that draws all arms equally often, except arms of weight 0, and without
 * constraints. Other policies are compared with it.
 */
export function equalShares<Spec>(config: RunConfig<Spec>): RunConfig<Spec> {
  const policy = { ...config.policy, kind: "mixture", config: null, constraints: noConstraints };
  return { ...config, policy, arms: config.arms.map((arm) => ({ ...arm, weight: arm.weight === 0 ? 0 : 1 })) };
}
