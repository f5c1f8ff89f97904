/**
 * Plays completions of tasks with several turns. Each completion leads from one task id to the next, and the server
 * keeps no state between them.
 */
import type { Message } from "@bufbuild/protobuf";
import type { Failed } from "../../../envs/facts.ts";
import type { AnyScoreTask } from "../../../envs/score.ts";
import { type EpisodeTask, play, playAsking, type Played } from "../../../envs/turns/episode.ts";
import type { PolicyMessage } from "../../../envs/turns/read-action.ts";
import type { ToolCall } from "../../../envs/turns/read-calls.ts";
import type { Advanced, AnyTurns, Question } from "../../../envs/turns/turns.ts";
import type { EpisodeSample } from "../encode-episode.ts";
import type { Keyring } from "../keyring.ts";
import { mintTurnId, type TaskToken } from "../task-id.ts";
import { failedSample, invalidTask, type NoReward, type StepResult } from "./results.ts";

/** Completion of a task with turns, i.e. one message of the policy. Members that are unset count as empty. */
export interface PlayedCompletion {
  readonly sampleIndex: number;
  readonly text: string;
  readonly toolCalls?: readonly ToolCall[];
  /** Key by which the client identifies the sample. Empty: `sampleIndex` identifies it. */
  readonly sampleKey?: string;
  readonly end?: boolean;
  /**
   * Whether the sample belongs to an evaluation. Then, as in a run, all calls of the episode must be for the same
   * sample.
   */
  readonly isEvaluated?: boolean;
}

/**
 * Information from the trainer: whether a completion was cut off at its maximum length, and whether its text may
 * contain tool calls in Hermes format.
 */
export type CompletionForm = Pick<PolicyMessage, "isCut" | "isHermes">;

/** Task of several turns, read from a task id that was verified. */
interface PlayedTask {
  readonly token: Omit<TaskToken, "inline">;
  readonly scoring: AnyScoreTask;
  /** Encoded content of the task id, without the episode. All task ids of an episode contain these bytes. */
  readonly settings: Uint8Array;
  readonly tools: readonly string[];
}

interface PlayOptions {
  readonly keyring: Keyring;
  readonly completionBytesMax: number;
}

/**
 * Plays a completion whose calls need no external resource. Equal requests get equal results from every server with the
 * same keys.
 */
export function playTurn(
  options: PlayOptions,
  opened: PlayedTask,
  completion: PlayedCompletion,
  form: CompletionForm,
): StepResult {
  const begun = beginTurn(options, opened, completion, form);
  return begun.kind === "none" ? begun : begun.finish(play(begun.task, opened.token.episode, begun.message));
}

/**
 * Plays a completion whose calls may need an external resource, e.g. a judge. `ask` sends a question to the resource.
 */
export async function playAskingTurn(
  options: PlayOptions,
  opened: PlayedTask,
  completion: PlayedCompletion,
  form: CompletionForm,
  ask: (question: Question<Message>) => Promise<Advanced<Message> | Failed>,
): Promise<StepResult> {
  const begun = beginTurn(options, opened, completion, form);
  if (begun.kind === "none") return begun;
  const played = await playAsking(begun.task, opened.token.episode, begun.message, ask);
  return played.kind === "failed" ? failedSample(played) : begun.finish(played);
}

/** Returns the names of the tools at these positions, from 1, in an environment's list of tools. */
export function toolNames({ tools }: Pick<AnyTurns, "tools">, places: readonly number[] = []): readonly string[] {
  return places.flatMap((place) => tools[place - 1]?.name ?? []);
}

/** Completion that was checked and can be played. */
interface BegunTurn {
  readonly kind: "begun";
  readonly task: EpisodeTask;
  readonly message: PolicyMessage;
  /** Returns the result, with the next task id if the episode is not over. */
  finish(played: Played): StepResult;
}

function beginTurn(
  { keyring, completionBytesMax }: PlayOptions,
  { token, scoring, settings, tools }: PlayedTask,
  completion: PlayedCompletion,
  form: CompletionForm,
): BegunTurn | NoReward {
  const { calls = 0, detail, key } = token;
  const found = sampleOf(token, completion);
  if (found.kind === "none") return found;
  const { sample } = found;
  const task: EpisodeTask = {
    ...scoring,
    calls,
    tools,
    seed: [key.hash, ...seedOf(sample)],
    ...(detail !== undefined && { detail }),
  };
  const { text, toolCalls = [], end: ends = false } = completion;
  // A text over the limit counts as a message without an answer, and not as an error of the client, because the policy
  // wrote too much.
  const isTooLong = Buffer.byteLength(text) > completionBytesMax;
  const read = isTooLong ? { text: "", bytesMax: completionBytesMax } : { text };
  const finish = (played: Played): StepResult => {
    if (played.kind === "over") return { kind: "score", score: played.score, digest: played.digest };
    const { messages, reward } = played;
    const episode = { ...played.episode, sample };
    const taskId = mintTurnId(keyring, settings, episode);
    return { kind: "turn", taskId, episode, replies: messages, reward, callsLeft: calls - episode.calls };
  };
  return { kind: "begun", task, message: { ...form, ...read, toolCalls, ends }, finish };
}

type FoundSample = { readonly kind: "sample"; readonly sample: EpisodeSample } | NoReward;

/**
 * Returns the sample to which a completion belongs. After the first call, the episode names its sample, and a
 * completion for another sample is refused.
 */
function sampleOf(
  { run, episode }: PlayedTask["token"],
  { sampleIndex, sampleKey = "", isEvaluated = false }: PlayedCompletion,
): FoundSample {
  if (episode === undefined) {
    if (sampleKey !== "") return { kind: "sample", sample: { key: sampleKey } };
    return { kind: "sample", sample: run === undefined && !isEvaluated ? {} : { index: sampleIndex } };
  }
  const { sample } = episode;
  if (isEvaluated && sample.index === undefined && sample.key === undefined)
    return invalidTask(
      "task_id: its episode began outside of an evaluation: begin it with a task_id of ListPendingTasks",
    );
  if ((sample.key ?? "") !== sampleKey)
    return invalidTask(
      "task_id: its episode has another sample_key, or none: send the one of the episode's first call",
    );
  if (sample.index !== undefined && sample.index !== sampleIndex)
    return invalidTask(`task_id: its episode belongs to sample_index ${sample.index}, and not to ${sampleIndex}`);
  return { kind: "sample", sample };
}

function seedOf({ index, key }: EpisodeSample): readonly (string | number)[] {
  if (key !== undefined) return ["key", key];
  return index === undefined ? [] : ["sample", index];
}
