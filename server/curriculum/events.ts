/** The journal: what happened to a run, in order. The state of a run is a fold of its events. */
import type { PolicyState } from "./policies/index.ts";
import type { StateDocument } from "./codec.ts";
import type { Json, Policy, RunConfig } from "./types.ts";

/** What the scoring of one sample came to. */
export type SampleResult =
  | { readonly kind: "reward"; readonly reward: number; readonly solved: boolean }
  | { readonly kind: "terminal"; readonly reason: string };

/** The first result of one sample of one group. */
export interface FeedbackEntry {
  readonly cursor: number;
  readonly sample: number;
  /** Of the completion, to tell a retry from another completion. */
  readonly digest: string;
  readonly result: SampleResult;
}

/** One task as it was drawn. */
export interface DrawnTask {
  /** The arm's index in the configuration. */
  readonly arm: number;
  /** Which instance of the arm, counted from 0. */
  readonly ordinal: number;
  readonly hash: string;
  /** An instance that the run had issued before. */
  readonly repeat: boolean;
  /** What the TaskSource gave. */
  readonly draft: Json;
}

/** What a draw folded into the policy's state before it. */
export type FoldRecord =
  /** Every batch before this one. */
  | { readonly kind: "through"; readonly batches: number }
  /** The groups that were closed, as [first, last] cursors: an unbounded lag. */
  | { readonly kind: "groups"; readonly ranges: readonly (readonly [number, number])[] };

export interface ReportedGroup {
  readonly cursor: number;
  readonly advantages: readonly number[];
  /** Null: not known. */
  readonly rewardMean: number | null;
}

export interface BatchDrawn {
  readonly kind: "batch_drawn";
  /** Counted from 0. */
  readonly batch: number;
  /** Of its first task. */
  readonly cursor: number;
  readonly tasks: readonly DrawnTask[];
  /** By arm, before constraints. */
  readonly probabilities: readonly number[];
  /** By arm. */
  readonly values: readonly number[];
  /** After the fold: a replay takes it from here, so that it never depends on the code that replays. */
  readonly policyState: PolicyState;
  readonly folded: FoldRecord;
}

export type RunEvent =
  | { readonly kind: "created"; readonly runId: string; readonly config: RunConfig; readonly atMs: number }
  | BatchDrawn
  /** Every task before the cursor `through` was given out; those that were not before, at `atMs`. */
  | { readonly kind: "handed_out"; readonly through: number; readonly atMs: number }
  | { readonly kind: "feedback"; readonly entries: readonly FeedbackEntry[] }
  | { readonly kind: "advantages_reported"; readonly groups: readonly ReportedGroup[] }
  | { readonly kind: "groups_closed"; readonly cursors: readonly number[]; readonly reason: string }
  | { readonly kind: "policy_updated"; readonly policy: Policy }
  /** By arm, in the configuration's order: all of them. */
  | { readonly kind: "weights_set"; readonly weights: readonly number[] }
  | { readonly kind: "paused" }
  | { readonly kind: "resumed" }
  /** `fresh`: under another id, as a run of its own. */
  | {
      readonly kind: "imported";
      readonly runId: string;
      readonly fresh: boolean;
      readonly epoch: number;
      readonly state: StateDocument;
      readonly atMs: number;
    };
