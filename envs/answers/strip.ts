/**
 * Takes away what people and models put around an answer: the one place that does, for every environment and answer
 * format. It looks at the two ends of the text only, and takes away, over and over until nothing fits,
 *
 * 1. white space of any kind, and LaTeX's spaces;
 * 2. a label at the start: "Answer:", "Final answer:", "The answer is", also bold, as a heading or inside \text{};
 * 3. marks that stand at both ends: code fences with or without a language, <answer> tags, $$…$$, $…$, \(…\), \[…\],
 *    bold, italics, backticks, quotes, and \boxed{…}, \text{…} and their like;
 * 4. one closing period;
 * 5. a sign of bold or italics at one end, where a label has opened one that was not closed before its colon.
 *
 * All else is left to the environment's parser: words before or after the answer, units, a second answer, comments. A
 * text that only looks wrapped, such as "$1$ or $2$", loses its outer marks and is refused for the inner ones: no parser
 * takes any of these marks where they are not paired. Time is linear in the text's length: each step looks at
 * no more than a fixed number of units beside those it takes away, and there are at most STEPS_MAX.
 */
import { skipGap, skipGapBack, skipSpaceBack } from "../lib/text.ts";

/** What is left of a text: text.slice(start, end). */
export interface Range {
  start: number;
  end: number;
}

/** More labels and marks than this surround no answer of a person's or a model's. */
const STEPS_MAX = 256;

export function stripAnswer(text: string): string {
  if (isBare(text)) return text;
  const { start, end } = stripRange(text, 0, text.length);
  return text.slice(start, end);
}

/**
 * The same for a part of a text that starts behind a label's colon; the label has opened these marks of bold or italics.
 * Where they are closed nowhere, all is left as it is.
 */
export function stripRange(text: string, start: number, end: number, opened = ""): Range {
  const whole = { start, end };
  const usual = peel(text, whole, opened, false);
  if (!endsInSign(text, usual)) return usual;
  const other = peel(text, whole, opened, true);
  return endsInSign(text, other) ? usual : other;
}

/** No answer starts or ends with a sign of bold or italics. */
function endsInSign(text: string, { start, end }: Range): boolean {
  return end > start && (isSign(text.charAt(start)) || isSign(text.charAt(end - 1)));
}

/**
 * `labelsFirst`: where a label has opened marks that are not clearly closed behind it, whether the label goes first, as
 * in "**Answer:****[1]**", or the marks at both ends, as in "***Answer:* [1]**".
 */
function peel(text: string, whole: Range, opened: string, labelsFirst: boolean): Range {
  const range = { ...whole };
  const debts: Debts = { owed: [], unpaired: { "*": 0, _: 0 }, before: undefined };
  owe(text, range, opened, debts, whole);
  trim(text, range);
  for (let step = 0; step < STEPS_MAX; step++) {
    const stripped =
      stripLabel(text, range, labelsFirst ? debts : undefined) ||
      stripMarks(text, range) ||
      stripPeriod(text, range) ||
      stripLabel(text, range, debts) ||
      stripUnpaired(text, range, debts);
    if (!stripped) break;
    trim(text, range);
  }
  return debts.before === undefined || isPaid(debts) ? range : debts.before;
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

function trim(text: string, range: Range): void {
  range.start = skipGap(text, range.start, range.end);
  range.end = skipGapBack(text, range.start, range.end);
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

/** Without `debts`, only a label whose marks are all closed. */
function stripLabel(text: string, range: Range, debts: Debts | undefined): boolean {
  const first = text[range.start] ?? "";
  if (!LABEL_STARTS.includes(first)) return false;
  const label = first === "\\" ? LATEX_LABEL : LABEL;
  label.lastIndex = range.start;
  const found = label.exec(text);
  if (found === null || label.lastIndex > range.end) return false;
  const [, opened = "", closed = ""] = found;
  const before = { ...range };
  range.start = label.lastIndex;
  if (closed === opened || owe(text, range, opened, debts, before)) return true;
  range.start = before.start;
  return false;
}

// Bold and italics that a label opens: closed behind its colon, as in "**Answer:** 1", or behind the answer, as in
// "**Answer: 1**". Other marks of the same sign may stand between, as in "*Answer:***[1]***.*".

type Sign = "*" | "_";

interface Debt {
  readonly sign: Sign;
  readonly count: number;
  /** Whether the marks may be closed behind the colon. */
  readonly maybeThere: boolean;
}

interface Debts {
  /** What labels have opened. */
  readonly owed: Debt[];
  /** How many signs stood at the start alone, less those at the end. */
  readonly unpaired: Record<Sign, number>;
  /** What was left before the first label of these; undefined: there was none. */
  before: Range | undefined;
}

/** Labels of this kind, one in another. */
const DEBTS_MAX = 8;

function isSign(text: string): text is Sign {
  return text === "*" || text === "_";
}

/**
 * Takes away the marks that close a label's right behind its colon, where they can be nothing else: they touch the colon
 * and end a word (CommonMark 6.2). Else they are owed; false: they may not be.
 */
function owe(text: string, range: Range, opened: string, debts: Debts | undefined, before: Range): boolean {
  const sign = opened.charAt(0);
  if (!isSign(sign)) return true;
  const { start: colon, end } = range;
  const at = skipGap(text, colon, end);
  const past = at + opened.length;
  const isThere = past <= end && text.startsWith(opened, at);
  const endsWord = past === end || skipGap(text, past, end) > past;
  if (isThere && at === colon && endsWord) {
    range.start = past;
    return true;
  }
  if (debts === undefined) return false;
  debts.before ??= before;
  debts.owed.push({ sign, count: opened.length, maybeThere: isThere && (at === colon || endsWord) });
  return true;
}

/** Takes away a sign at one end, of which the other end has none: as many as labels have opened. */
function stripUnpaired(text: string, range: Range, { owed, unpaired }: Debts): boolean {
  const { start, end } = range;
  if (owed.length === 0 || start >= end) return false;
  const takes = (sign: string, step: number): boolean => {
    if (!isSign(sign)) return false;
    const most = owed.reduce((sum, debt) => sum + (debt.sign === sign ? debt.count : 0), 0);
    if (Math.abs(unpaired[sign] + step) > most) return false;
    unpaired[sign] += step;
    return true;
  };
  if (takes(text.charAt(start), 1)) range.start++;
  else if (takes(text.charAt(end - 1), -1)) range.end--;
  else return false;
  return true;
}

/** Whether the signs that stood alone are those that close the labels': each label's at the start, or at the end. */
function isPaid({ owed, unpaired }: Debts): boolean {
  if (owed.length > DEBTS_MAX) return false;
  return (["*", "_"] as const).every((sign) => {
    let sums = new Set([0]);
    for (const { count, maybeThere } of owed.filter((debt) => debt.sign === sign)) {
      sums = new Set([...sums].flatMap((sum) => (maybeThere ? [sum - count, sum + count] : [sum - count])));
    }
    return sums.has(unpaired[sign]);
  });
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
const FENCE_MAX = 32;

function stripFence(text: string, range: Range, mark: string): boolean {
  const fence = mark.repeat(3);
  if (!stripPair(text, range, fence, fence)) return false;
  for (let more = fence.length; more < FENCE_MAX && stripPair(text, range, mark, mark); more++);
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
