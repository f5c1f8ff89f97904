/** Which completions of a run or of an evaluation are meant, and those that a run keeps. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "./caller.ts";
import type { RunSample as RunSampleMessage } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { type SampleFilterSchema, Verdict } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { type Outcome, outcomeOf, type VerdictName } from "./outcomes.ts";

/** All that is given must hold. */
export interface SampleFilterChoice {
  /** Any of these. */
  readonly verdicts?: readonly Exclude<VerdictName, "unknown">[] | undefined;
  /** Part of the violation's words, in any case of letters; at most 256 bytes. */
  readonly violation?: string | undefined;
  readonly rewardMin?: number | undefined;
  readonly rewardMax?: number | undefined;
  readonly solved?: boolean | undefined;
  readonly noReward?: boolean | undefined;
  /** Part of the completion, in any case of letters; at most 1,024 bytes. */
  readonly text?: string | undefined;
}

const verdicts = {
  malformed: Verdict.MALFORMED,
  infeasible: Verdict.INFEASIBLE,
  feasible: Verdict.FEASIBLE,
  graded: Verdict.GRADED,
} as const;

/** The message for a filter. */
export function filterOf(choice: SampleFilterChoice): MessageInitShape<typeof SampleFilterSchema> {
  const { verdicts: names = [], ...rest } = choice;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { ...given, verdicts: names.map((name) => verdicts[name]) };
}

/** Which completions of a run to give, the newest first. */
export interface RunSamplesChoice extends SampleFilterChoice, CallOptions {
  /** Only of this arm of either kind. */
  readonly armId?: string | undefined;
  /** Only of this group. */
  readonly groupId?: string | undefined;
  /** Whether to give their tasks, with their prompts. */
  readonly tasks?: boolean | undefined;
  /** Leaves out the completions themselves. */
  readonly brief?: boolean | undefined;
  /** Completions that one call asks for; left out: 100. */
  readonly pageSize?: number | undefined;
}

/** A completion that a run keeps. */
export interface RunSample {
  /** Names it within the run; newer ones have larger numbers. */
  readonly number: bigint;
  readonly taskId: string;
  readonly groupId: string;
  readonly sampleIndex: number;
  readonly armId: string;
  /** Position of its task in the run, or in the set of an evaluation arm. */
  readonly cursor: bigint;
  /** Left out: it is of training. */
  readonly evaluationRound?: bigint;
  readonly completion: string;
  readonly outcome?: Outcome;
  readonly policyVersion?: number;
  /** When it was scored. */
  readonly time: Date;
  /** Where it was asked for. */
  readonly task?: Task;
  /** The message of the contract, e.g. for toJson. */
  readonly message: RunSampleMessage;
}

/** Reads a completion that a run keeps. */
export function runSampleOf(message: RunSampleMessage): RunSample {
  const { number, taskId, groupId, sampleIndex, armId, cursor, completion } = message;
  const { evaluationRound, outcome, policyVersion, time, task } = message;
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
    ...(policyVersion !== undefined && { policyVersion }),
    ...(task && { task }),
  };
}
