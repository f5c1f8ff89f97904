/**
 * An episode as in other gyms: a client gets a task and sends a completion, or several if the task has turns. Episodes
 * are made of calls of Gradus's own services.
 */
import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import { type NextBatchRequest, type NextBatchResponse } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import {
  type BatchStepRequest,
  type BatchStepResponse,
  type FinishReason,
  type GetEnvironmentRequest,
  type GetEnvironmentResponse,
  type ListEnvironmentsRequest,
  type ListEnvironmentsResponse,
  type ResetRequest,
  type ResetResponse,
  type StepRequest,
  StepRequestSchema,
  type StepResponse,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import { type NoReward, NoRewardReason, OutcomeSchema, type Turn } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { type Task, TaskSchema } from "../../../proto/gen/gradus/v1/task_pb.js";
import { type Registration, RpcError, type UnaryHandler } from "../../base/rpc.ts";
import type { Choice } from "./read-task-choice.ts";

/** Handlers of Gradus's services that an episode calls. */
export interface Handlers {
  readonly reset: UnaryHandler<ResetRequest, ResetResponse>;
  readonly step: UnaryHandler<StepRequest, StepResponse>;
  readonly batchStep: UnaryHandler<BatchStepRequest, BatchStepResponse>;
  readonly nextBatch: UnaryHandler<NextBatchRequest, NextBatchResponse>;
  readonly getEnvironment: UnaryHandler<GetEnvironmentRequest, GetEnvironmentResponse>;
  readonly listEnvironments: UnaryHandler<ListEnvironmentsRequest, ListEnvironmentsResponse>;
}

export type Context = Parameters<Handlers["reset"]>[1];

export function handlersOf(services: readonly Registration[]): Handlers {
  const find = (name: keyof Handlers) => {
    const found = services.map(({ handlers }) => handlers[name]).find((handler) => handler !== undefined);
    return found ?? (() => Promise.reject(new RpcError("UNIMPLEMENTED", `${name} is not part of this protocol`)));
  };
  const names = ["reset", "step", "batchStep", "nextBatch", "getEnvironment", "listEnvironments"] as const;
  return Object.fromEntries(names.map((name) => [name, find(name)])) as unknown as Handlers;
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
  /** Calls of tools. Left out: the completion makes none. */
  readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly argumentsJson: string }[];
  /** Whether the episode ends after this completion. Left out: it does not. */
  readonly end?: boolean;
}

export interface Stepped {
  readonly reward: number;
  /** Message Outcome of Gradus's services, as JSON. */
  readonly outcome: JsonObject;
}

/** Position in an episode to which the next completion belongs. */
export interface Position {
  readonly task: Pick<Task, "taskId" | "groupId">;
  readonly sampleIndex: number;
  /** Key that identifies the sample in place of `sampleIndex`. Left out: `sampleIndex` identifies it. */
  readonly sampleKey?: string;
}

/** Effect of a completion. "turn": the episode goes on, and its next completion belongs to `episode`. */
export type Moved<Of extends Position = Episode> =
  | { readonly kind: "over"; readonly stepped: Stepped }
  | { readonly kind: "turn"; readonly turn: Turn; readonly episode: Of };

/**
 * Plays a completion. Throws RpcError if there is no reward, because other gyms' answers cannot say so, and their
 * trainers would take a missing reward for 0.
 */
export async function advance<Of extends Position>(
  handlers: Handlers,
  episode: Of,
  { toolCalls = [], ...written }: Written,
  context: Context,
): Promise<Moved<Of>> {
  const { task, sampleIndex, sampleKey = "" } = episode;
  const { taskId, groupId } = task;
  const sample = { taskId, groupId, sampleIndex, sampleKey };
  const request = create(StepRequestSchema, { ...sample, ...written, toolCalls: [...toolCalls] });
  const { outcome } = await handlers.step(request, context);
  if (outcome === undefined) throw new Error("bug: Step answered without an outcome");
  const { result } = outcome;
  if (result.case === "turn")
    return {
      kind: "turn",
      turn: result.value,
      episode: { ...episode, task: { ...task, taskId: result.value.taskId } },
    };
  if (result.case !== "score") throw unscored(result.value);
  const shownOutcome = toJson(OutcomeSchema, outcome, { useProtoFieldName: true }) as JsonObject;
  return { kind: "over", stepped: { reward: result.value.reward, outcome: shownOutcome } };
}

/** Scores the only completion of a task. Throws RpcError if the task has turns, or if there is no reward. */
export async function step(handlers: Handlers, episode: Episode, written: Written, context: Context): Promise<Stepped> {
  const moved = await advance(handlers, episode, written, context);
  if (moved.kind === "over") return moved.stepped;
  throw new RpcError(
    "FAILED_PRECONDITION",
    "the task has several turns, which this protocol cannot play: ask for calls: 1",
  );
}

/**
 * Returns the error for a missing reward: UNAVAILABLE if the same completion may get one later, else
 * FAILED_PRECONDITION.
 */
export function unscored(noReward: NoReward | undefined): RpcError {
  const { reason = NoRewardReason.UNSPECIFIED, detail = "", retryDelayMs = 0 } = noReward ?? {};
  const message = `there is no reward (${NoRewardReason[reason].toLowerCase()}): ${detail}`;
  return retryDelayMs > 0
    ? new RpcError("UNAVAILABLE", message, { retryDelayMs })
    : new RpcError("FAILED_PRECONDITION", message);
}
