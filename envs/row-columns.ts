/** Columns of public data that mean the same to every environment, and how a value of a row is taken as a text. */
import { isRawNumber, numberText, parseExact } from "./lib/exact-json.ts";

export type Row = Readonly<Record<string, unknown>>;

export function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** Whether a table has something there: an empty text is what a table of texts has for nothing. */
export function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}

/** The first column that a row has something in. */
export function firstThere(row: Row, columns: readonly string[]): string | undefined {
  return columns.find((column) => isThere(row[column]));
}

/** A text, or a number in full; undefined: neither. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : numberText(value);
}

/** A list that a table of texts holds as JSON. */
export function unpacked(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]\s*["[{\d\-\]}tfn]/.test(value)) return value;
  try {
    return parseExact(value);
  } catch {
    return value;
  }
}

/** What Python prints for a list, as tables that pandas writes have it: where its items end cannot be told for sure. */
export function isPrintedByPython(value: unknown): boolean {
  return typeof value === "string" && /^\s*\[\s*['"]/.test(value);
}

export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "not there").slice(0, 64);
}

/** Chat messages that a table of texts has as JSON; undefined: as Python writes them, which is no prompt. Else as it is. */
export function unpackedMessages(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*\[\s*\{\s*["'](?:role|content)["']\s*:/.test(value)) return value;
  const messages = unpacked(value);
  return Array.isArray(messages) ? messages : undefined;
}

/** What the last message of chat messages asks, where it is the only one of the user's; a text stands for itself. */
export function askedIn(given: unknown): string | undefined {
  const value = unpackedMessages(given);
  if (!Array.isArray(value)) return typeof value === "string" ? value : undefined;
  const asked = (value as readonly unknown[]).filter((message) => isRow(message) && message["role"] === "user");
  const content = asked.length === 1 && isRow(asked[0]) ? asked[0]["content"] : undefined;
  return typeof content === "string" ? content : undefined;
}

/** Lists of options, in whatever form. */
export const OPTION_LISTS = [
  "options",
  "choices",
  "endings",
  "answer_choices",
  "mc1_targets",
  "choice",
  "answer_options",
] as const;

/** Options in a column each: "A" to "J", "option_a", "opa", "choice1", "ending0", "sol1" and the like. */
export const OPTION_FAMILIES: readonly (readonly string[])[] = [
  ...["", "option_", "option", "op", "choice_", "choice", "answer"].map((prefix) => letters(prefix)),
  ...["option", "option_", "choice", "choice_", "sol"].map((prefix) => numbers(prefix, 1)),
  ...["ending", "answer"].map((prefix) => numbers(prefix, 0)),
];

/** Wrong options beside the right one: a list, or a column each. */
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

/** What a question is about, where it is not in the question itself. */
export const CONTEXTS = [
  "passage",
  "article",
  "context",
  "premise",
  "story",
  "narrative",
  "dialogue",
  "document",
  "body",
  "paragraph",
  "scenario",
  "background",
  "premises",
  "table",
] as const;

/** What a row must not have for a task that is a text, and what it must not have where there are no options. */
export const OPTION_COLUMNS: readonly string[] = [
  ...OPTION_LISTS,
  ...OPTION_FAMILIES.flat(),
  ...WRONG_LISTS,
  ...WRONG_FAMILIES.flat(),
];
export const PICTURE_COLUMNS: readonly string[] = PICTURES;

/** The column that holds options; undefined: the row has none. One of a family alone is something else. */
export function optionColumn(row: Row): string | undefined {
  const list = firstThere(row, [...OPTION_LISTS, ...WRONG_LISTS]);
  if (list !== undefined) return list;
  const [question] = [row["question"]];
  if (isRow(question) && isThere(question["choices"])) return "question.choices";
  const family = [...OPTION_FAMILIES, ...WRONG_FAMILIES].find(
    ([first, second]) => isThere(row[first ?? ""]) && isThere(row[second ?? ""]),
  );
  return family?.[0];
}

/** Where a text shows a picture: of several sets "<image>" and "<image 1>", of NuminaMath what Markdown has. */
const PICTURE = /<image(?:[ _]?\d{1,2})?>|!\[[^\]\n]{0,99}\]\(https?:/;

/** Why a row with a picture is no task; undefined: it has none. */
export function pictureProblem(row: Row, text = ""): string | undefined {
  const column = firstThere(row, PICTURES);
  if (column !== undefined) return `column ${column} holds a picture, and a task here is text alone`;
  return PICTURE.test(text) ? "its text shows a picture, which is not there, and a task here is text alone" : undefined;
}
