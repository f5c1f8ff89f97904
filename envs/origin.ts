/** What is kept of a task: where its instance came from, never the instance itself. */
import type { Baseline, Environment, Parameters } from "./environment.ts";

/** Where an instance comes from: all that it takes to have it again. */
export type Origin =
  | {
      readonly kind: "generated";
      /** Complete. */
      readonly parameters: Parameters;
      readonly seed: bigint;
      /** Which of the seed's attempts. */
      readonly attempt: number;
    }
  | {
      readonly kind: "row";
      /** The pool's name. */
      readonly pool: string;
      readonly row: number;
      /** The instance's hash: 16 hex digits. */
      readonly contentHash: string;
    }
  | { readonly kind: "inline"; readonly instance: Uint8Array };

/** What is kept of a task: plain data, from which it can be had again. */
export interface TaskKey {
  readonly origin: Origin;
  /** 16 hex digits; equal for the same task. */
  readonly hash: string;
  /** Unset: the environment has nothing to optimise, or no solver. */
  readonly baseline?: Baseline;
  /** Of a run's row: the share of the rows of its run that is easier, in [0, 1). Left out: not known. */
  readonly rank?: number;
  /** Of a row that a walk through its pool came to: how often it had gone through all. Left out: 0. */
  readonly epoch?: number;
}

/** A task that was just made. */
export type MakeResult<Instance = unknown> =
  | { readonly kind: "made"; readonly key: TaskKey; readonly instance: Instance }
  /** There is no such instance, and asking again does not help. */
  | { readonly kind: "exhausted"; readonly message: string };

/** The task of an instance, with the baseline that its answers are measured against, where there is something to optimise. */
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
