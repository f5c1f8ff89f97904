/** Questions with options of which one is right, read from rows of SuperGPQA's and MMLU-Pro's columns. */
import { locateAnswers } from "../answers/locate.ts";
import { formatInstruction, wrapAnswer } from "../answers/wording.ts";
import type { Level, RowDefinition } from "../environment.ts";
import type { Parsed } from "../facts.ts";
import type { AnswerFormat, ChatMessage } from "../prompt.ts";
import { keyOf, rngFor } from "../lib/rng.ts";
import { collapsed, folded, matcherOf, normalized, OPTION_UNITS_MAX } from "./match.ts";

export interface Question {
  readonly question: string;
  /** In the order in which they are shown; no two are compared as the same. */
  readonly options: readonly string[];
  /** The place of the right one. */
  readonly right: number;
  readonly level: string;
  /** SuperGPQA's discipline, MMLU-Pro's category; "": not known. */
  readonly category: string;
  /** SuperGPQA's field and subfield; "": not known. */
  readonly field: string;
}

const QUESTION_UNITS_MAX = 32_768;
/** Options have letters. */
const OPTIONS_MAX = 26;
const NAME_UNITS_MAX = 128;
const FORMATS: readonly AnswerFormat[] = ["think_answer", "answer_line", "answer_tag", "boxed"];

const DIFFICULTIES = ["easy", "middle", "hard"];
const UNRATED = "unrated";

const levels: readonly Omit<Level, "parameters">[] = [
  ...DIFFICULTIES.map((name) => ({ name, description: `questions whose column difficulty is ${name}` })),
  { name: UNRATED, description: "questions without a difficulty, as MMLU-Pro's" },
];

export const rows = {
  read,
  columns: [
    ...["question", "options", "answer", "answer_letter", "answer_index"],
    ...["difficulty", "discipline", "category", "field", "subfield"],
  ],
  levels,
  levelOf: ({ level }) => level,
  defaultPool: { name: "qa", file: new URL("pool.jsonl", import.meta.url) },
} satisfies RowDefinition<Question>;

/** The order in which options come, in the row or to the policy, makes no other task. */
export function canonical({ question, options, right }: Question): string {
  return keyOf(question, options[right] as string, ...[...options].sort());
}

/** One question is of one split, whatever the options that it is given with. */
export function invariant({ question }: Question): string {
  return folded(normalized(question));
}

export function metadata({ options, level, category, field }: Question): Readonly<Record<string, string>> {
  const known = Object.entries({ category, field }).filter(([, name]) => name !== "");
  return { ...Object.fromEntries(known), difficulty: level, options: `${options.length}` };
}

/** What the policy is asked. */
export function prompt(question: string, lines: readonly string[], ask: string, format: AnswerFormat): ChatMessage[] {
  const content = [question, "", ...lines, "", ask, formatInstruction(format)].join("\n");
  return [{ role: "user", content }];
}

type Row = Readonly<Record<string, unknown>>;

function read(row: unknown): Parsed<Question> {
  if (typeof row !== "object" || row === null) return malformed("a row is an object with question, options and answer");
  const from = row as Row;
  const question = textOf(from["question"], QUESTION_UNITS_MAX)?.trim();
  if (question === undefined || question === "")
    return malformed(`column question must be a text of 1 to ${QUESTION_UNITS_MAX} characters`);
  const given = readOptions(from["options"]);
  if (given.kind === "malformed") return given;
  const right = readRight(from, given.answer);
  if (right.kind === "malformed") return right;
  const options = distinct(given.answer, right.answer);
  if (options.kind === "malformed") return options;
  const level = from["difficulty"] ?? UNRATED;
  if (typeof level !== "string" || !levels.some(({ name }) => name === level))
    return malformed(`column difficulty must be one of ${DIFFICULTIES.join(", ")}, and is ${shown(level)}`);
  const shuffled = rngFor("qa options", question, ...options.answer).shuffle(options.answer);
  const names = (...columns: readonly string[]): readonly string[] =>
    columns.flatMap((column) => textOf(from[column], NAME_UNITS_MAX) ?? []).filter((name) => name !== "");
  return {
    kind: "answer",
    answer: {
      ...{ question, options: shuffled, right: shuffled.indexOf(right.answer), level },
      category: names("discipline", "category")[0] ?? "",
      field: names("field", "subfield").join(": "),
    },
  };
}

/** As they are shown and asked for: in one line, for the list of them has a line for each. */
function readOptions(options: unknown): Parsed<readonly string[]> {
  if (!Array.isArray(options) || options.length < 2 || options.length > OPTIONS_MAX)
    return malformed(
      `column options must be a list of 2 to ${OPTIONS_MAX} texts, and is ${shown(options)}: gradus pools distract asks a teacher for wrong ones`,
    );
  const texts: string[] = [];
  for (const option of options as readonly unknown[]) {
    const text = textOf(option, OPTION_UNITS_MAX);
    if (text === undefined || normalized(text) === "")
      return malformed(`column options: ${shown(option)} is no text of 1 to ${OPTION_UNITS_MAX} characters`);
    if (namesOthers(text))
      return malformed(`column options: ${shown(text)} names other options by letter, and their order is not kept`);
    texts.push(collapsed(text));
  }
  return { kind: "answer", answer: texts };
}

const LETTER = "\\(?[A-J]\\)?";

/** "Both A and C", "(A), (B) and (D) only", "None of A or B". */
const NAMES_OTHERS = new RegExp(
  `^(?:both |either |neither |all of |none of |only )?(?:options? |choices? |answers? )?${LETTER}(?:, ?${LETTER}){0,8},? (?:and|or|nor|&) ${LETTER}(?: only| above| are correct| are both correct)?\\.?$`,
  "i",
);

export function namesOthers(option: string): boolean {
  return NAMES_OTHERS.test(option.trim());
}

/** The right option: MMLU-Pro gives its index and letter, SuperGPQA its text and letter. */
function readRight(from: Row, options: readonly string[]): Parsed<string> {
  const { answer, answer_index: index, answer_letter: letter } = from;
  const find = (place: unknown): string | undefined => (typeof place === "number" ? options[place] : undefined);
  if (typeof answer !== "string") return malformed(`column answer must be a text, and is ${shown(answer)}`);
  if (index !== undefined && index !== null) {
    const right = find(index);
    if (right === undefined)
      return malformed(`column answer_index must be the index of an option, and is ${shown(index)}`);
    if (placeOf(answer) === index || normalized(answer) === normalized(right)) return { kind: "answer", answer: right };
    return malformed(`column answer is ${shown(answer)}, and answer_index says ${shown(right)}`);
  }
  const right = options.find((option) => normalized(option) === normalized(answer));
  if (right === undefined) return malformed(`column answer must be one of the options, and is ${shown(answer)}`);
  if (typeof letter !== "string") return { kind: "answer", answer: right };
  if (normalized(find(placeOf(letter)) ?? "") === normalized(answer)) return { kind: "answer", answer: right };
  return malformed(`column answer_letter is ${shown(letter)}, which is not where the answer stands in options`);
}

/** The place of a letter; undefined: it is none. */
function placeOf(letter: string): number | undefined {
  return /^[A-Z]$/.test(letter) ? letter.charCodeAt(0) - 65 : undefined;
}

/** The options in an order of their own. Wrong ones that come twice, and MMLU-Pro's filling "N/A", come once or not at all. */
function distinct(options: readonly string[], right: string): Parsed<readonly string[]> {
  const rightKey = normalized(right);
  const alike = options.filter((option) => normalized(option) === rightKey);
  if (alike.length > 1)
    return malformed(
      `column options: ${shown(alike[0])} and ${shown(alike[1])} are compared as the same, and are right`,
    );
  const byKey = new Map(options.map((option) => [normalized(option), option]));
  byKey.delete("N/A");
  byKey.set(rightKey, right);
  if (byKey.size < 2)
    return malformed("column options holds no wrong one: gradus pools distract asks a teacher for some");
  const unreadable = FORMATS.find((format) => !comesBack(right, format));
  if (unreadable !== undefined)
    return malformed(`column answer: ${shown(right)} is not read back from the answer format ${unreadable}`);
  return { kind: "answer", answer: [...byKey.values()].sort() };
}

/** Whether an option that is given as an answer is found: one that holds "</answer>", or half a pair of braces, is not. */
function comesBack(option: string, format: AnswerFormat): boolean {
  const { answer } = locateAnswers(wrapAnswer(option, format), format);
  return answer !== undefined && normalized(answer) === normalized(option);
}

/** Matchers of questions that are being answered. */
const matchers = new WeakMap<Question, ReturnType<typeof matcherOf>>();

/** The place of the option that a text is; −1: it is none. */
export function placeOfText(question: Question, text: string): number {
  const known = matchers.get(question) ?? matcherOf(question.options);
  matchers.set(question, known);
  return known(text);
}

function textOf(value: unknown, unitsMax: number): string | undefined {
  return typeof value === "string" && value.length <= unitsMax ? value : undefined;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "not there").slice(0, 64);
}

function malformed(reason: string): Parsed<never> {
  return { kind: "malformed", reason };
}
