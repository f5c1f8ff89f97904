/** Names the columns of public data sets that mean the same to every environment, and reads a row's values as text. */
import { isRawNumber, numberText, parseExact } from "./lib/exact-json.ts";
import { splitWords } from "./lib/words.ts";

export type Row = Readonly<Record<string, unknown>>;

export function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/**
 * Returns whether a row's value in a column is present. Tables of strings contain an empty string in place of a missing
 * value.
 */
export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}

export function firstWithValue(row: Row, columns: readonly string[]): string | undefined {
  return columns.find((column) => hasValue(row[column]));
}

/** Returns a string as it is and a number with all its digits, or undefined for anything else. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : numberText(value);
}

/** Parses a list or an object that a table of strings holds as JSON text. Returns any other value unchanged. */
export function unpacked(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]\s*["[{\d\-\]}tfn]/.test(value)) return value;
  try {
    return parseExact(value);
  } catch {
    return value;
  }
}

/**
 * Returns whether a value is the text of a list as Python prints it, e.g. in tables that pandas writes. Such a text is
 * not parsed, because the ends of its items are ambiguous.
 */
export function isPrintedByPython(value: unknown): boolean {
  return typeof value === "string" && /^\s*\[\s*['"]/.test(value);
}

export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "not there").slice(0, 64);
}

/**
 * Parses chat messages that a table of strings holds as JSON. Returns undefined if the text looks like messages but is
 * not JSON, e.g. if Python printed it. Returns any other value unchanged.
 */
export function unpackedMessages(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*\[\s*\{\s*["'](?:role|content)["']\s*:/.test(value)) return value;
  const messages = unpacked(value);
  return Array.isArray(messages) ? messages : undefined;
}

/**
 * Returns the text of the only user message in a list of chat messages, or a plain string as it is. Returns undefined
 * for other values, e.g. if there are two user messages.
 */
export function askedIn(given: unknown): string | undefined {
  const value = unpackedMessages(given);
  if (!Array.isArray(value)) return typeof value === "string" ? value : undefined;
  const asked = (value as readonly unknown[]).filter((message) => isRow(message) && message["role"] === "user");
  const content = asked.length === 1 && isRow(asked[0]) ? asked[0]["content"] : undefined;
  return typeof content === "string" ? content : undefined;
}

/** Columns with a list of multiple-choice options, in any form. */
export const OPTION_LISTS = splitWords("options choices endings answer_choices mc1_targets choice answer_options");

/**
 * Families of columns with one multiple-choice option each: "A" to "J", "option_a", "opa", "choice1", "ending0", "sol1"
 * and similar names.
 */
export const OPTION_FAMILIES: readonly (readonly string[])[] = [
  ...["", "option_", "option", "op", "choice_", "choice", "answer"].map((prefix) => letters(prefix)),
  ...["option", "option_", "choice", "choice_", "sol"].map((prefix) => numbers(prefix, 1)),
  ...["ending", "answer"].map((prefix) => numbers(prefix, 0)),
];

/** Columns with wrong options beside the correct one: a list, or one column for each. */
export const WRONG_LISTS = ["incorrect_answers", "wrong_answers", "distractors"] as const;
export const WRONG_FAMILIES: readonly (readonly string[])[] = [
  numbers("distractor", 1),
  numbers("distractor_", 1),
  numbers("incorrect_answer_", 1),
];

function letters(prefix: string): readonly string[] {
  return Array.from("abcdefghij", (letter) => `${prefix}${letter}`);
}

function numbers(prefix: string, from: number): readonly string[] {
  return Array.from({ length: 10 }, (_, i) => `${prefix}${from + i}`);
}

const PICTURES = ["image", "images", "image_1", "image_path", "image_url", "decoded_image", "img"] as const;

/** Columns with the text that a question refers to. */
export const CONTEXTS = splitWords(`
  passage article context premise story narrative dialogue document body paragraph scenario background premises
  table
`);

/** All columns with options or wrong options. Environments of free-text answers read them to refuse such rows. */
export const OPTION_COLUMNS: readonly string[] = [
  ...OPTION_LISTS,
  ...OPTION_FAMILIES.flat(),
  ...WRONG_LISTS,
  ...WRONG_FAMILIES.flat(),
];
export const PICTURE_COLUMNS: readonly string[] = PICTURES;

/**
 * Returns the column that holds the multiple-choice options, or undefined if there are none. Options in separate
 * columns count only if the first two columns of a family have values.
 */
export function optionColumn(row: Row): string | undefined {
  const list = firstWithValue(row, [...OPTION_LISTS, ...WRONG_LISTS]);
  if (list !== undefined) return list;
  const [question] = [row["question"]];
  if (isRow(question) && hasValue(question["choices"])) return "question.choices";
  const family = [...OPTION_FAMILIES, ...WRONG_FAMILIES].find(
    ([first, second]) => hasValue(row[first ?? ""]) && hasValue(row[second ?? ""]),
  );
  return family?.[0];
}

/** Matches a picture in a text: "<image>" and "<image 1>" in several data sets, Markdown in NuminaMath. */
const PICTURE = /<image(?:[ _]?\d{1,2})?>|!\[[^\]\n]{0,99}\]\(https?:/;

/** Returns why a row with a picture is no task, or undefined if it has none. */
export function pictureProblem(row: Row, text = ""): string | undefined {
  const column = firstWithValue(row, PICTURES);
  if (column !== undefined) return `column ${column} holds a picture, and tasks are text only`;
  return PICTURE.test(text) ? "its text shows a picture, and tasks are text only" : undefined;
}
