/**
 * Finds the marks of each answer format. A block with nothing in it, or only dots, is a mention and no answer.
 *
 * The last answers are the ones that count, so that each scan begins where they are. What searches is native, and no
 * place is searched twice: a completion may be a million "<".
 */
import { isSpace, skipSpaceBack } from "../lib/text.ts";
import type { Range } from "./marks.ts";
import { stripRange } from "./strip.ts";

/** More closed answers than this are not told apart: the last ones count. */
export const SPANS_MAX = 16;

/** So many marks are looked at, counted from the end: no completion mentions them more often between its answers. */
const MARKS_MAX = 1024;

/** The marked answers in part of a text. */
export interface Marks {
  /** Where the last SPANS_MAX closed ones lie, in order, without their marks: start, end, … in UTF-16 units. */
  readonly offsets: readonly number[];
  /** Where the text of one starts that is open at the end; undefined: none is. */
  readonly open: number | undefined;
}

/**
 * Finds the marked answers in text[start, end), in time linear in the text's length. `wasCut` says that generation stopped at
 * its length limit: then an answer that nothing ends may be the start of another one.
 */
export type Scanner = (text: string, start: number, end: number, wasCut: boolean) => Marks;

const NONE: Marks = Object.freeze({ offsets: Object.freeze([]), open: undefined });
const PERIOD = 46;
const ELLIPSIS = 0x2026;

/** Anything but white space, periods and ellipses. */
const CONTENT = /[^.\u2026\s\u0085\u200b-\u200d\u2060]/g;

/** Whether there is an answer between two offsets: "(in <answer>…</answer> tags)" holds none. */
export function holdsAnswer(text: string, start: number, end: number): boolean {
  if (start >= end) return false;
  if (!isFiller(text.charCodeAt(start))) return true;
  CONTENT.lastIndex = start;
  return CONTENT.test(text) && CONTENT.lastIndex <= end;
}

function isFiller(unit: number): boolean {
  return unit === PERIOD || unit === ELLIPSIS || isSpace(unit);
}

export const OPEN = "<answer>";
export const CLOSE = "</answer>";

/**
 * "<answer>…</answer>" blocks. A second opening tag starts the block anew, so of nested blocks the inner one counts;
 * a closing tag that closes nothing is passed over. So a block is an opening tag and the closing one after it, with no
 * tag between them.
 */
export function scanTags(text: string, start: number, end: number): Marks {
  // A search is slow where its first character is frequent, and a text may hold a million "<": this one has another.
  if (!text.includes("answer>", start)) return NONE;
  const first = text.indexOf(OPEN, start);
  if (first < 0 || first + OPEN.length > end) return NONE;
  const last = text.lastIndexOf(OPEN, end - OPEN.length);
  const firstClose = text.indexOf(CLOSE, first);
  if (firstClose < 0 || firstClose + CLOSE.length > end) return { offsets: [], open: last + OPEN.length };
  const lastClose = text.lastIndexOf(CLOSE, end - CLOSE.length);
  // As nearly always: one of each.
  if (first === last && firstClose === lastClose) {
    const content = first + OPEN.length;
    return { offsets: holdsAnswer(text, content, lastClose) ? [content, lastClose] : [], open: undefined };
  }
  const spans: number[] = [];
  let close = lastClose;
  for (let marks = 0; marks < MARKS_MAX && spans.length < 2 * SPANS_MAX && close > first; marks++) {
    const open = text.lastIndexOf(OPEN, close);
    // Closing tags behind the first one close nothing.
    const closing = text.indexOf(CLOSE, open);
    if (holdsAnswer(text, open + OPEN.length, closing)) spans.push(closing, open + OPEN.length);
    if (closing === firstClose) break;
    close = text.lastIndexOf(CLOSE, open);
  }
  return { offsets: spans.reverse(), open: last > lastClose ? last + OPEN.length : undefined };
}

/** Line feed, carriage return and what lies between them, next line, line and paragraph separator. */
const BREAKS = "\\n-\\r\\u0085\\u2028\\u2029";
/** White space within a line; more of it introduces nothing. */
const BLANKS_MAX = 64;
const BLANKS = `[\\t \\u00a0\\u1680\\u2000-\\u200d\\u202f\\u205f\\u2060\\u3000\\ufeff]{0,${BLANKS_MAX}}`;
/** What may stand between the start of a line and the word: the sign of a heading, bold or italics, "Final". */
const BEFORE = `(?:^|[${BREAKS}])${BLANKS}(?:#{1,6}${BLANKS})?(\\*{0,3}|_{0,3})(?:final${BLANKS})?`;
/** What BEFORE can take, and its line break. */
const BEFORE_UNITS_MAX = 1 + 3 * BLANKS_MAX + "######".length + "***".length + "final".length;
/**
 * In any case, and in bold or italics: the marks that open them may be closed before the colon. The word is looked for
 * first, for it is the rarest, then what follows it, then what is before.
 */
const MARK = new RegExp(`answer(?=[*_]{0,3}[:：])(?<=${BEFORE}answer)(\\*{1,3}|_{1,2}|)[:：]`, "gi");
const MARK_UNITS_MAX = "answer***:".length;

/** A mark that starts its line. */
interface LineMark {
  /** Past the colon. */
  readonly from: number;
  /** The marks of bold or italics that are still open there. */
  readonly emphasis: string;
}

/** How much of a text is looked at for marks at a time, from its end on. */
const STRETCH = 16_384;

/**
 * Lines that start with "Answer:" or "Final answer:", in bold or not, as a heading or not. The last one's answer goes on
 * to the end of the text, for it may take several lines; an earlier one's is the rest of its line. A mark with nothing
 * after it is not closed, nor is the last one of a text that was cut, unless a line break follows its answer.
 */
export function scanLines(text: string, start: number, end: number, wasCut: boolean): Marks {
  const spans: number[] = [];
  let marks = 0;
  let open: number | undefined;
  for (let to = end; to > start && marks < MARKS_MAX && spans.length < 2 * SPANS_MAX; to -= STRETCH) {
    const found = marksBetween(text, Math.max(start, to - STRETCH), Math.min(to, end), start, end);
    for (const mark of found.reverse()) {
      const isLast = marks === 0;
      const span = isLast ? lastAnswer(text, mark, end, wasCut) : answerOf(text, mark, lineEnd(text, mark.from, end));
      if (isLast && span === undefined) open = mark.from;
      if (span !== undefined && spans.length < 2 * SPANS_MAX) spans.push(span.end, span.start);
      if (++marks >= MARKS_MAX) break;
    }
  }
  return { open, offsets: spans.reverse() };
}

/** The answers of all lines that start so, in order; each is the rest of its line, the last one all that follows. */
export function lineAnswers(text: string, start: number, end: number, wasCut: boolean): readonly Range[] {
  const found: LineMark[] = [];
  for (let from = start; from < end; from += STRETCH)
    found.push(...marksBetween(text, from, Math.min(end, from + STRETCH), start, end));
  return found.flatMap((mark, i) => {
    const isLast = i === found.length - 1;
    return (isLast ? lastAnswer(text, mark, end, wasCut) : answerOf(text, mark, lineEnd(text, mark.from, end))) ?? [];
  });
}

/** The answer of the last mark; undefined: it holds none, or a cut may have shortened it, e.g. "Answer: 50" to "Answer: 5". */
function lastAnswer(text: string, mark: LineMark, end: number, wasCut: boolean): Range | undefined {
  const limit = beforeFence(text, mark.from, end);
  const past = skipSpaceBack(text, mark.from, limit);
  const isCutShort = wasCut && end === text.length && lineEnd(text, past, end) === end;
  return isCutShort ? undefined : answerOf(text, mark, limit);
}

/** The marks that start their line and whose word starts in text[from, to); the text in question is [start, end). */
function marksBetween(text: string, from: number, to: number, start: number, end: number): LineMark[] {
  const marks: LineMark[] = [];
  // What is before the first word is seen too, and no further back can be the start of its line.
  const offset = Math.max(start, from - BEFORE_UNITS_MAX - 1);
  const part = text.slice(offset, Math.min(end, to + MARK_UNITS_MAX));
  MARK.lastIndex = from - offset;
  for (let found = MARK.exec(part); found !== null; found = MARK.exec(part)) {
    if (offset + found.index >= to) break;
    const [, opened = "", closed = ""] = found;
    if (closed !== "" && closed !== opened) continue;
    marks.push({ from: offset + MARK.lastIndex, emphasis: closed === "" ? opened : "" });
  }
  return marks;
}

/** Longer fences are none. */
const FENCE_LINE = new RegExp(`[${BREAKS}]${BLANKS}(\`{3,32}|~{3,32})$`);
const FENCE_LINE_UNITS_MAX = 1 + BLANKS_MAX + 32;

/** The end of a text that stands in a fenced block, which was opened before it and ends with the completion. */
export function beforeFence(text: string, from: number, end: number): number {
  const past = skipSpaceBack(text, from, end);
  const [line = "", fence = ""] = FENCE_LINE.exec(text.slice(Math.max(from, past - FENCE_LINE_UNITS_MAX), past)) ?? [];
  const before = past - line.length;
  return fence === "" || text.slice(from, before).includes(fence.slice(0, 3)) ? end : before;
}

const BREAK = new RegExp(`[${BREAKS}]`, "g");

/** The end of a line, no further than a limit. */
function lineEnd(text: string, from: number, limit: number): number {
  BREAK.lastIndex = from;
  return BREAK.test(text) ? Math.min(limit, BREAK.lastIndex - 1) : limit;
}

/** What lies between a mark and an end, without the marks that close its bold or italics; undefined: no answer. */
function answerOf(text: string, { from, emphasis }: LineMark, end: number): Range | undefined {
  if (!holdsAnswer(text, from, end)) return undefined;
  if (emphasis === "") return { start: from, end };
  const range = stripRange(text, from, end, emphasis);
  return holdsAnswer(text, range.start, range.end) ? range : undefined;
}

const BOX = "\\boxed";
const BACKSLASH = 92;
const CLOSE_BRACE = 125;
/** Where the content of a box starts. */
export const BOX_START = /\\boxed *\{/g;
/** A brace, or a backslash with what it escapes or the box that it opens. */
const TOKEN = /[{}]|\\(?:boxed *\{|[^])?/g;
/** In the boxes of one text: what has more is no answer, and is not read to its end. */
const TOKENS_MAX = 8192;

/** "\boxed{…}" with balanced braces, "\{" and "\}" being no braces. Of nested boxes the inner one counts. */
export function scanBoxes(text: string, start: number, end: number): Marks {
  const found: Boxes = { offsets: [], tokens: 0 };
  BOX_START.lastIndex = firstLookedAt(text, start, end);
  while (BOX_START.test(text) && BOX_START.lastIndex <= end) {
    const after = scanBox(text, BOX_START.lastIndex, end, found);
    if (after < 0) return { offsets: found.offsets.slice(-2 * SPANS_MAX), open: BOX_START.lastIndex };
    BOX_START.lastIndex = after;
  }
  return { offsets: found.offsets.slice(-2 * SPANS_MAX), open: undefined };
}

export interface Boxes {
  readonly offsets: number[];
  /** Read so far. */
  tokens: number;
}

/** Where to begin, so that there are at most MARKS_MAX boxes from there on. */
function firstLookedAt(text: string, start: number, end: number): number {
  if (end - start <= MARKS_MAX * BOX.length) return start;
  let at = end;
  for (let marks = 0; marks < MARKS_MAX; marks++) {
    if (at <= start) return start;
    at = text.lastIndexOf(BOX, at - 1);
  }
  return Math.max(start, at);
}

/**
 * Adds the box whose content starts at an offset, or the closed ones within it, and gives the offset past its end; -1 if
 * it is never closed. One pass, for a box that is not closed may hold many others: a stack holds those that are open.
 */
export function scanBox(text: string, content: number, end: number, found: Boxes): number {
  const boxes = [{ depth: 0, inner: content }];
  let depth = 1;
  let innermost = -1;
  TOKEN.lastIndex = content;
  while (found.tokens++ < TOKENS_MAX) {
    const token = TOKEN.exec(text);
    const past = TOKEN.lastIndex;
    if (token === null || past > end) break;
    if (token[0].length > 2) boxes.push({ depth: depth++, inner: past });
    else if (text.charCodeAt(token.index) === BACKSLASH) continue;
    else if (text.charCodeAt(token.index) !== CLOSE_BRACE) depth++;
    else if (--depth === boxes.at(-1)?.depth) {
      const inner = boxes.pop()?.inner as number;
      if (inner > innermost && holdsAnswer(text, inner, past - 1)) found.offsets.push(inner, past - 1);
      innermost = Math.max(innermost, inner);
      if (boxes.length === 0) return past;
    }
  }
  return -1;
}
