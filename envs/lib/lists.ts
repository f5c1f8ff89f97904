/**
 * Reads lists of whole numbers, such as [0, 3, 1], as people and models write them: by hand, in one pass, with caps. What
 * surrounds an answer is gone before (envs/answers/strip.ts).
 */
import type { Parsed } from "../facts.ts";
import { narrow, skipGap } from "./text.ts";

/** Longer lists are no answer to any task that asks for one. */
const COUNT_MAX = 1000;
/** Numbers of more digits are refused: nine always fit 32 bits. */
export const DIGITS_MAX = 9;

const MINUS = 45;
const ZERO = 48;
const COMMA = 44;
const BACKSLASH = 92;
const OPENING = "[({";
const CLOSING = "])}";

/**
 * Numbers with commas between them, in brackets, parentheses or braces, also those of LaTeX (\left[, \{), and white space
 * or LaTeX's spaces anywhere but within a number. A comma may follow the last number; a single number in parentheses
 * needs one, or it is a number and no list. Digits are ASCII; a minus may stand before them, and zeros lead, but there
 * are no points, exponents or other signs. Anything before or after the list is refused. Time is linear in the text's
 * length.
 */
export function parseIntList(text: string): Parsed<readonly number[]> {
  return parseList(text, takeNumber);
}

/** Reads the number at a cursor: see takeNumber. */
export type NumberReader = (text: string, cursor: Cursor) => number;

/** The same, with numbers read in another way. */
export function parseList(text: string, takeItem: NumberReader): Parsed<readonly number[]> {
  const cursor = { at: skipGap(text, 0) };
  const list = takeList(text, cursor, takeItem);
  if (typeof list === "string") return malformed(list);
  if (cursor.at < text.length) return malformed(foundInstead(text, cursor.at, "nothing after the list"));
  return { kind: "answer", answer: list };
}

/** Reads the list at a cursor, which is at no space, and moves that behind it and the spaces there. Words: no list is there. */
export function takeList(
  text: string,
  cursor: Cursor,
  takeItem: NumberReader = takeNumber,
): readonly number[] | string {
  const bracket = takeOpening(text, cursor);
  if (bracket === undefined) return foundInstead(text, cursor.at, "'['");
  const list: number[] = [];
  if (takeClosing(text, cursor, bracket)) return list;
  for (;;) {
    const item = takeItem(text, cursor);
    if (!Number.isFinite(item)) return noNumber(text, cursor.at, item, list.length === 0 ? bracket : undefined);
    if (list.length === COUNT_MAX) return `a list of more than ${COUNT_MAX} numbers`;
    list.push(item);
    cursor.at = skipGap(text, cursor.at);
    const comma = takeComma(text, cursor);
    const closes = cursor.at;
    if (takeClosing(text, cursor, bracket)) {
      const isOne = bracket === ")" && list.length === 1 && !comma;
      return isOne ? foundInstead(text, closes, "',' after the one number in parentheses") : list;
    }
    if (!comma) return foundInstead(text, cursor.at, `',' or '${bracket}'`);
  }
}

function noNumber(text: string, at: number, found: number, bracket: string | undefined): string {
  if (found === Infinity) return `a number of more than ${DIGITS_MAX} digits`;
  return foundInstead(text, at, bracket === undefined ? "a whole number" : `a whole number or '${bracket}'`);
}

/** Passes over the bracket that opens a list and the spaces after it, and gives the one that closes it. */
export function takeOpening(text: string, cursor: Cursor): string | undefined {
  const at = bracketAt(text, cursor.at, "\\left");
  const bracket = CLOSING[OPENING.indexOf(plain(text, at))];
  if (bracket !== undefined) cursor.at = skipGap(text, at + 1);
  return bracket;
}

/** Passes over a closing bracket and the spaces after it, if that is what comes next. */
export function takeClosing(text: string, cursor: Cursor, bracket: string): boolean {
  const at = bracketAt(text, cursor.at, "\\right");
  if (plain(text, at) !== bracket) return false;
  cursor.at = skipGap(text, at + 1);
  return true;
}

/** Passes over a comma and the spaces after it, if that is what comes next. */
export function takeComma(text: string, cursor: Cursor): boolean {
  if (narrow(text.charCodeAt(cursor.at)) !== COMMA) return false;
  cursor.at = skipGap(text, cursor.at + 1);
  return true;
}

/** Past LaTeX's word for a bracket that grows with its content, and the backslash of "\{", if they are there. */
function bracketAt(text: string, from: number, word: string): number {
  if (text.charCodeAt(from) !== BACKSLASH) return from;
  const at = text.startsWith(word, from) ? skipGap(text, from + word.length) : from;
  const isEscaped = text.charCodeAt(at) === BACKSLASH && (text[at + 1] === "{" || text[at + 1] === "}");
  return isEscaped ? at + 1 : at;
}

/** The character there, a full-width one as the ASCII one that it stands for; none at the end. */
function plain(text: string, at: number): string {
  return at < text.length ? String.fromCharCode(narrow(text.charCodeAt(at))) : "none";
}

/** "[0, 3, 1]", which reads back as it was. */
export function formatIntList(list: readonly number[]): string {
  return `[${list.join(", ")}]`;
}

/** A place in a text. */
export interface Cursor {
  at: number;
}

/**
 * Reads the number at a cursor and moves that behind it. NaN: no number is there; Infinity: one of more than DIGITS_MAX
 * digits. Then the cursor stays.
 */
export function takeNumber(text: string, cursor: Cursor): number {
  const negative = text.charCodeAt(cursor.at) === MINUS;
  const start = negative ? cursor.at + 1 : cursor.at;
  let at = start;
  let value = 0;
  for (; at < text.length && at <= start + DIGITS_MAX; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === start) return NaN;
  if (at > start + DIGITS_MAX) return Infinity;
  cursor.at = at;
  // Not −0, which is 0 in every list but not equal to it everywhere.
  return negative && value !== 0 ? -value : value;
}

/** "expected ',', found '.' at character 3" */
export function foundInstead(text: string, at: number, wanted: string): string {
  const point = text.codePointAt(at);
  const found = point === undefined ? "the end" : `'${String.fromCodePoint(point)}' at character ${at + 1}`;
  return `expected ${wanted}, found ${found}`;
}

function malformed(reason: string): Parsed<never> {
  return { kind: "malformed", reason: `not a list of whole numbers: ${reason}` };
}

// Answers that choose some of a numbered lot, such as [0, 3, 1]: each number at most once, in any order.

export type IndexList = readonly number[];

/** Reads a list as it stands: whether its numbers are in range and different is for `indexProblem`. */
export function parseIndexList(text: string): Parsed<IndexList> {
  return parseIntList(text);
}

/** "[0, 3, 1]" */
export function formatIndexList(list: IndexList): string {
  return formatIntList(list);
}

/**
 * What is wrong with the first number that is out of range or comes a second time; undefined: nothing. The numbers
 * range from 0 to count − 1; one thing is called `one`, several are called `many`: "vertex", "vertices".
 */
export function indexProblem(list: IndexList, count: number, one: string, many: string): string | undefined {
  const seen = new Uint8Array(count);
  for (const index of list) {
    if (!(index >= 0 && index < count)) return `${one} ${index} does not exist: ${many} are 0 to ${count - 1}`;
    if (seen[index] === 1) return `${one} ${index} is listed twice`;
    seen[index] = 1;
  }
  return undefined;
}

// Answers that go round in a circle, such as [0, 1, 3, 2, 0].

/** The stops in the order they are visited, without the return to the first. */
export type CycleList = readonly number[];

/** Reads a list of stops. The return to the first may be written or left out. */
export function parseCycleList(text: string): Parsed<CycleList> {
  const parsed = parseIntList(text);
  if (parsed.kind === "malformed") return parsed;
  const list = parsed.answer;
  const closed = list.length > 1 && list[0] === list.at(-1);
  return closed ? { kind: "answer", answer: list.slice(0, -1) } : parsed;
}

/** "[0, 1, 3, 2, 0]" */
export function formatCycleList(list: CycleList): string {
  return formatIntList([...list, ...list.slice(0, 1)]);
}
