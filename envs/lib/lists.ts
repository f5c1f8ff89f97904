/** Reads a list of whole numbers, such as [0, 3, 1], as a model writes it: by hand, in one pass, with caps. */
import type { Parsed } from "../environment.ts";
import { skipSpace } from "./text.ts";

/** Longer lists are no answer to any task that asks for one. */
const COUNT_MAX = 1000;
/** Numbers of more digits are refused: nine always fit 32 bits. */
export const DIGITS_MAX = 9;

const MINUS = 45;
const ZERO = 48;
const COMMA = 44;
const OPEN = 91;
const CLOSE = 93;

/**
 * Numbers in square brackets, with commas between them and white space anywhere but within a number. Digits are ASCII;
 * a minus may stand before them, and zeros lead, but there are no points, exponents or other signs. Anything before or
 * after the list is refused. Time is linear in the text's length.
 */
export function parseIntList(text: string): Parsed<readonly number[]> {
  const open = skipSpace(text, 0);
  if (text.charCodeAt(open) !== OPEN) return unexpected(text, open, "'['");
  const list: number[] = [];
  const cursor: Cursor = { at: skipSpace(text, open + 1) };
  if (text.charCodeAt(cursor.at) === CLOSE) return nothingAfter(text, cursor.at, list);
  for (;;) {
    const number = takeNumber(text, cursor);
    if (!Number.isFinite(number)) return noNumber(text, cursor.at, number, list.length);
    if (list.length === COUNT_MAX) return malformed(`a list of more than ${COUNT_MAX} numbers`);
    list.push(number);
    const at = skipSpace(text, cursor.at);
    const mark = text.charCodeAt(at);
    if (mark === CLOSE) return nothingAfter(text, at, list);
    if (mark !== COMMA) return unexpected(text, at, "',' or ']'");
    cursor.at = skipSpace(text, at + 1);
  }
}

function noNumber(text: string, at: number, found: number, count: number): Parsed<never> {
  if (found === Infinity) return malformed(`a number of more than ${DIGITS_MAX} digits`);
  return unexpected(text, at, count === 0 ? "a whole number or ']'" : "a whole number");
}

/** "[0, 3, 1]", which reads back as it was. */
export function formatIntList(list: readonly number[]): string {
  return `[${list.join(", ")}]`;
}

/** The list that is closed here, if it ends the text. */
function nothingAfter(text: string, close: number, list: readonly number[]): Parsed<readonly number[]> {
  const at = skipSpace(text, close + 1);
  return at === text.length ? { kind: "answer", answer: list } : unexpected(text, at, "nothing after the list");
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

function unexpected(text: string, at: number, wanted: string): Parsed<never> {
  return malformed(foundInstead(text, at, wanted));
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
