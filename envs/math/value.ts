/** Reads what an answer says, and compares two of them: the interface of everything in this folder. */
import type { Parsed } from "../facts.ts";
import { compareNodes } from "./compare/compare.ts";
import { isHedged, isRounded } from "./compare/rounding.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./compare/outcome.ts";
import { type Budget, STEPS_MAX } from "./numbers/budget.ts";
import { gcd } from "./numbers/rational.ts";
import { askedIn } from "./read/asked.ts";
import { mayHoldBases } from "./read/numeral.ts";
import { clockLike, clockOf, dateOf, remainderOf } from "./read/whole.ts";
import { respelled } from "./read/respelled.ts";
import type { Cursor, Style } from "./read/tokens.ts";
import { extract } from "./read/extract.ts";
import { lex } from "./read/lex.ts";
import { GRAMMAR, readStatement } from "./read/structure.ts";
import { type Node, show, some } from "./syntax.ts";
import { unknownWord } from "./unknown.ts";

/** One way to read an answer. */
interface Reading {
  readonly node: Node;
  readonly comma: Style["comma"];
}

/** An answer, read: in more than one way where it may mean more than one thing. */
export interface MathAnswer {
  /** As it was written, what surrounds it taken away. */
  readonly text: string;
  /** At least one; the likeliest first. */
  readonly readings: readonly Reading[];
  /** Of a choice: what its letter stands before, as in "(B) 12"; empty where it stands alone. */
  readonly choice?: readonly Reading[];
}

/** Reads the text of an answer. Never throws; bounded in steps, digits and depth whatever the text. */
export function readMath(text: string): Parsed<MathAnswer> {
  const extracted = extract(text);
  if (extracted.kind === "malformed") return extracted;
  const [only] = extracted.answer;
  return extracted.answer.length === 1 && only !== undefined ? readOne(only) : readSeveral(extracted.answer);
}

/** A dollar before a number that no other closes is one of money, and no formula's. */
function withMoney(text: string): string {
  return [...text.matchAll(/(?<!\\)\$/g)].length === 1 ? text.replace(/(?<!\\)\$(?=\s?\d)/, "\\$") : text;
}

/** Several boxes are a list. */
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

/** A system of equations, as it is written without \begin{cases}. */
const SYSTEM =
  /\\left\s?\\\{\s?\\begin\s?\{(array|aligned|matrix)\}(?:\s?\{[lcr| ]{0,9}\})?((?:(?!\\begin)[^])*?)\\end\s?\{\1\}\s?\\right\s?(?:\.|$)/g;

function readOne(written: string): Parsed<MathAnswer> {
  const text = withMoney(respelled(written)).replace(SYSTEM, "\\begin{cases}$2\\end{cases}");
  const [, bracketed, marked, named, content = ""] = CHOICE.exec(text) ?? [];
  const name = bracketed ?? marked ?? named;
  const inside = content === "" ? undefined : readings(content);
  const whole = readings(text);
  // What can be read as a whole is no choice, e.g. "A: 5"; but "(D) 12" is no product.
  const isChoice = name !== undefined && (whole.kind === "malformed" || content === "" || bracketed !== undefined);
  if (isChoice && inside?.kind !== "malformed") {
    const letter: Reading = { node: { kind: "symbol", name: name.toUpperCase() }, comma: "separator" };
    const choice = inside?.answer ?? [];
    const others = [...choice, ...(whole.kind === "answer" ? whole.answer : [])];
    return { kind: "answer", answer: { text, readings: [letter, ...others], choice } };
  }
  return whole.kind === "malformed" ? whole : { kind: "answer", answer: { text, readings: whole.answer } };
}

/** "(B)", "B)", "\\textbf{(B)}", "Option B", alone or with what the choice says behind it. */
const CHOICE =
  /^\s*(?:[Oo]ption\s+|[Cc]hoice\s+)?(?:\\(?:text|textup|textbf|mathrm|mathbf|textrm|boldsymbol)\s*\{\s*)?(?:\(\s*([A-Ja-j])\s*\)|([A-J])\s*[).:]|([A-J])(?<=[Oo]ption\s+.|[Cc]hoice\s+.)(?=\s*$))\s*\}?(?:$|(?:\\?\s|~)+(.*)$)/s;

/** The ways to read a text; malformed as the first one is. */
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
/** Two numbers in brackets of their own: a pair, an interval, a set. */
const PAIR = /[([{]\s*[-+−]?\d+,\d+\s*\\?[)\]}]/;
/** (1,234), which is no way to write a number. */
const BRACKETED = /^\s*(?:[([]|\\\{)\s*[-+−]?\d{1,3}(?:,\d{3})+\s*(?:[)\]]|\\\})\s*$/;
/** 1,0,1 */
const LISTED = /\d,\d+,\d/;
/** 1,000 and 3,05: no item of a list begins with a 0 and goes on. */
const ZERO_LED = /(?<=\d),0\d+(?![\d.])/;
const EXPONENT = /\de[+-]\d/;
/** Longer texts with commas are lists. */
const DECIMAL_LENGTH_MAX = 400;

/** 1,234 is a number, and perhaps a list; 3,14 is a list, and perhaps a number. */
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

/** What the text is, or what is wrong with it. */
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

/** A comma of the gold's is a decimal point only where it can hardly be a list: "0,5", "3,14". */
const SURELY_DECIMAL = /(?<!\d)0,\d|\d,\d\d/;

/** What a comparison finds, or that only beside the expected answer it is seen that the answer was not read. */
export type Verdict = Comparison | { readonly kind: "unread"; readonly reason: string };

/** Whether an answer says what the gold answer to a problem says. Never throws, and spends its budget of steps at most. */
export function compareMath(
  gold: MathAnswer,
  answer: MathAnswer,
  budget = budgetOf(gold, answer),
  problem = "",
): Verdict {
  if (bare(gold.text) === bare(answer.text)) return EQUAL;
  if (gold.readings.some(({ node }) => isWrittenSo(node, answer.text))) return EQUAL;
  if (isAnagram(gold.text, answer.text)) return undecided("it is a word of the same letters, or their product");
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
  return isHedge && !mayBe ? { kind: "unread", reason: "it only says about what the value is" } : found;
}

/** Longer texts hold more than a recurrence. */
const SEQUENCE_LENGTH_MAX = 400;
const ARGUMENT = /(?<![A-Za-z\\_])([A-Za-hlo-z])\s?\(\s?([nmkij](?:\s?[+-]\s?\d{1,4})?|\d{1,4})\s?\)/g;

/** An answer with a(n) as a_{n}, where the letter has subscripts in the other text alone. */
function subscripted(answer: MathAnswer, other: string): MathAnswer {
  if (answer.text.length > SEQUENCE_LENGTH_MAX || !other.includes("_")) return answer;
  const has = (text: string, letter: string): boolean => new RegExp(`(?<![A-Za-z\\\\^])${letter}_`).test(text);
  const text = answer.text.replace(ARGUMENT, (written, letter: string, index: string) =>
    has(other, letter) && !has(answer.text, letter) ? `${letter}_{${index}}` : written,
  );
  const read = text === answer.text ? undefined : readMath(text);
  return read?.kind === "answer" ? read.answer : answer;
}

/** Without a base "log" is natural to some and decadic to others, in all of an answer alike; beside "ln" it is decadic. */
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
  // Of two choices both letters and what they say count; who leaves one of them out says nothing else.
  const letters = compareReadings(meant.slice(0, 1), answer.readings.slice(0, 1), state);
  const isSaidTwice = letters.kind === "equal" && left.length > 0 && right.length > 0;
  return isSaidTwice ? compareReadings(left, right, state) : letters;
}

/** Characters that are read in the time of a step. */
const READ_IN_A_STEP = 3;

/** What long texts took to read is not there to compare them. */
function budgetOf(gold: MathAnswer, answer: MathAnswer): Budget {
  return { left: STEPS_MAX - (gold.text.length + answer.text.length) / READ_IN_A_STEP };
}

/** The 2A of 2A_{16}, whose base is left out. */
function isWrittenSo(gold: Node, text: string): boolean {
  return gold.kind === "number" && (gold.base ?? 0) > 10 && gold.digits?.toLowerCase() === text.trim().toLowerCase();
}

/** "tea" and "eat", and BACD and ABCD, which are orders. */
function isAnagram(gold: string, answer: string): boolean {
  const [left, right] = [ordered(gold), ordered(answer)];
  return left !== right && sorted(left) === sorted(right);
}

/** A word, or capitals of which the order may be what is asked for: of options, as ACD, some are left out. */
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
  const likeliest = first?.() ?? undecided("it cannot be read as the expected answer is");
  // What is less likely meant may make it equal, and nothing else.
  return likeliest.kind !== "equal" && others.some((compare) => compare().kind === "equal") ? EQUAL : likeliest;
}

/** A word that is not known is no product of its letters, whatever its value would be. */
function compareReading(gold: Node, answer: Node, state: State): Verdict {
  const word = unknownWord(answer, gold);
  return word === undefined
    ? compareNodes(gold, answer, state)
    : {
        kind: "unread",
        reason: `${word.slice(0, 40)} is no word that is known, and no product of the expected answer's variables`,
      };
}

/** Whether a ratio is written as it is in the other: the 7:32 of "S_1:S_2 = 7:32". */
function isWrittenIn(gold: Node, answer: Node): boolean {
  const ratioIn = (node: Node): string =>
    node.kind === "relation" ? digitsIn(node.parts.at(-1) as Node) : digitsIn(node);
  return ratioIn(gold) === ratioIn(answer);
}

/** "1:03" is not written as "1:3" is. */
function digitsIn(node: Node): string {
  const parts = node.kind === "ratio" ? node.parts : [node];
  return parts.map((part) => (part.kind === "number" && part.digits) || show(part)).join(":");
}

/**
 * "10:30" is a time or a ratio: beside a time it is a time, and beside a ratio of the same value it is what the problem asks
 * for. Where the problem does not say it, a ratio in lowest terms, such as 7:12, is one beside what cannot be a time.
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
  if (ratios?.kind !== "equal") return times ?? ratios ?? different("it is another kind of thing");
  const isTold = state.asked.colon === "ratio" || (times === undefined && (left ? theirs : given).some(isLowest));
  if (left !== undefined && state.asked.colon === "time" && !isSame) return different("a time is expected");
  return isSame || isTold ? EQUAL : undecided("it is a time or a ratio");
}

/** Whether a ratio is of whole numbers without a common divisor, and none begins with a 0. */
function isLowest({ node }: Reading): boolean {
  const parts = node.kind === "ratio" ? node.parts : [];
  const numbers = parts.flatMap((part) =>
    part.kind === "number" && /^[1-9]/.test(part.digits ?? "") ? [part.value.num] : [],
  );
  return numbers.length > 1 && numbers.length === parts.length && numbers.reduce(gcd) === 1n;
}

/** Behind a new line or another formula's dollar something else begins. */
const ENDS_THING = /\n|\$\s*\$/;

/** The text without what is never seen; what stands apart does so still: "2 1/2" is not "21/2", nor "$2$ $-1$" 2 − 1. */
function bare(text: string): string {
  const spaced = text.replace(/(?:\\(?:left|right|displaystyle)(?![A-Za-z])|\\[,;:! ]|[\s$])+/g, (run) =>
    ENDS_THING.test(run) ? "\n" : " ",
  );
  return spaced.trim().replace(/(?<![\w.]) | (?![\w.])/g, "");
}

const SHOWN_MAX = 120;

/** What an answer was read as, in one line. */
export function showMath(answer: MathAnswer): string {
  const text = show((answer.readings[0] as Reading).node).replace(/#-?[0-9a-f]+/g, "a number of hundreds of digits");
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}
