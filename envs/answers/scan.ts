/** Finds the marks of each answer format. A block with nothing in it, or only dots, is a mention and no answer. */
import { isSpace, skipSpaceBack } from "../lib/text.ts";
import { pastEmphasis } from "./strip.ts";

/** The marked answers in part of a text. */
export interface Marks {
  /** Where the closed ones lie, in order, without their marks: start, end, start, end, … in UTF-16 units. */
  readonly offsets: readonly number[];
  /** Whether one is open at the end. */
  readonly open: boolean;
}

/** Finds the marked answers in text[start, end), in time linear in the text's length. */
export type Scanner = (text: string, start: number, end: number) => Marks;

const NONE: Marks = Object.freeze({ offsets: Object.freeze([]), open: false });
const PERIOD = 46;
const ELLIPSIS = 0x2026;

/** Adds what lies between two offsets if there is an answer in it: "(in <answer>…</answer> tags)" holds none. */
function pushAnswer(text: string, start: number, end: number, offsets: number[]): boolean {
  let at = start;
  while (at < end && isFiller(text.charCodeAt(at))) at++;
  if (at === end) return false;
  offsets.push(start, end);
  return true;
}

function isFiller(unit: number): boolean {
  return unit === PERIOD || unit === ELLIPSIS || isSpace(unit);
}

const OPEN = "<answer>";
const CLOSE = "</answer>";

/**
 * "<answer>…</answer>" blocks. A second opening tag starts the block anew, so of nested blocks the inner one counts;
 * a closing tag that closes nothing is passed over.
 */
export function scanTags(text: string, start: number, end: number): Marks {
  // A search is slow where its first character is frequent, and a text may hold a million "<": these have others.
  if (!text.includes("/answer>", start) && !text.includes("answer>", start)) return NONE;
  const offsets: number[] = [];
  let open = text.indexOf(OPEN, start);
  let close = open < 0 ? -1 : text.indexOf(CLOSE, open);
  while (inside(open, end) && close >= 0 && close + CLOSE.length <= end) {
    let inner = open + OPEN.length;
    let next = text.indexOf(OPEN, inner);
    for (; next >= 0 && next < close; next = text.indexOf(OPEN, inner)) inner = next + OPEN.length;
    pushAnswer(text, inner, close, offsets);
    open = next;
    close = open < 0 ? -1 : text.indexOf(CLOSE, open);
  }
  return { offsets, open: inside(open, end) };
}

function inside(open: number, end: number): boolean {
  return open >= 0 && open + OPEN.length <= end;
}

/** In any case, and in bold or italics: the marks that open them may be closed before the colon. */
const MARK = /answer(\*{1,3}|_{1,2}|)[:：]/gi;

/** A mark that starts its line. */
interface LineMark {
  /** Past the colon. */
  readonly from: number;
  /** The marks of bold or italics that are still open there. */
  readonly emphasis: string;
}

/**
 * Lines that start with "Answer:" or "Final answer:", in bold or not, as a heading or not. The last one's answer goes on
 * to the end of the text, for it may take several lines; an earlier one's is the rest of its line. A mark with nothing
 * after it is not closed.
 */
export function scanLines(text: string, start: number, end: number): Marks {
  const offsets: number[] = [];
  let mark = nextMark(text, start, start, end);
  if (mark === undefined) return NONE;
  for (let next: LineMark | undefined = mark; next !== undefined;) {
    mark = next;
    next = nextMark(text, mark.from, start, end);
    if (next !== undefined) pushLine(text, mark, lineEnd(text, mark.from, next.from), offsets);
  }
  return { open: !pushLine(text, mark, end, offsets), offsets };
}

/** The first mark from an offset on that starts its line. */
function nextMark(text: string, from: number, start: number, end: number): LineMark | undefined {
  MARK.lastIndex = from;
  for (let found = MARK.exec(text); found !== null && MARK.lastIndex <= end; found = MARK.exec(text)) {
    const emphasis = emphasisBefore(text, start, found.index);
    const closed = found[1] as string;
    if (emphasis === undefined || (closed !== "" && closed !== emphasis)) continue;
    return { from: MARK.lastIndex, emphasis: closed === "" ? emphasis : "" };
  }
  return undefined;
}

/**
 * The marks of bold or italics before the word "answer"; undefined if anything else but "Final", the sign of a heading
 * and white space stands between it and the start of its line.
 */
function emphasisBefore(text: string, start: number, word: number): string | undefined {
  const first = finalBefore(text, start, word);
  let at = first;
  const mark = text[at - 1];
  if (mark === "*" || mark === "_") while (at > start && first - at < 3 && text[at - 1] === mark) at--;
  const emphasis = text.slice(at, first);
  at = skipBlanksBack(text, start, at);
  const heading = at;
  while (at > start && heading - at < 6 && text[at - 1] === "#") at--;
  if (at < heading) at = skipBlanksBack(text, start, at);
  return at === start || isBreak(text.charCodeAt(at - 1)) ? emphasis : undefined;
}

/** Where "Final" starts before an offset, if it does; else the offset. */
function finalBefore(text: string, start: number, word: number): number {
  const past = skipBlanksBack(text, start, word);
  const at = past - "final".length;
  return past < word && at >= start && text.slice(at, past).toLowerCase() === "final" ? at : word;
}

function skipBlanksBack(text: string, start: number, from: number): number {
  let at = from;
  for (; at > start; at--) {
    const unit = text.charCodeAt(at - 1);
    if (!isSpace(unit) || isBreak(unit)) break;
  }
  return at;
}

/** Line feed, carriage return and what lies between them, next line, line and paragraph separator. */
function isBreak(unit: number): boolean {
  return (unit >= 10 && unit <= 13) || unit === 0x85 || unit === 0x2028 || unit === 0x2029;
}

/** The end of a line, no further than a limit. */
function lineEnd(text: string, from: number, limit: number): number {
  let at = from;
  while (at < limit && !isBreak(text.charCodeAt(at))) at++;
  return at;
}

/** Adds what lies between a mark and an end, without the marks that close its bold or italics, if anything. */
function pushLine(text: string, { from, emphasis }: LineMark, end: number, offsets: number[]): boolean {
  if (emphasis === "") return pushAnswer(text, from, end, offsets);
  const start = pastEmphasis(text, from, end, emphasis);
  if (start !== undefined) return pushAnswer(text, start, end, offsets);
  const past = skipSpaceBack(text, from, end);
  const isClosed = past - from >= emphasis.length && text.endsWith(emphasis, past);
  return pushAnswer(text, from, isClosed ? past - emphasis.length : past, offsets);
}

const BOX = "\\boxed";
const BACKSLASH = 92;
const SPACE = 32;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** "\boxed{…}" with balanced braces, "\{" and "\}" being no braces. Of nested boxes the inner one counts. */
export function scanBoxes(text: string, start: number, end: number): Marks {
  const offsets: number[] = [];
  const seek = boxSeeker(text);
  for (let at = seek(start); at < end;) {
    const inner = boxInner(text, at);
    if (inner > end) break;
    const after = inner < 0 ? at + BOX.length : scanBox(text, at, end, offsets);
    if (after < 0) return { offsets, open: true };
    at = seek(after);
  }
  return { offsets, open: false };
}

/** Finds the next "\boxed{" or "\boxed " from an offset on; offsets must not descend. Infinity: there is none. */
function boxSeeker(text: string): (from: number) => number {
  // Searches for fewer than seven units are slow where the first one is frequent.
  const places = [`${BOX}{`, `${BOX} `].map((mark) => ({ mark, at: -1 }));
  return (from) => {
    let nearest = Infinity;
    for (const place of places) {
      if (place.at < from) place.at = text.indexOf(place.mark, from);
      if (place.at < 0) place.at = Infinity;
      nearest = Math.min(nearest, place.at);
    }
    return nearest;
  };
}

/** Where the content of the box at an offset starts; -1: no brace follows "\boxed" and the spaces after it. */
function boxInner(text: string, at: number): number {
  let brace = at + BOX.length;
  while (text.charCodeAt(brace) === SPACE) brace++;
  return text.charCodeAt(brace) === OPEN_BRACE ? brace + 1 : -1;
}

/**
 * Adds the box that opens at an offset, or the closed ones within it, and gives the offset past its end; -1 if it is
 * never closed. One pass, for a box that is not closed may hold a million others: a stack holds those that are open.
 */
function scanBox(text: string, open: number, end: number, offsets: number[]): number {
  const boxes: { readonly depth: number; readonly inner: number }[] = [];
  let depth = 0;
  let innermost = -1;
  for (let at = open; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH) {
      const inner = text.startsWith(BOX, at) ? boxInner(text, at) : -1;
      if (inner >= 0) boxes.push({ depth: depth++, inner });
      at = inner < 0 ? at + 1 : inner - 1;
    } else if (unit === OPEN_BRACE) depth++;
    else if (unit === CLOSE_BRACE && --depth === boxes.at(-1)?.depth) {
      const inner = boxes.pop()?.inner as number;
      if (inner > innermost) pushAnswer(text, inner, at, offsets);
      innermost = Math.max(innermost, inner);
      if (boxes.length === 0) return at + 1;
    }
  }
  return -1;
}
