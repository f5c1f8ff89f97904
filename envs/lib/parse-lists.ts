/**
 * Reads lists of integers, such as [0, 3, 1], in the spellings of people and models. The parser is hand-written, makes
 * one pass, and limits all sizes. `envs/answers/strip.ts` removes the wrapping of an answer first.
 */
import type { Parsed } from "../facts.ts";
import { narrow, skipGap } from "./text.ts";

/** Maximum length of a list. No task asks for a longer one. */
const COUNT_MAX = 1000;
/** Maximum number of digits of a number. Nine digits always fit into 32 bits. */
export const DIGITS_MAX = 9;

const MINUS = 45;
const ZERO = 48;
const COMMA = 44;
const BACKSLASH = 92;
const OPENING = "[({";
const CLOSING = "])}";

/**
 * Parses a list of integers. Refuses anything before or after the list. Takes time linear in the length of the text.
 * - The list has brackets, parentheses or braces around it, or those of LaTeX (\left[, \{). Several numbers need no
 * brackets.
 * - Commas separate the numbers, and a comma may follow the last one. A single number in parentheses needs that comma:
 * without it the text is a number and not a list.
 * - White space and LaTeX spaces may stand anywhere except within a number. Each number may be in quotes.
 * - Digits are ASCII or full-width. A minus sign and leading zeros are allowed; points, exponents and other signs are
 * not.
 */
export function parseIntList(text: string): Parsed<readonly number[]> {
  return parseList(text, takeNumber);
}

/** Matches digits alone, with or without spaces between them. Each digit is a symbol, so no commas are needed. */
const PLAIN = /^[0-9](?: ?[0-9])*$/;

/** Parses a list of digits: as parseIntList, or the digits alone, e.g. "2 0 1" or "201". */
export function parseDigits(text: string): Parsed<readonly number[]> {
  const trimmed = text.trim();
  if (trimmed.length <= COUNT_MAX && PLAIN.test(trimmed))
    return { kind: "answer", answer: Array.from(trimmed.replaceAll(" ", ""), Number) };
  return parseIntList(text);
}

/**
 * Reads the number at a cursor and moves the cursor after it. Returns NaN or Infinity if it cannot, as takeNumber does.
 */
export type NumberReader = (text: string, cursor: Cursor) => number;

/**
 * Parses a list. `takeItem` reads each number. If the separator after the first number matches `others`, that separator
 * must stand between all numbers in place of commas.
 */
export function parseList(text: string, takeItem: NumberReader, others?: RegExp): Parsed<readonly number[]> {
  const cursor = { at: skipGap(text, 0) };
  const start = cursor.at;
  const bracket = takeOpening(text, cursor);
  const list = takeItems(text, cursor, bracket, { takeItem, others });
  // A single number without brackets may be a sum instead of a list, and is refused.
  if (bracket === undefined && (typeof list === "string" || list.length < 2))
    return malformed(foundInstead(text, start, "'['"));
  if (typeof list === "string") return malformed(list);
  if (cursor.at < text.length) return malformed(foundInstead(text, cursor.at, "nothing after the list"));
  return { kind: "answer", answer: list };
}

/**
 * Reads the list at a cursor, which must not be at a space, and moves the cursor after the list and its trailing
 * spaces. Returns an error text if there is no list.
 */
export function takeList(
  text: string,
  cursor: Cursor,
  takeItem: NumberReader = takeNumber,
): readonly number[] | string {
  const bracket = takeOpening(text, cursor);
  if (bracket === undefined) return foundInstead(text, cursor.at, "'['");
  return takeItems(text, cursor, bracket, { takeItem });
}

interface ItemReaders {
  readonly takeItem: NumberReader;
  /** Sticky regular expression for separators, such as arrows, that may replace commas. */
  readonly others?: RegExp | undefined;
}

/** Reads the rest of a list after its opening bracket. Without a bracket, the list extends to the end of the text. */
function takeItems(
  text: string,
  cursor: Cursor,
  bracket: string | undefined,
  { takeItem, others }: ItemReaders,
): readonly number[] | string {
  const list: number[] = [];
  const ends = (): boolean => (bracket === undefined ? cursor.at >= text.length : takeClosing(text, cursor, bracket));
  if (ends()) return list;
  let other: string | undefined;
  for (;;) {
    const item = takeQuoted(text, cursor, takeItem);
    if (!Number.isFinite(item)) return noNumber(text, cursor.at, item, list.length === 0 ? bracket : undefined);
    if (list.length === COUNT_MAX) return `a list of more than ${COUNT_MAX} numbers`;
    list.push(item);
    cursor.at = skipGap(text, cursor.at);
    if (list.length === 1) other = signAt(text, cursor.at, others);
    const comma = other === undefined ? takeComma(text, cursor) : takeSign(text, cursor, other);
    const closes = cursor.at;
    if ((other === undefined || !comma) && ends()) {
      const isOne = bracket === ")" && list.length === 1 && !comma;
      return isOne ? foundInstead(text, closes, "',' after the one number in parentheses") : list;
    }
    if (!comma) return foundInstead(text, cursor.at, bracket === undefined ? "','" : `',' or '${bracket}'`);
  }
}

function signAt(text: string, at: number, signs: RegExp | undefined): string | undefined {
  if (signs === undefined) return undefined;
  signs.lastIndex = at;
  return signs.exec(text)?.[0];
}

function takeSign(text: string, cursor: Cursor, sign: string): boolean {
  if (!text.startsWith(sign, cursor.at)) return false;
  cursor.at = skipGap(text, cursor.at + sign.length);
  return true;
}

const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", "“": "”", "‘": "’" };

/** Reads an item with or without quotes. Returns NaN if the quotes are not closed. */
export function takeQuoted(text: string, cursor: Cursor, takeItem: NumberReader): number {
  const first = text.charAt(cursor.at);
  const close = Object.hasOwn(QUOTES, first) ? QUOTES[first] : undefined;
  if (close === undefined) return takeItem(text, cursor);
  const inside = { at: cursor.at + 1 };
  const item = takeItem(text, inside);
  if (!Number.isFinite(item)) return item;
  if (text.charAt(inside.at) !== close) return NaN;
  cursor.at = inside.at + 1;
  return item;
}

function noNumber(text: string, at: number, found: number, bracket: string | undefined): string {
  if (found === Infinity) return `a number of more than ${DIGITS_MAX} digits`;
  return foundInstead(text, at, bracket === undefined ? "a whole number" : `a whole number or '${bracket}'`);
}

/**
 * Skips the opening bracket of a list and the spaces after it, and returns the matching closing bracket. Returns
 * undefined if there is no opening bracket.
 */
export function takeOpening(text: string, cursor: Cursor): string | undefined {
  const at = bracketAt(text, cursor.at, "\\left");
  const bracket = CLOSING[OPENING.indexOf(plain(text, at))];
  if (bracket !== undefined) cursor.at = skipGap(text, at + 1);
  return bracket;
}

/**
 * Skips the given closing bracket, if it comes next, and the spaces after it. Returns whether the bracket was there.
 */
export function takeClosing(text: string, cursor: Cursor, bracket: string): boolean {
  const at = bracketAt(text, cursor.at, "\\right");
  if (plain(text, at) !== bracket) return false;
  cursor.at = skipGap(text, at + 1);
  return true;
}

/** Skips a comma, if it comes next, and the spaces after it. Returns whether the comma was there. */
export function takeComma(text: string, cursor: Cursor): boolean {
  if (narrow(text.charCodeAt(cursor.at)) !== COMMA && text[cursor.at] !== "、") return false;
  cursor.at = skipGap(text, cursor.at + 1);
  return true;
}

/**
 * Returns the index of a bracket, after LaTeX's \left or \right and after the backslash of "\{", if these are present.
 */
function bracketAt(text: string, from: number, word: string): number {
  if (text.charCodeAt(from) !== BACKSLASH) return from;
  const at = text.startsWith(word, from) ? skipGap(text, from + word.length) : from;
  const isEscaped = text.charCodeAt(at) === BACKSLASH && (text[at + 1] === "{" || text[at + 1] === "}");
  return isEscaped ? at + 1 : at;
}

/** Returns the character at an index, with full-width characters mapped to ASCII, or "none" at the end of the text. */
function plain(text: string, at: number): string {
  return at < text.length ? String.fromCharCode(narrow(text.charCodeAt(at))) : "none";
}

/** Formats a list as "[0, 3, 1]", which parses back to the same list. */
export function formatIntList(list: readonly number[]): string {
  return `[${list.join(", ")}]`;
}

/** Position in a text, in UTF-16 units. Functions that read a part of the text move it. */
export interface Cursor {
  at: number;
}

/**
 * Reads the integer at a cursor and moves the cursor after it. Returns NaN if there is no number, and Infinity if it
 * has more than DIGITS_MAX digits. The cursor then stays.
 */
export function takeNumber(text: string, cursor: Cursor): number {
  const negative = narrow(text.charCodeAt(cursor.at)) === MINUS;
  const start = negative ? cursor.at + 1 : cursor.at;
  let at = start;
  let value = 0;
  for (; at < text.length && at <= start + DIGITS_MAX; at++) {
    const digit = narrow(text.charCodeAt(at)) - ZERO;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === start) return NaN;
  if (at > start + DIGITS_MAX) return Infinity;
  cursor.at = at;
  // Return 0 instead of −0, which not every comparison treats as 0.
  return negative && value !== 0 ? -value : value;
}

/** Returns an error text such as "expected ',', found '.' at character 3". */
export function foundInstead(text: string, at: number, wanted: string): string {
  const point = text.codePointAt(at);
  const found = point === undefined ? "the end" : `'${String.fromCodePoint(point)}' at character ${at + 1}`;
  return `expected ${wanted}, found ${found}`;
}

function malformed(reason: string): Parsed<never> {
  return { kind: "malformed", reason: `not a list of whole numbers: ${reason}` };
}

// Functions for answers that choose some of several numbered things, such as [0, 3, 1]: each number at most once, in
// any order.

/** List of indices as read. `indexProblem` checks that they are in range and distinct. */
export type IndexList = readonly number[];

/**
 * Returns an error text about the first index that is out of range or repeated, or undefined if all are valid. Valid
 * indices are 0 to count − 1. `one` and `many` name what is counted, e.g. "vertex" and "vertices".
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

export function sumAt(amounts: Int32Array, indices: IndexList): number {
  let sum = 0;
  for (const index of indices) sum += amounts[index] as number;
  return sum;
}

// Functions that read an answer which is a closed tour, such as [0, 1, 3, 2, 0].

/** Stops of a closed tour in the order of the visit, without the return to the first stop. */
export type CycleList = readonly number[];

/**
 * Separators allowed between stops, as in "0 -> 3 -> 5". A dash used as a separator never makes the next stop negative.
 */
export const ARROWS =
  /-{1,3}>|={1,2}>|[→⟶⟹➔➜➝➞⇒⇨↦—–]|➡\ufe0f?|\$?\\(?:to|(?:long)?rightarrow|(?:Long)?Rightarrow)(?![A-Za-z])\$?|-(?=\d)(?<!\s-)|-(?=\s)(?<=\s-)/y;

/** Parses a list of stops, separated by commas or arrows. The return to the first stop is optional. */
export function parseCycleList(text: string): Parsed<CycleList> {
  const parsed = parseList(text, takeNumber, ARROWS);
  if (parsed.kind === "malformed") return parsed;
  const list = parsed.answer;
  const closed = list.length > 1 && list[0] === list.at(-1);
  return closed ? { kind: "answer", answer: list.slice(0, -1) } : parsed;
}

/** Formats a tour with its return to the first stop, such as "[0, 1, 3, 2, 0]". */
export function formatCycleList(list: CycleList): string {
  return formatIntList([...list, ...list.slice(0, 1)]);
}
