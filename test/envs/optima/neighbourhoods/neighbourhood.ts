/**
 * Types of the changes with which local search explores an environment's answers. No code here reads how they are
 * verified.
 */
import type { Rng } from "../../../../envs/lib/rng.ts";

/** Its functions are methods, so that TypeScript accepts one environment's neighbourhood for any environment. */
export interface Neighbourhood<Instance = unknown, Answer = unknown> {
  /** The answer, changed in one place; perhaps infeasible, perhaps the same, perhaps of a wrong shape. */
  move(instance: Instance, answer: Answer, rng: Rng): Answer;
  /** Any answer of the right shape, with no eye to the constraints. */
  random(instance: Instance, rng: Rng): Answer;
  /** An answer to climb from: feasible, where one is known. */
  start(instance: Instance, rng: Rng): Answer;
}

export type Change<Instance, Answer> = (instance: Instance, answer: Answer, rng: Rng) => Answer;

/** Returns a change that picks one of several changes, each as likely. */
export function anyOf<Instance, Answer>(...changes: readonly Change<Instance, Answer>[]): Change<Instance, Answer> {
  return (instance, answer, rng) => rng.pick(changes)(instance, answer, rng);
}
