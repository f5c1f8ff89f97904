/** Reads a list of whole numbers, such as [0, 3, 1], as a model writes it: by hand, in one pass, with caps. */
import type { Parsed } from "../environment.ts";
import { skipSpace } from "./space.ts";

/** Longer lists are no answer to any task that asks for one. */
const COUNT_MAX = 1000;
/** Numbers of more digits are refused: nine always fit 32 bits. */
export const DIGITS_MAX = 9;

const MINUS = 45;
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
  let at = skipSpace(text, open + 1);
  if (text.charCodeAt(at) === CLOSE) return nothingAfter(text, at, list);
  for (;;) {
    const end = digitsEnd(text, at);
    const digits = end - digitsStart(text, at);
    if (digits === 0) return unexpected(text, at, list.length === 0 ? "a whole number or ']'" : "a whole number");
    if (digits > DIGITS_MAX) return malformed(`a number of more than ${DIGITS_MAX} digits`);
    if (list.length === COUNT_MAX) return malformed(`a list of more than ${COUNT_MAX} numbers`);
    list.push(readNumber(text, at, end));
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === CLOSE) return nothingAfter(text, at, list);
    if (text.charCodeAt(at) !== COMMA) return unexpected(text, at, "',' or ']'");
    at = skipSpace(text, at + 1);
  }
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

/** Where the digits of a number that may have a minus start. */
export function digitsStart(text: string, at: number): number {
  return text.charCodeAt(at) === MINUS ? at + 1 : at;
}

/** Where they end; the same if there are none. */
export function digitsEnd(text: string, start: number): number {
  let at = digitsStart(text, start);
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

/** The number between a start and an end that digitsEnd gave. */
export function readNumber(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = digitsStart(text, start); at < end; at++) value = value * 10 + text.charCodeAt(at) - 48;
  // Not −0, which is 0 in every list but not equal to it everywhere.
  return text.charCodeAt(start) === MINUS && value !== 0 ? -value : value;
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
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
