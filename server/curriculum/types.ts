/** Types of a run: its arms, its policy, its configuration, and the results of operations on runs. */

import { deriveSeed } from "../../envs/lib/rng.ts";
import { type ListedRow, listedRow, listOf, type RowList } from "./row-lists.ts";

export type Source = "synthetic" | "real" | "teacher";

/** The part of an instance's key that the curriculum reads. Only the TaskSource reads the other fields. */
export interface InstanceKey {
  /** Hash of the canonical instance: equal for equal instances of any arm. It has no spaces. */
  readonly hash: string;
  /** Share of its pool that is easier, in [0, 1]. Unset: not known. */
  readonly rank?: number;
  /** For a pool's row: how many times its arm had gone through all rows before. Unset: 0. */
  readonly epoch?: number;
}

/** Rule by which an arm with a fixed set of rows chooses rows by their pass rates, and not in turn. */
export interface RowRule {
  /** Number of rows. */
  readonly rows: number;
  readonly by:
    /** Interest in a row of pass rate p: (4p(1 − p)) to the power `sharpness`, a whole number. */
    | { readonly kind: "learnability"; readonly sharpness: number }
    /**
     * Interest is a bell curve around a pass rate that moves from `from` to `to` over the run. In a run without an end
     * it stays at `from`.
     */
    | { readonly kind: "target"; readonly from: number; readonly to: number; readonly width: number };
  /** Share of draws that is spread evenly over all rows, in [0, 1]. */
  readonly floor: number;
  /** Share of the earlier knowledge of a row that stays when a new group of it is observed, in 256ths. */
  readonly kept: number;
  /**
   * Number of groups in succession with all samples solved after which a row is drawn no more. 0: rows are never
   * retired.
   */
  readonly retireAfter: number;
}

/** A set of tasks that a policy chooses among others. */
export interface Arm<Spec = unknown> {
  /** Unique within the run. */
  readonly id: string;
  /** Specification of its tasks. Only the TaskSource reads it. */
  readonly spec: Spec;
  readonly source: Source;
  /** Weight at creation, at least 0. */
  readonly weight: number;
  /** Whether hardShareMin counts this arm. */
  readonly hard: boolean;
  /** Smallest and largest reward of the arm's scheme. Signals are divided by the difference. */
  readonly rewardRange: { readonly min: number; readonly max: number };
  /** Resource outside of the server that scoring needs, e.g. a judge. Undefined: none. */
  readonly resource: string | undefined;
  /** Whether the arm was removed from the run for good. Its weight is then 0. */
  readonly removed: boolean;
  /** KL coefficient that the trainer receives with each task. Unset: the trainer uses its own. */
  readonly klCoefficient?: number;
  /** Rule by which the arm chooses its rows. Unset: it goes through its tasks in turn. */
  readonly rows?: RowRule;
  /**
   * Rows of all arms with the same group are ranked together. Unset: together with those of all arms without a group.
   */
  readonly rankGroup?: string;
}

/** Names one instance of an arm. */
export interface TaskPlace<Spec> {
  readonly arm: Pick<Arm<Spec>, "id" | "spec" | "source" | "rankGroup">;
  /** Position of the task in its arm, counted from 0. */
  readonly ordinal: number;
  /** Seed that makes the instance: a function of run seed, arm and ordinal, whatever the policy does. */
  readonly seed: bigint;
  /** Seed of the run. It fixes the order in which an arm goes through its rows. */
  readonly runSeed: bigint;
  /** Row, if the arm chooses its rows. Unset: the ordinal decides. */
  readonly row?: number | undefined;
  /** Row that the run has at this place. Unset: the run knows no rows of the arm. */
  readonly listed?: { readonly row: ListedRow } | undefined;
  /** Arms of the run whose rows are ranked together with this arm's. Unset: its rows have no ranks. */
  readonly among?: readonly Arm<Spec>[] | undefined;
}

/** Returns the place of a task. `number` is the row if the arm chooses its rows, else the ordinal. */
export function placeOf<Spec>(
  arm: TaskPlace<Spec>["arm"] & Pick<Arm<Spec>, "rows">,
  number: number,
  runSeed: bigint,
  among?: readonly Arm<Spec>[],
  lists: readonly RowList[] = [],
): TaskPlace<Spec> {
  const row = arm.rows === undefined ? undefined : number;
  const list = listOf(lists, arm.id);
  const listed = list && { row: listedRow(list, arm.id, { ordinal: number, row, runSeed }) };
  return { arm, ordinal: number, row, listed, runSeed, among, seed: deriveSeed("instance", runSeed, arm.id, number) };
}

/**
 * A set of tasks on which a run is evaluated beside training. No policy sees these tasks, and nothing is learnt from
 * them.
 */
export interface EvaluationArm<Spec = unknown> extends Pick<Arm<Spec>, "id" | "spec" | "source"> {
  /** Number of tasks in the set. */
  readonly tasks: number;
  /** Completions of each prompt. */
  readonly numGenerations: number;
}

/** Hard limits on each update batch (ADSC 3.3). Shares are in [0, 1]; quotas round up. */
export interface Constraints {
  readonly realShareMin: number;
  /** Synthetic and teacher arms together. */
  readonly syntheticShareMax: number;
  readonly hardShareMin: number;
  /** Update batches before hardShareMin applies. */
  readonly hardWarmupBatches: number;
}

export const noConstraints: Constraints = Object.freeze({
  realShareMin: 0,
  syntheticShareMax: 1,
  hardShareMin: 0,
  hardWarmupBatches: 0,
});

/** A slice of ranked rows: ranks of at least `min` and below `max`. A `max` of 1 includes rank 1. */
export interface RankRange {
  readonly min: number;
  readonly max: number;
  /** Name of the value by which rows are ranked. Unset: not stated. */
  readonly by?: string;
  /** Number of rows in the slice, by the id of each arm that draws from it. Unset: not counted. */
  readonly rows?: Readonly<Record<string, number>>;
}

/** Filter of instances that are passed over, under any policy. */
export interface TaskFilter {
  /** Passes over instances of which every sample was solved the last time. */
  readonly skipSolved: boolean;
  /** Passes over instances of which no sample was solved this many times in succession. 0: never. */
  readonly skipFailedAfter: number;
  /** Passes over rows of real pools outside of this range. Undefined: none. */
  readonly ranks: RankRange | undefined;
}

/** Rule that chooses the next arm. Only the policy registered under `kind` reads `config`. */
export interface Policy {
  readonly kind: string;
  readonly config: unknown;
  readonly constraints: Constraints;
  /** Filter of instances. Undefined: no instance is passed over. */
  readonly filter?: TaskFilter | undefined;
}

/**
 * Number of update batches that draws may run ahead of feedback. Batch k needs all batches up to k − 1 − count to be
 * closed.
 */
export type Lag = { readonly kind: "batches"; readonly count: number } | { readonly kind: "unbounded" };

/** Settings for update batches with a reserve. A reserve task is released for each useless group (DAPO 3.2). */
export interface DynamicSampling {
  /** Tasks drawn for each task to train on, in [1, 16]. */
  readonly oversampleMax: number;
  /** Criterion of a useless group: all rewards are equal, or all or none of the samples are solved. */
  readonly alike: "rewards" | "solved";
}

/** Returns how many tasks are drawn for an update batch with this many prompts. */
export function slotsFor(prompts: number, dynamicSampling: DynamicSampling | undefined): number {
  return Math.ceil(prompts * (dynamicSampling?.oversampleMax ?? 1));
}

/** Weight of feedback that arrives late. */
export interface LateFeedback {
  /** Groups that are more update batches late than this get the lower weight. */
  readonly batchesMax: number;
  /** Weight of a late group, in [0, 1]. 0: it is ignored. */
  readonly weight: number;
}

/** Placeholder of the task's prompt in a template. */
export const PROMPT_MARK = "{prompt}";

/** Text around the prompts of a run's tasks. */
export interface PromptTemplate {
  /** System message that replaces those of the tasks. Undefined: the tasks keep theirs. */
  readonly system: string | undefined;
  /** User message, with {prompt} where the task's prompt goes. "": the prompt alone. */
  readonly user: string;
}

/**
 * Configuration of a run. After creation only the shape changes: arms, generations, prompts and length. The policy and
 * the weights given here are those at creation; the state holds the current ones.
 */
export interface RunConfig<Spec = unknown> {
  readonly arms: readonly Arm<Spec>[];
  readonly policy: Policy;
  readonly seed: bigint;
  /** Completions of each prompt. */
  readonly numGenerations: number;
  /** Tasks to train on in the whole run. 0: the run has no end. */
  readonly length: number;
  /** Tasks to train on in an update batch. */
  readonly promptsPerUpdate: number;
  /** Settings of dynamic sampling. Undefined: every drawn task is trained on. */
  readonly dynamicSampling: DynamicSampling | undefined;
  /**
   * Whether rewards that differ only by rounding count as equal. Undefined: an older server, which told them apart,
   * created the run.
   */
  readonly ignoresRounding?: boolean | undefined;
  readonly lag: Lag;
  readonly feedbackSource: "step" | "reported";
  /** Weight of late feedback. Undefined: it counts like any other. */
  readonly lateFeedback: LateFeedback | undefined;
  /** Text around prompts. Undefined: prompts are as the environments give them. */
  readonly promptTemplate: PromptTemplate | undefined;
  readonly evaluationArms: readonly EvaluationArm<Spec>[];
  /** Time after which an open group is closed, from the handing out of its task. Undefined: groups never time out. */
  readonly groupTimeoutMs: number | undefined;
  /** Time without any request for the run after which the run is deleted. */
  readonly timeToLiveMs: number;
  /** Configuration in the creator's own words. It is only shown, and two runs that differ in it alone are equal. */
  readonly given: string;
}

// Results of operations on runs. Expected outcomes are values; a rejected promise is a bug or a broken store.

/** An invalid field, named as in the contract, with its path from the configuration on. */
export interface Invalid {
  readonly kind: "invalid";
  readonly field: string;
  readonly message: string;
  /** Other invalid fields of the same configuration. Unset: none is known. */
  readonly others?: readonly Invalid[];
}

export function invalid(field: string, message: string): Invalid {
  return { kind: "invalid", field, message };
}

export function isInvalid(value: unknown): value is Invalid {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "invalid";
}

/** Reason for which the caller must ask again later, with details by name. */
export interface Wait {
  readonly reason: "PAUSED" | "FEEDBACK_DUE" | "ARMS_MASKED" | "OVERLOADED";
  readonly metadata?: Readonly<Record<string, string>>;
}

export type Refusal =
  | Invalid
  | { readonly kind: "not_found"; readonly message: string }
  | { readonly kind: "already_exists"; readonly field: string; readonly message: string }
  | { readonly kind: "failed_precondition"; readonly message: string }
  /** Stored data of the run is missing or was changed after it was written. */
  | { readonly kind: "damaged"; readonly message: string }
  | { readonly kind: "out_of_range"; readonly message: string }
  | {
      readonly kind: "unavailable";
      readonly message: string;
      readonly retryDelayMs: number;
      /** Reason to wait. Unset: tasks cannot be made now. */
      readonly wait?: Wait;
    }
  /** Other processes kept changing the run. The caller may try again. */
  | { readonly kind: "aborted"; readonly message: string }
  /** The caller cancelled the call. */
  | { readonly kind: "cancelled"; readonly message: string };

/** Result of an operation that succeeded. */
export interface Ok<T> {
  readonly kind: "ok";
  readonly value: T;
}

export type Result<T> = Ok<T> | Refusal;

export function ok<T>(value: T): Ok<T> {
  return { kind: "ok", value };
}

export function notFound(runId: string): Refusal {
  return { kind: "not_found", message: `there is no run "${runId}"` };
}
