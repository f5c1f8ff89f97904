/** Parses math answers and compares two of them. Other modules parse and compare only through this file. */
import type { Parsed } from "../facts.ts";
import { compareNodes } from "./compare/compare.ts";
import { isHedged, isRounded } from "./compare/rounding.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./compare/outcome.ts";
import { type Budget, STEPS_MAX } from "./numbers/budget.ts";
import { gcd } from "./numbers/rational.ts";
import { askedIn } from "./read/asked.ts";
import { mayHoldBases } from "./read/numeral.ts";
import { clockLike, clockOf, dateOf, remainderOf } from "./read/times-and-dates.ts";
import { respelled } from "./read/respelled.ts";
import type { Cursor, Style } from "./read/tokens.ts";
import { extract } from "./read/extract.ts";
import { lex } from "./read/lex.ts";
import { GRAMMAR, readStatement } from "./read/structure.ts";
import { type Node, show, some } from "./syntax.ts";
import { unknownWord } from "./unknown.ts";

/** One way to parse an answer. An ambiguous text such as "1,234" has several. */
interface Reading {
  readonly node: Node;
  readonly comma: Style["comma"];
}

/** A parsed answer. It has several readings if the text is ambiguous. */
export interface MathAnswer {
  /** The answer's text without wrapping such as \boxed. */
  readonly text: string;
  /** At least one reading; the most likely one first. */
  readonly readings: readonly Reading[];
  /**
   * Set if the answer is a multiple-choice option: readings of the text after the letter, as in "(B) 12". Empty if the
   * letter stands alone.
   */
  readonly choice?: readonly Reading[];
}

/** Parses the text of an answer. Never throws. Steps, digits and nesting depth are bounded for any text. */
export function readMath(text: string): Parsed<MathAnswer> {
  const extracted = extract(text);
  if (extracted.kind === "malformed") return extracted;
  const [only] = extracted.answer;
  return extracted.answer.length === 1 && only !== undefined ? readOne(only) : readSeveral(extracted.answer);
}

/** Escapes a lone dollar sign before a number, so that it is read as currency and not as the start of a formula. */
function withMoney(text: string): string {
  return [...text.matchAll(/(?<!\\)\$/g)].length === 1 ? text.replace(/(?<!\\)\$(?=\s?\d)/, "\\$") : text;
}

/** Reads the contents of several \boxed commands as one list. */
function readSeveral(texts: readonly string[]): Parsed<MathAnswer> {
  const items: Node[] = [];
  for (const text of texts) {
    const read = readOne(text);
    if (read.kind === "malformed") return read;
    items.push((read.answer.readings[0] as Reading).node);
  }
  const node: Node = { kind: "list", joiner: ",", items };
  return { kind: "answer", answer: { text: texts.join(", "), readings: [{ node, comma: "separator" }] } };
}

/** Matches a system of equations that is written without \begin{cases}. */
const SYSTEM =
  /\\left\s?\\\{\s?\\begin\s?\{(array|aligned|matrix)\}(?:\s?\{[lcr| ]{0,9}\})?((?:(?!\\begin)[^])*?)\\end\s?\{\1\}\s?\\right\s?(?:\.|$)/g;

function readOne(written: string): Parsed<MathAnswer> {
  const text = withMoney(respelled(written)).replace(SYSTEM, "\\begin{cases}$2\\end{cases}");
  const [, bracketed, marked, named, content = ""] = CHOICE.exec(text) ?? [];
  const name = bracketed ?? marked ?? named;
  const inside = content === "" ? undefined : readings(content);
  const whole = readings(text);
  // A bare letter before a text that can be read as a whole is not an option, e.g. "A: 5". A bracketed letter is one:
  // "(D) 12" is not a product.
  const isChoice = name !== undefined && (whole.kind === "malformed" || content === "" || bracketed !== undefined);
  if (isChoice && inside?.kind !== "malformed") {
    const letter: Reading = { node: { kind: "symbol", name: name.toUpperCase() }, comma: "separator" };
    const choice = inside?.answer ?? [];
    const others = [...choice, ...(whole.kind === "answer" ? whole.answer : [])];
    return { kind: "answer", answer: { text, readings: [letter, ...others], choice } };
  }
  return whole.kind === "malformed" ? whole : { kind: "answer", answer: { text, readings: whole.answer } };
}

/**
 * Matches a multiple-choice option, such as "(B)", "B)", "\\textbf{(B)}" or "Option B", alone or followed by its text.
 */
const CHOICE =
  /^\s*(?:[Oo]ption\s+|[Cc]hoice\s+)?(?:\\(?:text|textup|textbf|mathrm|mathbf|textrm|boldsymbol)\s*\{\s*)?(?:\(\s*([A-Ja-j])\s*\)|([A-J])\s*[).:]|([A-J])(?<=[Oo]ption\s+.|[Cc]hoice\s+.)(?=\s*$))\s*\}?(?:$|(?:\\?\s|~)+(.*)$)/s;

/** Returns the ways to parse a text. If none succeeds, returns the error of the likeliest one. */
function readings(text: string): Parsed<readonly Reading[]> {
  const found: Reading[] = [];
  let problem: string | undefined;
  for (const style of stylesOf(text)) {
    const node = parse(text, style);
    if (typeof node === "string") problem ??= node;
    else if (!found.some((other) => show(other.node) === show(node))) found.push({ node, comma: style.comma });
  }
  const time = clockLike(text);
  if (time !== undefined) found.push({ node: time, comma: "separator" });
  return found.length > 0 ? { kind: "answer", answer: found } : { kind: "malformed", reason: problem ?? "it is empty" };
}

const THOUSANDS = /(?<![\d,.])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])/;
const COMMA = /\d,\d/;
/** Matches two numbers in brackets with a comma between them: a pair, an interval or a set. */
const PAIR = /[([{]\s*[-+−]?\d+,\d+\s*\\?[)\]}]/;
/** Matches a bracketed "(1,234)", which is a pair and not a number with a thousands separator. */
const BRACKETED = /^\s*(?:[([]|\\\{)\s*[-+−]?\d{1,3}(?:,\d{3})+\s*(?:[)\]]|\\\})\s*$/;
/** Matches a list of three or more numbers, such as 1,0,1. */
const LISTED = /\d,\d+,\d/;
/**
 * Matches digits after a comma that begin with 0, as in 1,000 and 3,05. Items of a list do not begin with a 0 followed
 * by digits, so the text is a number.
 */
const ZERO_LED = /(?<=\d),0\d+(?![\d.])/;
const EXPONENT = /\de[+-]\d/;
/**
 * Maximum length, in characters, of a text in which a comma may be a decimal comma. In longer texts commas separate
 * list items.
 */
const DECIMAL_LENGTH_MAX = 400;

/**
 * Returns the styles (meanings of commas and letters) in which to parse a text, likeliest first. "1,234" is first a
 * number, then a list; "3,14" is first a list, then a decimal.
 */
function stylesOf(text: string): readonly Style[] {
  const holdsBases = mayHoldBases(text);
  const plain: Style = { comma: "separator", exponent: false, bases: false };
  const styles: Style[] = holdsBases === "likely" ? [{ ...plain, bases: true }] : [];
  const isZeroLed = ZERO_LED.test(text);
  const isGrouped = THOUSANDS.test(text) && (isZeroLed || !BRACKETED.test(text));
  if (isGrouped) styles.push({ ...plain, comma: "thousands" });
  const isListed = LISTED.test(text);
  const mayBeDecimal = styles.length === 0 && text.length <= DECIMAL_LENGTH_MAX && COMMA.test(text) && !isListed;
  const isDecimal = mayBeDecimal && (isZeroLed || !PAIR.test(text));
  const isNoList = isZeroLed && (isGrouped || isDecimal);
  if (!isNoList) styles.push(plain);
  if (isDecimal) styles.push({ ...plain, comma: "decimal" });
  if (EXPONENT.test(text)) styles.push({ ...plain, exponent: true });
  if (holdsBases === "maybe") styles.push({ ...plain, bases: true });
  return styles;
}

/** Returns the parsed node, or an error message. */
function parse(text: string, style: Style): Node | string {
  const time = clockOf(text) ?? dateOf(text) ?? remainderOf(text);
  if (time !== undefined) return time;
  const lexed = lex(text, style);
  if (lexed.kind === "malformed") return lexed.reason;
  if (lexed.tokens.length === 0) return "it is empty";
  const start = { at: 0, depth: 0, reads: 0, bars: 0, turned: false, inSet: false, problem: undefined } as const;
  const cursor: Cursor = { grammar: GRAMMAR, tokens: [...lexed.tokens], ...start };
  const node = readStatement(cursor);
  return cursor.problem ?? node;
}

/**
 * Matches a comma that is almost certainly a decimal comma: "0,5" or "3,14". Without such a comma, an expected answer
 * is not read with a decimal comma.
 */
const SURELY_DECIMAL = /(?<!\d)0,\d|\d,\d\d/;

/**
 * Result of comparing two answers. "unread": the given answer can be parsed, but the comparison found that it has no
 * clear meaning.
 */
export type Verdict = Comparison | { readonly kind: "unread"; readonly reason: string };

/**
 * Returns whether an answer is equivalent to the expected one. Never throws, and spends at most its budget of steps.
 */
export function compareMath(
  gold: MathAnswer,
  answer: MathAnswer,
  budget = budgetOf(gold, answer),
  problem = "",
): Verdict {
  if (bare(gold.text) === bare(answer.text)) return EQUAL;
  if (gold.readings.some(({ node }) => isWrittenSo(node, answer.text))) return EQUAL;
  if (isAnagram(gold.text, answer.text))
    return undecided("it has the same letters in another order: another word, or the same product");
  const [one, other] = [subscripted(gold, answer.text), subscripted(answer, gold.text)];
  if (one !== gold || other !== answer) return compareMath(one, other, budget, problem);
  const asked = askedIn(problem);
  const seed = `${gold.text}\n${answer.text}`;
  let found: Verdict = EQUAL;
  for (const logarithm of meaningsOfLog(gold, answer)) {
    found = compareMeant(gold, answer, { budget, seed, logarithm, asked });
    if (found.kind === "equal") break;
  }
  const isHedge = found.kind === "equal" && answer.readings.every(({ node }) => isHedged(node));
  const mayBe = asked.isApproximate || gold.readings.some(({ node }) => isRounded(node));
  return isHedge && !mayBe ? { kind: "unread", reason: "it gives the value only approximately" } : found;
}

/** Maximum length, in characters, of a text in which a(n) is rewritten as a_{n}. */
const SEQUENCE_LENGTH_MAX = 400;
const ARGUMENT = /(?<![A-Za-z\\_])([A-Za-hlo-z])\s?\(\s?([nmkij](?:\s?[+-]\s?\d{1,4})?|\d{1,4})\s?\)/g;

/** Rewrites a(n) as a_{n} in an answer, if the other answer has subscripts on the letter a and this one has none. */
function subscripted(answer: MathAnswer, other: string): MathAnswer {
  if (answer.text.length > SEQUENCE_LENGTH_MAX || !other.includes("_")) return answer;
  const has = (text: string, letter: string): boolean => new RegExp(`(?<![A-Za-z\\\\^])${letter}_`).test(text);
  const text = answer.text.replace(ARGUMENT, (written, letter: string, index: string) =>
    has(other, letter) && !has(answer.text, letter) ? `${letter}_{${index}}` : written,
  );
  const read = text === answer.text ? undefined : readMath(text);
  return read?.kind === "answer" ? read.answer : answer;
}

/**
 * Returns the possible bases of a "log" written without a base: natural or decimal, the same throughout both answers.
 * In an answer that also has "ln", the base is 10.
 */
function meaningsOfLog(...answers: readonly MathAnswer[]): readonly State["logarithm"][] {
  const has = ({ readings }: MathAnswer, name: string): boolean =>
    readings.some(({ node }) => some(node, (part) => part.kind === "call" && part.name === name));
  const open = answers.filter((answer) => has(answer, "log"));
  if (open.length === 0) return ["e"];
  return open.some((answer) => has(answer, "ln")) ? ["10"] : ["e", "10"];
}

function compareMeant(gold: MathAnswer, answer: MathAnswer, state: State): Verdict {
  const meant = gold.readings.filter(({ comma }) => comma !== "decimal" || SURELY_DECIMAL.test(gold.text));
  const [left, right] = [gold.choice, answer.choice];
  if (left === undefined || right === undefined)
    return compareTimes(meant, answer.readings, state) ?? compareReadings(meant, answer.readings, state);
  // If both answers are multiple-choice options, both the letters and the texts must be equal. A missing text is not
  // compared.
  const letters = compareReadings(meant.slice(0, 1), answer.readings.slice(0, 1), state);
  const isSaidTwice = letters.kind === "equal" && left.length > 0 && right.length > 0;
  return isSaidTwice ? compareReadings(left, right, state) : letters;
}

/** Number of characters that can be parsed for one step of the budget. */
const READ_IN_A_STEP = 3;

/** Returns the step budget of a comparison: STEPS_MAX less the cost of parsing both texts. */
function budgetOf(gold: MathAnswer, answer: MathAnswer): Budget {
  return { left: STEPS_MAX - (gold.text.length + answer.text.length) / READ_IN_A_STEP };
}

/**
 * Returns whether the text has the digits of the expected number but omits its base: 2A for 2A_{16}. Applies to bases
 * above 10.
 */
function isWrittenSo(gold: Node, text: string): boolean {
  return gold.kind === "number" && (gold.base ?? 0) > 10 && gold.digits?.toLowerCase() === text.trim().toLowerCase();
}

/** Returns whether two different texts are words or sequences of the same letters: "tea" and "eat", BACD and ABCD. */
function isAnagram(gold: string, answer: string): boolean {
  const [left, right] = [ordered(gold), ordered(answer)];
  return left !== right && sorted(left) === sorted(right);
}

/**
 * Returns the lowercase letters of a word, or of capitals whose order may matter. Returns "" for a set of options such
 * as ACD, whose order does not matter.
 */
function ordered(text: string): string {
  const capitals = text.replace(/\s/g, "");
  const areCapitals = /^[A-Z]{3,8}$/.test(capitals);
  const areOptions = /^[A-H]+$/.test(capitals) && !"ABCDEFGH".startsWith(sorted(capitals));
  if (areCapitals) return areOptions ? "" : capitals.toLowerCase();
  return /^[A-Za-z][a-z]{2,8}$/.test(text) && /[aeiou]/.test(text) ? text.toLowerCase() : "";
}

const sorted = (letters: string): string => [...letters].sort().join("");

function compareReadings(meant: readonly Reading[], answers: readonly Reading[], state: State): Verdict {
  const found = meant.flatMap((left) => answers.map((right) => () => compareReading(left.node, right.node, state)));
  const [first, ...others] = found;
  const likeliest = first?.() ?? undecided("the comma in the expected answer may be a decimal comma or a separator");
  // The likeliest readings of both answers decide. Less likely readings can only turn the result into "equal".
  return likeliest.kind !== "equal" && others.some((compare) => compare().kind === "equal") ? EQUAL : likeliest;
}

/**
 * Compares one reading of the expected answer with one of the given answer. The result is "unread" if the given answer
 * has an unknown word, because a product of its letters would be meaningless.
 */
function compareReading(gold: Node, answer: Node, state: State): Verdict {
  const word = unknownWord(answer, gold);
  return word === undefined
    ? compareNodes(gold, answer, state)
    : {
        kind: "unread",
        reason: `${word.slice(0, 40)} is neither a known word nor a product of the expected answer's variables`,
      };
}

/** Returns whether two ratios are written with the same digits: "7:32" and "S_1:S_2 = 7:32". */
function isWrittenIn(gold: Node, answer: Node): boolean {
  const ratioIn = (node: Node): string =>
    node.kind === "relation" ? digitsIn(node.parts.at(-1) as Node) : digitsIn(node);
  return ratioIn(gold) === ratioIn(answer);
}

/** Returns the digits of a ratio as written, so that "1:03" and "1:3" differ. */
function digitsIn(node: Node): string {
  const parts = node.kind === "ratio" ? node.parts : [node];
  return parts.map((part) => (part.kind === "number" && part.digits) || show(part)).join(":");
}

/**
 * Compares answers such as "10:30", which are a time or a ratio. Returns undefined if neither answer can be a time.
 *
 * If both answers can be ratios of the same value, they are equal if they have the same digits or if the problem asks
 * for a ratio. They are also equal if only one of them can be a time and its ratio is in lowest terms, as in 7:12. If a
 * time is expected, only the same digits count.
 */
function compareTimes(golds: readonly Reading[], answers: readonly Reading[], state: State): Verdict | undefined {
  const isTime = ({ node }: Reading): boolean => node.kind === "clock";
  const [left, right] = [golds.find(isTime), answers.find(isTime)];
  if (left === undefined && right === undefined) return undefined;
  const times = left && right && compareNodes(left.node, right.node, state);
  if (times !== undefined && times.kind !== "different") return times;
  const others = (readings: readonly Reading[]): readonly Reading[] => readings.filter((each) => !isTime(each));
  const [theirs, given] = [others(golds), others(answers)];
  const isSame = theirs.some((one) => given.some((other) => isWrittenIn(one.node, other.node)));
  const ratios = theirs.length > 0 && given.length > 0 ? compareReadings(theirs, given, state) : undefined;
  if (ratios?.kind !== "equal") return times ?? ratios ?? different("it is another kind of value");
  const isTold = state.asked.colon === "ratio" || (times === undefined && (left ? theirs : given).some(isLowest));
  if (left !== undefined && state.asked.colon === "time" && !isSame) return different("a time is expected");
  return isSame || isTold ? EQUAL : undecided("it may be a time or a ratio");
}

/** Returns whether a ratio has only whole numbers, without leading zeros and without a common divisor. */
function isLowest({ node }: Reading): boolean {
  const parts = node.kind === "ratio" ? node.parts : [];
  const numbers = parts.flatMap((part) =>
    part.kind === "number" && /^[1-9]/.test(part.digits ?? "") ? [part.value.num] : [],
  );
  return numbers.length > 1 && numbers.length === parts.length && numbers.reduce(gcd) === 1n;
}

/** Matches the text between two formulas: a new line, or the end of one formula and the start of the next. */
const ENDS_THING = /\n|\$\s*\$/;

/**
 * Returns the text without markup that is invisible when typeset. Separate tokens stay separate: "2 1/2" does not
 * become "21/2", and "$2$ $-1$" does not become 2 − 1.
 */
function bare(text: string): string {
  const spaced = text.replace(/(?:\\(?:left|right|displaystyle)(?![A-Za-z])|\\[,;:! ]|[\s$])+/g, (run) =>
    ENDS_THING.test(run) ? "\n" : " ",
  );
  return spaced.trim().replace(/(?<![\w.]) | (?![\w.])/g, "");
}

const SHOWN_MAX = 120;

/** Returns one line that shows how the answer was parsed. */
export function showMath(answer: MathAnswer): string {
  const text = show((answer.readings[0] as Reading).node).replace(/#-?[0-9a-f]+/g, "a number of hundreds of digits");
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}
