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
 * needs one, or it is a number and no list. Several numbers need no brackets, and each may be in quotes. Digits are ASCII
 * or full-width; a minus may stand before them, and zeros lead, but there are no points, exponents or other signs.
 * Anything before or after the list is refused. Time is linear in the text's length.
 */
export function parseIntList(text: string): Parsed<readonly number[]> {
  return parseList(text, takeNumber);
}

/** Reads the number at a cursor: see takeNumber. */
export type NumberReader = (text: string, cursor: Cursor) => number;

/** The same, with numbers read in another way, or other signs than commas between them, if the first one is another. */
export function parseList(text: string, takeItem: NumberReader, others?: RegExp): Parsed<readonly number[]> {
  const cursor = { at: skipGap(text, 0) };
  const start = cursor.at;
  const bracket = takeOpening(text, cursor);
  const list = takeItems(text, cursor, bracket, { takeItem, others });
  // One number alone may be what a list comes to, and no list.
  if (bracket === undefined && (typeof list === "string" || list.length < 2))
    return malformed(foundInstead(text, start, "'['"));
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
  return takeItems(text, cursor, bracket, { takeItem });
}

interface ItemReaders {
  readonly takeItem: NumberReader;
  /** Signs that may stand for commas; sticky. */
  readonly others?: RegExp | undefined;
}

/** The rest of a list whose bracket was taken; undefined: it has none, and goes on to the end of the text. */
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

/** What a reader takes, also in quotes; NaN where they are not closed. */
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
  if (narrow(text.charCodeAt(cursor.at)) !== COMMA && text[cursor.at] !== "、") return false;
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

/** Read as it stands: whether its numbers are in range and different is for `indexProblem`. */
export type IndexList = readonly number[];

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

/** What the amounts at some indices sum up to. */
export function sumAt(amounts: Int32Array, indices: IndexList): number {
  let sum = 0;
  for (const index of indices) sum += amounts[index] as number;
  return sum;
}

// Answers that go round in a circle, such as [0, 1, 3, 2, 0].

/** The stops in the order they are visited, without the return to the first. */
export type CycleList = readonly number[];

/** What may stand between stops: "0 -> 3 -> 5". Where it is a dash, no stop is taken for a negative number. */
const ARROWS =
  /-{1,3}>|={1,2}>|[→⟶⟹➔➜➝➞⇒⇨↦—–]|➡\ufe0f?|\$?\\(?:to|(?:long)?rightarrow|(?:Long)?Rightarrow)(?![A-Za-z])\$?|-(?=\d)(?<!\s-)|-(?=\s)(?<=\s-)/y;

/** Reads a list of stops, with commas or arrows between them. The return to the first may be written or left out. */
export function parseCycleList(text: string): Parsed<CycleList> {
  const parsed = parseList(text, takeNumber, ARROWS);
  if (parsed.kind === "malformed") return parsed;
  const list = parsed.answer;
  const closed = list.length > 1 && list[0] === list.at(-1);
  return closed ? { kind: "answer", answer: list.slice(0, -1) } : parsed;
}

/** "[0, 1, 3, 2, 0]" */
export function formatCycleList(list: CycleList): string {
  return formatIntList([...list, ...list.slice(0, 1)]);
}
