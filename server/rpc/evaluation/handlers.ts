/** Handlers of EvaluationService. Each reads a request, calls the code for evaluations and writes the response. */
import { LIMITS } from "../../../proto/limits.ts";
import { create } from "@bufbuild/protobuf";
import { once } from "node:events";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import type { Submitted } from "../../evaluation/submissions.ts";
import { FinishReason } from "../../../proto/gen/gradus/v1/environment_pb.js";
import * as wire from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { type Feedback, FeedbackSchema, FeedbackStatus } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { presentTask } from "../write-task.ts";
import type { Caller } from "../../tasks/scoring/async-scorer.ts";
import { answerFormats, thinkings } from "../enums.ts";
import { conversationOf } from "../conversations.ts";
import { outcomeToWire } from "../write-outcome.ts";
import { type CallContext, codes, RpcError, type ServiceHandlers, shuttingDown } from "../../base/rpc.ts";
import {
  checkBytes,
  checkId,
  checkTurn,
  invalid,
  isHermes,
  pageOf,
  pageToken,
  readPage,
  readPlace,
  required,
  withLimits,
} from "../request-checks.ts";
import { mapConcurrently } from "../map-concurrently.ts";
import type { ServiceDeps } from "../deps.ts";
import { okOrThrow } from "../to-rpc-error.ts";
import { readFilter } from "../curriculum/read-sample-filter.ts";
import { mapInSlices } from "../../base/time-slices.ts";
import { rescore } from "./rescore.ts";
import { evaluationToWire, listedToWire, reportToWire, sampleToWire, suiteToWire } from "./write.ts";

/** Maximum bytes of a suite's id. No suite has a longer id. */
const SUITE_BYTES_MAX = 128;
/** Maximum bytes of an instance's hash. No hash is longer. */
const HASH_BYTES_MAX = 64;

type Handlers = ServiceHandlers<typeof wire.EvaluationService>;

export function createEvaluationService(deps: ServiceDeps): Handlers {
  const samples = sampleHandlers(deps);
  return withLimits(wire.EvaluationService, {
    ...evaluationHandlers(deps),
    ...samples,
    rescore: (request, context) => rescore(deps, (page) => samples.listSamples(page), request, context),
  });
}

function readId({ evaluationId }: { readonly evaluationId: string }): string {
  return checkId(evaluationId, LIMITS.CreateEvaluationRequest.evaluation_id.max, "evaluation_id");
}

function evaluationHandlers({ evaluations }: ServiceDeps): Handlers {
  return {
    async listSuites(request) {
      const suites = evaluations.suites().map(suiteToWire);
      // Suites are sorted by id, then by version, the newest first. A space sorts before all characters of an id, so
      // "a" comes before "a-b".
      const keyOf = ({ id, version }: wire.Suite): string => `${id} ${1e9 - version}`;
      suites.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      const { items, nextPageToken } = pageOf(suites, keyOf, readPage(request, LIMITS.ListSuitesRequest.page_size));
      return create(wire.ListSuitesResponseSchema, { suites: items, nextPageToken });
    },
    async createEvaluation(request) {
      const id = readId(request);
      if (request.suite === "") throw invalid("suite", "must be set");
      const answerFormat = readFormat(request.answerFormat);
      const choice = {
        suite: checkBytes(request.suite, SUITE_BYTES_MAX, "suite"),
        suiteVersion: request.suiteVersion,
        samplesPerTask: request.samplesPerTask || 1,
        model: request.model,
        ...(answerFormat && { answerFormat }),
        ...(request.thinking && { thinking: required(thinkings.fromWire(request.thinking), "thinking") }),
      };
      const evaluation = evaluationToWire(okOrThrow(await evaluations.create(id, choice)));
      return create(wire.CreateEvaluationResponseSchema, { evaluation });
    },
    async getEvaluation(request) {
      const evaluation = evaluationToWire(okOrThrow(await evaluations.get(readId(request))));
      return create(wire.GetEvaluationResponseSchema, { evaluation });
    },
    async listEvaluations(request) {
      const { size, after } = readPage(request, LIMITS.ListEvaluationsRequest.page_size);
      const suite = checkBytes(request.suite, SUITE_BYTES_MAX, "suite");
      const { items, next } = await evaluations.list(after ?? "", size, suite);
      const page = { evaluations: items.map(listedToWire), nextPageToken: pageToken(next) };
      return create(wire.ListEvaluationsResponseSchema, page);
    },
    async deleteEvaluation(request) {
      okOrThrow(await evaluations.remove(readId(request)));
      return create(wire.DeleteEvaluationResponseSchema);
    },
    holdEvaluation: (request, context) => hold(evaluations, readId(request), context),
    async getReport(request) {
      const report = reportToWire(okOrThrow(await evaluations.report(readId(request))));
      return create(wire.GetReportResponseSchema, { report });
    },
  };
}

function sampleHandlers(deps: ServiceDeps) {
  const { evaluations, streamWindow } = deps;
  return {
    async listPendingTasks(request, { signal }) {
      const id = readId(request);
      const { size, after } = readPage(request, LIMITS.ListPendingTasksRequest.page_size);
      const [ordinal = -1] = readPlace(after, 1);
      const { tasks, next } = okOrThrow(await evaluations.pending(id, ordinal, size, signal));
      return create(wire.ListPendingTasksResponseSchema, {
        tasks: tasks.map(({ spec, task, indices }) => ({
          task: presentTask(deps, spec, task),
          sampleIndices: [...indices],
        })),
        nextPageToken: pageToken(next),
      });
    },
    async *submitCompletions(requests, context) {
      const work = (request: wire.SubmitCompletionsRequest, stepAside: () => void) =>
        submitOne(deps, request, context, stepAside);
      for await (const replies of mapConcurrently(requests, (each) => [each], streamWindow, work)) yield* replies;
    },
    async batchSubmitCompletions({ completions }, context) {
      const results = await Promise.all(completions.map((request) => submitOne(deps, request, context, nothing)));
      return create(wire.BatchSubmitCompletionsResponseSchema, { results });
    },
    async listSamples(request) {
      const id = readId(request);
      const { size, after } = readPage(request, LIMITS.ListSamplesRequest.page_size);
      const [ordinal = -1, index = -1] = readPlace(after, 2);
      const { samples, next } = okOrThrow(
        await evaluations.samples(id, {
          after: { ordinal, index },
          limit: size,
          filter: readFilter(request.filter),
          part: request.part,
          category: request.category,
          instanceHash: checkBytes(request.instanceHash, HASH_BYTES_MAX, "instance_hash"),
        }),
      );
      return create(wire.ListSamplesResponseSchema, {
        samples: await mapInSlices(samples, (sample) => sampleToWire(deps, sample, request.brief)),
        nextPageToken: pageToken(next && `${next.ordinal} ${next.index}`),
      });
    },
  } satisfies Handlers;
}

/**
 * Locks an evaluation for this client until the client leaves, so that no other client can work on it. A shutdown ends
 * the stream with an error, so that the client calls again.
 */
async function* hold(evaluations: ServiceDeps["evaluations"], id: string, { signal, draining }: CallContext) {
  const lost = new AbortController();
  const release = okOrThrow(await evaluations.hold(id, () => lost.abort()));
  const ended = AbortSignal.any([signal, draining, lost.signal]);
  try {
    yield create(wire.HoldEvaluationResponseSchema);
    if (!ended.aborted) await once(ended, "abort");
  } finally {
    release();
  }
  if (draining.aborted) throw shuttingDown();
  // After this error the client calls again. Then it gets the lock again, or an error that another client has it.
  if (lost.signal.aborted)
    throw new RpcError(
      "UNAVAILABLE",
      `evaluation "${id}" may now be worked on by another client: this server could not renew the lock`,
    );
}

function readFormat(format: number): AnswerFormat | undefined {
  return format === 0 ? undefined : required(answerFormats.fromWire(format), "answer_format");
}

/** Does nothing. Unary calls pass this function as `stepAside`, which only streams need (see mapConcurrently). */
const nothing = (): void => undefined;

const statuses: Readonly<Record<Exclude<Submitted["kind"], "turn">, FeedbackStatus>> = {
  recorded: FeedbackStatus.RECORDED,
  duplicate: FeedbackStatus.DUPLICATE,
  conflicting_completion: FeedbackStatus.CONFLICTING_COMPLETION,
  not_recorded: FeedbackStatus.NOT_RECORDED,
};

function feedbackOf(submitted: Exclude<Submitted, { readonly kind: "turn" }>): Feedback {
  const status = statuses[submitted.kind];
  if (submitted.kind === "not_recorded") return create(FeedbackSchema, { status, detail: submitted.detail });
  const { index } = submitted;
  return create(FeedbackSchema, { status, ...(index !== undefined && { sampleIndex: index }) });
}

/**
 * Submits one completion of a batch to its evaluation. If it is refused, its response has a failure, and the other
 * completions are not affected. An error other than RpcError is a bug, and ends the call.
 */
async function submitOne(
  { evaluations }: ServiceDeps,
  request: wire.SubmitCompletionsRequest,
  caller: Caller,
  stepAside: () => void,
): Promise<wire.SubmitCompletionsResponse> {
  const { taskId, sampleIndex, sampleKey, completion: text, toolCalls, end } = request;
  const response = create(wire.SubmitCompletionsResponseSchema, { taskId, sampleIndex, sampleKey });
  try {
    checkTurn(request, "");
    const submission = {
      evaluationId: readId(request),
      taskId,
      completion: { sampleIndex, sampleKey, text, toolCalls, end },
      form: { isCut: request.finishReason === FinishReason.LENGTH, isHermes: isHermes(request) },
      conversation: conversationOf(request),
    };
    const submitted = okOrThrow(await evaluations.submit(submission, caller, stepAside));
    response.outcome = outcomeToWire(sampleIndex, submitted.result);
    if (submitted.kind !== "turn") response.feedback = feedbackOf(submitted);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { message, retryDelayMs = 0 } = error;
    response.failure = create(wire.SubmitFailureSchema, { code: codes[error.code], message, retryDelayMs });
  }
  return response;
}
