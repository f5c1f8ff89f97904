/**
 * Strips what people and models put around an answer. All environments and answer formats use only this code. It looks
 * at the two ends of the text, and repeats these steps until none applies:
 *
 * 1. Strip white space of any kind, and LaTeX's spaces.
 * 2. Strip a label at the start (labels.ts): "Answer:", "So, the final answer is", "答案：", a heading on a line of its
 *    own, the environment's word for its answers ("clique ="), or the braces and the key of {"answer": …}.
 * 3. Strip marks that stand at both ends (marks.ts): code fences with or without a language, <answer> tags, $$…$$, $…$,
 *    \(…\), \[…\], bold, italics, backticks, quotes, \boxed{…}, \text{…} and similar commands.
 * 4. Strip one closing period, comma or semicolon, the token that ends a turn, and the verb that ends a labelled
 *    sentence in Japanese and Korean.
 * 5. Strip a sign of bold or italics at one end, if a label has opened one that was not closed before its colon.
 *
 * The environment's parser handles everything else: words before or after the answer, units, a second answer, comments.
 * A text that only looks wrapped, such as "$1$ or $2$", loses its outer marks. Parsers then refuse it for the inner
 * ones, because none accepts unpaired marks. The time is linear in the text's length: there are at most STEPS_MAX
 * steps, and each looks at a bounded number of units besides those that it strips.
 */
import { skipGap, skipGapBack } from "../lib/text.ts";
import { type AnswerNames, closingWords, keyAt, labelAt } from "./labels.ts";
import { type Range, stripMarks } from "./marks.ts";

/** Maximum number of labels and marks that are stripped from an answer. */
const STEPS_MAX = 256;

/**
 * Returns an answer without its wrapping. `names` are the nouns by which the environment calls its answers, e.g.
 * "clique".
 */
export function stripAnswer(text: string, names?: AnswerNames): string {
  if (isBare(text)) return text;
  const { start, end, value } = stripped(text, { start: 0, end: text.length }, "", names);
  // The recursion is shallow, because the escapes of nested JSON strings grow with each level.
  return value === undefined ? text.slice(start, end) : stripAnswer(value, names);
}

/** Returns the string of an object {"answer": "…"}, if the text is nothing else. Returns undefined otherwise. */
export function textOfObject(text: string): string | undefined {
  return text.includes('"') ? stripped(text, { start: 0, end: text.length }, "").value : undefined;
}

/**
 * Strips the wrapping of an answer in text[start, end), which follows a label's colon. `opened` are the marks of bold
 * or italics that the label opened. If they are never closed, nothing is stripped.
 */
export function stripRange(text: string, start: number, end: number, opened = ""): Range {
  return stripped(text, { start, end }, opened);
}

interface Stripped extends Range {
  /** Text in an object such as {"answer": "12"}, if nothing but the object is left. Undefined otherwise. */
  readonly value: string | undefined;
}

function stripped(text: string, whole: Range, opened: string, names?: AnswerNames): Stripped {
  const usual = peel(text, whole, { opened, names, labelsFirst: false });
  if (!endsInSign(text, usual)) return usual;
  const other = peel(text, whole, { opened, names, labelsFirst: true });
  return endsInSign(text, other) ? usual : other;
}

/** Returns whether a range starts or ends with * or _. No answer does, so such a sign belongs to bold or italics. */
function endsInSign(text: string, { start, end }: Range): boolean {
  return end > start && (isSign(text.charAt(start)) || isSign(text.charAt(end - 1)));
}

interface Peeling {
  readonly opened: string;
  readonly names: AnswerNames | undefined;
  /**
   * Decides what is stripped first if a label opened marks that are not clearly closed after it. True: the label, as in
   * "**Answer:****[1]**". False: the marks at both ends, as in "***Answer:* [1]**".
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

/**
 * Returns whether nothing can be removed, because the text starts and ends with a digit or a bracket, e.g. "[0, 1]" or
 * "(3 + 4) * 5". Most answers do.
 */
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

// Functions that strip white space.

function trim(text: string, range: Range): void {
  range.start = skipGap(text, range.start, range.end);
  range.end = skipGapBack(text, range.start, range.end);
}

// Functions that strip labels such as "Answer:".

/** The nouns that labels may use, and the state of the search for labels. */
interface Labelled {
  readonly names: AnswerNames | undefined;
  isThere: boolean;
  /** Last offset at which no label was found, to avoid a second search there. */
  none: number;
  value: string | undefined;
}

/**
 * Removes a label from the start. `debts` records bold or italic marks that a label opens and does not close. If
 * `debts` is undefined, removes only a label without such marks.
 */
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

/** Strips an ending such as "です", if a label was stripped before. */
function stripClosingWords(text: string, range: Range, { isThere }: Labelled): boolean {
  const units = isThere ? closingWords(text, range.start, range.end) : 0;
  range.end -= units;
  return units > 0;
}

const OPEN_BRACE = 123;

/**
 * Strips the braces and the key of {"answer": …}. If the value is a JSON string, leaves the range unchanged and stores
 * the unescaped string in `labelled`.
 */
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

/**
 * Matches a JSON string that cannot be LaTeX. In LaTeX, the start of "\neq" or "\frac" would look like a JSON escape.
 */
const STRING = /^"(?:[^\\"\p{Cc}]|\\["\\/]|\\[nrt](?![a-z])|\\u[0-9a-fA-F]{4})*"$/u;

// Functions for bold and italics that a label opens. They are closed after its colon, as in "**Answer:** 1", or after
// the answer, as in "**Answer: 1**". Other marks of the same sign may stand between, as in "*Answer:***[1]***.*".

type Sign = "*" | "_";

interface Debt {
  readonly sign: Sign;
  readonly count: number;
  /** True if the marks after the label's colon may be its closing marks, or may open bold text in the answer. */
  readonly maybeThere: boolean;
}

interface Debts {
  /** Marks that labels opened and that still have to be closed. */
  readonly owed: Debt[];
  /** Number of single signs (* or _) removed at the start of the text, minus the number removed at its end. */
  readonly unpaired: Record<Sign, number>;
  /**
   * Range before the first label with unclosed marks was removed. It is restored if these marks are never closed.
   * Undefined: there was no label with unclosed marks.
   */
  before: Range | undefined;
}

/** Maximum number of labels with unclosed marks. If there are more, none of them is stripped. */
const DEBTS_MAX = 8;

function isSign(text: string): text is Sign {
  return text === "*" || text === "_";
}

/**
 * Strips the marks that close a label's bold or italics, if they follow its colon immediately and white space follows
 * them (CommonMark 6.2). If they are missing, records the open marks in `debts`. Returns false if marks are open and
 * `debts` is undefined.
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

/** Removes a single * or _ at one end. Removes no more of them than labels have opened. */
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

/** Returns whether the single signs (* and _) removed at both ends can be exactly the closing marks of all labels. */
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

// Functions for a period that closes a sentence, and for a comma or semicolon at the end.

/**
 * Removes one period, comma or semicolon at the end. Several in a row are kept, because they mean that something was
 * left out.
 */
function stripEnd(text: string, range: Range): boolean {
  const { start, end } = range;
  if (end <= start || !isEnd(text[end - 1])) return false;
  const past = skipGapBack(text, start, end - 1);
  if (past > start && isEnd(text[past - 1])) return false;
  range.end = past;
  return true;
}

/** Matches the token that ends a model's turn, which some trainers leave in: "<|im_end|>", "</s>". */
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
