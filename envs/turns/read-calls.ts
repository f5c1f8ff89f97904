/**
 * Reads the calls in a completion. A call that cannot be read is no error of the trainer, since the policy wrote it.
 * The policy gets the reason as a reply.
 */
import { locateThoughts, type Thinking } from "../answers/locate.ts";

/** A call of a tool, as the policy wrote it. */
export interface ToolCall {
  /** Id that the policy or its chat template chose. The reply repeats it. */
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
}

export type WrittenCall =
  | (ToolCall & { readonly kind: "tool" })
  | {
      readonly kind: "bad";
      readonly id: string;
      readonly name: string;
      readonly text: string;
      readonly reason: string;
    };

const OPEN = "<tool_call>";
const CLOSE = "</tool_call>";

/**
 * Yields the tool calls in a completion's text, in the Hermes format: JSON with "name" and "arguments" between tags.
 * Skips text within the thoughts.
 *
 * Stops reading when the caller does, so calls that are not carried out cost nothing. The ids have nine letters and
 * digits, because some chat templates accept no others.
 */
export function* hermesCalls(text: string, thinking: Thinking, firstNumber: number): Generator<WrittenCall> {
  const { start, end } = locateThoughts(text, thinking);
  let number = firstNumber;
  for (let at = text.indexOf(OPEN, start); at >= 0 && at < end; number++) {
    const from = at + OPEN.length;
    const close = text.indexOf(CLOSE, from);
    const to = close < 0 || close > end ? end : close;
    const id = `call${String(number).padStart(5, "0")}`;
    yield readHermes(id, text.slice(from, to), to === close);
    at = text.indexOf(OPEN, to);
  }
}

function readHermes(id: string, text: string, isClosed: boolean): WrittenCall {
  const bad = (reason: string): WrittenCall => ({ kind: "bad", id, name: "", text, reason });
  if (!isClosed) return bad(`the call has no ${CLOSE}`);
  const read = readObject(text);
  if (read.kind === "bad") return bad(`the text between ${OPEN} and ${CLOSE} ${read.reason}`);
  const { name, arguments: given = {} } = read.value;
  if (typeof name !== "string") return bad('the call has no "name", a string');
  return { kind: "tool", id, name, argumentsJson: typeof given === "string" ? given : JSON.stringify(given) };
}

export type ReadObject =
  | { readonly kind: "ok"; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: "bad"; readonly reason: string };

/** Parses a JSON object, or a JSON string that contains one. Refuses numbers that are too large for JavaScript. */
export function readObject(text: string): ReadObject {
  let isFinite = true;
  const parse = (json: string): unknown =>
    JSON.parse(json, (_, value: unknown) => {
      if (typeof value === "number" && !Number.isFinite(value)) isFinite = false;
      return value;
    });
  try {
    const outer = parse(text);
    const value = typeof outer === "string" ? parse(outer) : outer;
    if (!isFinite) return { kind: "bad", reason: "has a number that is too large" };
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { kind: "ok", value: value as Readonly<Record<string, unknown>> };
    return { kind: "bad", reason: "is not a JSON object" };
  } catch {
    return { kind: "bad", reason: "is not valid JSON" };
  }
}
