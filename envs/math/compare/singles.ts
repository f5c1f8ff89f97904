/** Compares answers of one part: words, a congruence class, a time, a ratio or a value. */
import { isNumberSet } from "../read/names.ts";
import { children, type Node, variablesOf } from "../syntax.ts";
import type { Compare, Context } from "./assignments.ts";
import { compareFamilies, residuesOf } from "./families.ts";
import { all, any, type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { besideConstant, vanishing } from "./renaming.ts";
import { compareScalars } from "./scalars.ts";
import { compareMeasured, measuredOf } from "./units.ts";
import { textOf } from "./shape.ts";

// Functions that compare single values: congruence classes, times, ratios and numbers.

/**
 * Compares a congruence class with another class or a number. "2 (mod 5)" equals its least remainder 2, but not 7. "n ≡
 * 2 (mod 5)" is a congruence and equals no number.
 */
export function compareResidues(gold: Node, answer: Node, state: State, compare: Compare): Comparison {
  if (gold.kind === "residue" && answer.kind === "residue")
    return compareFamilies(gold, answer, state, () => undecided("its modulus is not a number"));
  const [residue, other, isGold] = gold.kind === "residue" ? [gold, answer, true] : [answer, gold, false];
  if (residue.kind !== "residue" || other.kind === "relation")
    return undecided("a congruence is not compared with an equation or inequality");
  const [letter] = residue.node.kind === "relation" ? residue.node.parts : [];
  if (letter !== undefined && variablesOf(letter).size > 0 && (isGold || variablesOf(other).size === 0))
    return different("one answer is a congruence and the other a number");
  const items = residuesOf(residue.node.kind === "relation" ? (residue.node.parts.at(-1) as Node) : residue.node);
  const least = items.map((item): Node => ({ kind: "call", name: "mod", args: [item, residue.modulus] }));
  return any(
    (isGold ? [items, least] : [least]).map((values) => () => {
      const list: Node = values.length === 1 ? (values[0] as Node) : { kind: "list", joiner: ",", items: values };
      return isGold ? compare(list, other) : compare(other, list);
    }),
  );
}

export function compareClocks(gold: Node, answer: Node): Comparison {
  if (gold.kind !== "clock" || answer.kind !== "clock") return different("it is another kind of value");
  if (gold.minutes % 720 !== answer.minutes % 720) return different("it is another time");
  if (gold.half !== answer.half) return undecided("only one of the two times says whether it is before or after noon");
  return gold.minutes === answer.minutes ? EQUAL : different("it is another time");
}

export function compareRatios(gold: Node, answer: Node, state: State): Comparison {
  if (gold.kind === "ratio" && answer.kind === "ratio") {
    if (gold.parts.length !== answer.parts.length) return different("it is a ratio of another number of parts");
    const pair = (parts: readonly Node[], i: number): Node => ({ kind: "ratio", parts: parts.slice(i, i + 2) });
    return all(gold.parts.length - 1, (i) => compareScalars(pair(gold.parts, i), pair(answer.parts, i), state));
  }
  return compareScalars(gold, answer, state);
}

/**
 * Words after a letter that say which numbers the letter stands for, as in "n odd". If only one answer has such a word,
 * the comparison is undecided.
 */
const KINDS: ReadonlySet<string> = new Set(
  "even odd prime composite positive negative nonnegative nonzero integer natural rational irrational real".split(" "),
);

export function compareSingle(gold: Node, answer: Node, state: State, context: Context): Comparison {
  if (gold.kind === "relation" || answer.kind === "relation")
    return undecided("an equation or inequality is not compared with a value");
  const [{ node: left, unit }, { node: right, unit: other }] = [measuredOf(gold), measuredOf(answer)];
  if (left.kind === "symbol" && right.kind === "symbol") {
    const letters = compareSymbols(left.name, right.name);
    if (letters.kind !== "equal" || unit === other) return letters;
    if (KINDS.has(unit ?? "") || KINDS.has(other ?? ""))
      return undecided("only one of the two answers says which numbers its letter stands for");
    return unit === undefined || other === undefined
      ? letters
      : compareMeasured(gold, answer, state, context.isApproximate);
  }
  const matrices = hasMatrix(gold) || hasMatrix(answer);
  if (matrices) return undecided("products and sums of matrices are not evaluated");
  if (isSetSymbol(left) || isSetSymbol(right)) return different("it is another kind of value");
  const [sum, another] = [besideConstant(gold), besideConstant(answer)];
  if (sum !== undefined && another !== undefined) {
    const isUpToConstant = sum.isIntegration && another.isIntegration;
    return (isUpToConstant ? compareAntiderivatives : compareScalars)(sum.rest, another.rest, state);
  }
  return compareBases(left, right, state) ?? compareMeasured(gold, answer, state, context.isApproximate);
}

/** Compares two antiderivatives, which may differ by a constant. */
function compareAntiderivatives(gold: Node, answer: Node, state: State): Comparison {
  const straight = compareScalars(gold, answer, state);
  const [name, ...others] = new Set([...variablesOf(gold), ...variablesOf(answer)]);
  if (straight.kind === "equal" || name === undefined || others.length > 0) return straight;
  const [left, right] = [vanishing(gold, name), vanishing(answer, name)];
  const isSame = left.some((each, i) => compareScalars(each, right[i] as Node, state).kind === "equal");
  return isSame ? EQUAL : straight;
}

/** Returns whether an expression contains a matrix, except in a determinant. */
function hasMatrix(node: Node): boolean {
  if (node.kind === "call" && node.name === "det") return false;
  return node.kind === "matrix" || children(node).some(hasMatrix);
}

const isSetSymbol = (node: Node): boolean =>
  node.kind === "symbol" && (isNumberSet(node.name) || "∅∞".includes(node.name));

/** Number sets with two names: each name, and the name that replaces it. */
const OTHER_NAMES: Readonly<Record<string, string>> = { "ℤ+": "ℕ*", "ℤ≥0": "ℕ" };

/** Compares two symbols. A lowercase letter also equals an expected multiple-choice option, such as b and B. */
function compareSymbols(gold: string, answer: string): Comparison {
  if (
    (OTHER_NAMES[gold] ?? gold) === (OTHER_NAMES[answer] ?? answer) ||
    (/^[A-J]$/.test(gold) && gold === answer.toUpperCase())
  )
    return EQUAL;
  return different("it is another letter");
}

/**
 * Compares two numbers of which exactly one states its base: 1011_2 and 1011. Equal digits suffice if the given answer
 * omits the base, or if the problem mentions the base that it states. Returns undefined if the values must decide.
 */
function compareBases(gold: Node, answer: Node, { asked }: State): Comparison | undefined {
  if (gold.kind !== "number" || answer.kind !== "number" || (gold.base === undefined) === (answer.base === undefined))
    return undefined;
  if (answer.base !== undefined && !asked.bases.has(answer.base)) return undefined;
  return gold.digits !== undefined && gold.digits === answer.digits ? EQUAL : undefined;
}

// Functions that compare answers in words.

/**
 * Returns what an answer says about the subject of the problem: "odd" for "The function is odd" or "It is odd". An
 * answer about something else, such as "Ann is odd", stays unchanged.
 */
function saidOf(answer: Node): Node {
  const [name, words, ...others] = answer.kind === "relation" && answer.operators[0] === "=" ? answer.parts : [];
  const isSaid = name?.kind === "text" && /^(?:the|it|this|that|they|its)(?: |$)/i.test(name.text);
  return isSaid && words?.kind === "text" && others.length === 0 ? words : answeredBy(answer);
}

const LIMITING = /\b(?:yes|no|true|false|maybe|but|unless|if|only|however|except|not)\b/i;

/** Reduces an answer such as "Yes, it converges" to "Yes". */
function answeredBy(answer: Node): Node {
  const [first, ...rest] = answer.kind === "list" ? answer.items : [];
  const isRemark = rest.every((item) => item.kind === "text" && !LIMITING.test(item.text));
  return first?.kind === "text" && /^(?:yes|no)$/i.test(first.text) && isRemark ? first : answer;
}

/** Strips leading articles and quantifiers: "all even integers" becomes "even integers". */
function bareText(text: string): string {
  return textOf(text).replace(/^(?:(?:all|the|an?|only|on|its|their|any) )+(?=.)/, "");
}

export function compareTexts(gold: Node, given: Node): Comparison {
  const answer = saidOf(given);
  if (gold.kind === "text" && answer.kind === "text")
    return bareText(gold.text) === bareText(answer.text) ? EQUAL : different("the words differ");
  return different(answer.kind === "text" ? "it consists of words" : "words are expected");
}
