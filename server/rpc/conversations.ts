/** Reads the conversations of episodes from completions, and writes them into stored samples. */
import type { ChatMessage, ToolCall } from "../../proto/gen/gradus/v1/task_pb.js";
import type { Conversation, SpokenMessage } from "../samples/conversation.ts";
import { bytesOfCall, TRANSCRIPT_BYTES_MAX } from "./request-checks.ts";

/**
 * Returns the parts of a completion that are stored beside its text: its transcript and its tool calls. Tool calls
 * beyond TRANSCRIPT_BYTES_MAX bytes are left out.
 */
export function conversationOf({
  transcript,
  toolCalls,
}: {
  readonly transcript: readonly ChatMessage[];
  readonly toolCalls: readonly ToolCall[];
}): Conversation {
  let bytes = 0;
  const kept = toolCalls.filter((call) => (bytes += bytesOfCall(call)) <= TRANSCRIPT_BYTES_MAX);
  return {
    ...(transcript.length > 0 && { transcript: transcript.map(messageOf) }),
    ...(kept.length > 0 && { toolCalls: kept.map(callOf) }),
  };
}

function messageOf({ role, content, toolCalls, toolCallId, name, reward }: ChatMessage): SpokenMessage {
  return {
    role,
    content,
    ...(toolCalls.length > 0 && { toolCalls: toolCalls.map(callOf) }),
    ...(toolCallId !== "" && { toolCallId }),
    ...(name !== "" && { name }),
    ...(Number.isFinite(reward) && { reward: reward as number }),
  };
}

function callOf({ id, name, argumentsJson }: ToolCall) {
  return { id, name, argumentsJson };
}

/** Returns the fields of a stored sample's message that hold its conversation. In a brief list they are left out. */
export function conversationToWire({ transcript = [], toolCalls = [] }: Conversation, isBrief: boolean) {
  if (isBrief) return {};
  return {
    transcript: transcript.map(({ toolCalls: calls = [], ...message }) => ({ ...message, toolCalls: [...calls] })),
    toolCalls: [...toolCalls],
  };
}
