/** Defines a question with one right option, and reads it from rows of public data. */
import { cutInstructions } from "../answers/instructions.ts";
import { locateAnswers } from "../answers/locate.ts";
import { formatInstruction, wrapAnswer } from "../answers/wording.ts";
import type { Level, RowDefinition, RowRead } from "../environment.ts";
import { malformed, type Parsed } from "../facts.ts";
import type { AnswerFormat, ChatMessage } from "../prompt.ts";
import { keyOf, rngFor } from "../lib/rng.ts";
import { numberIn } from "../pool-ranks.ts";
import {
  askedIn,
  firstWithValue,
  isRow,
  CONTEXTS,
  OPTION_COLUMNS,
  PICTURE_COLUMNS,
  pictureProblem,
  type Row,
  shown,
} from "../row-columns.ts";
import { folded, matcherOf, normalized } from "./match.ts";
import { optionsOf, RIGHT_TEXTS } from "./options.ts";
import { ANSWERS, INDEX, LETTER, NUMBER, RIGHT_COLUMNS, rightOf } from "./right-option.ts";

export interface Question {
  readonly question: string;
  /** Options in the order in which the prompt shows them. No two are equal after normalization. */
  readonly options: readonly string[];
  /** Index of the right option. */
  readonly right: number;
  readonly level: string;
  /** SuperGPQA's discipline or MMLU-Pro's category. Empty if unknown. */
  readonly category: string;
  /** SuperGPQA's field and subfield. Empty if unknown. */
  readonly field: string;
}

const QUESTION_UNITS_MAX = 32_768;
const NAME_UNITS_MAX = 128;
const FORMATS: readonly AnswerFormat[] = ["think_answer", "answer_line", "answer_tag", "boxed"];

const DIFFICULTIES = ["easy", "middle", "hard"];
const UNRATED = "unrated";

const levels: readonly Omit<Level, "parameters">[] = [
  ...DIFFICULTIES.map((name) => ({ name, description: `questions whose column difficulty is ${name}` })),
  { name: UNRATED, description: "questions without a difficulty, such as those of MMLU-Pro" },
];

/**
 * Columns that may hold the question. The first one present in a row counts. Its value is a text, or an object with the
 * question in its field "stem".
 */
const QUESTIONS = [...["question", "question_stem", "query", "problem", "prompt", "ctx", "sentence", "goal"]] as const;
/** Column of MMLU-Redux that says what is wrong with a row. */
const FAULT = "error_type";
const CATEGORIES = ["discipline", "category", "subject", "subject_name"] as const;
const FIELDS = ["field", "subfield"] as const;

export const rows = {
  read,
  columns: [
    ...[...QUESTIONS, ...CONTEXTS, ...OPTION_COLUMNS, ...RIGHT_COLUMNS],
    ...["difficulty", FAULT, ...CATEGORIES, ...FIELDS, ...PICTURE_COLUMNS],
  ],
  fields: {
    question: QUESTIONS,
    context: CONTEXTS,
    options: OPTION_COLUMNS,
    answer: [...new Set([...ANSWERS, ...RIGHT_TEXTS, INDEX, NUMBER, LETTER])],
  },
  levels,
  levelOf: ({ level }) => level,
  // The key includes the options, because a stem such as "Which of these is true?" does not identify a question.
  asked: ({ question, options }) => keyOf(folded(normalized(question)), ...options.map(normalized).sort()),
  problem: ({ question, options, right }) =>
    keyOf(folded(normalized(question)), folded(normalized(options[right] as string))),
  defaultPool: { name: "qa", file: new URL("pool.jsonl", import.meta.url) },
} satisfies RowDefinition<Question>;

/** Returns a text that identifies a task. The order of the options does not matter. */
export function canonical({ question, options, right }: Question): string {
  return keyOf(question, options[right] as string, ...[...options].sort());
}

/**
 * Returns the key that decides the split of a question. Questions that differ only in their options have the same key.
 */
export function invariant({ question }: Question): string {
  return folded(normalized(question));
}

export function metadata({ options, level, category, field }: Question): Readonly<Record<string, string>> {
  const known = Object.entries({ category, field }).filter(([, name]) => name !== "");
  return { ...Object.fromEntries(known), difficulty: level, options: `${options.length}` };
}

/** Returns one user message: the question, the lines of its options, the request and the instruction on the format. */
export function prompt(question: string, lines: readonly string[], ask: string, format: AnswerFormat): ChatMessage[] {
  const content = [cutInstructions(question, "qa").text, "", ...lines, "", ask, formatInstruction(format)].join("\n");
  return [{ role: "user", content }];
}

function read(row: unknown): RowRead<Question> {
  if (!isRow(row)) return malformed("a row is an object: give it the columns question, options and answer");
  const question = questionIn(row);
  if (question.kind === "malformed") return question;
  const picture = pictureProblem(row, question.answer.text);
  if (picture !== undefined) return malformed(picture);
  const fault = row[FAULT] ?? "";
  if (fault !== "" && fault !== "ok") return malformed(`column ${FAULT} says that the row is faulty: ${shown(fault)}`);
  const given = optionsOf(row);
  if (given.kind === "malformed") return given;
  const right = rightOf(row, given.answer);
  if (right.kind === "malformed") return right;
  const rightText = given.answer.texts[right.answer.place] as string;
  const options = distinct(given.answer.texts, rightText);
  if (options.kind === "malformed") return options;
  const level = levelIn(row);
  if (level === undefined)
    return malformed(
      `column difficulty must be one of ${DIFFICULTIES.join(", ")}, or a number, and is ${shown(row["difficulty"])}`,
    );
  const { text, from } = question.answer;
  const shuffled = rngFor("qa options", text, ...options.answer).shuffle(options.answer);
  const names = (...columns: readonly string[]): readonly string[] =>
    columns.flatMap((column) => textOf(row[column], NAME_UNITS_MAX) ?? []).filter((name) => name !== "");
  return {
    kind: "answer",
    answer: {
      question: text,
      options: shuffled,
      right: shuffled.indexOf(rightText),
      level,
      category: names(...CATEGORIES)[0] ?? "",
      field: names(...FIELDS).join(": "),
    },
    taken: [
      ["question", from],
      ["options", given.answer.from],
      ["answer", right.answer.from],
    ],
    instructions: () => cutInstructions(text, "qa"),
    ...(right.answer.proof && { proof: right.answer.proof }),
  };
}

/** Returns the question's text, with its context before it. */
function questionIn(row: Row): Parsed<{ readonly text: string; readonly from: string }> {
  const column = firstWithValue(row, QUESTIONS) ?? "question";
  const given = row[column];
  const stem = askedIn(isRow(given) ? given["stem"] : given);
  const about = firstWithValue(row, CONTEXTS);
  const context = about === undefined ? "" : textOf(row[about], QUESTION_UNITS_MAX)?.trim();
  if (context === undefined)
    return malformed(`column ${about} must be a text of at most ${QUESTION_UNITS_MAX} characters`);
  const text = stem?.trim() ?? "";
  if (text === "" || text.length + context.length > QUESTION_UNITS_MAX)
    return malformed(`column ${column} must be a text of 1 to ${QUESTION_UNITS_MAX} characters`);
  const name = isRow(given) ? `${column}.stem` : column;
  return {
    kind: "answer",
    answer: context === "" ? { text, from: name } : { text: `${context}\n\n${text}`, from: `${about} and ${name}` },
  };
}

/**
 * Returns the level of a row. A number in the column difficulty ranks the question but is not a level, so the level is
 * "unrated". Returns undefined for an unknown level.
 */
function levelIn({ difficulty = UNRATED }: Row): string | undefined {
  if (difficulty === null || difficulty === "" || numberIn(difficulty) !== undefined) return UNRATED;
  return typeof difficulty === "string" && levels.some(({ name }) => name === difficulty) ? difficulty : undefined;
}

/** Returns the options in sorted order. Repeated wrong options are merged, and MMLU-Pro's filler "N/A" is dropped. */
function distinct(options: readonly string[], right: string): Parsed<readonly string[]> {
  const rightKey = normalized(right);
  const alike = options.filter((option) => normalized(option) === rightKey);
  if (alike.length > 1)
    return malformed(
      `column options: ${shown(alike[0])} and ${shown(alike[1])} are equal after normalization, so that two options would be right`,
    );
  const byKey = new Map(options.map((option) => [normalized(option), option]));
  byKey.delete("N/A");
  byKey.set(rightKey, right);
  if (byKey.size < 2)
    return malformed(
      "column options holds no wrong option: to have a teacher model write some, run gradus pools distract",
    );
  const unreadable = FORMATS.find((format) => !comesBack(right, format));
  if (unreadable !== undefined)
    return malformed(
      `column answer: ${shown(right)} cannot be read back from a completion in the answer format ${unreadable}`,
    );
  return { kind: "answer", answer: [...byKey.values()].sort() };
}

/**
 * Returns whether an option can be read back from an answer in this format. An option with "</answer>" or an unpaired
 * brace cannot.
 */
function comesBack(option: string, format: AnswerFormat): boolean {
  const { answer } = locateAnswers(wrapAnswer(option, format), format);
  return answer !== undefined && normalized(answer) === normalized(option);
}

/** Cache of the functions that match texts with a question's options. */
const matchers = new WeakMap<Question, ReturnType<typeof matcherOf>>();

/** Returns the index of the option that a text equals after normalization, or −1. */
export function placeOfText(question: Question, text: string): number {
  const known = matchers.get(question) ?? matcherOf(question.options);
  matchers.set(question, known);
  return known(text);
}

function textOf(value: unknown, unitsMax: number): string | undefined {
  return typeof value === "string" && value.length <= unitsMax ? value : undefined;
}
