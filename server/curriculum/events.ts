/** What happens to a run, in order: its state is a fold of its events. saved.ts has how they are kept. */
import type { DrawnTask, GroupResults } from "./batches.ts";
import type { Fold } from "./policy-updates.ts";
import type { RowsRated } from "./row-arms.ts";
import type { RowList, RowsChanged } from "./row-lists.ts";
import type { EvaluationResults, RunState } from "./state.ts";
import type { InstanceKey, Policy, RunConfig } from "./types.ts";

export interface ReportedGroup {
  readonly cursor: number;
  readonly advantages: readonly number[];
  /** Null: not known. */
  readonly rewardMean: number | null;
}

export interface BatchDrawn<Key extends InstanceKey = InstanceKey> {
  readonly kind: "drawn";
  /** Counted from 0. */
  readonly batch: number;
  readonly atMs: number;
  /** Of its first task. */
  readonly cursor: number;
  readonly tasks: readonly DrawnTask<Key>[];
  /** How many of them are to train on; the others are a reserve. */
  readonly prompts: number;
  /** By arm, before constraints; exact of those that it has tasks of (by-arm.ts). */
  readonly probabilities: readonly number[];
  /** After the fold: a replay takes it from here, so that it never depends on the code that replays. */
  readonly policyState: unknown;
  readonly fold: Fold;
  /** A pass over the same instances begins: what is issued from now on is known in it, and nothing from before. */
  readonly restarts: boolean;
}

export interface Created<Spec> {
  readonly kind: "created";
  readonly runId: string;
  readonly incarnation: string;
  readonly config: RunConfig<Spec>;
  readonly atMs: number;
}

export interface Imported<Spec, Key extends InstanceKey> {
  readonly kind: "imported";
  readonly runId: string;
  readonly incarnation: string;
  readonly epoch: number;
  readonly atMs: number;
  /** As it was exported, and in the bytes of the export. */
  readonly state: RunState<Spec, Key>;
  readonly bytes: Uint8Array;
  /** The run here keeps its control, under which its policy has this state; undefined: the export's control comes with it. */
  readonly keeps?: { readonly policyState: unknown } | undefined;
}

/** The tasks [from, through) were given out; those that were not before, at `atMs`. */
export interface HandedOut {
  readonly kind: "handedOut";
  readonly from: number;
  readonly through: number;
  readonly atMs: number;
}

/** The run's shape was changed: its configuration as it is now, and the policy if that was changed with it. */
export interface Reshaped<Spec> {
  readonly kind: "reshaped";
  readonly config: RunConfig<Spec>;
  readonly policy: Policy | null;
}

export interface Paused {
  readonly kind: "paused";
  /** The name of the caller's token; empty: not known. */
  readonly by: string;
  /** 0: not known, in journals of older servers. */
  readonly atMs: number;
}

/** A server found other rows in a pool than the run knew, or the pool for the first time. */
export interface RowsSeen extends Pick<RowList, "pool" | "digest" | "loadedAtMs"> {
  readonly kind: "rowsSeen";
  /** What changed, in words; empty: the history does not tell it. */
  readonly reason: string;
  readonly lists: readonly RowsChanged[];
  /** With the rows of its ranges of ranks counted again; null: it stays. */
  readonly policy: Policy | null;
}

export type RunEvent<Spec = unknown, Key extends InstanceKey = InstanceKey> =
  | Created<Spec>
  | BatchDrawn<Key>
  | HandedOut
  | { readonly kind: "feedback"; readonly groups: readonly GroupResults[] }
  | { readonly kind: "reported"; readonly groups: readonly ReportedGroup[] }
  /** `cause`: CloseCause of the contract in lower case; empty: an older server wrote the event. */
  | { readonly kind: "closed"; readonly cursors: readonly number[]; readonly reason: string; readonly cause: string }
  | RowsRated
  | RowsSeen
  | { readonly kind: "reopened"; readonly cursors: readonly number[]; readonly atMs: number }
  | Reshaped<Spec>
  | { readonly kind: "policyUpdated"; readonly policy: Policy }
  /** By arm, in the configuration's order: all of them. */
  | { readonly kind: "weightsSet"; readonly weights: readonly number[] }
  /** The policy's state after it. */
  | { readonly kind: "advanced"; readonly policyState: unknown }
  /** What scoring the tasks of the arm needs is down: it is not drawn from. */
  | { readonly kind: "armMasked"; readonly arm: number; readonly reason: string }
  | { readonly kind: "armUnmasked"; readonly arm: number }
  | Paused
  | { readonly kind: "resumed" }
  | { readonly kind: "evaluationOpened"; readonly arm: number; readonly round: number; readonly atMs: number }
  | EvaluationResults
  | Imported<Spec, Key>;
