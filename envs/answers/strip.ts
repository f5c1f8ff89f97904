/**
 * Takes away what people and models put around an answer: the one place that does, for every environment and answer
 * format. It looks at the two ends of the text only, and takes away, over and over until nothing fits,
 *
 * 1. white space of any kind, and LaTeX's spaces;
 * 2. a label at the start (labels.ts): "Answer:", "So, the final answer is", "答案：", a heading on a line of its own, what
 *    the environment calls its answers ("clique ="); the braces and the key of {"answer": …};
 * 3. marks that stand at both ends (marks.ts): code fences with or without a language, <answer> tags, $$…$$, $…$, \(…\),
 *    \[…\], bold, italics, backticks, quotes, and \boxed{…}, \text{…} and their like;
 * 4. one closing period, comma or semicolon, the token that ends a turn, and the verb that ends a sentence begun by a label in Japanese and Korean;
 * 5. a sign of bold or italics at one end, where a label has opened one that was not closed before its colon.
 *
 * All else is left to the environment's parser: words before or after the answer, units, a second answer, comments. A
 * text that only looks wrapped, such as "$1$ or $2$", loses its outer marks and is refused for the inner ones: no parser
 * takes any of these marks where they are not paired. Time is linear in the text's length: each step looks at
 * no more than a fixed number of units beside those it takes away, and there are at most STEPS_MAX.
 */
import { skipGap, skipGapBack } from "../lib/text.ts";
import { type AnswerNames, closingWords, keyAt, labelAt } from "./labels.ts";
import { type Range, stripMarks } from "./marks.ts";

/** More labels and marks than this surround no answer of a person's or a model's. */
const STEPS_MAX = 256;

/** The names are those that the environment has for its answers. */
export function stripAnswer(text: string, names?: AnswerNames): string {
  if (isBare(text)) return text;
  const { start, end, value } = stripped(text, { start: 0, end: text.length }, "", names);
  // What escapes in JSON takes more characters each time: there are few of them in one another.
  return value === undefined ? text.slice(start, end) : stripAnswer(value, names);
}

/** The text of {"answer": "…"}, where that is what is left; undefined: it is something else. */
export function textOfObject(text: string): string | undefined {
  return text.includes('"') ? stripped(text, { start: 0, end: text.length }, "").value : undefined;
}

/**
 * The same for a part of a text that starts behind a label's colon; the label has opened these marks of bold or italics.
 * Where they are closed nowhere, all is left as it is.
 */
export function stripRange(text: string, start: number, end: number, opened = ""): Range {
  return stripped(text, { start, end }, opened);
}

interface Stripped extends Range {
  /** Where an object of JSON is left, and holds a text alone: that text. */
  readonly value: string | undefined;
}

function stripped(text: string, whole: Range, opened: string, names?: AnswerNames): Stripped {
  const usual = peel(text, whole, { opened, names, labelsFirst: false });
  if (!endsInSign(text, usual)) return usual;
  const other = peel(text, whole, { opened, names, labelsFirst: true });
  return endsInSign(text, other) ? usual : other;
}

/** No answer starts or ends with a sign of bold or italics. */
function endsInSign(text: string, { start, end }: Range): boolean {
  return end > start && (isSign(text.charAt(start)) || isSign(text.charAt(end - 1)));
}

interface Peeling {
  readonly opened: string;
  readonly names: AnswerNames | undefined;
  /**
   * Where a label has opened marks that are not clearly closed behind it, whether the label goes first, as in
   * "**Answer:****[1]**", or the marks at both ends, as in "***Answer:* [1]**".
   */
  readonly labelsFirst: boolean;
}

function peel(text: string, whole: Range, { opened, names, labelsFirst }: Peeling): Stripped {
  const range = { ...whole };
  const debts: Debts = { owed: [], unpaired: { "*": 0, _: 0 }, before: undefined };
  const label: Labelled = { names, isThere: false, none: -1, value: undefined };
  owe(text, range, opened, debts, whole);
  trim(text, range);
  for (let step = 0; step < STEPS_MAX; step++) {
    const isStripped =
      stripLabel(text, range, label, labelsFirst ? debts : undefined) ||
      stripMarks(text, range) ||
      stripEnd(text, range) ||
      stripEndToken(text, range) ||
      stripClosingWords(text, range, label) ||
      stripObject(text, range, label) ||
      (label.value === undefined && (stripLabel(text, range, label, debts) || stripUnpaired(text, range, debts)));
    if (!isStripped) break;
    trim(text, range);
  }
  const left = debts.before === undefined || isPaid(debts) ? range : debts.before;
  return { ...left, value: label.value };
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

/** Which labels there may be, and have been. */
interface Labelled {
  readonly names: AnswerNames | undefined;
  isThere: boolean;
  /** Where none was found. */
  none: number;
  value: string | undefined;
}

/** Without `debts`, only a label whose marks are all closed. */
function stripLabel(text: string, range: Range, labelled: Labelled, debts: Debts | undefined): boolean {
  if (labelled.none === range.start) return false;
  const label = labelAt(text, range.start, range.end, labelled.names);
  if (label === undefined) {
    labelled.none = range.start;
    return false;
  }
  const before = { ...range };
  range.start = label.past;
  if (label.closed === label.opened || owe(text, range, label.opened, debts, before)) {
    labelled.isThere = true;
    return true;
  }
  range.start = before.start;
  return false;
}

/** "です" and its like, only where a label has begun the sentence. */
function stripClosingWords(text: string, range: Range, { isThere }: Labelled): boolean {
  const units = isThere ? closingWords(text, range.start, range.end) : 0;
  range.end -= units;
  return units > 0;
}

const OPEN_BRACE = 123;

/** {"answer": …}; where that is a text, its escapes go with it. */
function stripObject(text: string, range: Range, labelled: Labelled): boolean {
  const { start, end } = range;
  if (text.charCodeAt(start) !== OPEN_BRACE || text[end - 1] !== "}") return false;
  const past = keyAt(text, start, end, labelled.names);
  if (past === undefined) return false;
  const inside = text.slice(past, end - 1).trim();
  if (STRING.test(inside)) {
    labelled.value = JSON.parse(inside) as string;
    return false;
  }
  range.start = past;
  range.end = end - 1;
  return true;
}

/** A text of JSON that is not LaTeX's: "\\neq" and "\\frac" could be escapes, too. */
const STRING = /^"(?:[^\\"\p{Cc}]|\\["\\/]|\\[nrt](?![a-z])|\\u[0-9a-fA-F]{4})*"$/u;

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

// The period that closes a sentence, and the comma or semicolon after which nothing comes.

/** One, for several say that something was left out. */
function stripEnd(text: string, range: Range): boolean {
  const { start, end } = range;
  if (end <= start || !isEnd(text[end - 1])) return false;
  const past = skipGapBack(text, start, end - 1);
  if (past > start && isEnd(text[past - 1])) return false;
  range.end = past;
  return true;
}

/** What a model ends its turn with, where the trainer leaves it in: "<|im_end|>", "</s>". */
const END_TOKEN = /(?:<\|[a-z_]{1,24}\|>|<｜[a-z▁]{1,24}｜>|<\/s>|<eos>|<end_of_turn>)$/;
const END_TOKEN_UNITS_MAX = 28;

function stripEndToken(text: string, range: Range): boolean {
  const { start, end } = range;
  if (text[end - 1] !== ">") return false;
  const token = END_TOKEN.exec(text.slice(Math.max(start, end - END_TOKEN_UNITS_MAX), end))?.[0] ?? "";
  range.end -= token.length;
  return token !== "";
}

const ENDS = ".。．｡,，、;；";

function isEnd(unit: string | undefined): boolean {
  return unit !== undefined && ENDS.includes(unit);
}
