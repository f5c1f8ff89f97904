/**
 * Types of the events of a run. Applying them in order gives the run's state. `event-codec.ts` writes them to the
 * journal.
 */
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
  /** Cursor of the batch's first task: its position in the run, counted in tasks from 0. */
  readonly cursor: number;
  readonly tasks: readonly DrawnTask<Key>[];
  /** Number of prompts to train on: the first tasks of the batch. The remaining tasks are spare ones (reserve). */
  readonly prompts: number;
  /**
   * Probability of drawing each arm, before the constraints. In runs of many arms they are exact only for arms with
   * tasks in this batch, to save space (by-arm.ts).
   */
  readonly probabilities: readonly number[];
  /**
   * Policy's state after it has learned from the feedback that was due at this draw. It is recorded, so that a newer
   * server that replays the journal gets the same state.
   */
  readonly policyState: unknown;
  readonly fold: Fold;
  /**
   * Whether the policy begins another pass over the same instances. Instances that earlier passes have issued may then
   * be issued again.
   */
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
  /** State of the run in the export. */
  readonly state: RunState<Spec, Key>;
  /** `state` in encoded form. */
  readonly bytes: Uint8Array;
  /**
   * Set if an existing run keeps its own control at an import: its policy, weights, masks and the like. It holds the
   * policy's state under that control. Undefined: the control comes from the export.
   */
  readonly keeps?: { readonly policyState: unknown } | undefined;
}

/**
 * Clients got the tasks with cursors (positions in the run) from `from` to `through` − 1. `atMs` becomes the hand-out
 * time of the tasks that no client had got before.
 */
export interface HandedOut {
  readonly kind: "handedOut";
  readonly from: number;
  readonly through: number;
  readonly atMs: number;
}

/**
 * The run's arms or sizes (e.g. num_generations) changed. `config` is the new configuration; `policy` is null if the
 * policy is unchanged.
 */
export interface Reshaped<Spec> {
  readonly kind: "reshaped";
  readonly config: RunConfig<Spec>;
  readonly policy: Policy | null;
}

export interface Paused {
  readonly kind: "paused";
  /** Name of the token of the client that paused the run. Empty: not known. */
  readonly by: string;
  /** Time of the pause. 0: not known, because an older server wrote the journal. */
  readonly atMs: number;
}

/** A server loaded a data pool that was new to the run, or whose rows had changed. */
export interface RowsSeen extends Pick<RowList, "pool" | "digest" | "loadedAtMs"> {
  readonly kind: "rowsSeen";
  /** Description of the change for the run's history. Empty: the history gets no entry. */
  readonly reason: string;
  readonly lists: readonly RowsChanged[];
  /**
   * Policy with new numbers of rows in its rank ranges (slices of the rows from easy to hard). Null: the policy is
   * unchanged.
   */
  readonly policy: Policy | null;
}

export type RunEvent<Spec = unknown, Key extends InstanceKey = InstanceKey> =
  | Created<Spec>
  | BatchDrawn<Key>
  | HandedOut
  | { readonly kind: "feedback"; readonly groups: readonly GroupResults[] }
  | { readonly kind: "reported"; readonly groups: readonly ReportedGroup[] }
  /**
   * Groups were closed although samples were missing. `cause` is the contract's CloseCause in lower case. Empty:
   * CLOSE_CAUSE_UNSPECIFIED.
   */
  | { readonly kind: "closed"; readonly cursors: readonly number[]; readonly reason: string; readonly cause: string }
  | RowsRated
  | RowsSeen
  | { readonly kind: "reopened"; readonly cursors: readonly number[]; readonly atMs: number }
  | Reshaped<Spec>
  | { readonly kind: "policyUpdated"; readonly policy: Policy }
  /** Weights of all arms, in the configuration's order. */
  | { readonly kind: "weightsSet"; readonly weights: readonly number[] }
  /**
   * Policy's state after the RPC Advance. `arm` is the arm whose next level was opened. Undefined: the policy moved to
   * its next stage or tier.
   */
  | { readonly kind: "advanced"; readonly policyState: unknown; readonly arm?: number | undefined }
  /** Draws skip the arm, because an external resource that scores its tasks is down, e.g. a judge. */
  | { readonly kind: "armMasked"; readonly arm: number; readonly reason: string }
  | { readonly kind: "armUnmasked"; readonly arm: number }
  | Paused
  | { readonly kind: "resumed" }
  /** A caller wrote the run's note. */
  | { readonly kind: "noted"; readonly note: string }
  /** A caller changed the run's tags: all tags after the change, sorted. */
  | { readonly kind: "tagged"; readonly tags: readonly string[] }
  | { readonly kind: "evaluationOpened"; readonly arm: number; readonly round: number; readonly atMs: number }
  | EvaluationResults
  | Imported<Spec, Key>;
