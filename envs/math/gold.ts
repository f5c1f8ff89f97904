/**
 * Finds the expected answer in a row of a data set. A column contains either the answer alone, or a worked solution
 * with the answer at its end. The notations are those of public data sets.
 */
import { scanBoxes } from "../answers/scan.ts";
import { malformed, type Parsed } from "../facts.ts";
import { numberText } from "../lib/exact-json.ts";
import { firstWithValue, isRow, type Row, shown, unpacked } from "../row-columns.ts";
import { readMath } from "./value.ts";

export const ANSWER_LENGTH_MAX = 2_000;

/** Columns that may hold the expected answer. The first one present in a row counts. */
export const ANSWERS = [
  ...["answer", "final_answer", "expected_answer", "ground_truth", "gold_answer", "reward_model", "target"],
  ...["solution", "response"],
] as const;
/** Columns that may hold a whole worked solution. */
const WORKED: readonly string[] = ["solution", "response"];

export interface Gold {
  readonly text: string;
  readonly from: string;
}

export function goldOf(row: Row): Parsed<Gold> {
  const column = firstWithValue(row, ANSWERS);
  if (column === undefined) return malformed(`column answer (or ${ANSWERS.slice(1).join(", ")}) is missing or empty`);
  const given = row[column];
  const name = column === "reward_model" ? "reward_model.ground_truth" : column;
  const whole = isInterval(given) ? given : unpacked(given);
  const value = column === "reward_model" && isRow(whole) ? unpacked(whole["ground_truth"]) : whole;
  const [only, ...others] = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  if (others.length > 0)
    return malformed(
      `column ${name} holds ${others.length + 1} answers, and does not say whether they are alternatives or parts`,
    );
  const text = numberText(only) ?? only;
  if (typeof text !== "string") return malformed(`column ${name} must be a text, and is ${shown(given)}`);
  if (text.trim() === "") return malformed(`column ${name} is empty`);
  const worked = workedOut(text, name, WORKED.includes(column));
  return worked.kind === "malformed" ? worked : checked(worked.answer, name);
}

/**
 * Returns whether a text is a closed interval such as "[-2,2]". JSON would parse such a text as an array, and the row
 * would be refused for having two answers.
 */
function isInterval(given: unknown): boolean {
  const [, low, high] = typeof given === "string" ? (INTERVAL.exec(given) ?? []) : [];
  return low !== undefined && Number(low) < Number(high);
}

const INTERVAL = /^\s*\[\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*\]\s*$/;

/** Matches a line that starts with ####, as GSM8K marks an answer. */
const MARK = /(?:^|\n)[ \t]*#{4}[ \t]*([^\n]*)/g;

/** Returns the answer in a text that may mark it by ####, \boxed{} or "The answer is". */
function workedOut(text: string, name: string, isWorked: boolean): Parsed<Gold> {
  const marked = [...text.matchAll(MARK)].map(([, answer = ""]) => answer.trim());
  if (marked.length > 0) {
    const [answer = "", ...others] = new Set(marked);
    if (others.length > 0) return malformed(`column ${name} has ${others.length + 1} different answers after ####`);
    return gold(answer, `${name}, after ####`);
  }
  // A short text with several boxes is one answer with several values. A worked solution, or other prose, must not have
  // several different boxes.
  const boxes = isWorked || isProse(text) ? boxesIn(text) : [];
  if (boxes.length > 1)
    return malformed(`column ${name} has ${boxes.length} different boxes: keep only the one with the answer`);
  const [box] = boxes;
  if (box !== undefined) return gold(box, `${name}, in \\boxed{}`);
  const said = SAID.exec(text)?.[1];
  if (said !== undefined && isProse(text)) return gold(said, `${name}, after "The answer is"`);
  if (isProse(text))
    return malformed(
      `column ${name} is a text in which nothing says where its answer is (####, \\boxed{} or "The answer is"): ${shown(text)}`,
    );
  return gold(text, name);
}

/** Matches "The answer is …" at the end of a text, as MetaMathQA writes it. */
const SAID = /(?:^|[\s.])[Tt]he (?:final )?answer is:? *([^\n]*?)\.?\s*$/;

/** Maximum number of plain words in an answer, outside \text{} and similar commands. */
const WORDS_MAX = 6;
const WORD = /(?<![\\a-zA-Z])[a-zA-Z]{2,}/g;

/** Returns whether a text is more than a bare answer: it has many words, several lines of words, or sentences. */
function isProse(text: string): boolean {
  const bare = text.trim().replaceAll(/\\(?:text|textbf|mathrm|mbox|textit)\s*\{[^{}]*\}/g, " 0 ");
  const lines = bare.split("\n").filter((line) => /(?<![\\a-zA-Z])[a-zA-Z]{3,}/.test(line));
  const words = bare.match(WORD) ?? [];
  return lines.length > 1 || words.length > WORDS_MAX || /[a-z]{2}[.!?]\s+[A-Z][a-z]+\s[a-z]/.test(bare);
}

/** Returns the contents of the \boxed commands in a text, without duplicates. */
function boxesIn(text: string): readonly string[] {
  const boxed = text.replaceAll("\\fbox", "\\boxed");
  const { offsets } = scanBoxes(boxed, 0, boxed.length);
  const found = new Map<string, string>();
  for (let i = 0; i < offsets.length; i += 2) {
    const inner = boxed.slice(offsets[i], offsets[i + 1]).trim();
    found.set(inner.replaceAll(/\s+|\\[!,;]/g, ""), inner);
  }
  return [...found.values()];
}

/** Matches a placeholder in place of an answer, such as "see solution" or "N/A". */
const NO_ANSWER =
  /^[\s$*.("]*(?:\\(?:text|textbf|mathrm|boxed)\s?\{\s?)?(?:proof|see (?:the )?(?:proof|solution|above)|q\.?\s?e\.?\s?d|not ?(?:provided|available|found)|n\/a|nan|null|none|unknown|\[?invalid\]?|\?+|-+|证明)[\s$*.)"}]*$/i;

function checked({ text, from }: Gold, name: string): Parsed<Gold> {
  if (text.trim() === "") return malformed(`column ${from} is empty`);
  if (NO_ANSWER.test(text))
    return malformed(`column ${name} holds no answer, only the placeholder ${JSON.stringify(text.slice(0, 40))}`);
  if (text.length > ANSWER_LENGTH_MAX)
    return malformed(`column ${name} has ${text.length} characters, and the limit is ${ANSWER_LENGTH_MAX}`);
  const read = readMath(text);
  if (read.kind === "malformed") return malformed(`column ${name} cannot be read: ${read.reason}`);
  return gold(text, from);
}

function gold(text: string, from: string): Parsed<Gold> {
  return { kind: "answer", answer: { text, from } };
}
