import type { Marks } from "./marks.ts";
import { isSpace, skipSpace, skipSpaceBack } from "../lib/space.ts";

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
