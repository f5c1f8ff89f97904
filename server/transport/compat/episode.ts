/**
 * An episode as in other gyms: a client gets a task and takes one step, a completion. Episodes are made of calls of
 * Gradus's own services.
 */
import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import { type NextBatchRequest, type NextBatchResponse } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import {
  type FinishReason,
  type ResetRequest,
  type ResetResponse,
  type StepRequest,
  StepRequestSchema,
  type StepResponse,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import { type NoReward, NoRewardReason, OutcomeSchema } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { type Task, TaskSchema } from "../../../proto/gen/gradus/v1/task_pb.js";
import { type Registration, RpcError, type UnaryHandler } from "../../base/rpc.ts";
import type { Choice } from "./read-task-choice.ts";

/** Handlers of Gradus's services that an episode calls. */
export interface Handlers {
  readonly reset: UnaryHandler<ResetRequest, ResetResponse>;
  readonly step: UnaryHandler<StepRequest, StepResponse>;
  readonly nextBatch: UnaryHandler<NextBatchRequest, NextBatchResponse>;
}

type Context = Parameters<Handlers["reset"]>[1];

export function handlersOf(services: readonly Registration[]): Handlers {
  const find = (name: keyof Handlers) => {
    const found = services.map(({ handlers }) => handlers[name]).find((handler) => handler !== undefined);
    return found ?? (() => Promise.reject(new RpcError("UNIMPLEMENTED", `${name} is not part of this protocol`)));
  };
  return { reset: find("reset"), step: find("step"), nextBatch: find("nextBatch") } as Handlers;
}

export interface Episode {
  readonly task: Task;
  readonly sampleIndex: number;
  /** The run and the cursor after this task. Undefined: the task was chosen by a seed and not from a run. */
  readonly next: { readonly run: string; readonly cursor: bigint } | undefined;
}

export async function begin(handlers: Handlers, choice: Choice, context: Context): Promise<Episode> {
  const { sampleIndex } = choice;
  if (choice.kind === "seed") {
    const { task } = await handlers.reset(choice.request, context);
    if (task === undefined) throw new Error("bug: Reset answered without a task");
    return { task, sampleIndex, next: undefined };
  }
  const { runId } = choice.request;
  const { tasks, nextCursor, done } = await handlers.nextBatch(choice.request, context);
  const [task] = tasks;
  if (task !== undefined) return { task, sampleIndex, next: { run: runId, cursor: nextCursor } };
  if (done) throw new RpcError("OUT_OF_RANGE", `run '${runId}' is done: it gives no more tasks`);
  const message = `run '${runId}' has no task at this cursor that is still open: try again later, or leave the cursor out`;
  throw new RpcError("UNAVAILABLE", message, { retryDelayMs: 1000, wait: { reason: "FEEDBACK_DUE" } });
}

/** Returns the task as JSON for the client. */
export function shown({ task, sampleIndex }: Episode): JsonObject {
  const { prompt, ...fields } = toJson(TaskSchema, task, { useProtoFieldName: true }) as JsonObject;
  const text = task.prompt.map(({ content }) => content).join("\n\n");
  return { ...fields, messages: prompt ?? [], prompt: text, sample_index: sampleIndex };
}

/** A completion that a client sent for its task. */
export interface Written {
  readonly completion: string;
  readonly finishReason: FinishReason;
}

export interface Stepped {
  readonly reward: number;
  /** Message Outcome of Gradus's services, as JSON. */
  readonly outcome: JsonObject;
}

/**
 * Scores a completion. Throws RpcError if there is no reward, because other gyms' answers cannot say so, and their
 * trainers would take a missing reward for 0.
 */
export async function step(
  handlers: Handlers,
  { task: { taskId, groupId }, sampleIndex }: Episode,
  written: Written,
  context: Context,
): Promise<Stepped> {
  const request = create(StepRequestSchema, { taskId, groupId, sampleIndex, ...written });
  const { outcome } = await handlers.step(request, context);
  if (outcome === undefined) throw new Error("bug: Step answered without an outcome");
  const { result } = outcome;
  if (result.case === "turn")
    throw new RpcError(
      "FAILED_PRECONDITION",
      "the task has several turns, which this protocol cannot play: ask for calls: 1",
    );
  if (result.case !== "score") throw unscored(result.value);
  return {
    reward: result.value.reward,
    outcome: toJson(OutcomeSchema, outcome, { useProtoFieldName: true }) as JsonObject,
  };
}

/**
 * Returns the error for a missing reward: UNAVAILABLE if the same completion may get one later, else
 * FAILED_PRECONDITION.
 */
function unscored(noReward: NoReward | undefined): RpcError {
  const { reason = NoRewardReason.UNSPECIFIED, detail = "", retryDelayMs = 0 } = noReward ?? {};
  const message = `there is no reward (${NoRewardReason[reason].toLowerCase()}): ${detail}`;
  return retryDelayMs > 0
    ? new RpcError("UNAVAILABLE", message, { retryDelayMs })
    : new RpcError("FAILED_PRECONDITION", message);
}
