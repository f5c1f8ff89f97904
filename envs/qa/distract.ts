/**
 * Builds the prompts that ask a teacher model for wrong options of a question, and reads its replies. Omni-Thinker 5.1
 * adds 15 confusing options, "while making sure the uniqueness of correctness by prompting an LLM". A first prompt
 * requests options. A second one asks which of all options are right.
 */
import type { Parsed } from "../facts.ts";
import type { ChatMessage } from "../prompt.ts";
import { rngFor } from "../lib/rng.ts";
import { collapsed, folded, normalized, OPTION_UNITS_MAX } from "./match.ts";
import { namesOthers } from "./options.ts";

const REPLY_UNITS_MAX = 64 * 1024;

export function askForOptions(question: string, right: string, known: readonly string[], count: number): ChatMessage[] {
  const taken = known.length === 0 ? [] : ["", "These are wrong options already; give others:", ...known.map(listed)];
  const content = [
    `Write ${count} wrong answers to a question. Each must look right to somebody who half knows the subject: of the same kind, form and length as the right answer. None may be right, or say the same as the right answer in other words, and no two may say the same. Do not name other options, as "both of them" or "none of the above" do.`,
    "",
    `Question: ${question}`,
    `Right answer: ${right}`,
    ...taken,
    "",
    `Reply with a JSON list of ${count} strings and nothing else.`,
  ].join("\n");
  return [{ role: "user", content }];
}

/**
 * Returns the options in a random order that depends only on the question and the options. A model tends to call the
 * first option right, so the right one must not always come first.
 */
export function inOrder(question: string, options: readonly string[]): readonly string[] {
  return rngFor("qa distract", question).shuffle([...options].sort());
}

export function askWhichAreRight(question: string, options: readonly string[]): ChatMessage[] {
  const content = [
    "Which of these answers to the question are right? Judge each by itself: there may be one, several or none. An answer that says the same as a right one in other words is right.",
    "",
    `Question: ${question}`,
    ...options.map((option, place) => `${place + 1}. ${option}`),
    "",
    "Think first. Then end with a JSON list of the numbers of all answers that are right, e.g. [3], and nothing after it.",
  ].join("\n");
  return [{ role: "user", content }];
}

function listed(text: string): string {
  return `- ${text}`;
}

/** Reason for rejecting a proposed option. */
export type OptionRejection = "malformed" | "too_long" | "names_others" | "is_the_answer" | "duplicate" | "excess";

export interface ReadOptions {
  readonly options: readonly string[];
  readonly rejected: readonly OptionRejection[];
}

/**
 * Returns the proposed options that differ from the right answer, from the known wrong options and from each other.
 * Returns at most `most` options, and a reason for each rejected one.
 */
export function readOptions(text: string, right: string, known: readonly string[], most: number): Parsed<ReadOptions> {
  const read = readList(text, "first");
  if (read.kind === "malformed") return read;
  const rightKey = keyOf(right);
  const keys = new Set(known.map(keyOf));
  const options: string[] = [];
  const rejected: OptionRejection[] = [];
  for (const proposed of read.answer) {
    const why = problemOf(proposed, rightKey, keys) ?? (options.length >= most ? "excess" : undefined);
    if (why !== undefined) rejected.push(why);
    else {
      options.push(collapsed(proposed as string));
      keys.add(keyOf(proposed as string));
    }
  }
  return { kind: "answer", answer: { options, rejected } };
}

/**
 * Returns a key for comparing options. Ignores case, because a wrong option that differs from the right one only in
 * case misleads nobody.
 */
function keyOf(text: string): string {
  return folded(normalized(text));
}

function problemOf(proposed: unknown, rightKey: string, keys: ReadonlySet<string>): OptionRejection | undefined {
  if (typeof proposed !== "string") return "malformed";
  if (proposed.length > OPTION_UNITS_MAX) return "too_long";
  const key = keyOf(proposed);
  if (key === "") return "malformed";
  if (namesOthers(proposed)) return "names_others";
  if (key === rightKey) return "is_the_answer";
  return keys.has(key) ? "duplicate" : undefined;
}

/** Reads the indices of the options that a reply calls right. The reply counts from 1, the indices from 0. */
export function readRightPlaces(text: string, count: number): Parsed<ReadonlySet<number>> {
  const read = readList(text, "last");
  if (read.kind === "malformed") return read;
  const places = read.answer.map((number) => (typeof number === "number" ? number - 1 : NaN));
  if (places.every((place) => Number.isInteger(place) && place >= 0 && place < count))
    return { kind: "answer", answer: new Set(places) };
  return { kind: "malformed", reason: "its list must hold only numbers of options" };
}

/**
 * Returns the JSON list in a reply, after its thoughts. `which` says whether the list begins at the first or the last
 * "[".
 */
function readList(text: string, which: "first" | "last"): Parsed<readonly unknown[]> {
  if (text.length > REPLY_UNITS_MAX)
    return { kind: "malformed", reason: `it has ${text.length} characters, and the limit is ${REPLY_UNITS_MAX}` };
  const said = text.slice(text.lastIndexOf("</think>") + 1);
  const end = said.lastIndexOf("]");
  const start = which === "first" ? said.indexOf("[") : said.lastIndexOf("[", end);
  try {
    const list: unknown = start < 0 || end < start ? undefined : JSON.parse(said.slice(start, end + 1));
    if (Array.isArray(list)) return { kind: "answer", answer: list };
  } catch {
    // Unreadable JSON is reported below.
  }
  return { kind: "malformed", reason: "it holds no JSON list" };
}
