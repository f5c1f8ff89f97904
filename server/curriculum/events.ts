/** Events of a run. The run's state is a fold of its events. `event-codec.ts` writes them to the journal. */
import type { DrawnTask, GroupResults } from "./batches.ts";
import type { Fold } from "./policy-updates.ts";
import type { RowsRated } from "./row-arms.ts";
import type { RowList, RowsChanged } from "./row-lists.ts";
import type { EvaluationResults, RunState } from "./state.ts";
import type { InstanceKey, Policy, RunConfig } from "./types.ts";

export interface ReportedGroup {
  readonly cursor: number;
  readonly advantages: readonly number[];
  /** Mean reward of the group. Null: not known. */
  readonly rewardMean: number | null;
}

export interface BatchDrawn<Key extends InstanceKey = InstanceKey> {
  readonly kind: "drawn";
  /** Index of the update batch, counted from 0. */
  readonly batch: number;
  readonly atMs: number;
  /** Cursor of the batch's first task. */
  readonly cursor: number;
  readonly tasks: readonly DrawnTask<Key>[];
  /** Number of the tasks that are to train on. The others are the reserve. */
  readonly prompts: number;
  /** Probabilities by arm, before constraints. They are exact for the arms of the batch's tasks (by-arm.ts). */
  readonly probabilities: readonly number[];
  /** Policy state after the fold. A replay reads it here, so it does not depend on the replaying server's code. */
  readonly policyState: unknown;
  readonly fold: Fold;
  /** Whether a new pass over the same instances begins. Earlier instances then no longer count as issued. */
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
  /** Exported state, and its bytes in the export. */
  readonly state: RunState<Spec, Key>;
  readonly bytes: Uint8Array;
  /**
   * Set if the run here keeps its control: the policy's state under that control. Undefined: the control of the export
   * applies.
   */
  readonly keeps?: { readonly policyState: unknown } | undefined;
}

/** The tasks [from, through) were handed out. Those not handed out before were so at `atMs`. */
export interface HandedOut {
  readonly kind: "handedOut";
  readonly from: number;
  readonly through: number;
  readonly atMs: number;
}

/** The run's shape changed: the new configuration, and the new policy if it changed too. */
export interface Reshaped<Spec> {
  readonly kind: "reshaped";
  readonly config: RunConfig<Spec>;
  readonly policy: Policy | null;
}

export interface Paused {
  readonly kind: "paused";
  /** Name of the caller's token. Empty: not known. */
  readonly by: string;
  /** Time of the pause. 0: not known, in journals of older servers. */
  readonly atMs: number;
}

/** A server found a pool whose rows differ from those that the run knew, or a pool that was new to the run. */
export interface RowsSeen extends Pick<RowList, "pool" | "digest" | "loadedAtMs"> {
  readonly kind: "rowsSeen";
  /** Description of the change. Empty: the history does not show it. */
  readonly reason: string;
  readonly lists: readonly RowsChanged[];
  /** Policy with the rows of its rank ranges counted again. Null: the policy stays. */
  readonly policy: Policy | null;
}

export type RunEvent<Spec = unknown, Key extends InstanceKey = InstanceKey> =
  | Created<Spec>
  | BatchDrawn<Key>
  | HandedOut
  | { readonly kind: "feedback"; readonly groups: readonly GroupResults[] }
  | { readonly kind: "reported"; readonly groups: readonly ReportedGroup[] }
  /** `cause`: CloseCause of the contract in lower case; empty: UNSPECIFIED. */
  | { readonly kind: "closed"; readonly cursors: readonly number[]; readonly reason: string; readonly cause: string }
  | RowsRated
  | RowsSeen
  | { readonly kind: "reopened"; readonly cursors: readonly number[]; readonly atMs: number }
  | Reshaped<Spec>
  | { readonly kind: "policyUpdated"; readonly policy: Policy }
  /** Weights of all arms, in the configuration's order. */
  | { readonly kind: "weightsSet"; readonly weights: readonly number[] }
  /** Policy state after the advance. */
  | { readonly kind: "advanced"; readonly policyState: unknown }
  /** The arm is not drawn from, because a resource that scores its tasks is down. */
  | { readonly kind: "armMasked"; readonly arm: number; readonly reason: string }
  | { readonly kind: "armUnmasked"; readonly arm: number }
  | Paused
  | { readonly kind: "resumed" }
  | { readonly kind: "evaluationOpened"; readonly arm: number; readonly round: number; readonly atMs: number }
  | EvaluationResults
  | Imported<Spec, Key>;
