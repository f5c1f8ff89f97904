/**
 * Completions of tasks with several turns, as plain objects, and their conversion to the protobuf messages of
 * gradus.v1.
 */
import { create } from "@bufbuild/protobuf";
import type { FinishReasonName } from "./choices.ts";
import { finishReasonOf } from "./choices.ts";
import type { ChatMessage, ToolCall } from "../../../proto/gen/gradus/v1/task_pb.js";
import { ChatMessageSchema, TextTools } from "../../../proto/gen/gradus/v1/task_pb.js";

/** Fields of a completion other than its text. All may be left out, e.g. for a task of one completion. */
export interface TurnChoice {
  /** Calls of tools, as the caller parsed them. Defaults to none. */
  readonly toolCalls?: readonly Readonly<Pick<ToolCall, "id" | "name" | "argumentsJson">>[] | undefined;
  /** Whether the server reads calls of tools from the text, as Hermes models write them. Defaults to false. */
  readonly hermes?: boolean | undefined;
  readonly finishReason?: FinishReasonName | undefined;
  /** Whether the episode ends after this completion, e.g. because the context is full. Defaults to false. */
  readonly end?: boolean | undefined;
}

/** Maximum size of the texts of a transcript together, in bytes of UTF-8. The server refuses more. */
const TRANSCRIPT_BYTES_MAX = 256 * 1024;

/**
 * Returns the fields of the protobuf message Completion for a turn. If the transcript is too long, leaves out its first
 * messages.
 */
export function turnFieldsOf(
  { toolCalls = [], hermes = false, finishReason, end = false }: TurnChoice,
  transcript: readonly ChatMessage[] = [],
) {
  let bytes = 0;
  const isKept = (message: ChatMessage): boolean => (bytes += bytesOf(message)) <= TRANSCRIPT_BYTES_MAX;
  const tooEarly = transcript.findLastIndex((message) => !isKept(message));
  return {
    toolCalls: toolCalls.map((call) => ({ ...call })),
    textTools: hermes ? TextTools.HERMES : TextTools.UNSPECIFIED,
    end,
    transcript: transcript.slice(tooEarly + 1),
    ...finishReasonOf(finishReason),
  };
}

const encoder = new TextEncoder();

function bytesOf({ role, content, toolCallId, name, toolCalls }: ChatMessage): number {
  const calls = toolCalls.flatMap((call) => [call.id, call.name, call.argumentsJson]);
  const texts = [role, content, toolCallId, name, ...calls];
  return 1 + calls.length + texts.reduce((sum, text) => sum + encoder.encode(text).length, 0);
}

/** Returns a completion as a message of the conversation. */
export function messageOf({ toolCalls = [] }: TurnChoice, content: string): ChatMessage {
  return create(ChatMessageSchema, { role: "assistant", content, toolCalls: toolCalls.map((call) => ({ ...call })) });
}
