/** What is kept of a task that was made: where it came from, never the instance itself. */
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

export interface Issued<Instance = unknown> {
  readonly origin: Origin;
  readonly instance: Instance;
  /** 16 hex digits; equal for the same task. */
  readonly hash: string;
  /** Unset: the environment has nothing to optimise, or no solver. */
  readonly baseline?: Baseline;
}

export type IssueResult<Instance = unknown> =
  | { readonly kind: "issued"; readonly issued: Issued<Instance> }
  /** There is no such instance, and asking again does not help. */
  | { readonly kind: "exhausted"; readonly message: string };

/** What was issued, with the baseline that its answers are measured against, where there is something to optimise. */
export function withBaseline<Instance>(
  { goal, solver }: Environment<Instance>,
  issued: Issued<Instance>,
): Issued<Instance> {
  if (goal === "satisfy" || solver === undefined) return issued;
  const { value, bound, proven } = solver.solve(issued.instance);
  return { ...issued, baseline: { value, bound, proven } };
}
