/**
 * Converts calls to the actions that an environment carries out: calls in a completion, and calls in an episode's log.
 */
import { locateAnswers, trusting } from "../answers/locate.ts";
import { stripAnswer } from "../answers/strip.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { AnyScoreTask } from "../score.ts";
import { hermesCalls, keepsWhole, readObject, type ToolCall, type WrittenCall } from "./read-calls.ts";
import type { Action, AnyTurns, LoggedCall, Reply } from "./turns.ts";

/** A completion of a policy, with what the trainer says about it. */
export interface PolicyMessage {
  /** Empty if the text was longer than the server's limit, `bytesMax`. */
  readonly text: string;
  /** Limit, in bytes of UTF-8, that the text exceeded. Undefined: the text is within the limit. */
  readonly bytesMax?: number;
  readonly toolCalls: readonly ToolCall[];
  /** Whether calls are read from the text in the Hermes format, i.e. JSON between <tool_call> tags. */
  readonly isHermes: boolean;
  /**
   * Whether the text reached its maximum length. Then no call in it is carried out, because the last one may be
   * incomplete.
   */
  readonly isCut: boolean;
  /** Whether the trainer ends the episode with this message. */
  readonly ends: boolean;
}

export type AnyCall = WrittenCall | { readonly kind: "answer"; readonly text: string; readonly bytesMax?: number };

type Reader = Pick<AnyScoreTask, "environment" | "format" | "thinking"> & { readonly tools: readonly string[] };

/**
 * Yields the calls of a completion one by one. An empty completion that ends the episode has no calls; any other text
 * without tool calls counts as an answer.
 */
export function* callsOf(
  { text, bytesMax, toolCalls, isHermes, ends }: PolicyMessage,
  { thinking = "required" }: Pick<Reader, "thinking">,
  made: number,
): Generator<AnyCall> {
  let count = 0;
  for (const call of toolCalls) {
    count++;
    yield { kind: "tool", ...call };
  }
  if (count === 0 && isHermes)
    for (const call of hermesCalls(text, thinking, made)) {
      count++;
      yield call;
    }
  if (count > 0) return;
  if (bytesMax !== undefined) yield { kind: "answer", text, bytesMax };
  else if (!(ends && text === "")) yield { kind: "answer", text };
}

const NAME_SHOWN_MAX = 64;

export function replyTo(call: AnyCall, content: string): Reply {
  if (call.kind === "answer") return { role: "user", content, toolCallId: "", name: "" };
  return { role: "tool", content, toolCallId: call.id, name: call.name.slice(0, NAME_SHOWN_MAX) };
}

type ReadCall =
  | {
      readonly kind: "action";
      readonly action: Action;
      readonly logged: LoggedCall;
      /** Whether the answer is marked as the answer format demands. */
      readonly formatValid: boolean;
    }
  | { readonly kind: "bad"; readonly reason: string };

export function readCall(task: Reader, turns: AnyTurns, call: AnyCall, number: number): ReadCall {
  switch (call.kind) {
    case "bad":
      return call;
    case "tool":
      return readToolCall(task, turns, call, number);
    case "answer": {
      if (call.bytesMax !== undefined)
        return bad(`The message was not read: it is longer than ${call.bytesMax} bytes, the limit.`);
      const located = trusting(locateAnswers(call.text, task.format, task.thinking));
      if (located.problem !== undefined) return bad(`The message has no answer: ${located.problem}.`);
      const { verbatim, answerNames } = task.environment;
      const text = verbatim === true ? `${located.answer}` : stripAnswer(`${located.answer}`, answerNames);
      const tooLong = whyTooLong("answer", text, turns);
      if (tooLong !== undefined) return tooLong;
      const logged = { number, tool: 0, text };
      return { kind: "action", action: { kind: "answer", number, text }, logged, formatValid: located.formatValid };
    }
    default:
      return assertNever(call);
  }
}

function readToolCall(
  { tools }: Reader,
  turns: AnyTurns,
  { name, argumentsJson: text }: ToolCall,
  number: number,
): ReadCall {
  const tool = turns.tools.findIndex((each) => each.name === name) + 1;
  if (tool === 0 || !tools.includes(name)) {
    const there = tools.length === 0 ? "there are no tools" : `the tools are: ${tools.join(", ")}`;
    return bad(`There is no tool '${name.slice(0, NAME_SHOWN_MAX)}': ${there}.`);
  }
  const tooLong = whyTooLong("arguments", text, turns);
  if (tooLong !== undefined) return tooLong;
  const read = readArguments(turns, text);
  if (read.kind === "bad") return bad(`The text of the arguments ${read.reason}.`);
  const action = { kind: "tool", number, name, arguments: read.value } as const;
  return { kind: "action", action, logged: { number, tool, text }, formatValid: true };
}

function bad(reason: string): Extract<ReadCall, { kind: "bad" }> {
  return { kind: "bad", reason };
}

function whyTooLong(part: string, text: string, { actionBytesMax }: AnyTurns) {
  const isShort = text.length * 3 <= actionBytesMax || Buffer.byteLength(text) <= actionBytesMax;
  return isShort ? undefined : bad(`The text of the ${part} is longer than ${actionBytesMax} bytes, the limit.`);
}

function readArguments({ keepsWholeNumbers }: AnyTurns, text: string) {
  return readObject(text, keepsWholeNumbers === true ? keepsWhole : undefined);
}

/** Converts a logged call to the action that the environment carries out. */
export function actionOf(turns: AnyTurns, { number, tool, text }: LoggedCall): Action {
  if (tool === 0) return { kind: "answer", number, text };
  const name = turns.tools[tool - 1]?.name ?? "";
  const read = readArguments(turns, text);
  return { kind: "tool", number, name, arguments: read.kind === "ok" ? read.value : {} };
}
