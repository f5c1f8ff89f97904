/** Arguments of the client's calls as plain objects, and their conversion to the protobuf messages of gradus.v1. */
import { create, isMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { GradusError } from "./errors.ts";
import {
  AlikeOutcomes,
  ArmSchema,
  EvaluationArmSchema,
  FeedbackSource,
  GrowthSchema,
  RunConfigSchema,
  type TrainerSettingsSchema,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { Arm, EvaluationArm, Growth, Policy, RunConfig } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import {
  CompletionGroupSchema,
  FinishReason,
  RescoreSettingsSchema,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { CompletionGroup, RescoreSettings } from "../../../proto/gen/gradus/v1/environment_pb.js";
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

/**
 * Names that the client accepts as a split. The constants below have the names of sources, answer formats and ways of
 * `thinking`.
 */
export const splitNames = Object.keys(splits) as readonly (keyof typeof splits)[];
export const sourceNames = Object.keys(sources) as readonly (keyof typeof sources)[];
export const answerFormatNames = Object.keys(answerFormats) as readonly (keyof typeof answerFormats)[];
export const thinkingNames = Object.keys(thinkings) as readonly (keyof typeof thinkings)[];

export type SplitName = keyof typeof splits;
export type SourceName = keyof typeof sources;
export type AnswerFormatName = keyof typeof answerFormats;
export type ThinkingName = keyof typeof thinkings;

/**
 * Returns the protobuf field `answerFormat` for a name such as "boxed". Without a name, returns no field, so that the
 * server uses its default.
 */
export function answerFormatOf(name: AnswerFormatName | undefined): { readonly answerFormat?: AnswerFormat } {
  return name === undefined ? {} : { answerFormat: answerFormats[name] };
}

/**
 * Returns the protobuf field `thinking` for a name: how much of the model's thinking a completion contains. Without a
 * name, returns no field, so that the server uses its default.
 */
export function thinkingOf(name: ThinkingName | undefined): { readonly thinking?: Thinking } {
  return name === undefined ? {} : { thinking: thinkings[name] };
}

/** Rule that turns what a verifier finds into a reward: its name, or its name with values of its parameters. */
export type RewardSchemeChoice =
  string | { readonly name: string; readonly parameters?: Readonly<Record<string, number>> };

/** Family of tasks: all settings of a task except its seed. A field that is left out gets the server's default. */
export interface TaskChoice {
  /** Id of the environment, e.g. "np/tsp". */
  readonly environment: string;
  /** Version of the environment. Defaults to the newest. */
  readonly version?: number | undefined;
  /** Name of a level. Give either `level` or `parameters`. Without both, the easiest level is used. */
  readonly level?: string | undefined;
  readonly parameters?: Readonly<Record<string, number>> | undefined;
  readonly split?: SplitName | undefined;
  readonly source?: SourceName | undefined;
  /** Name of the data pool that rows come from, for source "real". */
  readonly pool?: string | undefined;
  readonly answerFormat?: AnswerFormatName | undefined;
  /**
   * How much of the model's thinking a completion contains, because chat templates may remove some of it. "required"
   * (the default): all of it. "prefilled": the prompt ends with <think>. "stripped": none of it.
   */
  readonly thinking?: ThinkingName | undefined;
  readonly rewardScheme?: RewardSchemeChoice | undefined;
  /** Maximum number of calls in an episode: of tools, or messages with an answer. Defaults to `Environment.calls`. */
  readonly calls?: number | undefined;
  /** Names of the tools that the policy may call. Defaults to none. */
  readonly tools?: readonly string[] | undefined;
  /**
   * How much the server's reply to each try reveals, if a task allows several. "verdict": whether the answer is right.
   * "reason": also what is wrong. "distance" (the default): also how far it is from the best known answer.
   */
  readonly replyDetail?: string | undefined;
}

/** Whole number in [0, 2^64). Above 2^53, give a bigint or a string of digits, because a number loses bits there. */
export type Seed = bigint | number | string;

/**
 * Arm of a run: a family of tasks, one of those among which the run's policy chooses. Without an answer format or a
 * reward scheme of its own, the arm uses the run's.
 */
export interface ArmChoice extends TaskChoice {
  /**
   * Id, unique within the run. Leave it out only if `environment` is a pattern with "*", such as "np/*". The pattern
   * stands for one arm for each level that matches; `checkRun` lists them.
   */
  readonly id?: string | undefined;
  /** Relative weight of the arm, for policies that draw by weights, e.g. "mixture". Defaults to 1. */
  readonly weight?: number | undefined;
  /** Whether this arm's tasks count towards the policy's constraint `hardShareMin`. Defaults to false. */
  readonly hard?: boolean | undefined;
  /** KL coefficient for the trainer, which the arm's tasks carry as `task.hints.klCoefficient`. Defaults to none. */
  readonly klCoefficient?: number | undefined;
  /**
   * Rule by which the arm prefers some of its rows (e.g. tasks of a data pool) by their pass rates. By default it goes
   * through the rows in turn.
   */
  readonly rows?: RowChoice | undefined;
  /**
   * Growth axis, or only its name (e.g. "vertices"), whose levels the arm opens one after the other, from easy to hard.
   * Leave out `level` then. By default the arm keeps one level.
   */
  readonly grow?: GrowthChoice | string | undefined;
  /** Name of a group of arms whose rows are ranked by difficulty together. The arms without a name form one group. */
  readonly rankGroup?: string | undefined;
}

/** Growth of an arm along an axis of its environment (Environment.axes). */
export interface GrowthChoice {
  /**
   * Name of the axis, e.g. "vertices". Only an arm whose environment is a pattern such as "np/*" may leave it out: each
   * arm that matches then grows along the first axis of its environment.
   */
  readonly axis?: string | undefined;
  /** Value of the first level. Defaults to the axis's first value. */
  readonly start?: number | undefined;
  /** Difference between the values of two successive levels. Defaults to 1. */
  readonly step?: number | undefined;
  /** Value of the last level, on which the growth ends. Defaults to the axis's last value. */
  readonly cap?: number | undefined;
}

/** Set of tasks on which a run is evaluated during training (see `nextEvaluation`). The split defaults to "eval". */
export interface EvaluationArmChoice extends TaskChoice {
  /** Id, unique among the run's arms of both kinds (training and evaluation). */
  readonly id: string;
  /** Number of tasks in the set. */
  readonly tasks: number;
  /** Number of completions of each prompt. Defaults to the run's. */
  readonly numGenerations?: number | undefined;
}

/** Configuration of a run. RunConfig in the contract says what the fields mean, with their limits. */
export interface RunChoice {
  readonly arms: readonly ArmChoice[];
  readonly policy: PolicyChoice | Policy;
  readonly numGenerations: number;
  readonly promptsPerUpdate: number;
  /** Seed of all random draws and of all tasks. Defaults to 0. */
  readonly seed?: Seed;
  /** Number of tasks to train on in the whole run. By default the run has no end. */
  readonly length?: number;
  /**
   * Number of update batches (the prompts of one policy update) that the run may draw before feedback on them has
   * arrived. Defaults to 1.
   */
  readonly feedbackLag?: number | "unbounded";
  readonly feedbackSource?: keyof typeof feedbackSources;
  readonly rewardScheme?: RewardSchemeChoice;
  readonly answerFormat?: AnswerFormatName;
  readonly groupTimeoutMs?: number;
  readonly timeToLiveMs?: number;
  /** Sets of tasks on which the run is evaluated during training. */
  readonly evaluationArms?: readonly EvaluationArmChoice[];
  /**
   * Whether arms may contain rows that the run's evaluation arms, or suites of the server, use for evaluation. Defaults
   * to false: such arms are refused.
   */
  readonly trainOnEvaluated?: boolean;
  /**
   * Settings for a reserve of tasks in each update batch, which replace groups that teach nothing because all their
   * completions have equal rewards (DAPO). Defaults to no reserve.
   */
  readonly dynamicSampling?: DynamicSamplingChoice;
  /**
   * Weight, in [0, 1] and by default 0, of feedback that arrives more than `batchesMax` update batches late. If
   * `lateFeedback` is left out, late feedback counts fully.
   */
  readonly lateFeedback?: { readonly batchesMax: number; readonly weight?: number };
  /** Text around the prompts: a system message, and a user message in which {prompt} stands for the task's prompt. */
  readonly promptTemplate?: { readonly system?: string; readonly user?: string };
  /** Settings for the run's trainer, e.g. `{ learningRate: 1e-6 }`. The server does not use them. */
  readonly trainer?: MessageInitShape<typeof TrainerSettingsSchema>;
}

/**
 * Settings of dynamic sampling: how many tasks an update batch draws for each task to train on, and which groups are
 * useless. See DynamicSampling in curriculum.proto.
 */
export interface DynamicSamplingChoice {
  readonly oversampleMax: number;
  /**
   * Groups (completions of one prompt) that count as useless. "rewards" (the default): those with equal rewards.
   * "solved": those with all samples solved, or none.
   */
  readonly alike?: "rewards" | "solved";
}

/** Fields of a task that scoring needs. Every Task has them. */
export interface TaskRef {
  readonly taskId: string;
  readonly groupId: string;
  /** Id of the task's run. The client does not send it, and only uses it to count scores by run (`feedbackCounts`). */
  readonly runId?: string;
}

/** Reason why the model's generation ended. "length" means that the completion is truncated. */
export type FinishReasonName = "stop" | "length";

/** Completion, with data from its trainer. */
export interface SampleChoice {
  readonly sampleIndex: number;
  readonly text: string;
  /** Reason why generation ended. "length" means that the completion is truncated. */
  readonly finishReason?: FinishReasonName | undefined;
  /** Version of the policy model that wrote the completion, e.g. its number of updates. */
  readonly policyVersion?: number;
  /**
   * Number of tokens by the trainer's tokenizer. The last call of an episode gives the sum over all its completions.
   * The run adds tokens up for people to read. Unset: the run counts characters.
   */
  readonly tokens?: number;
  /** Whether the trainer ends the episode after this completion. Defaults to false. */
  readonly end?: boolean;
}

/** Completions of one task. A plain string gets its position in the list as sample_index. */
export interface GroupChoice {
  readonly task: TaskRef;
  readonly completions: readonly (string | SampleChoice)[];
  /**
   * Number of completions of the whole group. Needed only if `completions` has a part of them and the task belongs to
   * no run.
   */
  readonly numGenerations?: number | undefined;
}

/** Returns a seed as a bigint. Throws INVALID_ARGUMENT if it is not a whole number in [0, 2^64), or has lost bits. */
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

/** Returns the protobuf message TaskSpec of a choice of tasks. */
export function taskSpecOf(choice: TaskChoice): TaskSpec {
  return create(TaskSpecSchema, {
    environment: choice.environment,
    version: choice.version ?? 0,
    difficulty: difficultyOf(choice),
    split: choice.split === undefined ? Split.UNSPECIFIED : splits[choice.split],
    source: choice.source === undefined ? Source.UNSPECIFIED : sources[choice.source],
    pool: choice.pool ?? "",
    calls: choice.calls ?? 0,
    tools: [...(choice.tools ?? [])],
    replyDetail: choice.replyDetail ?? "",
    ...answerFormatOf(choice.answerFormat),
    ...thinkingOf(choice.thinking),
    ...(choice.rewardScheme === undefined ? {} : { rewardScheme: rewardSchemeOf(choice.rewardScheme) }),
  });
}

/** Settings under which stored completions are scored again. A field that is left out keeps that of each task. */
export type RescoreChoice = Pick<TaskChoice, "version" | "answerFormat" | "thinking" | "rewardScheme">;

/** Returns the protobuf message RescoreSettings. */
export function rescoreSettingsOf({ version = 0, rewardScheme, ...choice }: RescoreChoice): RescoreSettings {
  return create(RescoreSettingsSchema, {
    version,
    ...(rewardScheme === undefined ? {} : { rewardScheme: rewardSchemeOf(rewardScheme) }),
    ...answerFormatOf(choice.answerFormat),
    ...thinkingOf(choice.thinking),
  });
}

/** Returns the protobuf field `finishReason` for a name. Without a name, returns no field. */
export function finishReasonOf(finishReason: FinishReasonName | undefined): { readonly finishReason?: FinishReason } {
  const reasons = { stop: FinishReason.STOP, length: FinishReason.LENGTH };
  return finishReason === undefined ? {} : { finishReason: reasons[finishReason] };
}

function completionOf({ finishReason, ...completion }: SampleChoice, groupId: string) {
  sendable(completion.text, `sample ${String(completion.sampleIndex)} of group ${groupId}`);
  return { ...completion, ...finishReasonOf(finishReason) };
}

/** Converts the completions of one task to the protobuf message CompletionGroup. */
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

/** Converts an arm to the protobuf message Arm. Returns a message unchanged. */
export function armOf(choice: ArmChoice | Arm): Arm {
  if (isMessage(choice, ArmSchema)) return choice;
  const { id = "", weight, hard, klCoefficient, rankGroup, rows, grow, ...task } = choice;
  return create(ArmSchema, {
    id,
    spec: taskSpecOf(task),
    hard: hard ?? false,
    rankGroup: rankGroup ?? "",
    ...(rows === undefined ? {} : { rows: rowsOf(rows) }),
    ...(grow === undefined ? {} : { grow: growthOf(grow) }),
    ...(weight === undefined ? {} : { weight }),
    ...(klCoefficient === undefined ? {} : { klCoefficient }),
  });
}

/** Converts the growth of an arm, or the name of a growth axis, to the protobuf message Growth. */
export function growthOf(choice: GrowthChoice | string): Growth {
  const { axis = "", start = 0, step = 0, cap = 0 } = typeof choice === "string" ? { axis: choice } : choice;
  return create(GrowthSchema, { axis, start, step, cap });
}

function evaluationArmOf({ id, tasks, numGenerations, ...task }: EvaluationArmChoice): EvaluationArm {
  return create(EvaluationArmSchema, { id, tasks, spec: taskSpecOf(task), numGenerations: numGenerations ?? 0 });
}

/** Converts a run's configuration to the protobuf message RunConfig. Returns a message unchanged. */
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
