/** Completes one sample: asks the model and submits its completion, call by call if the task has turns. */
import { setTimeout as delay } from "node:timers/promises";
import type { ChatMessage, EvaluationHandle, Outcome, Task, Tool, Turn } from "../../clients/ts/src/public.ts";
import type { CompletionChoice } from "../../clients/ts/src/public.ts";
import { messageOf } from "../../clients/ts/src/turns.ts";
import { CliProblem } from "../problem.ts";
import type { Completed, Model, Spoken } from "./endpoint.ts";

/** Result of one sample, scored or failed. */
export type Step =
  { readonly kind: "scored"; readonly outcome: Outcome } | { readonly kind: "failed"; readonly message: string };

export interface PlayOptions {
  readonly evaluation: EvaluationHandle;
  readonly model: Model;
  /**
   * Whether to describe tools in the prompt, and to read calls from the model's text. For models or endpoints without
   * tool calls.
   */
  readonly textTools: boolean;
}

/** Maximum number of attempts to submit a completion for which the server could give no reward yet. */
const SUBMITS_MAX = 5;

/** Sample of a task that has no completion yet. */
export interface PendingSample {
  readonly task: Task;
  readonly sampleIndex: number;
}

export async function playSample(options: PlayOptions, { task, sampleIndex }: PendingSample): Promise<Step> {
  const { evaluation, model, textTools } = options;
  const { tools, callsMax } = task;
  let conversation = textTools ? withTools(task.prompt, tools) : task.prompt.map(spokenOf);
  let transcript: readonly ChatMessage[] = [];
  let { taskId } = task;
  for (;;) {
    const completed = await model(conversation, textTools ? [] : tools);
    const written = writtenOf(completed, transcript.length > 0);
    if (written.kind === "failed") return isAboutTools(written, tools) ? withRemedy(written) : written;
    const { text, toolCalls, finishReason, end } = written;
    const hermes = tools.length > 0 && toolCalls.length === 0;
    const turn = callsMax === 0 ? {} : { toolCalls, hermes, end, transcript };
    const choice = { task: { taskId }, sampleIndex, completion: text, finishReason, ...turn };
    const step = await submit(evaluation, choice);
    if (step.kind !== "turn") return step;
    const replies = step.turn.messages;
    transcript = [...transcript, messageOf({ toolCalls }, text), ...replies];
    const said = spokenOf(messageOf({ toolCalls }, written.content));
    conversation = [...conversation, said, ...(toolCalls.length > 0 ? replies.map(spokenOf) : asUser(replies))];
    ({ taskId } = step.turn);
  }
}

type Failed = Extract<Step, { readonly kind: "failed" }>;

function isAboutTools({ message }: Failed, tools: readonly Tool[]): boolean {
  return tools.length > 0 && /tool/i.test(message);
}

function withRemedy({ kind, message }: Failed): Failed {
  return { kind, message: `${message}; if the endpoint takes no tools, give --text-tools` };
}

type Written = Extract<Completed, { readonly kind: "completion" }> & { readonly end?: boolean };

/** Returns the completion. If the context is full after the first completion, the episode ends without a further one. */
function writtenOf(completed: Completed, hasBegun: boolean): Written | Failed {
  switch (completed.kind) {
    case "completion":
    case "failed":
      return completed;
    case "refused":
      throw new CliProblem("failure", `the endpoint refuses all prompts: ${completed.message}`);
    case "full":
      if (!hasBegun) return { kind: "failed", message: completed.message };
      return { kind: "completion", text: "", content: "", toolCalls: [], finishReason: undefined, end: true };
  }
}

type Submitted = Step | { readonly kind: "turn"; readonly turn: Turn };

async function submit(evaluation: EvaluationHandle, choice: CompletionChoice): Promise<Submitted> {
  for (let tries = 1; ; tries++) {
    const [result] = await evaluation.submit([choice]);
    const { outcome, failure, feedback } = result ?? {};
    if (outcome === undefined) return { kind: "failed", message: failure?.message ?? "the server gave no outcome" };
    const { detail, retryDelayMs = 0, turn } = outcome.kind === "unscored" ? outcome : { detail: "" };
    if (turn !== undefined) return { kind: "turn", turn };
    if (feedback?.status !== "not_recorded") return { kind: "scored", outcome };
    if (tries >= SUBMITS_MAX) return { kind: "failed", message: `no reward: ${detail}` };
    await delay(retryDelayMs);
  }
}

/** Returns a message in OpenAI's form. */
function spokenOf({ role, content, toolCalls, toolCallId, name }: ChatMessage): Spoken {
  const calls = toolCalls.map(({ id, name, argumentsJson }) => {
    return { id, type: "function", function: { name, arguments: argumentsJson } };
  });
  return {
    role,
    // Some servers refuse an empty text in a message with tool calls, and want null instead.
    content: calls.length > 0 && content === "" ? null : content,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(role === "tool" && { tool_call_id: toolCallId, name }),
  } as Spoken;
}

/**
 * Returns replies as one message of the user, because endpoints refuse the role "tool" after a text. Replies to calls of
 * tools stand between the tags that the templates of Hermes and Qwen use.
 */
function asUser(replies: readonly ChatMessage[]): readonly Spoken[] {
  const texts = replies.map(({ role, content }) => {
    return role === "tool" ? `<tool_response>\n${content}\n</tool_response>` : content;
  });
  return texts.length === 0 ? [] : [{ role: "user", content: texts.join("\n") }];
}

/** Returns the prompt with a description of the tools at the start of its system message. */
function withTools(prompt: readonly ChatMessage[], tools: readonly Tool[]): readonly Spoken[] {
  const spoken = prompt.map(spokenOf);
  if (tools.length === 0) return spoken;
  const listed = tools.map(({ name, description, parametersJson }) => {
    return `{"name": ${JSON.stringify(name)}, "description": ${JSON.stringify(description)}, "parameters": ${parametersJson}}`;
  });
  const words = [
    "You have these tools, each with a JSON Schema of its arguments:",
    "<tools>",
    ...listed,
    "</tools>",
    "To call a tool, write its name and arguments as JSON between tags, once for each call:",
    '<tool_call>{"name": "…", "arguments": {…}}</tool_call>',
    "The next message has the result between <tool_response> and </tool_response>.",
  ].join("\n");
  const [first, ...rest] = prompt;
  if (first?.role !== "system") return [{ role: "system", content: words }, ...spoken];
  return [{ role: "system", content: `${words}\n\n${first.content}` }, ...rest.map(spokenOf)];
}
