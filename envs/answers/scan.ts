import { isSpace, skipSpace, skipSpaceBack } from "../lib/text.ts";

const OPEN = "<answer>";
const CLOSE = "</answer>";

/**
 * "<answer>…</answer>" blocks. A second opening tag starts the block anew, so of nested blocks the inner one counts;
 * a closing tag that closes nothing is passed over.
 */
export function scanTags(text: string, start: number, end: number): Marks {
  const offsets: number[] = [];
  let open = text.indexOf(OPEN, start);
  let close = open < 0 ? -1 : text.indexOf(CLOSE, open);
  while (inside(open, end) && close >= 0 && close + CLOSE.length <= end) {
    let inner = open + OPEN.length;
    let next = text.indexOf(OPEN, inner);
    for (; next >= 0 && next < close; next = text.indexOf(OPEN, inner)) inner = next + OPEN.length;
    offsets.push(inner, close);
    open = next;
    close = open < 0 ? -1 : text.indexOf(CLOSE, open);
  }
  return { offsets, open: inside(open, end) };
}

function inside(open: number, end: number): boolean {
  return open >= 0 && open + OPEN.length <= end;
}

const MARK = "Answer:";
const LINE_FEED = 10;
const STAR = 42;

/**
 * Lines that start with "Answer:", in bold or not. The last one's answer goes on to the end of the text, for it may
 * take several lines; an earlier one's is the rest of its line. A mark with nothing after it is not closed.
 */
export function scanLines(text: string, start: number, end: number): Marks {
  const offsets: number[] = [];
  let mark = nextMark(text, start, start, end);
  if (mark < 0) return { offsets, open: false };
  for (let next = mark; next >= 0;) {
    mark = next;
    next = nextMark(text, mark + MARK.length, start, end);
    if (next >= 0) pushAnswer(text, mark, lineEnd(text, mark), offsets);
  }
  return { open: !pushAnswer(text, mark, end, offsets), offsets };
}

/** The first mark from an offset on that starts its line; -1: none. */
function nextMark(text: string, from: number, start: number, end: number): number {
  let at = text.indexOf(MARK, from);
  while (at >= 0 && !startsLine(text, start, at)) at = text.indexOf(MARK, at + MARK.length);
  return at + MARK.length <= end ? at : -1;
}

/** Whether only white space, and perhaps two stars, stand between the mark and the start of its line. */
function startsLine(text: string, start: number, mark: number): boolean {
  let at = isStars(text, mark - 2) ? mark - 2 : mark;
  while (at > start && isSpace(text.charCodeAt(at - 1)) && text.charCodeAt(at - 1) !== LINE_FEED) at--;
  return at === start || text.charCodeAt(at - 1) === LINE_FEED;
}

function isStars(text: string, at: number): boolean {
  return text.charCodeAt(at) === STAR && text.charCodeAt(at + 1) === STAR;
}

function lineEnd(text: string, at: number): number {
  const feed = text.indexOf("\n", at);
  return feed < 0 ? text.length : feed;
}

/** Adds what lies between a mark and an end, without white space and the stars that close a bold mark, if anything. */
function pushAnswer(text: string, mark: number, end: number, offsets: number[]): boolean {
  let from = mark + MARK.length;
  let to = skipSpaceBack(text, from, end);
  if (isStars(text, mark - 2)) {
    if (from + 2 <= to && isStars(text, from)) from += 2;
    else if (from + 2 <= to && isStars(text, to - 2)) to -= 2;
  }
  from = skipSpace(text, from, to);
  if (from >= to) return false;
  offsets.push(from, to);
  return true;
}

const BOX_OPEN = "\\boxed{";
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** "\boxed{…}" with balanced braces, "\{" and "\}" being no braces. Of nested boxes the inner one counts. */
export function scanBoxes(text: string, start: number, end: number): Marks {
  const offsets: number[] = [];
  let at = text.indexOf(BOX_OPEN, start);
  while (at >= 0 && at + BOX_OPEN.length <= end) {
    const after = scanBox(text, at, end, offsets);
    if (after < 0) return { offsets, open: true };
    at = text.indexOf(BOX_OPEN, after);
  }
  return { offsets, open: false };
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
    if (unit === BACKSLASH && text.startsWith(BOX_OPEN, at)) {
      at += BOX_OPEN.length - 1;
      boxes.push({ depth: depth++, inner: at + 1 });
    } else if (unit === BACKSLASH) at++;
    else if (unit === OPEN_BRACE) depth++;
    else if (unit === CLOSE_BRACE && --depth === boxes.at(-1)?.depth) {
      const inner = boxes.pop()?.inner as number;
      if (inner > innermost) offsets.push(inner, at);
      innermost = Math.max(innermost, inner);
      if (boxes.length === 0) return at + 1;
    }
  }
  return -1;
}

// What every answer format's scanner gives.

/** The marked answers in part of a text. */
export interface Marks {
  /** Where the closed ones lie, in order, without their marks: start, end, start, end, … in UTF-16 units. */
  readonly offsets: readonly number[];
  /** Whether one is open at the end. */
  readonly open: boolean;
}

/** Finds the marked answers in text[start, end), in time linear in the text's length. */
export type Scanner = (text: string, start: number, end: number) => Marks;
