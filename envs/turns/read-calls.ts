/**
 * Reads the calls in a completion. A call that cannot be read is no error of the trainer, since the policy wrote it.
 * The policy gets the reason as a reply.
 */
import { locateThoughts, type Thinking } from "../answers/locate.ts";
import { depthOf, exactNumber, isRawNumber, parseExact, rawNumber, repeatedKey } from "../lib/exact-json.ts";

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
  const read = readObject(text, keepsFinite);
  if (read.kind === "bad") return bad(`the text between ${OPEN} and ${CLOSE} ${read.reason}`);
  const { name, arguments: given = {} } = read.value;
  if (typeof name !== "string") return bad('the call has no "name", a string');
  return { kind: "tool", id, name, argumentsJson: typeof given === "string" ? given : JSON.stringify(given) };
}

export type ReadObject =
  | { readonly kind: "ok"; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: "bad"; readonly reason: string };

/** Maximum depth of a call's JSON, because other parsers of JSON, e.g. Python's, fail at some depth. */
const DEPTH_MAX = 64;
/** Matches a whole number of at most 308 digits, which a double does not turn into infinity. */
const WHOLE = /^-?\d{1,308}$/;
/**
 * Maximum length of a number's text, in characters, for which the parser tests whether a double holds the number
 * exactly. Longer numbers count as inexact, because long runs of zeros would take quadratic time.
 */
const SOURCE_MAX = 400;

/**
 * Returns whether a number that a double cannot hold exactly is kept as its source text (RawNumber). If not, the call
 * counts as unreadable.
 */
type Keeps = (source: string) => boolean;

/** Keeps whole numbers, for environments whose programming language has big integers. */
export const keepsWhole: Keeps = (source) => WHOLE.test(source);
const keepsFinite: Keeps = (source) => Number.isFinite(Number(source));
const keepsNone: Keeps = () => false;

/**
 * Parses a JSON object, or a JSON string that contains one. Refuses text whose meaning changes when it is parsed: a
 * number that would be rounded, or a key that occurs twice.
 */
export function readObject(text: string, keeps: Keeps = keepsNone): ReadObject {
  const bad = (reason: string): ReadObject => ({ kind: "bad", reason });
  let lost: string | undefined;
  const parse = (json: string): unknown => {
    if (depthOf(json) > DEPTH_MAX) throw new RangeError("too deep");
    return parseExact(json, (source) => {
      const value = source.length > SOURCE_MAX ? undefined : exactNumber(source);
      // Keep whole numbers beyond 2^53 as text, even if a double prints them as written: 10^23 does, but its double
      // differs.
      if (typeof value === "number" && (Number.isSafeInteger(value) || !WHOLE.test(source))) return value;
      if (!keeps(source)) lost ??= source;
      return rawNumber(source);
    });
  };
  try {
    const outer = parse(text);
    const inner = typeof outer === "string" ? outer : text;
    const value = inner === text ? outer : parse(inner);
    if (lost !== undefined) return bad(`has a number that is too large or too precise to be read: ${shown(lost)}`);
    if (typeof value !== "object" || value === null || Array.isArray(value) || isRawNumber(value))
      return bad("is not a JSON object");
    const twice = repeatedKey(inner);
    if (twice !== undefined) return bad(`has the key '${shown(twice)}' twice`);
    return { kind: "ok", value: value as Readonly<Record<string, unknown>> };
  } catch (error) {
    return bad(error instanceof RangeError ? `is nested more than ${DEPTH_MAX} levels deep` : "is not valid JSON");
  }
}

const SHOWN_MAX = 64;

function shown(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
