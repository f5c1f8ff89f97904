/** Types of a run: arms, policy, configuration, and results of operations on runs. */

import { deriveSeed } from "../../envs/lib/rng.ts";
import { type Growth, levelOf } from "./growth.ts";
import { type ListedRow, listedRow, listOf, type RowList } from "./row-lists.ts";

export type Source = "synthetic" | "real" | "teacher";

/**
 * Fields of an instance's key that the curriculum reads. The key has further fields, which only the TaskSource reads.
 */
export interface InstanceKey {
  /**
   * Hash of the instance in its environment's canonical form, 16 hex digits. Equal instances have equal hashes,
   * whatever their arm.
   */
  readonly hash: string;
  /**
   * Rank of the row among the rows ranked together with it: the share of these that are easier, in [0, 1). Unset: not
   * known.
   */
  readonly rank?: number;
  /** For a row of a data pool: number of times that its arm had gone through all rows before. Unset: 0. */
  readonly epoch?: number;
}

/** Rule by which an arm with a fixed set of rows chooses rows by pass rate instead of in turn. */
export interface RowRule {
  /** Number of the arm's rows. */
  readonly rows: number;
  readonly by:
    /** A row of pass rate p is preferred in proportion to (4p(1 − p)) to the power `sharpness`, a whole number. */
    | { readonly kind: "learnability"; readonly sharpness: number }
    /**
     * Rows are preferred by a bell curve around a target pass rate, which moves from `from` to `to` during the run. In
     * a run without an end it stays at `from`.
     */
    | { readonly kind: "target"; readonly from: number; readonly to: number; readonly width: number };
  /** Share of the arm's draws that is spread evenly over all its rows, in [0, 1]. */
  readonly floor: number;
  /**
   * Factor, in 256ths, by which each new group of a row multiplies the row's earlier samples, so that old samples count
   * less.
   */
  readonly kept: number;
  /**
   * Number of successive groups with all samples solved after which a row is no longer drawn. 0: rows are never
   * retired.
   */
  readonly retireAfter: number;
}

/** Set of tasks, e.g. one level of an environment. A policy chooses among the arms of a run. */
export interface Arm<Spec = unknown> {
  /** Id of the arm, unique within the run. */
  readonly id: string;
  /** Specification of the arm's tasks. Only the TaskSource reads it. */
  readonly spec: Spec;
  readonly source: Source;
  /** Weight of the arm when it is added to the run, at least 0. An arm of weight 0 is not drawn. */
  readonly weight: number;
  /** Whether the arm's tasks count as hard for the constraint hardShareMin. */
  readonly hard: boolean;
  /** Smallest and largest reward of the arm's scheme. Signals are divided by their difference. */
  readonly rewardRange: { readonly min: number; readonly max: number };
  /** External resource that scoring the arm's tasks needs, e.g. a judge. Undefined: none. */
  readonly resource: string | undefined;
  /** Whether the arm was removed from the run for good. Its weight is then 0. */
  readonly removed: boolean;
  /** KL coefficient that the trainer receives with each task. Unset: the trainer uses its own. */
  readonly klCoefficient?: number;
  /** Rule by which the arm chooses its rows by pass rate. Unset: the arm takes its tasks in order. */
  readonly rows?: RowRule;
  /** Rows of all arms with the same group are ranked together. Unset: arms without a group are ranked together. */
  readonly rankGroup?: string;
  /** How the arm's levels of difficulty open one by one. Unset: the arm has one level. */
  readonly grow?: Growth;
}

/** Identifies one instance of an arm. */
export interface TaskPlace<Spec> {
  readonly arm: Pick<Arm<Spec>, "id" | "spec" | "source" | "rankGroup">;
  /** Number of the task within its arm, counted from 0. */
  readonly ordinal: number;
  /**
   * Seed from which the instance is made. It depends only on the run's seed, the arm and `ordinal`, and not on the
   * policy.
   */
  readonly seed: bigint;
  /** Seed of the run. It decides the order in which an arm goes through its rows. */
  readonly runSeed: bigint;
  /** Level of the task, if its arm grows (its levels open one by one). Unset: the arm does not grow. */
  readonly level?: number | undefined;
  /** Index of the row that the arm chose by pass rate. Unset: the task's number, `ordinal`, decides. */
  readonly row?: number | undefined;
  /** Row that the run's list of data rows has for this task. Unset: the run has no list for the arm. */
  readonly listed?: { readonly row: ListedRow } | undefined;
  /** Arms whose rows are ranked together with this arm's rows. Unset: the rows are not ranked. */
  readonly among?: readonly Arm<Spec>[] | undefined;
}

/** Returns a task's arm, number and seed. `number` is a row's index if the arm chooses rows, else the task's number. */
export function placeOf<Spec>(
  arm: TaskPlace<Spec>["arm"] & Pick<Arm<Spec>, "rows" | "grow">,
  number: number,
  runSeed: bigint,
  among?: readonly Arm<Spec>[],
  lists: readonly RowList[] = [],
): TaskPlace<Spec> {
  const row = arm.rows === undefined ? undefined : number;
  const list = listOf(lists, arm.id);
  const listed = list && { row: listedRow(list, arm.id, { ordinal: number, row, runSeed }) };
  const seed = deriveSeed("instance", runSeed, arm.id, number);
  return { arm, ordinal: number, level: levelOf(arm, number), row, listed, runSeed, among, seed };
}

/** Set of tasks that measures a run beside training. No policy sees these tasks or learns from them. */
export interface EvaluationArm<Spec = unknown> extends Pick<Arm<Spec>, "id" | "spec" | "source"> {
  /** Number of tasks in the set. */
  readonly tasks: number;
  /** Number of completions of each prompt. */
  readonly numGenerations: number;
}

/**
 * Limits that each update batch must keep (ADSC 3.3), as shares of its tasks in [0, 1]. Numbers of tasks are rounded
 * up.
 */
export interface Constraints {
  readonly realShareMin: number;
  /** Maximum share of tasks from synthetic and teacher arms together. */
  readonly syntheticShareMax: number;
  readonly hardShareMin: number;
  /** Number of the run's first update batches to which hardShareMin does not apply. */
  readonly hardWarmupBatches: number;
}

export const noConstraints: Constraints = Object.freeze({
  realShareMin: 0,
  syntheticShareMax: 1,
  hardShareMin: 0,
  hardWarmupBatches: 0,
});

/**
 * Range of ranks (from easy, 0, to hard), from `min` (included) to `max` (excluded). If `max` is 1, it has no upper
 * limit.
 */
export interface RankRange {
  readonly min: number;
  readonly max: number;
  /** Name of the value by which rows are ranked, e.g. a pass rate. Unset: not stated. */
  readonly by?: string;
  /** Number of rows in the range, by id of each arm that draws from it. Unset: not counted. */
  readonly rows?: Readonly<Record<string, number>>;
}

/** Rule by which a run skips instances, under any policy. */
export interface TaskFilter {
  /** Skips instances whose last group had every sample solved. */
  readonly skipSolved: boolean;
  /** Skips instances that had no sample solved in this many successive groups. 0: failed instances are not skipped. */
  readonly skipFailedAfter: number;
  /** Skips rows of data pools outside this rank range. Undefined: none. */
  readonly ranks: RankRange | undefined;
}

/**
 * Policy of a run: the rule that gives each arm its probability. Only the definition registered under `kind` reads
 * `config`.
 */
export interface Policy {
  readonly kind: string;
  readonly config: unknown;
  readonly constraints: Constraints;
  /** Rule by which instances are skipped. Undefined: none are skipped. */
  readonly filter?: TaskFilter | undefined;
}

/**
 * Feedback lag: number of update batches by which draws may be ahead of feedback. Batch k is drawn once all batches up
 * to k − 1 − count are closed. "unbounded": draws never wait.
 */
export type Lag = { readonly kind: "batches"; readonly count: number } | { readonly kind: "unbounded" };

/**
 * Settings of dynamic sampling (DAPO 3.2). Update batches have spare (reserve) tasks, and for each group from which an
 * update learns nothing, a spare task becomes a new group.
 */
export interface DynamicSampling {
  /** Number of tasks drawn for each prompt, in [1, 16]. */
  readonly oversampleMax: number;
  /**
   * When an update learns nothing from a group. "rewards": all rewards are equal. "solved": all samples are solved, or
   * none is.
   */
  readonly alike: "rewards" | "solved";
}

/** Returns the number of tasks drawn for an update batch with this many prompts, spare (reserve) tasks included. */
export function slotsFor(prompts: number, dynamicSampling: DynamicSampling | undefined): number {
  return Math.ceil(prompts * (dynamicSampling?.oversampleMax ?? 1));
}

/** Weight of feedback that arrives late. */
export interface LateFeedback {
  /** Maximum lateness, in update batches, at which a group still has full weight. */
  readonly batchesMax: number;
  /** Weight of a late group, in [0, 1]. 0: it is ignored. */
  readonly weight: number;
}

/** Placeholder in a prompt template that is replaced by the task's prompt. */
export const PROMPT_MARK = "{prompt}";

/** Text that is put around the prompt of each task of a run. */
export interface PromptTemplate {
  /** System message that replaces the task's own. Undefined: tasks keep theirs. */
  readonly system: string | undefined;
  /** User message with {prompt} where the task's prompt goes. Empty: the prompt alone. */
  readonly user: string;
}

/**
 * Configuration of a run. After creation only arms, numGenerations, promptsPerUpdate and length change. The policy and
 * the weights here are those at creation; RunState has the current ones.
 */
export interface RunConfig<Spec = unknown> {
  readonly arms: readonly Arm<Spec>[];
  readonly policy: Policy;
  readonly seed: bigint;
  /** Number of completions of each prompt. */
  readonly numGenerations: number;
  /** Number of prompts in the whole run. 0: the run has no end. */
  readonly length: number;
  /** Number of prompts in an update batch. */
  readonly promptsPerUpdate: number;
  /** Settings of dynamic sampling. Undefined: no spare tasks are drawn. */
  readonly dynamicSampling: DynamicSampling | undefined;
  /**
   * Whether rewards that differ only by rounding count as equal. Undefined: they count as different, as in runs that
   * older servers created.
   */
  readonly ignoresRounding?: boolean | undefined;
  readonly lag: Lag;
  readonly feedbackSource: "step" | "reported";
  /** Weight of late feedback. Undefined: late feedback counts in full. */
  readonly lateFeedback: LateFeedback | undefined;
  /** Text around prompts. Undefined: prompts are used as the environments give them. */
  readonly promptTemplate: PromptTemplate | undefined;
  readonly evaluationArms: readonly EvaluationArm<Spec>[];
  /**
   * Time, in milliseconds after its task was handed out, after which an open group is closed. Undefined: groups never
   * time out.
   */
  readonly groupTimeoutMs: number | undefined;
  /** Time in milliseconds without any request for the run after which it is deleted. */
  readonly timeToLiveMs: number;
  /** Configuration as the client wrote it, for display only. Runs that differ only in this text count as equal. */
  readonly given: string;
}

// Types of the results of operations on runs. Expected failures are returned as values; a rejected promise means a bug
// or a broken store.

/** Invalid field of a configuration. The path is written in the names of the proto files, e.g. "arms[0].spec.level". */
export interface Invalid {
  readonly kind: "invalid";
  readonly field: string;
  readonly message: string;
  /** Other invalid fields of the same configuration. Unset: none are known. */
  readonly others?: readonly Invalid[];
}

export function invalid(field: string, message: string): Invalid {
  return { kind: "invalid", field, message };
}

export function isInvalid(value: unknown): value is Invalid {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "invalid";
}

/** Reason why the caller must retry later, with details by name. */
export interface Wait {
  readonly reason: "PAUSED" | "FEEDBACK_DUE" | "ARMS_MASKED" | "OVERLOADED";
  readonly metadata?: Readonly<Record<string, string>>;
}

export type Refusal =
  | Invalid
  | { readonly kind: "not_found"; readonly message: string }
  | { readonly kind: "already_exists"; readonly field: string; readonly message: string }
  | { readonly kind: "failed_precondition"; readonly message: string }
  /** Stored data of the run is missing, or is not what the server wrote. */
  | { readonly kind: "damaged"; readonly message: string }
  | { readonly kind: "out_of_range"; readonly message: string }
  | {
      readonly kind: "unavailable";
      readonly message: string;
      readonly retryDelayMs: number;
      /** Reason to retry later. Unset: the server cannot make tasks now. */
      readonly wait?: Wait;
    }
  /** Other servers kept changing the run, so that this server could not write its change. The caller may try again. */
  | { readonly kind: "aborted"; readonly message: string }
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
