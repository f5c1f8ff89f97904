/** Writes tasks, tools and results of calls in the form of OpenReward. */
import type { JsonObject } from "@bufbuild/protobuf";
import type { Tool } from "../../../../proto/gen/gradus/v1/task_pb.js";
import type { Moved, Position } from "../episode.ts";

/** Tool that every task has: it submits the answer. */
export const SUBMIT = {
  name: "submit_answer",
  description:
    "Submits your answer to the task. If the task gives you several tries, the reply says what is wrong with the answer.",
  input_schema: {
    type: "object",
    properties: {
      answer: {
        type: "string",
        description: "Your answer in the form that the task asks for: alone, or in a text that marks it.",
      },
    },
    required: ["answer"],
  },
} as const;

export function toolSpec({ name, description, parametersJson }: Tool): JsonObject {
  return { name, description, input_schema: JSON.parse(parametersJson) as JsonObject };
}

/** Result of a call that is not carried out. */
export type Refused = { readonly ok: false; readonly error: string; readonly reason: string };

export function refused(error: string, reason: string): Refused {
  return { ok: false, error, reason };
}

const text = (content: string): JsonObject => ({ text: content, detail: null, type: "text" });

/** Returns the result of a call of a tool. */
export function resultOf(moved: Moved<Position>): JsonObject {
  if (moved.kind === "turn") {
    const { messages, turnReward, callsLeft } = moved.turn;
    const metadata = { turn_reward: turnReward ?? null, calls_left: callsLeft };
    const blocks = messages.map(({ content }) => text(content));
    // Clients add up the rewards of all calls, or take the last one. The last call's reward is the whole return, so
    // earlier calls have none.
    return { ok: true, output: { blocks, metadata, reward: null, finished: false } };
  }
  const { reward, outcome } = moved.stepped;
  return {
    ok: true,
    output: { blocks: [text("The episode is over.")], metadata: { outcome }, reward, finished: true },
  };
}

/** Messages of a prompt. */
export type Prompt = readonly { readonly role: string; readonly content: string }[];

/** Returns a task's prompt as blocks of text. */
export function promptBlocks(prompt: Prompt): JsonObject[] {
  return [text(prompt.map(({ content }) => content).join("\n\n"))];
}

/** Returns a task's prompt as messages. */
export function promptMessages(prompt: Prompt): JsonObject[] {
  return prompt.map(({ role, content }) => ({ role, blocks: [text(content)], detail: null }));
}

/**
 * Returns the description of tools. If a task takes one completion, a client may also take a plain message of the
 * assistant as the answer (`terminal_tool`).
 */
export function toolList(tools: readonly JsonObject[], takesOne: boolean, isScorable: boolean): JsonObject {
  const { name, description } = SUBMIT;
  return {
    tools: [...tools, SUBMIT as unknown as JsonObject],
    terminal_tool: takesOne ? { name, arg: "answer", description } : null,
    supports_score_group: isScorable,
    message_block_types: ["text", "reasoning", "tool_call", "tool_result"],
  };
}
