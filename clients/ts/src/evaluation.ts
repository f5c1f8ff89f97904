/** One evaluation: a model's completions of a suite's tasks, and the report on them. */
import type { CallOptions, Caller } from "./caller.ts";
import { create } from "@bufbuild/protobuf";
import { answerFormatOf, finishReasonOf, thinkingOf } from "./choices.ts";
import type { AnswerFormatName, FinishReasonName, ThinkingName } from "./choices.ts";
import { GradusError } from "./errors.ts";
import { EvaluationService, HoldEvaluationRequestSchema } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import type {
  Evaluation,
  PendingTask,
  Report,
  Sample as SampleMessage,
  SubmitCompletionsResponse,
  SubmitFailure,
} from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { feedbackOf, outcomeOf } from "./outcomes.ts";
import type { Feedback, Outcome } from "./outcomes.ts";
import { eachOfPages, present } from "./reply.ts";
import { asked, never } from "./retry.ts";
import { filterOf } from "./samples.ts";
import type { SampleFilterChoice } from "./samples.ts";
import { sendable } from "./surrogates.ts";
import type { Attempt, Transport } from "./transport.ts";

/** What to evaluate. */
export interface EvaluationChoice {
  /** E.g. "forge-bench". */
  readonly suite: string;
  /** Left out: the newest. */
  readonly suiteVersion?: number | undefined;
  /** Completions of each task; left out: 1. */
  readonly samplesPerTask?: number | undefined;
  /** The model's name, for the report. */
  readonly model?: string | undefined;
  /** Left out: each environment's default. */
  readonly answerFormat?: AnswerFormatName | undefined;
  /** How much of its thinking a completion holds; left out: "required", all of it. */
  readonly thinking?: ThinkingName | undefined;
}

/** A completion of a task of the suite. */
export interface CompletionChoice {
  readonly task: { readonly taskId: string };
  /** Left out: 0. */
  readonly sampleIndex?: number | undefined;
  readonly completion: string;
  /** Why generation ended; "length": the completion is truncated. */
  readonly finishReason?: FinishReasonName | undefined;
}

/** How a list is read. */
export interface ListOptions extends CallOptions {
  /** Items that one call asks for; left out: 100. */
  readonly pageSize?: number | undefined;
}

/** Which samples to give. */
export interface SamplesChoice extends SampleFilterChoice, ListOptions {
  /** Only of this part of the suite. */
  readonly part?: string | undefined;
  /** Only of this category of the suite. */
  readonly category?: string | undefined;
  /** Only of tasks whose instance has this hash. */
  readonly instanceHash?: string | undefined;
  /** Leaves out prompts and completions. */
  readonly brief?: boolean | undefined;
}

/** What became of a completion: an outcome, or why it was not taken. */
export interface Submitted {
  readonly taskId: string;
  readonly sampleIndex: number;
  /** Of a sample that was there already the outcome of the completion that came first. */
  readonly outcome?: Outcome;
  readonly feedback?: Feedback;
  readonly failure?: SubmitFailure;
}

/** A completion that an evaluation has, and the suite's part and category that its task belongs to. */
export interface Sample {
  readonly task?: Task;
  readonly sampleIndex: number;
  readonly completion: string;
  readonly outcome?: Outcome;
  readonly part: string;
  readonly category: string;
  /** Of a row: the pool's name. */
  readonly pool?: string;
  /** The row's number in the pool's file as it is now, from 0; left out: the pool has it no longer. */
  readonly row?: number;
  /** The digest of the pool that numbers the row. */
  readonly poolDigest?: string;
}

/** An evaluation that is held for this client. */
export interface Hold {
  /** Rejects when it is held no longer, though it was not released: the server is gone. */
  readonly lost: Promise<never>;
  release(): void;
}

/** One evaluation. Every call may be made again: the first completion of each sample counts. */
export interface EvaluationHandle {
  readonly evaluationId: string;
  /** Creates the evaluation, or gives it as it stands if it is there with the same choices. */
  create(choice: EvaluationChoice, options?: CallOptions): Promise<Evaluation>;
  get(options?: CallOptions): Promise<Evaluation>;
  /**
   * Holds it, so that no other program that asks to hold it completes the same samples; FAILED_PRECONDITION while another
   * does, DEADLINE_EXCEEDED where the server does not say by the deadline. It ends with this process, too.
   */
  hold(options?: CallOptions): Promise<Hold>;
  /** Tasks whose completions are missing, in the suite's order; each page is asked for when it is wanted. */
  pending(options?: ListOptions): AsyncGenerator<PendingTask, void, undefined>;
  /** Has completions scored, at most 1024; what became of each, in their order. */
  submit(completions: readonly CompletionChoice[], options?: CallOptions): Promise<readonly Submitted[]>;
  /** Deletes it with its samples. */
  delete(options?: CallOptions): Promise<void>;
  /** What was submitted, with its outcomes, in the suite's order; that of a filter if one is given. */
  samples(options?: SamplesChoice): AsyncGenerator<Sample, void, undefined>;
  /** The report so far. */
  report(options?: CallOptions): Promise<Report>;
}

const { method } = EvaluationService;

/** The deadline is for the first reply, which says that it is held: that is for as long as its caller works. */
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
    const message = `the server did not say within ${timeoutMs} ms whether the evaluation is held`;
    throw new GradusError("DEADLINE_EXCEEDED", message, { cause });
  } finally {
    for (const each of given) each.removeEventListener("abort", leave);
  }
  const lost = replies.next().then((): never => {
    throw new GradusError("UNAVAILABLE", "the server holds the evaluation no longer");
  });
  // Whoever released it asks no more.
  lost.catch(() => undefined);
  return { lost, release: leave };
}

/** The calls of one evaluation. */
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
      const items = completions.map(({ task: { taskId }, sampleIndex = 0, completion, finishReason }) => {
        const why = finishReasonOf(finishReason);
        const text = sendable(completion, `sample ${sampleIndex} of task ${taskId.slice(0, 24)}`);
        return { evaluationId, taskId, sampleIndex, completion: text, ...why };
      });
      return (await unary(method.batchSubmitCompletions, { completions: items }, options)).results.map(submittedOf);
    },
    // Sent again only where the server says that it did nothing: after a lost reply it would answer NOT_FOUND.
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
  outcome,
  part,
  category,
  pool,
  row,
  poolDigest,
}: SampleMessage): Sample {
  return {
    sampleIndex,
    completion,
    part,
    category,
    ...(row !== undefined && { pool, row, poolDigest }),
    ...(task && { task }),
    ...(outcome && { outcome: outcomeOf(outcome) }),
  };
}

function definedOf({
  suiteVersion = 0,
  samplesPerTask = 0,
  model = "",
}: Omit<EvaluationChoice, "answerFormat" | "thinking">) {
  return { suiteVersion, samplesPerTask, model };
}
