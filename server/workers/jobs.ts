/** What goes to a worker and what comes back: small plain values, for both are cloned. */
import type { Baseline, Parameters, Split } from "../../envs/environment.ts";
import type { Origin } from "../../envs/issue.ts";

/** Make the tasks of these seeds. */
export interface IssueJob {
  readonly environment: string;
  readonly version: number;
  readonly parameters: Parameters;
  readonly split: Split;
  readonly seeds: readonly bigint[];
}

/** A task without its instance, which is drawn again from its origin where it is needed. */
export interface Draft {
  readonly origin: Origin;
  /** 16 hex digits of the canonical instance's hash: what tells repeats. */
  readonly hash: string;
  readonly baseline?: Baseline;
}

export type DraftResult =
  | { readonly kind: "draft"; readonly draft: Draft }
  /** There is no such instance, and asking again will not help. */
  | { readonly kind: "exhausted"; readonly message: string };
