/**
 * Serves calls by which people look at one task: the score of an answer, a picture, a solution. No run records these
 * calls.
 */
import { create } from "@bufbuild/protobuf";
import { locateAnswers } from "../../../envs/answers/locate.ts";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import type { BackgroundOutcome } from "../../background/background-threads.ts";
import type { BackgroundTask, Solved, Text } from "../../background/background-jobs.ts";
import {
  DrawTaskResponseSchema,
  type EnvironmentService,
  FinishReason,
  SolveTaskResponseSchema,
  type TryAnswerRequest,
  TryAnswerResponseSchema,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import { scoreAlone } from "../../tasks/scoring/score-alone.ts";
import type { OpenTask } from "../../tasks/scoring/scorer.ts";
import { type CallContext, RpcError, type ServiceHandlers } from "../../base/rpc.ts";
import { checkBytes, checkTurn, isHermes, required, requesterOf } from "../request-checks.ts";
import type { ServiceDeps } from "../deps.ts";
import { makeError } from "../to-rpc-error.ts";
import { baselineToWire, outcomeToWire } from "../write-outcome.ts";

type Handlers = Pick<ServiceHandlers<typeof EnvironmentService>, "tryAnswer" | "drawTask" | "solveTask">;

export function showingHandlers(deps: ServiceDeps): Handlers {
  const { background } = deps;
  return {
    async tryAnswer(request, context) {
      const task = openedTask(deps, request.taskId);
      const completion = completionOf(deps, task, request);
      checkTurn(request, "");
      const isCut = request.finishReason === FinishReason.LENGTH;
      const form = { isCut, isHermes: isHermes(request) };
      const result = await scoreAlone(deps, task, playedOf(task, request, completion), form, context);
      return create(TryAnswerResponseSchema, { completion, outcome: outcomeToWire(0, result) });
    },
    async drawTask({ taskId, text }, context) {
      const task = openedTask(deps, taskId);
      if (task.scoring.environment.asked !== undefined)
        return create(DrawTaskResponseSchema, { svg: await askedDrawing(deps, task, textOf(deps, text), context) });
      const job = { kind: "draw", task: backgroundTask(task), text: textOf(deps, text) } as const;
      const svg = valueOrThrow(await background.run<"draw">(job, requesterOf(context)));
      if (svg === undefined) throw new RpcError("FAILED_PRECONDITION", `${task.token.environment} draws no pictures`);
      return create(DrawTaskResponseSchema, { svg });
    },
    async solveTask({ taskId, draw, beside }, context) {
      const task = openedTask(deps, taskId);
      const { environment, split } = task.token;
      if (split === "bench")
        throw new RpcError(
          "FAILED_PRECONDITION",
          "the task is of the split bench, whose answers are secret: use a task of another split",
        );
      const drawBeside = draw ? textOf(deps, beside) : undefined;
      const job = { kind: "solve", task: backgroundTask(task), drawBeside } as const;
      const solved =
        task.scoring.environment.asked === undefined
          ? valueOrThrow(await background.run<"solve">(job, requesterOf(context)))
          : await askedSolution(deps, task, draw, context);
      if (solved === undefined)
        throw new RpcError("FAILED_PRECONDITION", `${environment} has no solver, and the task has no reference answer`);
      const { answer, completion, baseline, nodes, svg = "" } = solved;
      return create(SolveTaskResponseSchema, {
        answer,
        completion,
        ...(baseline && { baseline: baselineToWire(baseline) }),
        nodes: BigInt(nodes),
        svg,
      });
    },
  };
}

/**
 * Returns the completion to score. Its sample index is that of the episode in the task id, or 0 if no episode has
 * begun.
 */
function playedOf({ token }: OpenTask, { toolCalls, sampleKey, end }: TryAnswerRequest, text: string) {
  return { sampleIndex: token.episode?.sample.index ?? 0, text, toolCalls, sampleKey, end };
}

/**
 * Decodes a task id and finds its task. Throws FAILED_PRECONDITION if that is impossible, because the calls that use
 * this function return no outcome that could say so.
 */
function openedTask({ scorer }: ServiceDeps, taskId: string): OpenTask {
  const task = scorer.open(taskId);
  if (task.kind === "none") throw new RpcError("FAILED_PRECONDITION", task.detail, { field: "task_id" });
  return task;
}

function backgroundTask({
  token,
  scoring: { instance, format, thinking = "required", baseline },
}: OpenTask): BackgroundTask {
  const { environment, version } = token;
  return { environment, version, instance, format, thinking, baseline };
}

/**
 * Asks a mounted environment (code outside this process) for its reference answer to a task, with a picture if
 * `isDrawn`. Undefined: the task has none.
 */
async function askedSolution(
  deps: ServiceDeps,
  task: OpenTask,
  isDrawn: boolean,
  context: CallContext,
): Promise<Solved | undefined> {
  const { environment, format, thinking, baseline } = task.scoring;
  const found = await deps.maker.reference(environment, task.token.key, requesterOf(context));
  if (found.kind !== "reference") throw makeError(found);
  const { answer: text } = found;
  if (text === undefined) return undefined;
  const svg =
    isDrawn && environment.asked?.draw !== undefined
      ? await askedDrawing(deps, task, { kind: "answer", text }, context)
      : undefined;
  return { answer: text, completion: wrapAnswer(text, format, "", thinking), baseline, nodes: 0, svg };
}

/**
 * Asks a mounted environment (code outside this process) for a picture of a task. If a completion is given, the picture
 * also shows its final answer.
 */
async function askedDrawing(
  { maker }: Pick<ServiceDeps, "maker">,
  { scoring: { environment, instance, format, thinking } }: OpenTask,
  text: Text,
  context: CallContext,
): Promise<string> {
  const located = text.kind === "completion" ? locateAnswers(text.text, format, thinking) : undefined;
  const marked = located?.problem === undefined ? located?.answer : undefined;
  const answer = text.kind === "answer" ? text.text : marked;
  const drawing = await maker.draw(environment, instance, answer, requesterOf(context));
  if (drawing.kind === "svg") return drawing.svg;
  if (drawing.kind === "undrawn") throw new RpcError("FAILED_PRECONDITION", drawing.why);
  throw makeError(drawing);
}

/** Text that a person typed in: an answer, or a whole completion. */
type WireText =
  | { readonly case: "answer" | "completion"; readonly value: string }
  | { readonly case: undefined; readonly value?: undefined };

function textOf({ limits }: ServiceDeps, { case: kind, value }: WireText): Text {
  if (kind === undefined) return { kind: "none" };
  return { kind, text: checkBytes(value, limits.maxCompletionBytes, kind) };
}

function completionOf(deps: ServiceDeps, { scoring }: OpenTask, { text, toolCalls, end }: TryAnswerRequest): string {
  const { value, case: kind } = text;
  if ((toolCalls.length > 0 || end) && kind === undefined) return "";
  const written = required(value, "text");
  if (kind === "completion") return written;
  return wrapAnswer(
    checkBytes(written, deps.limits.maxCompletionBytes, "answer"),
    scoring.format,
    "",
    scoring.thinking,
  );
}

/**
 * Returns the value of a finished background job (e.g. a picture). If the job has no value, throws the reason as an
 * RpcError.
 */
export function valueOrThrow<Value>(outcome: BackgroundOutcome<Value>): Value {
  switch (outcome.kind) {
    case "done":
      return outcome.value;
    case "timeout":
      throw new RpcError(
        "DEADLINE_EXCEEDED",
        `the request takes longer than ${outcome.limitMs} ms, this server's limit: try a smaller one`,
      );
    case "overloaded": {
      const { waitingMax, retryDelayMs } = outcome;
      const message = `too many pictures, solutions and simulations wait (at most ${waitingMax}, a quarter of them for one caller): retry later`;
      throw new RpcError("RESOURCE_EXHAUSTED", message, { retryDelayMs });
    }
    case "cancelled":
      throw new RpcError("CANCELLED", "the caller left before the answer");
  }
}
