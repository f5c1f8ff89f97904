/** Plays tasks with turns: asks the caller for each completion, and sends it, until the episode has its score. */
import type { CallOptions, Caller } from "./caller.ts";
import type { FinishReasonName } from "./choices.ts";
import { finishReasonOf } from "./choices.ts";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { ChatMessage, Task, ToolCall } from "../../../proto/gen/gradus/v1/task_pb.js";
import { ChatMessageSchema, TextTools } from "../../../proto/gen/gradus/v1/task_pb.js";
import { outcomeOf } from "./outcomes.ts";
import type { Outcome } from "./outcomes.ts";
import { present } from "./reply.ts";
import { sleep } from "./retry.ts";
import { sendable } from "./surrogates.ts";
import { create } from "@bufbuild/protobuf";

/** A completion that the policy wrote. */
export interface PolicyTurn {
  /** Text of the completion. Defaults to "". */
  readonly text?: string;
  /** Calls of tools, as the caller parsed them. Defaults to none. */
  readonly toolCalls?: readonly Readonly<Pick<ToolCall, "id" | "name" | "argumentsJson">>[];
  /** Whether the server reads calls in the form of Hermes from the text. Defaults to false. */
  readonly hermes?: boolean;
  readonly finishReason?: FinishReasonName;
  /** Whether the episode ends after this completion, e.g. because the context is full. Defaults to false. */
  readonly end?: boolean;
  readonly policyVersion?: number;
}

/** Position of an episode, from which the policy goes on. */
export interface EpisodePosition {
  readonly task: Task;
  readonly sampleIndex: number;
  /** Conversation so far: the prompt, and the completions with their replies. */
  readonly messages: readonly ChatMessage[];
  /** Number of calls that are left. 0: the task has no turns. */
  readonly callsLeft: number;
}

/** An episode that is over, or whose sample has no reward. */
export interface PlayedEpisode {
  readonly sampleIndex: number;
  /** Conversation, with the last completion. */
  readonly messages: readonly ChatMessage[];
  readonly outcome: Outcome;
}

export interface RolloutOptions extends CallOptions {
  /** Indices of the samples that are played, all at once. Defaults to [0]. */
  readonly samples?: readonly number[];
}

/** Plays the samples of a task at once. `generate` returns the policy's next completion of a conversation. */
export function rollout(
  caller: Caller,
  task: Task,
  generate: (position: EpisodePosition) => Promise<PolicyTurn>,
  { samples = [0], ...options }: RolloutOptions = {},
): Promise<readonly PlayedEpisode[]> {
  const play = async (sampleIndex: number): Promise<PlayedEpisode> => {
    let { taskId, callsMax: callsLeft } = task;
    let messages: readonly ChatMessage[] = task.prompt;
    for (;;) {
      const written = await generate({ task, sampleIndex, messages, callsLeft });
      const outcome = await sent(caller, task, { ...written, taskId, sampleIndex }, options);
      messages = [...messages, messageOf(written)];
      const turn = outcome.kind === "unscored" ? outcome.turn : undefined;
      if (turn === undefined) return { sampleIndex, messages, outcome };
      messages = [...messages, ...turn.messages];
      ({ taskId, callsLeft } = turn);
    }
  };
  return Promise.all(samples.map(play));
}

function messageOf({ text = "", toolCalls = [] }: PolicyTurn): ChatMessage {
  return create(ChatMessageSchema, {
    role: "assistant",
    content: text,
    toolCalls: toolCalls.map((call) => ({ ...call })),
  });
}

/** Sends a completion. While the server asks for it again, it is sent again, until the deadline. */
async function sent(
  { unary, feedback, deadlineMsOf }: Caller,
  { groupId, runId }: Task,
  {
    text = "",
    toolCalls = [],
    hermes = false,
    finishReason,
    end = false,
    ...rest
  }: PolicyTurn & {
    readonly taskId: string;
    readonly sampleIndex: number;
  },
  options: CallOptions,
): Promise<Outcome> {
  const completion = sendable(text, `sample ${String(rest.sampleIndex)}`);
  const calls = toolCalls.map((call) => ({ ...call }));
  const textTools = hermes ? TextTools.HERMES : TextTools.UNSPECIFIED;
  const request = { ...rest, groupId, completion, toolCalls: calls, end, textTools, ...finishReasonOf(finishReason) };
  const endsAt = performance.now() + deadlineMsOf(options);
  for (;;) {
    const reply = await unary(EnvironmentService.method.step, request, options);
    const outcome = outcomeOf(present(reply.outcome, "outcome"));
    const delayMs = outcome.kind === "unscored" ? outcome.retryDelayMs : undefined;
    if (delayMs === undefined || performance.now() + delayMs >= endsAt) {
      feedback.note({ runId, outcomes: [outcome] });
      return outcome;
    }
    await sleep(delayMs, options.signal);
  }
}
