/** Reads a list of whole numbers, such as [0, 3, 1], as a model writes it: by hand, in one pass, with caps. */
import type { Parsed } from "../environment.ts";

/** Longer lists are no answer to any task that asks for one. */
const COUNT_MAX = 1000;
/** Numbers of more digits are refused: nine always fit 32 bits. */
const DIGITS_MAX = 9;

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
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN) return unexpected(text, at, "'['");
  at = skipSpace(text, at + 1);
  const list: number[] = [];
  if (text.charCodeAt(at) !== CLOSE) {
    for (;;) {
      const end = numberEnd(text, at);
      if (end < 0) return unexpected(text, at, list.length === 0 ? "a whole number or ']'" : "a whole number");
      if (end - at > DIGITS_MAX + 1) return malformed(`a number of more than ${DIGITS_MAX} digits`);
      if (list.length === COUNT_MAX) return malformed(`a list of more than ${COUNT_MAX} numbers`);
      list.push(readNumber(text, at, end));
      at = skipSpace(text, end);
      const unit = text.charCodeAt(at);
      if (unit === CLOSE) break;
      if (unit !== COMMA) return unexpected(text, at, "',' or ']'");
      at = skipSpace(text, at + 1);
    }
  }
  at = skipSpace(text, at + 1);
  return at === text.length ? { kind: "answer", answer: list } : unexpected(text, at, "nothing after the list");
}

/** Past the end of the number that starts here; -1: none does. */
function numberEnd(text: string, start: number): number {
  const first = text.charCodeAt(start) === MINUS ? start + 1 : start;
  let at = first;
  while (isDigit(text.charCodeAt(at))) at++;
  return at > first ? at : -1;
}

function readNumber(text: string, start: number, end: number): number {
  const negative = text.charCodeAt(start) === MINUS;
  let value = 0;
  for (let at = negative ? start + 1 : start; at < end; at++) value = value * 10 + text.charCodeAt(at) - 48;
  // Not −0, which is 0 in every list but not equal to it everywhere.
  return negative && value !== 0 ? -value : value;
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

function isSpace(unit: number): boolean {
  return unit === 32 || (unit >= 9 && unit <= 13);
}

function unexpected(text: string, at: number, wanted: string): Parsed<never> {
  const point = text.codePointAt(at);
  const found = point === undefined ? "the end" : `'${String.fromCodePoint(point)}' at character ${at + 1}`;
  return malformed(`expected ${wanted}, found ${found}`);
}

function malformed(reason: string): Parsed<never> {
  return { kind: "malformed", reason: `not a list of whole numbers: ${reason}` };
}
