/**
 * Takes away what people and models put around an answer: the one place that does, for every environment and answer
 * format. It looks at the two ends of the text only, and takes away, over and over until nothing fits,
 *
 * 1. white space of any kind, and LaTeX's spaces;
 * 2. a label at the start: "Answer:", "Final answer:", "The answer is", also bold, as a heading or inside \text{};
 * 3. marks that stand at both ends: code fences with or without a language, <answer> tags, $$…$$, $…$, \(…\), \[…\],
 *    bold, italics, backticks, quotes, and \boxed{…}, \text{…} and their like;
 * 4. one closing period.
 *
 * All else is left to the environment's parser: words before or after the answer, units, a second answer, comments. A
 * text that only looks wrapped, such as "$1$ or $2$", loses its outer marks and is refused for the inner ones: no parser
 * takes any of these marks where they are not paired. Time is linear in the text's length: each step looks at
 * no more than a fixed number of units beside those it takes away, and there are at most STEPS_MAX.
 */
import { skipGap, skipSpaceBack } from "../lib/text.ts";

/** What is left of a text: text.slice(start, end). */
interface Range {
  start: number;
  end: number;
}

/** More labels and marks than this surround no answer of a person's or a model's. */
const STEPS_MAX = 256;

export function stripAnswer(text: string): string {
  if (isBare(text)) return text;
  const range = { start: 0, end: text.length };
  trim(text, range);
  for (let step = 0; step < STEPS_MAX; step++) {
    if (!stripLabel(text, range) && !stripMarks(text, range) && !stripPeriod(text, range)) break;
    trim(text, range);
  }
  return text.slice(range.start, range.end);
}

/** Most answers start and end like "[0, 1]" or "(3 + 4) * 5": nothing that goes away does. */
function isBare(text: string): boolean {
  return startsBare(text.charCodeAt(0)) && endsBare(text.charCodeAt(text.length - 1));
}

function startsBare(unit: number): boolean {
  return isDigit(unit) || unit === 91 || unit === 40;
}

function endsBare(unit: number): boolean {
  return isDigit(unit) || unit === 93 || unit === 41;
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

// White space.

const BACKSLASH = 92;
/** What follows the backslash in "\,", "\;", "\:" and "\!". */
const THIN_SPACES = ",;:!";

function trim(text: string, range: Range): void {
  range.start = skipGap(text, range.start, range.end);
  range.end = skipGapBack(text, range.start, range.end);
}

/** Moves an offset back over white space, "\," and its like, and "\ ", of which the space may be gone. */
function skipGapBack(text: string, start: number, end: number): number {
  let at = end;
  for (;;) {
    at = skipSpaceBack(text, start, at);
    if (at > start && text.charCodeAt(at - 1) === BACKSLASH) at--;
    else if (at - 2 >= start && text.charCodeAt(at - 2) === BACKSLASH && THIN_SPACES.includes(text.charAt(at - 1)))
      at -= 2;
    else return at;
  }
}

// Labels.

const SPACE = "[ \\t\\u00a0]";
/** Bounded, so that a label that does not end costs nothing. */
const GAP = `${SPACE}{0,4}`;
const WORDS = `(?:the${SPACE}{1,4})?(?:final${SPACE}{1,4})?answer`;
const IS = `${SPACE}{1,4}is(?![a-z])`;
/** In bold or italics or not; the marks that open them may be closed before the colon. */
const LABEL = new RegExp(
  `(?:#{1,6}${GAP})?(\\*{1,3}|_{1,2}|)${WORDS}(?:${GAP}(\\1)${GAP}[:：]|(?:${IS})?${GAP}[:：]|${IS})`,
  "iy",
);
const LATEX_LABEL = new RegExp(
  `\\\\(?:text|textbf|textrm|mathrm|mathbf)${GAP}\\{${GAP}${WORDS}(?:(?:${IS})?${GAP}[:：]${GAP}\\}|${IS}${GAP}\\}|${GAP}\\}${GAP}[:：])`,
  "iy",
);
/** What a label may start with. */
const LABEL_STARTS = "AaFfTt*_#\\";

function stripLabel(text: string, range: Range): boolean {
  const first = text[range.start] ?? "";
  if (!LABEL_STARTS.includes(first)) return false;
  const label = first === "\\" ? LATEX_LABEL : LABEL;
  label.lastIndex = range.start;
  const found = label.exec(text);
  if (found === null || label.lastIndex > range.end) return false;
  const [, opened = "", closed = ""] = found;
  const past = closed === opened ? label.lastIndex : pastEmphasis(text, label.lastIndex, range.end, opened);
  if (past === undefined) return false;
  range.start = past;
  return true;
}

/** How many units are looked at for bold and italics at either end. */
const EMPHASIS_UNITS_MAX = 32;

/**
 * Past the marks that close a label's bold or italics behind its colon, as in "**Answer:** 1"; undefined: they are closed
 * at the end of the text, as in "**Answer: 1**", or not at all. In "**Answer:** **1**" and "**Answer: **1****" there are
 * marks at both ends: those that close the label's touch the colon and end a word (CommonMark 6.2).
 */
export function pastEmphasis(text: string, colon: number, end: number, emphasis: string): number | undefined {
  const at = skipGap(text, colon, end);
  const past = at + emphasis.length;
  if (past > end || !text.startsWith(emphasis, at)) return undefined;
  const touchesColon = at === colon;
  const endsWord = past === end || skipGap(text, past, end) > past;
  if (touchesColon !== endsWord) return surplusAtStart(text, at, end, emphasis.charAt(0)) > 0 ? past : undefined;
  return touchesColon ? past : undefined;
}

/** How many more signs of bold and italics stand at the start than at the end, white space between them or not. */
function surplusAtStart(text: string, start: number, end: number, sign: string): number {
  let surplus = 0;
  const limit = Math.min(end, start + EMPHASIS_UNITS_MAX);
  for (let at = skipGap(text, start, limit); at < limit && text[at] === sign; at = skipGap(text, at + 1, limit)) {
    surplus++;
  }
  const floor = Math.max(start, end - EMPHASIS_UNITS_MAX);
  for (let at = skipGapBack(text, floor, end); at > floor && text[at - 1] === sign;) {
    surplus--;
    at = skipGapBack(text, floor, at - 1);
  }
  return surplus;
}

// Marks at both ends.

type Marks = readonly [open: string, close: string];

/** By the first character of what opens them. Those that may be doubled go one by one. Fences and commands are apart. */
const PAIRS: Readonly<Record<string, readonly Marks[]>> = {
  "<": [["<answer>", "</answer>"]],
  $: [["$", "$"]],
  "\\": [
    ["\\(", "\\)"],
    ["\\[", "\\]"],
  ],
  "*": [["*", "*"]],
  _: [["_", "_"]],
  "`": [["`", "`"]],
  '"': [['"', '"']],
  "'": [["'", "'"]],
  "“": [["“", "”"]],
  "‘": [["‘", "’"]],
};

function stripMarks(text: string, range: Range): boolean {
  const first = text[range.start] ?? "";
  if ((first === "`" || first === "~") && stripFence(text, range, first)) return true;
  if (first === "\\" && stripCommand(text, range)) return true;
  const pairs = Object.hasOwn(PAIRS, first) ? (PAIRS[first] as readonly Marks[]) : [];
  return pairs.some(([open, close]) => stripPair(text, range, open, close));
}

function stripPair(text: string, range: Range, open: string, close: string): boolean {
  const { start, end } = range;
  if (end - start < open.length + close.length) return false;
  if (!text.startsWith(open, start) || !text.endsWith(close, end)) return false;
  range.start = start + open.length;
  range.end = end - close.length;
  return true;
}

/** A language stands alone on the fence's line, and starts with a letter: "```1" opens no language. */
const LANGUAGE = /[A-Za-z][\w+#.-]{0,31}[ \t]{0,8}\r?\n/y;

/** Fences may be longer than three, where the text inside has fences too. */
function stripFence(text: string, range: Range, mark: string): boolean {
  const fence = mark.repeat(3);
  if (!stripPair(text, range, fence, fence)) return false;
  while (stripPair(text, range, mark, mark));
  LANGUAGE.lastIndex = range.start;
  if (LANGUAGE.test(text) && LANGUAGE.lastIndex <= range.end) range.start = LANGUAGE.lastIndex;
  return true;
}

/** LaTeX commands that say how their argument looks, and nothing else. */
const COMMAND = new RegExp(
  `\\\\(?:boxed|fbox|mbox|text|textbf|textit|textrm|texttt|mathrm|mathbf|mathit|mathsf|mathtt|ensuremath)${GAP}\\{`,
  "y",
);

function stripCommand(text: string, range: Range): boolean {
  if (text[range.end - 1] !== "}") return false;
  COMMAND.lastIndex = range.start;
  if (!COMMAND.test(text) || COMMAND.lastIndex >= range.end) return false;
  range.start = COMMAND.lastIndex;
  range.end--;
  return true;
}

// The period that closes a sentence.

/** One, for several say that something was left out. */
function stripPeriod(text: string, range: Range): boolean {
  const { start, end } = range;
  if (end <= start || !isPeriod(text[end - 1])) return false;
  const past = skipSpaceBack(text, start, end - 1);
  if (past > start && isPeriod(text[past - 1])) return false;
  range.end = past;
  return true;
}

function isPeriod(unit: string | undefined): boolean {
  return unit === "." || unit === "。";
}
