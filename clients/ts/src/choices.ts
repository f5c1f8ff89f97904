/** What callers choose from, in plain values, and how it becomes messages of the contract. */
import { create, isMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { GradusError } from "./errors.ts";
import {
  AlikeOutcomes,
  ArmSchema,
  EvaluationArmSchema,
  FeedbackSource,
  RunConfigSchema,
  type TrainerSettingsSchema,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { Arm, EvaluationArm, Policy, RunConfig } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { CompletionGroupSchema, FinishReason } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { CompletionGroup } from "../../../proto/gen/gradus/v1/environment_pb.js";
import {
  AnswerFormat,
  ParametersSchema,
  RewardSchemeSchema,
  Source,
  Split,
  TaskSpecSchema,
  Thinking,
} from "../../../proto/gen/gradus/v1/task_pb.js";
import type { RewardScheme, TaskSpec } from "../../../proto/gen/gradus/v1/task_pb.js";
import { type RowChoice, rowsOf } from "./rows.ts";
import { policyOf, type PolicyChoice } from "./policies.ts";
import { sendable } from "./surrogates.ts";

const splits = { train: Split.TRAIN, eval: Split.EVAL, bench: Split.BENCH } as const;
const sources = { synthetic: Source.SYNTHETIC, real: Source.REAL, teacher: Source.TEACHER } as const;
const answerFormats = {
  think_answer: AnswerFormat.THINK_ANSWER,
  answer_line: AnswerFormat.ANSWER_LINE,
  answer_tag: AnswerFormat.ANSWER_TAG,
  boxed: AnswerFormat.BOXED,
} as const;
const thinkings = {
  required: Thinking.REQUIRED,
  prefilled: Thinking.PREFILLED,
  stripped: Thinking.STRIPPED,
} as const;
const feedbackSources = { step: FeedbackSource.STEP, reported: FeedbackSource.REPORTED } as const;

/** Names of the splits, sources, answer formats and ways of thinking. */
export const splitNames = Object.keys(splits) as readonly (keyof typeof splits)[];
export const sourceNames = Object.keys(sources) as readonly (keyof typeof sources)[];
export const answerFormatNames = Object.keys(answerFormats) as readonly (keyof typeof answerFormats)[];
export const thinkingNames = Object.keys(thinkings) as readonly (keyof typeof thinkings)[];

export type SplitName = keyof typeof splits;
export type SourceName = keyof typeof sources;
export type AnswerFormatName = keyof typeof answerFormats;
export type ThinkingName = keyof typeof thinkings;

/** The field of a message that says how answers are marked. */
export function answerFormatOf(name: AnswerFormatName | undefined): { readonly answerFormat?: AnswerFormat } {
  return name === undefined ? {} : { answerFormat: answerFormats[name] };
}

/** The field of a message that says how much of its thinking a completion holds. */
export function thinkingOf(name: ThinkingName | undefined): { readonly thinking?: Thinking } {
  return name === undefined ? {} : { thinking: thinkings[name] };
}

/** A reward scheme: its name, or its name with named numbers. */
export type RewardSchemeChoice =
  string | { readonly name: string; readonly parameters?: Readonly<Record<string, number>> };

/** A family of tasks: everything that fixes a task but its seed. What is left out takes the server's default. */
export interface TaskChoice {
  /** E.g. "np/tsp". */
  readonly environment: string;
  /** Left out: the newest. */
  readonly version?: number | undefined;
  /** A level's name, or parameters in its place. Both left out: the easiest level. */
  readonly level?: string | undefined;
  readonly parameters?: Readonly<Record<string, number>> | undefined;
  readonly split?: SplitName | undefined;
  readonly source?: SourceName | undefined;
  /** Data pool for source "real". */
  readonly pool?: string | undefined;
  readonly answerFormat?: AnswerFormatName | undefined;
  /** How much of its thinking a completion holds, which chat templates change; left out: "required", all of it. */
  readonly thinking?: ThinkingName | undefined;
  readonly rewardScheme?: RewardSchemeChoice | undefined;
}

/** A whole number in [0, 2^64). A number above 2^53 has lost bits already: give a bigint or a string of digits. */
export type Seed = bigint | number | string;

/** What a run chooses between. Without an answer format and a reward scheme of its own the run's count. */
export interface ArmChoice extends TaskChoice {
  /**
   * Unique within the run. Left out of a family alone, an environment with "*" ("np/*"), which stands for an arm of each
   * level of all that match: `checkRun` says what it comes to.
   */
  readonly id?: string | undefined;
  /** Left out: 1. */
  readonly weight?: number | undefined;
  /** Whether a constraint's share of hard tasks counts this arm. */
  readonly hard?: boolean | undefined;
  /** The KL coefficient that its tasks carry for the trainer (`task.hints.klCoefficient`); left out: none. */
  readonly klCoefficient?: number | undefined;
  /** Chooses among its rows by their pass rates; left out: it goes through them in turn. */
  readonly rows?: RowChoice | undefined;
  /** Its rows are ranked among those of the arms that name the same; left out: of all that name none. */
  readonly rankGroup?: string | undefined;
}

/** A set of tasks that a run is evaluated on beside training, see `nextEvaluation`. Left out, the split is "eval". */
export interface EvaluationArmChoice extends TaskChoice {
  /** Unique among the run's arms of both kinds. */
  readonly id: string;
  /** Tasks in the set. */
  readonly tasks: number;
  /** Completions of each prompt; left out: the run's. */
  readonly numGenerations?: number | undefined;
}

/** What a run is; see RunConfig in the contract for meanings and limits. */
export interface RunChoice {
  readonly arms: readonly ArmChoice[];
  readonly policy: PolicyChoice | Policy;
  readonly numGenerations: number;
  readonly promptsPerUpdate: number;
  /** Left out: 0. */
  readonly seed?: Seed;
  /** Tasks in the whole run; left out: no end. */
  readonly length?: number;
  /** Update batches that a draw runs ahead of feedback; left out: 1. */
  readonly feedbackLag?: number | "unbounded";
  readonly feedbackSource?: keyof typeof feedbackSources;
  readonly rewardScheme?: RewardSchemeChoice;
  readonly answerFormat?: AnswerFormatName;
  readonly groupTimeoutMs?: number;
  readonly timeToLiveMs?: number;
  /** What the run is evaluated on beside training. */
  readonly evaluationArms?: readonly EvaluationArmChoice[];
  /** Whether arms may hold rows that the run's evaluation arms, or suites of the server, evaluate; left out: such arms are refused. */
  readonly trainOnEvaluated?: boolean;
  /** Update batches with a reserve, for groups whose outcomes are alike (DAPO); left out: none. */
  readonly dynamicSampling?: DynamicSamplingChoice;
  /** What becomes of feedback that comes late; left out: it counts like other. */
  readonly lateFeedback?: { readonly batchesMax: number; readonly weight?: number };
  /** Text around the prompts: a system message, and a user message with {prompt} where the task's goes. */
  readonly promptTemplate?: { readonly system?: string; readonly user?: string };
  /** Settings for the run's trainer, e.g. `{ learningRate: 1e-6 }`; the server makes no use of it. */
  readonly trainer?: MessageInitShape<typeof TrainerSettingsSchema>;
}

/** Tasks drawn for each one to train on, and which groups are useless; see DynamicSampling in the contract. */
export interface DynamicSamplingChoice {
  readonly oversampleMax: number;
  /** Left out: "rewards". */
  readonly alike?: "rewards" | "solved";
}

/** A task as far as scoring needs it; every Task is one. */
export interface TaskRef {
  readonly taskId: string;
  readonly groupId: string;
  /** Of a run's task: its run, for `feedbackCounts`; not sent. */
  readonly runId?: string;
}

/** Why generation ended. */
export type FinishReasonName = "stop" | "length";

/** A completion, with what its trainer knows of it. */
export interface SampleChoice {
  readonly sampleIndex: number;
  readonly text: string;
  /** Why generation ended; "length": the completion is truncated. */
  readonly finishReason?: FinishReasonName | undefined;
  /** Of the policy that wrote it, e.g. its number of updates. */
  readonly policyVersion?: number;
}

/** Completions of one task. Plain strings have their place in the list as sample_index. */
export interface GroupChoice {
  readonly task: TaskRef;
  readonly completions: readonly (string | SampleChoice)[];
  /** Size of the whole group, where this is a part of it outside a run. */
  readonly numGenerations?: number | undefined;
}

/** Reads a seed; INVALID_ARGUMENT for what is not a whole number in [0, 2^64), or has lost bits. */
export function seedOf(seed: Seed): bigint {
  const exact = typeof seed !== "number" || Number.isSafeInteger(seed);
  const digits = String(seed).trim();
  if (!exact || !/^\d{1,20}$/.test(digits) || BigInt(digits) >= 2n ** 64n) {
    throw new GradusError(
      "INVALID_ARGUMENT",
      `seed: want a whole number from 0 to 2^64 - 1, got ${digits.slice(0, 40)}`,
    );
  }
  return BigInt(digits);
}

function difficultyOf(choice: TaskChoice): TaskSpec["difficulty"] {
  if (choice.parameters !== undefined && choice.level !== undefined) {
    throw new GradusError("INVALID_ARGUMENT", "level, parameters: give one of them");
  }
  if (choice.parameters !== undefined) {
    return { case: "parameters", value: create(ParametersSchema, { values: { ...choice.parameters } }) };
  }
  return choice.level === undefined ? { case: undefined } : { case: "level", value: choice.level };
}

function rewardSchemeOf(choice: RewardSchemeChoice): RewardScheme {
  const { name, parameters } = typeof choice === "string" ? { name: choice, parameters: {} } : choice;
  return create(RewardSchemeSchema, { name, parameters: { ...parameters } });
}

/** The message for a family of tasks. */
export function taskSpecOf(choice: TaskChoice): TaskSpec {
  return create(TaskSpecSchema, {
    environment: choice.environment,
    version: choice.version ?? 0,
    difficulty: difficultyOf(choice),
    split: choice.split === undefined ? Split.UNSPECIFIED : splits[choice.split],
    source: choice.source === undefined ? Source.UNSPECIFIED : sources[choice.source],
    pool: choice.pool ?? "",
    ...answerFormatOf(choice.answerFormat),
    ...thinkingOf(choice.thinking),
    ...(choice.rewardScheme === undefined ? {} : { rewardScheme: rewardSchemeOf(choice.rewardScheme) }),
  });
}

/** The field of a message that has one; none where it is not known. */
export function finishReasonOf(finishReason: FinishReasonName | undefined): { readonly finishReason?: FinishReason } {
  const reasons = { stop: FinishReason.STOP, length: FinishReason.LENGTH };
  return finishReason === undefined ? {} : { finishReason: reasons[finishReason] };
}

function completionOf({ finishReason, ...completion }: SampleChoice, groupId: string) {
  sendable(completion.text, `sample ${String(completion.sampleIndex)} of group ${groupId}`);
  return { ...completion, ...finishReasonOf(finishReason) };
}

/** The message for completions of one task. */
export function groupOf({ task, completions, numGenerations = 0 }: GroupChoice): CompletionGroup {
  const { taskId, groupId } = task;
  return create(CompletionGroupSchema, {
    taskId,
    groupId,
    completions: completions.map((each, sampleIndex) =>
      completionOf(typeof each === "string" ? { sampleIndex, text: each } : each, groupId),
    ),
    numGenerations,
  });
}

function lagOf(lag: RunChoice["feedbackLag"]): RunConfig["lag"] {
  if (lag === undefined) return { case: undefined };
  return lag === "unbounded" ? { case: "feedbackUnbounded", value: true } : { case: "feedbackLag", value: lag };
}

function dynamicSamplingOf({ oversampleMax, alike = "rewards" }: DynamicSamplingChoice) {
  return { oversampleMax, alike: alike === "solved" ? AlikeOutcomes.SOLVED : AlikeOutcomes.REWARDS };
}

/** The message for an arm. */
export function armOf(choice: ArmChoice | Arm): Arm {
  if (isMessage(choice, ArmSchema)) return choice;
  const { id = "", weight, hard, klCoefficient, rankGroup, rows, ...task } = choice;
  return create(ArmSchema, {
    id,
    spec: taskSpecOf(task),
    hard: hard ?? false,
    rankGroup: rankGroup ?? "",
    ...(rows === undefined ? {} : { rows: rowsOf(rows) }),
    ...(weight === undefined ? {} : { weight }),
    ...(klCoefficient === undefined ? {} : { klCoefficient }),
  });
}

function evaluationArmOf({ id, tasks, numGenerations, ...task }: EvaluationArmChoice): EvaluationArm {
  return create(EvaluationArmSchema, { id, tasks, spec: taskSpecOf(task), numGenerations: numGenerations ?? 0 });
}

/** The message for a run's configuration; a message stays as it is. */
export function runConfigOf(choice: RunChoice | RunConfig): RunConfig {
  if (isMessage(choice, RunConfigSchema)) return choice;
  const { rewardScheme, answerFormat, groupTimeoutMs, timeToLiveMs, feedbackSource } = choice;
  return create(RunConfigSchema, {
    arms: choice.arms.map(armOf),
    policy: policyOf(choice.policy),
    numGenerations: choice.numGenerations,
    promptsPerUpdate: choice.promptsPerUpdate,
    seed: seedOf(choice.seed ?? 0),
    length: BigInt(choice.length ?? 0),
    lag: lagOf(choice.feedbackLag),
    evaluationArms: (choice.evaluationArms ?? []).map(evaluationArmOf),
    trainOnEvaluated: choice.trainOnEvaluated ?? false,
    ...(feedbackSource === undefined ? {} : { feedbackSource: feedbackSources[feedbackSource] }),
    ...(rewardScheme === undefined ? {} : { rewardScheme: rewardSchemeOf(rewardScheme) }),
    ...answerFormatOf(answerFormat),
    ...(groupTimeoutMs === undefined ? {} : { groupTimeout: durationFromMs(groupTimeoutMs) }),
    ...(timeToLiveMs === undefined ? {} : { timeToLive: durationFromMs(timeToLiveMs) }),
    ...(choice.dynamicSampling && { dynamicSampling: dynamicSamplingOf(choice.dynamicSampling) }),
    ...(choice.lateFeedback && { lateFeedback: { ...choice.lateFeedback } }),
    ...(choice.promptTemplate && { promptTemplate: { ...choice.promptTemplate } }),
    ...(choice.trainer && { trainer: choice.trainer }),
  });
}
