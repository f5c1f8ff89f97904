/**
 * Finds the marked answers in each answer format. Marks with nothing but dots or white space between them only mention
 * the format and are not an answer.
 *
 * The last answers count, so each scan begins at the end of the text. Searches use built-in functions and never search
 * a character twice, because a completion may consist of a million "<".
 */
import { isSpace, skipSpaceBack } from "../lib/text.ts";
import type { Range } from "./marks.ts";
import { stripRange } from "./strip.ts";

/** Maximum number of answers with a closing mark that a scan returns. These are the last ones of the text. */
export const SPANS_MAX = 16;

/**
 * Maximum number of marks, such as <answer> tags, that a scan examines, from the last one back. No real completion has
 * so many.
 */
const MARKS_MAX = 1024;

/** The marked answers in a part of a text. */
export interface Marks {
  /**
   * The last SPANS_MAX answers with a closing mark, in order and without their marks: start, end, start, end, … in
   * UTF-16 units.
   */
  readonly offsets: readonly number[];
  /** Start of the text of an answer that has an opening mark but no closing mark. Undefined if there is none. */
  readonly open: number | undefined;
}

/**
 * Finds the marked answers in text[start, end), in time linear in the text's length. `wasCut` is true if generation
 * stopped at its length limit. Then an answer without a closing mark may be incomplete.
 */
export type Scanner = (text: string, start: number, end: number, wasCut: boolean) => Marks;

const NONE: Marks = Object.freeze({ offsets: Object.freeze([]), open: undefined });
const PERIOD = 46;
const ELLIPSIS = 0x2026;

/** Matches a character other than white space, periods and ellipses. */
const CONTENT = /[^.\u2026\s\u0085\u200b-\u200d\u2060]/g;

/** Returns whether there is an answer between two offsets. There is none in "(in <answer>…</answer> tags)". */
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
 * Finds "<answer>…</answer>" blocks. A block is an opening tag and the next closing tag, without a tag between them. So
 * of nested blocks, the inner one counts. A closing tag without an opening tag is ignored.
 */
export function scanTags(text: string, start: number, end: number): Marks {
  // The first search looks for "answer>", because a search for a frequent first character is slow, and a text may
  // contain a million "<".
  if (!text.includes("answer>", start)) return NONE;
  const first = text.indexOf(OPEN, start);
  if (first < 0 || first + OPEN.length > end) return NONE;
  const last = text.lastIndexOf(OPEN, end - OPEN.length);
  const firstClose = text.indexOf(CLOSE, first);
  if (firstClose < 0 || firstClose + CLOSE.length > end) return { offsets: [], open: last + OPEN.length };
  const lastClose = text.lastIndexOf(CLOSE, end - CLOSE.length);
  // Nearly every completion has exactly one opening and one closing tag.
  if (first === last && firstClose === lastClose) {
    const content = first + OPEN.length;
    return { offsets: holdsAnswer(text, content, lastClose) ? [content, lastClose] : [], open: undefined };
  }
  const spans: number[] = [];
  let close = lastClose;
  for (let marks = 0; marks < MARKS_MAX && spans.length < 2 * SPANS_MAX && close > first; marks++) {
    const open = text.lastIndexOf(OPEN, close);
    // If several closing tags follow each other, the first one closes the block, and the others are ignored.
    const closing = text.indexOf(CLOSE, open);
    if (holdsAnswer(text, open + OPEN.length, closing)) spans.push(closing, open + OPEN.length);
    if (closing === firstClose) break;
    close = text.lastIndexOf(CLOSE, open);
  }
  return { offsets: spans.reverse(), open: last > lastClose ? last + OPEN.length : undefined };
}

/**
 * Characters that break a line, for use in a regular expression: U+000A to U+000D, next line, line separator and
 * paragraph separator.
 */
const BREAKS = "\\n-\\r\\u0085\\u2028\\u2029";
/** Maximum number of white space characters before a label in its line. */
const BLANKS_MAX = 64;
const BLANKS = `[\\t \\u00a0\\u1680\\u2000-\\u200d\\u202f\\u205f\\u2060\\u3000\\ufeff]{0,${BLANKS_MAX}}`;
/**
 * Matches what may stand before the word "answer" in its line: the mark of a heading, marks of bold or italics, and
 * "Final".
 */
const BEFORE = `(?:^|[${BREAKS}])${BLANKS}(?:#{1,6}${BLANKS})?(\\*{0,3}|_{0,3})(?:final${BLANKS})?`;
/** Maximum length of a match of BEFORE, including its line break. */
const BEFORE_UNITS_MAX = 1 + 3 * BLANKS_MAX + "######".length + "***".length + "final".length;
/**
 * Matches "answer:" in any case, also in bold or italics, whose marks may be closed before the colon. The expression
 * begins with the word, because it is the rarest part; lookarounds check the rest.
 */
const MARK = new RegExp(`answer(?=[*_]{0,3}[:：])(?<=${BEFORE}answer)(\\*{1,3}|_{1,2}|)[:：]`, "gi");
const MARK_UNITS_MAX = "answer***:".length;

/** A label "Answer:" that starts its line. */
interface LineMark {
  /** Offset after the label's colon. */
  readonly from: number;
  /** Marks of bold or italics that are still open after the colon. */
  readonly emphasis: string;
}

/** Number of UTF-16 units that are searched for labels at a time, from the end of the text backwards. */
const STRETCH = 16_384;

/**
 * Finds lines that start with "Answer:" or "Final answer:", which may be bold or a heading. The last answer extends to
 * the end of the text, because it may take several lines; each earlier one is the rest of its line. The last label
 * counts as open if nothing follows it, or if generation was cut and no line break follows its answer.
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

/**
 * Returns the answers of all lines with a label, in order. Each is the rest of its line; the last one extends to `end`.
 */
export function lineAnswers(text: string, start: number, end: number, wasCut: boolean): readonly Range[] {
  const found: LineMark[] = [];
  for (let from = start; from < end; from += STRETCH)
    found.push(...marksBetween(text, from, Math.min(end, from + STRETCH), start, end));
  return found.flatMap((mark, i) => {
    const isLast = i === found.length - 1;
    return (isLast ? lastAnswer(text, mark, end, wasCut) : answerOf(text, mark, lineEnd(text, mark.from, end))) ?? [];
  });
}

/**
 * Returns the answer after the last label. Returns undefined if there is none, or if it may be incomplete because
 * generation was cut, e.g. "Answer: 5" for "Answer: 50".
 */
function lastAnswer(text: string, mark: LineMark, end: number, wasCut: boolean): Range | undefined {
  const limit = beforeFence(text, mark.from, end);
  const past = skipSpaceBack(text, mark.from, limit);
  const isCutShort = wasCut && end === text.length && lineEnd(text, past, end) === end;
  return isCutShort ? undefined : answerOf(text, mark, limit);
}

/**
 * Returns the labels whose word "answer" starts in text[from, to). `start` and `end` limit what is read around them.
 */
function marksBetween(text: string, from: number, to: number, start: number, end: number): LineMark[] {
  const marks: LineMark[] = [];
  // The searched part begins before `from`. For a word "answer" at `from`, MARK also checks the text before it in its
  // line, e.g. "## Final ".
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

/** Matches a code fence on its own line. A fence of more than 32 marks does not match. */
const FENCE_LINE = new RegExp(`[${BREAKS}]${BLANKS}(\`{3,32}|~{3,32})$`);
const FENCE_LINE_UNITS_MAX = 1 + BLANKS_MAX + 32;

/**
 * If the completion ends with a closing code fence that was opened before `from`, returns the offset before that fence.
 * Otherwise returns `end`.
 */
export function beforeFence(text: string, from: number, end: number): number {
  const past = skipSpaceBack(text, from, end);
  const [line = "", fence = ""] = FENCE_LINE.exec(text.slice(Math.max(from, past - FENCE_LINE_UNITS_MAX), past)) ?? [];
  const before = past - line.length;
  return fence === "" || text.slice(from, before).includes(fence.slice(0, 3)) ? end : before;
}

const BREAK = new RegExp(`[${BREAKS}]`, "g");

/** Returns the offset of the next line break, or `limit` if that comes first. */
function lineEnd(text: string, from: number, limit: number): number {
  BREAK.lastIndex = from;
  return BREAK.test(text) ? Math.min(limit, BREAK.lastIndex - 1) : limit;
}

/**
 * Returns the text between a label and `end`, without the marks that close the label's bold or italics. Returns
 * undefined if it contains no answer.
 */
function answerOf(text: string, { from, emphasis }: LineMark, end: number): Range | undefined {
  if (!holdsAnswer(text, from, end)) return undefined;
  if (emphasis === "") return { start: from, end };
  const range = stripRange(text, from, end, emphasis);
  return holdsAnswer(text, range.start, range.end) ? range : undefined;
}

const BOX = "\\boxed";
const BACKSLASH = 92;
const CLOSE_BRACE = 125;
/** Matches the start of a \boxed command, up to its content. */
export const BOX_START = /\\boxed *\{/g;
/** Matches a brace, or a backslash with the character that it escapes or with the box that it opens. */
const TOKEN = /[{}]|\\(?:boxed *\{|[^])?/g;
/**
 * Maximum number of tokens that are read within the boxes of one text. A box with more is not an answer and counts as
 * unclosed.
 */
const TOKENS_MAX = 8192;

/**
 * Finds "\boxed{…}" with balanced braces. "\{" and "\}" do not count as braces. Of nested boxes, the inner one counts.
 */
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
  /** Number of tokens read so far. */
  tokens: number;
}

/** Returns an offset after which at most MARKS_MAX boxes start, so that the time for a text is limited. */
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
 * Reads the box whose content starts at `content`, and adds it to `found`. If it is never closed, adds the closed boxes
 * inside it instead. Returns the offset after the box, or -1.
 *
 * A stack of open boxes makes one pass enough, even if an unclosed box contains many others.
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
