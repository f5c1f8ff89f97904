/** Filters for completions of runs and evaluations, and the completions that a run keeps. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "./caller.ts";
import type { RunSample as RunSampleMessage } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { FinishReason } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { NoRewardReason, type SampleFilterSchema, Verdict } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { ChatMessage, Task, ToolCall } from "../../../proto/gen/gradus/v1/task_pb.js";
import { type NoRewardReasonName, type Outcome, outcomeOf, type VerdictName } from "./outcomes.ts";

/** Filter of completions. All conditions that are set must hold. */
export interface SampleFilterChoice {
  /** Verdicts that the completion may have. */
  readonly verdicts?: readonly Exclude<VerdictName, "unknown">[] | undefined;
  /**
   * Text that the violation (the words for what is wrong with the answer) must contain, regardless of upper and lower
   * case. At most 256 bytes.
   */
  readonly violation?: string | undefined;
  /**
   * Template that the violation must have, as `RunHandle.violations` returns it. If `verdicts` has only the template's
   * verdict, the completions are those in the template's count, if the run still keeps them. At most 256 bytes.
   */
  readonly violationTemplate?: string | undefined;
  readonly rewardMin?: number | undefined;
  readonly rewardMax?: number | undefined;
  readonly solved?: boolean | undefined;
  /** Whether the scored completion was cut off at its maximum length. */
  readonly truncated?: boolean | undefined;
  readonly noReward?: boolean | undefined;
  /** Reasons for a missing reward that the completion may have. */
  readonly noRewardReasons?: readonly Exclude<NoRewardReasonName, "turn" | "unknown">[] | undefined;
  /** Text that the completion must contain, regardless of upper and lower case. At most 1,024 bytes. */
  readonly text?: string | undefined;
}

const verdicts = {
  malformed: Verdict.MALFORMED,
  infeasible: Verdict.INFEASIBLE,
  feasible: Verdict.FEASIBLE,
  graded: Verdict.GRADED,
} as const;

export function filterOf(choice: SampleFilterChoice): MessageInitShape<typeof SampleFilterSchema> {
  const { verdicts: names = [], noRewardReasons: reasons = [], ...rest } = choice;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return {
    ...given,
    verdicts: names.map((name) => verdicts[name]),
    noRewardReasons: reasons.map((name) => NoRewardReason[name.toUpperCase() as Uppercase<typeof name>]),
  };
}

/** Filter and options for a run's completions. The newest come first. */
export interface RunSamplesChoice extends SampleFilterChoice, CallOptions {
  /** Only completions of this arm, for training or evaluation. */
  readonly armId?: string | undefined;
  /** Only completions of this group. */
  readonly groupId?: string | undefined;
  /** Only completions of the update batch with this index, from 0. */
  readonly updateBatch?: bigint | undefined;
  /** Whether to include the tasks with their prompts. Defaults to false. */
  readonly tasks?: boolean | undefined;
  /** Whether to leave out the completions themselves. Defaults to false. */
  readonly brief?: boolean | undefined;
  /** Number of completions that each call requests. Defaults to 100. */
  readonly pageSize?: number | undefined;
}

/** Completion that a run keeps. */
export interface RunSample {
  /** Number of the completion within the run. Newer completions have larger numbers. */
  readonly number: bigint;
  readonly taskId: string;
  readonly groupId: string;
  readonly sampleIndex: number;
  readonly armId: string;
  /** Position of the completion's task in the run, or in the set of an evaluation arm. */
  readonly cursor: bigint;
  /** Round of evaluation. Unset if the completion belongs to training. */
  readonly evaluationRound?: bigint;
  readonly completion: string;
  /** First line of the last marked answer, also if the request asked for no completions. Unset: there is none. */
  readonly answer?: string;
  /** Conversation of an episode before the completion. Unset: none was sent. */
  readonly transcript?: readonly ChatMessage[];
  /** Calls of tools in the completion. Unset: none were sent. */
  readonly toolCalls?: readonly ToolCall[];
  readonly outcome?: Outcome;
  /** Set to "length" if the trainer said that the completion was cut off at its maximum length. */
  readonly finishReason?: "length";
  readonly policyVersion?: number;
  /** Number of tokens, as the trainer reported it. */
  readonly tokens?: number;
  /** Time at which the completion was scored. */
  readonly time: Date;
  /** Task. Set only if the request asked for tasks. */
  readonly task?: Task;
  /** Protobuf message from which this sample was read, e.g. for toJson. */
  readonly message: RunSampleMessage;
}

/** Converts the protobuf message RunSample: a completion that a run keeps, with its outcome. */
export function runSampleOf(message: RunSampleMessage): RunSample {
  const { number, taskId, groupId, sampleIndex, armId, cursor, completion, transcript, toolCalls } = message;
  const { evaluationRound, outcome, policyVersion, tokens, time, task, finishReason, answer } = message;
  return {
    number,
    taskId,
    groupId,
    sampleIndex,
    armId,
    cursor,
    completion,
    message,
    time: new Date(Number(time?.seconds ?? 0n) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6)),
    ...(evaluationRound !== undefined && { evaluationRound }),
    ...(outcome && { outcome: outcomeOf(outcome) }),
    ...(transcript.length > 0 && { transcript }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(finishReason === FinishReason.LENGTH && { finishReason: "length" }),
    ...(policyVersion !== undefined && { policyVersion }),
    ...(tokens !== undefined && { tokens }),
    ...(task && { task }),
    ...(answer !== "" && { answer }),
  };
}
