/**
 * Defines a task's key: the data that the server keeps of a task. The key holds the instance's origin and not the
 * instance itself.
 */
import type { Baseline, Environment, Parameters } from "./environment.ts";

/** Origin of an instance: all data needed to restore it. */
export type Origin =
  | {
      readonly kind: "generated";
      /** All parameters, with defaults filled in. */
      readonly parameters: Parameters;
      readonly seed: bigint;
      /** Index, from 0, of the candidate that became the task. Earlier candidates of this seed were passed over. */
      readonly attempt: number;
    }
  | {
      readonly kind: "row";
      readonly pool: string;
      readonly row: number;
      /** Hash of the instance, 16 hex digits. */
      readonly contentHash: string;
    }
  | { readonly kind: "inline"; readonly instance: Uint8Array };

/** Plain data from which a task can be restored. */
export interface TaskKey {
  readonly origin: Origin;
  /** Hash of the instance, 16 hex digits. Equal for equal tasks. */
  readonly hash: string;
  /** Best known objective, and its bound. Unset if the environment has nothing to optimise, or no solver. */
  readonly baseline?: Baseline;
  /** If the task is a row of a run's pool: the share of the run's rows that are easier, in [0, 1). Unset if unknown. */
  readonly rank?: number;
  /**
   * If the task is a row from a walk through a pool: the number of times that the walk had passed through all rows
   * before. Defaults to 0.
   */
  readonly epoch?: number;
}

export type MakeResult<Instance = unknown> =
  | { readonly kind: "made"; readonly key: TaskKey; readonly instance: Instance }
  /** No task exists for the request. Asking again does not help. */
  | { readonly kind: "exhausted"; readonly message: string };

/**
 * Returns an instance as a task. If answers have an objective and the environment has a solver, solves the instance and
 * adds the best known objective as baseline.
 */
export function madeOf<Instance>(
  { goal, solver }: Environment<Instance>,
  origin: Origin,
  hash: string,
  instance: Instance,
): MakeResult<Instance> {
  if (goal === "satisfy" || solver === undefined) return { kind: "made", key: { origin, hash }, instance };
  const { value, bound, proven } = solver.solve(instance);
  return { kind: "made", key: { origin, hash, baseline: { value, bound, proven } }, instance };
}
