/** Conversation that a trainer sends beside the last completion of an episode, for people to read. */
import type { ToolCall } from "../../envs/turns/read-calls.ts";

/** Message of a transcript, as it is stored. Fields that are empty in the protobuf message ChatMessage are unset. */
export interface SpokenMessage {
  readonly role: string;
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolCallId?: string;
  readonly name?: string;
  /** Reward of the one call that this message answers, without other rewards of the episode. */
  readonly reward?: number;
}

/** An episode without the text of its last completion. Unset members are empty. */
export interface Conversation {
  /** Messages between the prompt and the last completion. */
  readonly transcript?: readonly SpokenMessage[];
  /** Calls of tools in the last completion. */
  readonly toolCalls?: readonly ToolCall[];
}

/** Returns the length of a conversation's texts, in UTF-16 units. */
export function lengthOf({ transcript = [], toolCalls = [] }: Conversation = {}): number {
  const all = [...toolCalls, ...transcript.flatMap((message) => message.toolCalls ?? [])];
  const calls = all.reduce((sum, { argumentsJson }) => sum + argumentsJson.length, 0);
  return transcript.reduce((sum, { content }) => sum + content.length, calls);
}
