/** Plays tasks with turns: asks the caller for each completion, and sends it, until the episode has its score. */
import type { CallOptions, Caller } from "./caller.ts";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { ChatMessage, Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { outcomeOf } from "./outcomes.ts";
import type { Outcome } from "./outcomes.ts";
import { present } from "./reply.ts";
import { sleep } from "./retry.ts";
import { sendable } from "./surrogates.ts";
import type { TurnChoice } from "./turns.ts";
import { messageOf, turnFieldsOf } from "./turns.ts";

/** A completion that the policy wrote. */
export interface PolicyTurn extends TurnChoice {
  /** Text of the completion. Defaults to "". */
  readonly text?: string;
  readonly policyVersion?: number;
  /** Number of tokens of this completion alone. The rollout adds those of the episode's earlier completions. */
  readonly tokens?: number;
}

/** Position of an episode, from which the policy goes on. */
export interface EpisodePosition {
  readonly task: Task;
  readonly sampleIndex: number;
  /** Conversation so far: the prompt, and the completions with their replies. */
  readonly messages: readonly ChatMessage[];
  /** Number of calls (of tools, or answers) that the episode still allows. 0: the task takes one completion. */
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
  /**
   * Whether each completion is sent with the conversation before it, which a server with --keep-samples stores for
   * people to read. Defaults to true.
   */
  readonly transcript?: boolean;
}

/**
 * Plays the episodes of a task's samples concurrently. `generate` returns the policy's next completion of a
 * conversation.
 */
export function rollout(
  caller: Caller,
  task: Task,
  generate: (position: EpisodePosition) => Promise<PolicyTurn>,
  { samples = [0], transcript: isSent = true, ...options }: RolloutOptions = {},
): Promise<readonly PlayedEpisode[]> {
  const play = async (sampleIndex: number): Promise<PlayedEpisode> => {
    let { taskId, callsMax: callsLeft } = task;
    let messages: readonly ChatMessage[] = task.prompt;
    let tokens: number | undefined = 0;
    for (;;) {
      const { tokens: own, ...written } = await generate({ task, sampleIndex, messages, callsLeft });
      tokens = own === undefined || tokens === undefined ? undefined : tokens + own;
      const transcript = isSent ? messages.slice(task.prompt.length) : [];
      const outcome = await sent(caller, task, { ...written, tokens, taskId, sampleIndex, transcript }, options);
      messages = [...messages, messageOf(written, written.text ?? "")];
      const turn = outcome.kind === "unscored" ? outcome.turn : undefined;
      if (turn === undefined) return { sampleIndex, messages, outcome };
      messages = [...messages, ...turn.messages];
      ({ taskId, callsLeft } = turn);
    }
  };
  return Promise.all(samples.map(play));
}

/** Sends a completion. While the server asks for it again, it is sent again, until the deadline. */
async function sent(
  { unary, feedback, deadlineMsOf }: Caller,
  { groupId, runId }: Task,
  written: Omit<PolicyTurn, "tokens"> & {
    readonly tokens: number | undefined;
    readonly taskId: string;
    readonly sampleIndex: number;
    readonly transcript: readonly ChatMessage[];
  },
  options: CallOptions,
): Promise<Outcome> {
  const { text = "", taskId, sampleIndex, policyVersion, tokens, transcript } = written;
  const completion = sendable(text, `sample ${String(sampleIndex)}`);
  const known = { ...(policyVersion !== undefined && { policyVersion }), ...(tokens !== undefined && { tokens }) };
  const request = { taskId, groupId, sampleIndex, ...known, completion, ...turnFieldsOf(written, transcript) };
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
