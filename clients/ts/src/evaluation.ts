/** Handle of one evaluation: a model's completions of a suite's tasks, and the report on them. */
import type { CallOptions, Caller } from "./caller.ts";
import { create } from "@bufbuild/protobuf";
import { answerFormatOf, thinkingOf } from "./choices.ts";
import type { AnswerFormatName, ThinkingName } from "./choices.ts";
import { GradusError } from "./errors.ts";
import { FinishReason } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { EvaluationService, HoldEvaluationRequestSchema } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import type {
  Evaluation,
  PendingTask,
  Report,
  Sample as SampleMessage,
  SubmitCompletionsResponse,
  SubmitFailure,
} from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import type { ChatMessage, Task, ToolCall } from "../../../proto/gen/gradus/v1/task_pb.js";
import { feedbackOf, outcomeOf } from "./outcomes.ts";
import type { Feedback, Outcome } from "./outcomes.ts";
import { eachOfPages, present } from "./reply.ts";
import { asked, never } from "./retry.ts";
import { filterOf } from "./samples.ts";
import type { SampleFilterChoice } from "./samples.ts";
import { sendable } from "./surrogates.ts";
import type { Attempt, Transport } from "./transport.ts";
import type { TurnChoice } from "./turns.ts";
import { turnFieldsOf } from "./turns.ts";

export interface EvaluationChoice {
  /** Id of the suite, e.g. "forge-bench". */
  readonly suite: string;
  /** Version of the suite. Defaults to the newest. */
  readonly suiteVersion?: number | undefined;
  /** Number of completions of each task. Defaults to 1. */
  readonly samplesPerTask?: number | undefined;
  /** Name of the model in the report. */
  readonly model?: string | undefined;
  /** Answer format. Defaults to that of each environment. */
  readonly answerFormat?: AnswerFormatName | undefined;
  /** How much of the model's thinking a completion contains. Defaults to "required": all of it. */
  readonly thinking?: ThinkingName | undefined;
}

/** Completion of a task of the suite. */
export interface CompletionChoice extends TurnChoice {
  /**
   * Task as `pending` returned it. For a later completion of an episode, give the turn that the previous `submit`
   * returned.
   */
  readonly task: { readonly taskId: string };
  /** Position of the completion in its group. Defaults to 0. */
  readonly sampleIndex?: number | undefined;
  readonly completion: string;
  /** Conversation between the prompt and the completion, which is kept for people to read. Defaults to none. */
  readonly transcript?: readonly ChatMessage[] | undefined;
}

/** Options of a call that reads a list. */
export interface ListOptions extends CallOptions {
  /** Number of items that each call requests. Defaults to 100. */
  readonly pageSize?: number | undefined;
}

/** Filter and options for a list of an evaluation's samples. */
export interface SamplesChoice extends SampleFilterChoice, ListOptions {
  /** Only samples of this part of the suite. */
  readonly part?: string | undefined;
  /** Only samples of this category of the suite. */
  readonly category?: string | undefined;
  /** Only samples of tasks with this instance hash, which equal tasks share. */
  readonly instanceHash?: string | undefined;
  /** Whether to leave out prompts and completions. Defaults to false. */
  readonly brief?: boolean | undefined;
}

/** Result of a submitted completion: an outcome, or the reason why it was refused. */
export interface Submitted {
  readonly taskId: string;
  readonly sampleIndex: number;
  /**
   * Outcome of the completion. If the sample already existed, this is the outcome of its first completion. If the
   * episode is not over, it has the next turn.
   */
  readonly outcome?: Outcome;
  readonly feedback?: Feedback;
  readonly failure?: SubmitFailure;
}

/** Completion of an evaluation, with the part and category of the suite to which its task belongs. */
export interface Sample {
  readonly task?: Task;
  readonly sampleIndex: number;
  readonly completion: string;
  /** Conversation of an episode before the completion. Unset: none was submitted. */
  readonly transcript?: readonly ChatMessage[];
  /** Calls of tools in the completion. Unset: none were submitted. */
  readonly toolCalls?: readonly ToolCall[];
  /** Set to "length" if the client said that the completion was cut off at its maximum length. */
  readonly finishReason?: "length";
  /** First line of the last marked answer, also if the request asked for no completions. Unset: there is none. */
  readonly answer?: string;
  readonly outcome?: Outcome;
  readonly part: string;
  readonly category: string;
  /** Name of the pool, if the task is a row of a pool. */
  readonly pool?: string;
  /** Current row number in the pool's file, counted from 0. Unset if the pool no longer has the row. */
  readonly row?: number;
  /** Digest of the pool whose rows `row` counts. It differs if rows of the pool are added, removed or moved. */
  readonly poolDigest?: string;
}

/** Lock on an evaluation, held by this client. */
export interface Hold {
  /** Rejects if the lock ends without a release, because the server is gone. */
  readonly lost: Promise<never>;
  release(): void;
}

/** Handle of one evaluation. Every call can be repeated: the first completion of each sample counts. */
export interface EvaluationHandle {
  readonly evaluationId: string;
  /** Creates the evaluation, or returns it if it already exists with the same choices. */
  create(choice: EvaluationChoice, options?: CallOptions): Promise<Evaluation>;
  get(options?: CallOptions): Promise<Evaluation>;
  /**
   * Locks the evaluation, so that no other program that asks for the lock completes the same samples. Fails with
   * FAILED_PRECONDITION if another program has the lock, and with DEADLINE_EXCEEDED if the server does not answer in
   * time. The lock ends with this process, too.
   */
  hold(options?: CallOptions): Promise<Hold>;
  /**
   * Yields the tasks with missing completions, in the suite's order. Each page is requested when the reader needs it.
   */
  pending(options?: ListOptions): AsyncGenerator<PendingTask, void, undefined>;
  /** Submits completions for scoring, at most 1,024. Returns their results in the same order. */
  submit(completions: readonly CompletionChoice[], options?: CallOptions): Promise<readonly Submitted[]>;
  /** Deletes the evaluation with its samples. */
  delete(options?: CallOptions): Promise<void>;
  /** Yields the submitted samples that the filter selects, with their outcomes, in the suite's order. */
  samples(options?: SamplesChoice): AsyncGenerator<Sample, void, undefined>;
  report(options?: CallOptions): Promise<Report>;
}

const { method } = EvaluationService;

/**
 * Locks an evaluation. The deadline applies only to the first reply, which confirms the lock. The lock itself lasts
 * until its caller releases it.
 */
async function held(transport: Transport, evaluationId: string, { timeoutMs, signal }: Attempt): Promise<Hold> {
  const ending = new AbortController();
  const leave = (): void => ending.abort();
  const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const given = [late, signal].filter((each) => each !== undefined);
  for (const each of given) each.addEventListener("abort", leave);
  const request = create(HoldEvaluationRequestSchema, { evaluationId });
  const stream = transport.serverStream(method.holdEvaluation, request, { signal: ending.signal });
  const replies = stream[Symbol.asyncIterator]();
  try {
    await replies.next();
  } catch (cause) {
    if (late?.aborted !== true) throw cause;
    const message = `the server did not say within ${timeoutMs} ms whether another client holds the evaluation: retry`;
    throw new GradusError("DEADLINE_EXCEEDED", message, { cause });
  } finally {
    for (const each of given) each.removeEventListener("abort", leave);
  }
  const lost = replies.next().then((): never => {
    throw new GradusError("UNAVAILABLE", "the lock on the evaluation is lost: another client may complete it too");
  });
  // Handle a rejection here too. After a release nobody awaits this promise, and Node ends at an unhandled rejection.
  lost.catch(() => undefined);
  return { lost, release: leave };
}

/** Returns a handle whose methods call the server for this evaluation. */
export function evaluationHandle({ unary, transport, attempting }: Caller, evaluationId: string): EvaluationHandle {
  return {
    evaluationId,
    create: async ({ answerFormat, thinking, ...choice }, options) => {
      const asked = { ...answerFormatOf(answerFormat), ...thinkingOf(thinking) };
      const request = { evaluationId, ...definedOf(choice), suite: choice.suite, ...asked };
      return present((await unary(method.createEvaluation, request, options)).evaluation, "evaluation");
    },
    get: async (options) =>
      present((await unary(method.getEvaluation, { evaluationId }, options)).evaluation, "evaluation"),
    hold: (options) => attempting((attempt) => held(transport, evaluationId, attempt), options, never),
    pending: ({ pageSize = 0, ...options } = {}) =>
      eachOfPages(
        (pageToken) => unary(method.listPendingTasks, { evaluationId, pageSize, pageToken }, options),
        (page) => page.tasks,
      ),
    submit: async (completions, options) => {
      const items = completions.map((each) => {
        const { task, sampleIndex = 0, completion, transcript } = each;
        const text = sendable(completion, `sample ${sampleIndex} of task ${task.taskId.slice(0, 24)}`);
        const place = { evaluationId, taskId: task.taskId, sampleIndex };
        return { ...place, completion: text, ...turnFieldsOf(each, transcript) };
      });
      return (await unary(method.batchSubmitCompletions, { completions: items }, options)).results.map(submittedOf);
    },
    // Retry only if the server says that it did nothing. After a lost reply, a retry would fail with NOT_FOUND.
    delete: async (options) => void (await unary(method.deleteEvaluation, { evaluationId }, options, asked)),
    samples: (choice = {}) => {
      const { pageSize = 0, part = "", category = "", instanceHash = "", brief = false, ...rest } = choice;
      const { deadlineMs, signal, ...filter } = rest;
      const request = { evaluationId, pageSize, part, category, instanceHash, brief, filter: filterOf(filter) };
      return eachOfPages(
        (pageToken) => unary(method.listSamples, { ...request, pageToken }, { deadlineMs, signal }),
        (page) => page.samples.map(sampleOf),
      );
    },
    report: async (options) => present((await unary(method.getReport, { evaluationId }, options)).report, "report"),
  };
}

function submittedOf({ taskId, sampleIndex, outcome, feedback, failure }: SubmitCompletionsResponse): Submitted {
  return {
    taskId,
    sampleIndex,
    ...(outcome && { outcome: outcomeOf(outcome) }),
    ...(feedback && { feedback: feedbackOf(feedback) }),
    ...(failure && { failure }),
  };
}

function sampleOf({
  task,
  sampleIndex,
  completion,
  transcript,
  toolCalls,
  outcome,
  part,
  category,
  pool,
  row,
  poolDigest,
  finishReason,
  answer,
}: SampleMessage): Sample {
  return {
    sampleIndex,
    completion,
    part,
    category,
    ...(row !== undefined && { pool, row, poolDigest }),
    ...(task && { task }),
    ...(finishReason === FinishReason.LENGTH && { finishReason: "length" }),
    ...(outcome && { outcome: outcomeOf(outcome) }),
    ...(transcript.length > 0 && { transcript }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(answer !== "" && { answer }),
  };
}

function definedOf({
  suiteVersion = 0,
  samplesPerTask = 0,
  model = "",
}: Omit<EvaluationChoice, "answerFormat" | "thinking">) {
  return { suiteVersion, samplesPerTask, model };
}
