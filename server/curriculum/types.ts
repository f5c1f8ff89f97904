/** What a run is: its arms, its policy, and what is fixed when it is created; and what operations on runs answer. */

import { deriveSeed } from "../../envs/lib/rng.ts";
import { type ListedRow, listedRow, listOf, type RowList } from "./row-lists.ts";

export type Source = "synthetic" | "real" | "teacher";

/** What the curriculum reads of an instance's key. All else in it is the TaskSource's. */
export interface InstanceKey {
  /** Of the canonical instance: equal for equal instances of any arm. No spaces. */
  readonly hash: string;
  /** The share of its pool that is easier, in [0, 1]; left out: not known. */
  readonly rank?: number;
  /** Of a pool's row: how often its arm had gone through all rows. Left out: 0. */
  readonly epoch?: number;
}

/** How an arm with a fixed set of rows chooses among them by their pass rates, rather than going through them in turn. */
export interface RowRule {
  /** How many there are. */
  readonly rows: number;
  readonly by:
    /** (4p(1 − p)) to a whole power. */
    | { readonly kind: "learnability"; readonly sharpness: number }
    /** A bell around a pass rate that moves over the run; of a run without an end it stays where it begins. */
    | { readonly kind: "target"; readonly from: number; readonly to: number; readonly width: number };
  /** Share of draws that goes to all rows alike, in [0, 1]. */
  readonly floor: number;
  /** What of what is known of a row stays when a group of it is seen, in 256ths. */
  readonly kept: number;
  /** A row of which all samples were solved so often in a row is drawn no more; 0: never. */
  readonly retireAfter: number;
}

/** What a policy chooses between. */
export interface Arm<Spec = unknown> {
  /** Unique within the run. */
  readonly id: string;
  /** What its tasks are; for the TaskSource to read. */
  readonly spec: Spec;
  readonly source: Source;
  /** At least 0; as it was at creation. */
  readonly weight: number;
  /** Whether hardShareMin counts this arm. */
  readonly hard: boolean;
  /** Smallest and largest reward of the arm's scheme. Signals are divided by the span. */
  readonly rewardRange: { readonly min: number; readonly max: number };
  /** What scoring its tasks asks outside of the server, e.g. a judge; undefined: nothing. */
  readonly resource: string | undefined;
  /** It was taken out of the run for good: its weight is 0. */
  readonly removed: boolean;
  /** For the trainer, who gets it with each task. Left out: no opinion. */
  readonly klCoefficient?: number;
  /** How its rows are chosen; left out: it goes through its tasks in turn. */
  readonly rows?: RowRule;
  /** Its rows are ranked among those of all arms that name the same. Left out: among those of all that name none. */
  readonly rankGroup?: string;
}

/** Which instance of an arm is meant. */
export interface TaskPlace<Spec> {
  readonly arm: Pick<Arm<Spec>, "id" | "spec" | "source" | "rankGroup">;
  /** Counted from 0. */
  readonly ordinal: number;
  /** f(run seed, arm, ordinal): makes the instance, whatever the policy does. */
  readonly seed: bigint;
  /** The run's seed: fixes the order in which an arm with rows goes through them. */
  readonly runSeed: bigint;
  /** Of an arm with rows that are chosen: which one. Left out: the ordinal says it. */
  readonly row?: number | undefined;
  /** The row that the run has there; left out: the run knows no rows of the arm. */
  readonly listed?: { readonly row: ListedRow } | undefined;
  /** Of the run: those whose rows an arm's own are ranked among. Left out: its rows have no ranks. */
  readonly among?: readonly Arm<Spec>[] | undefined;
}

/** `number`: of an arm that chooses its rows the row; of any other the ordinal. */
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

/** A set of tasks that a run is evaluated on beside training: no policy sees it, and nothing is learnt from it. */
export interface EvaluationArm<Spec = unknown> extends Pick<Arm<Spec>, "id" | "spec" | "source"> {
  /** How many tasks the set has. */
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

/** A slice of ranked rows: those whose rank is at least `min` and below `max`, which 1 takes in. */
export interface RankRange {
  readonly min: number;
  readonly max: number;
  /** What rows are ranked by; left out: it is not said. */
  readonly by?: string;
  /** How many rows the slice has of each arm that draws in it, by id; left out: nobody has counted. */
  readonly rows?: Readonly<Record<string, number>>;
}

/** Which instances are passed over, whatever the policy is. */
export interface TaskFilter {
  /** Those of which every sample was solved the last time. */
  readonly skipSolved: boolean;
  /** Those of which no sample was solved so many times in a row; 0: never. */
  readonly skipFailedAfter: number;
  /** Rows of real pools outside of this range; undefined: none. */
  readonly ranks: RankRange | undefined;
}

/** How the next arm is chosen. `config` belongs to the policy that is registered under `kind`, which alone reads it. */
export interface Policy {
  readonly kind: string;
  readonly config: unknown;
  readonly constraints: Constraints;
  /** Undefined: none is passed over. */
  readonly filter?: TaskFilter | undefined;
}

/** How far draws run ahead of feedback. Batch k needs every batch up to k − 1 − count closed. */
export type Lag = { readonly kind: "batches"; readonly count: number } | { readonly kind: "unbounded" };

/** Update batches with a reserve, which is handed out as groups prove useless (DAPO 3.2). */
export interface DynamicSampling {
  /** Tasks drawn for each one to train on, in [1, 16]. */
  readonly oversampleMax: number;
  /** Which groups are useless: those whose rewards are all equal, or those all or none of whose samples are solved. */
  readonly alike: "rewards" | "solved";
}

/** Tasks that are drawn for an update batch of so many to train on. */
export function slotsFor(prompts: number, dynamicSampling: DynamicSampling | undefined): number {
  return Math.ceil(prompts * (dynamicSampling?.oversampleMax ?? 1));
}

/** What becomes of feedback that comes late. */
export interface LateFeedback {
  /** Groups that are more update batches late count less. */
  readonly batchesMax: number;
  /** By what they count, in [0, 1]; 0: not at all. */
  readonly weight: number;
}

/** Where the task's prompt stands in a template. */
export const PROMPT_MARK = "{prompt}";

/** Text around the prompts of a run's tasks. */
export interface PromptTemplate {
  /** In place of the tasks' own system messages; undefined: they stay. */
  readonly system: string | undefined;
  /** The user message, with {prompt} for the task's; "": that alone. */
  readonly user: string;
}

/**
 * Fixed at creation, but for the policy and the weights, which the state holds as they are now, and the run's shape: its
 * arms, generations, prompts and length.
 */
export interface RunConfig<Spec = unknown> {
  readonly arms: readonly Arm<Spec>[];
  readonly policy: Policy;
  readonly seed: bigint;
  /** Completions of each prompt. */
  readonly numGenerations: number;
  /** Tasks to train on in the whole run; 0: no end. */
  readonly length: number;
  /** Tasks to train on in an update batch. */
  readonly promptsPerUpdate: number;
  /** Undefined: what is drawn is what is trained on. */
  readonly dynamicSampling: DynamicSampling | undefined;
  /** Rewards that only rounding tells apart are equal. Undefined: the run was created by a server that told them apart. */
  readonly ignoresRounding?: boolean | undefined;
  readonly lag: Lag;
  readonly feedbackSource: "step" | "reported";
  /** Undefined: it counts like other. */
  readonly lateFeedback: LateFeedback | undefined;
  /** Undefined: the prompts are as the environments give them. */
  readonly promptTemplate: PromptTemplate | undefined;
  readonly evaluationArms: readonly EvaluationArm<Spec>[];
  /** Undefined: groups never time out. */
  readonly groupTimeoutMs: number | undefined;
  /** The run is deleted when nothing was asked of it for this long. */
  readonly timeToLiveMs: number;
  /** The configuration in its creator's words: kept to be shown, and no part of what a run is. */
  readonly given: string;
}

// What operations on runs answer. Expected outcomes are values; a rejected promise is a bug or a broken store.

/** A field that cannot be as it is, named as the contract names it, from the configuration down. */
export interface Invalid {
  readonly kind: "invalid";
  readonly field: string;
  readonly message: string;
  /** Other fields of the same configuration; left out: none is known. */
  readonly others?: readonly Invalid[];
}

export function invalid(field: string, message: string): Invalid {
  return { kind: "invalid", field, message };
}

export function isInvalid(value: unknown): value is Invalid {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "invalid";
}

/** Why the caller is to ask again later, and what is known of it by name. */
export interface Wait {
  readonly reason: "PAUSED" | "FEEDBACK_DUE" | "ARMS_MASKED" | "OVERLOADED";
  readonly metadata?: Readonly<Record<string, string>>;
}

export type Refusal =
  | Invalid
  | { readonly kind: "not_found"; readonly message: string }
  | { readonly kind: "already_exists"; readonly field: string; readonly message: string }
  | { readonly kind: "failed_precondition"; readonly message: string }
  /** A part of what was kept of the run is missing, or not as it was written. */
  | { readonly kind: "damaged"; readonly message: string }
  | { readonly kind: "out_of_range"; readonly message: string }
  | {
      readonly kind: "unavailable";
      readonly message: string;
      readonly retryDelayMs: number;
      /** Left out: tasks cannot be made now. */
      readonly wait?: Wait;
    }
  /** Other processes kept changing the run; try again. */
  | { readonly kind: "aborted"; readonly message: string }
  /** The caller went away. */
  | { readonly kind: "cancelled"; readonly message: string };

/** `value` of an operation that did what was asked. */
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
