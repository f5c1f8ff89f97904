/**
 * Compares sets of whole numbers, fractions or real numbers, such as "0 < x < 3, x ∈ ℤ". Both the domain and the bounds
 * must be equal.
 */
import { asWhole, exact, type Maybe, negate, type Num } from "../numbers/arithmetic.ts";
import { call } from "../numbers/functions.ts";
import { hasDoubleSign, type Node, replaced, variablesOf } from "../syntax.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { scopeOf } from "./points.ts";
import { compareReals, complement, joined, met, PARTS_MAX, realsOf } from "./reals.ts";
import { ALL, OPEN, type Reals } from "./solutions.ts";
import { doubled } from "./double-signs.ts";
import { plain } from "./shape.ts";

type Domain = "ℤ" | "ℚ" | "ℝ";

interface NumberSet {
  readonly domain: Domain;
  /** The bounds. The set contains the numbers of the domain that lie within them. */
  readonly reals: Reals;
  /** Whether the answer names the domain. */
  readonly isSaid: boolean;
  /** The letter that the condition is about. */
  readonly letter?: string;
}

/** The least natural number. Conventions differ, so both are tried. */
type Naturals = 0n | 1n;

/** Compares two sets if at least one names its domain. Undefined means: other comparisons apply. */
export function compareDomains(gold: Node, answer: Node, state: State): Comparison | undefined {
  const from = (least: Naturals): Comparison | undefined => {
    const [left, right] = [numbersOf(gold, least, state), numbersOf(answer, least, state)];
    if (left === undefined || right === undefined || !(left.isSaid || right.isSaid)) return undefined;
    const areConditions = gold.kind === "list" && answer.kind === "list" && left.letter !== undefined;
    if (areConditions && right.letter !== undefined && left.letter !== right.letter)
      return different("it is about another letter");
    return compareNumbers(left, right, state);
  };
  const found = from(0n);
  // ℕ may also begin with 1 if one side lists its numbers, which then decide.
  const isListed = [gold, answer].some((node) => node.kind === "set" || isListOfNumbers(node));
  return found !== undefined && found.kind !== "equal" && isListed && from(1n)?.kind === "equal" ? EQUAL : found;
}

function isListOfNumbers(node: Node): boolean {
  return node.kind === "list" && node.items.every((item) => item.kind !== "relation" && variablesOf(item).size === 0);
}

const ORDER: readonly Domain[] = ["ℤ", "ℚ", "ℝ"];
const narrower = (a: Domain, b: Domain): Domain => (ORDER.indexOf(a) < ORDER.indexOf(b) ? a : b);

function numbersOf(given: Node, least: Naturals, state: State): NumberSet | undefined {
  // The letter of "y ∈ ℝ" counts: beside x = 0 it is no condition.
  const node = given.kind === "relation" ? given : plain(given);
  if (node.kind !== "set" && hasDoubleSign(node)) return undefined;
  switch (node.kind) {
    case "set": {
      // Each element with ± stands for two: {±1, ±2}.
      const items = node.items.flatMap((item) => (hasDoubleSign(item) ? doubled(item, true) : [item]));
      return ofReals({ kind: "set", items }, state);
    }
    case "symbol":
      return named(node.name, least);
    case "builder": {
      const { condition, element } = node;
      const conditions = condition.kind === "list" && condition.joiner !== "or" ? condition.items : [condition];
      if (element.kind !== "symbol" && element.kind !== "relation")
        return valuesAt(element, metAll(conditions, least, state), state);
      return metAll(element.kind === "symbol" ? conditions : [element, ...conditions], least, state);
    }
    case "list": {
      const { items, joiner } = node;
      // A list without brackets is compared as a set: "1, 2" beside "0 < x < 3, x ∈ ℤ".
      if (isListOfNumbers(node)) return numbersOf({ kind: "set", items }, least, state);
      return joiner === "or" ? ofReals(node, state) : metAll(items, least, state);
    }
    case "sets":
      return combined(node, least, state);
    case "relation": {
      const [letter, set] = node.parts;
      if (node.operators.length !== 1 || node.operators[0] !== "∈" || letter?.kind !== "symbol")
        return ofReals(node, state);
      const found = set && numbersOf(set, least, state);
      return found && { ...found, letter: letter.name };
    }
    default:
      return ofReals(node, state);
  }
}

/** Returns the values of an expression over a finite set, as in {2n | n ∈ ℤ, 1 ≤ n ≤ 4}. */
function valuesAt(element: Node, counts: NumberSet | undefined, state: State): NumberSet | undefined {
  const { letter } = counts ?? {};
  if (counts === undefined || letter === undefined || [...variablesOf(element)].some((name) => name !== letter))
    return undefined;
  const items = (listed(counts, state) ?? counts).reals.map(({ low, high }): Node | undefined => {
    const value = low.value === high.value ? low.value : undefined;
    return value?.kind === "exact" ? replaced(element, letter, { kind: "number", value: value.value }) : undefined;
  });
  const found = items.includes(undefined)
    ? undefined
    : ofReals({ kind: "set", items: items as readonly Node[] }, state);
  return found && { ...found, isSaid: true };
}

function ofReals(node: Node, state: State): NumberSet | undefined {
  const reals = realsOf(node, state);
  const letter = node.kind === "relation" ? node.parts.find((part) => part.kind === "symbol") : undefined;
  return reals && { domain: "ℝ", reals, isSaid: false, ...(letter?.kind === "symbol" ? { letter: letter.name } : {}) };
}

const ZERO = { value: exact({ num: 0n, den: 1n }), closed: false };
const SIGNS: Readonly<Record<string, Reals>> = {
  "": ALL,
  "+": [{ low: ZERO, high: OPEN }],
  "-": [{ low: OPEN, high: ZERO }],
  "≥0": [{ low: { ...ZERO, closed: true }, high: OPEN }],
  "*": [
    { low: OPEN, high: ZERO },
    { low: ZERO, high: OPEN },
  ],
};

function named(name: string, least: Naturals): NumberSet | undefined {
  if (name === "∅") return { domain: "ℝ", reals: [], isSaid: false };
  const [letter = "", mark] = [name.slice(0, 1), name.slice(1)];
  const isSaid = true;
  if (letter === "ℕ") {
    const isPositive = mark === "*" || (mark === "" && least === 1n);
    return { domain: "ℤ", reals: SIGNS[isPositive ? "+" : "≥0"] as Reals, isSaid };
  }
  const reals = SIGNS[mark];
  const domain = ORDER.find((each) => each === letter);
  return domain && reals && { domain, reals, isSaid };
}

/** Returns the intersection of conditions. Undefined if they are about different letters, or one cannot be read. */
function metAll(nodes: readonly Node[], least: Naturals, state: State): NumberSet | undefined {
  if (nodes.length > PARTS_MAX || nodes.some(({ kind }) => kind !== "relation")) return undefined;
  const sets = nodes.map((node) => numbersOf(node, least, state));
  const [first, ...others] = sets as readonly NumberSet[];
  if (first === undefined || sets.includes(undefined)) return undefined;
  if (new Set([first, ...others].flatMap(({ letter }) => letter ?? [])).size > 1) return undefined;
  return others.reduce<NumberSet | undefined>((one, other) => one && meeting(one, other, state), first);
}

function meeting(a: NumberSet, b: NumberSet, state: State): NumberSet | undefined {
  const reals = met([a.reals, b.reals], state);
  return reals && { ...a, ...b, domain: narrower(a.domain, b.domain), reals, isSaid: a.isSaid || b.isSaid };
}

function combined(node: Extract<Node, { kind: "sets" }>, least: Naturals, state: State): NumberSet | undefined {
  const [a, b] = [numbersOf(node.left, least, state), numbersOf(node.right, least, state)];
  if (a === undefined || b === undefined) return undefined;
  if (node.operator === "∩") return meeting(a, b, state);
  const [left, right] = [listed(a, state) ?? a, listed(b, state) ?? b];
  const isOfOne = left.domain === right.domain;
  if (node.operator === "∪") {
    const reals = isOfOne ? joined([left.reals, right.reals], state) : undefined;
    return reals && { ...left, reals, isSaid: a.isSaid || b.isSaid };
  }
  // The result can be described only if the removed set has the same domain or a larger one.
  if (narrower(left.domain, right.domain) !== left.domain) return undefined;
  const reals = met([left.reals, complement(right.reals)], state);
  return reals && { ...left, reals, isSaid: a.isSaid || b.isSaid };
}

// Whole numbers.

const LISTED_MAX = 200;

/** Lists up to 200 whole numbers as points. Undefined if the set has another domain or more numbers. */
function listed({ domain, reals, ...rest }: NumberSet, state: State): NumberSet | undefined {
  const runs = domain === "ℤ" ? runsOf(reals, state) : undefined;
  const points: bigint[] = [];
  for (const { low, high } of runs ?? []) {
    if (low === undefined || high === undefined || high - low >= LISTED_MAX - points.length) return undefined;
    for (let each = low; each <= high; each++) points.push(each);
  }
  if (runs === undefined) return undefined;
  const at = (num: bigint): Reals[number] => {
    const end = { value: exact({ num, den: 1n }), closed: true };
    return { low: end, high: end };
  };
  return { ...rest, domain: "ℝ", reals: points.map(at) };
}

interface Run {
  readonly low: bigint | undefined;
  readonly high: bigint | undefined;
}

/**
 * Returns the whole numbers within bounds as runs that do not touch. Undefined if an end cannot be told from a whole
 * number.
 */
function runsOf(reals: Reals, state: State): readonly Run[] | undefined {
  const runs: Run[] = [];
  for (const { low, high } of reals) {
    const [from, to] = [
      low.value && wholeFrom(negate(low.value), low.closed, state),
      high.value && wholeFrom(high.value, high.closed, state),
    ];
    if ((low.value && from === undefined) || (high.value && to === undefined)) return undefined;
    const first = from === undefined ? undefined : -from;
    if (first !== undefined && to !== undefined && first > to) continue;
    const last = runs.at(-1);
    const touches = last !== undefined && (last.high === undefined || first === undefined || first <= last.high + 1n);
    if (touches) runs[runs.length - 1] = { low: last.low, high: to };
    else runs.push({ low: first, high: to });
  }
  return runs;
}

/** Returns the largest whole number that is at most the value, or below it if the end is open. */
function wholeFrom(value: Num, closed: boolean, state: State): Maybe<bigint> {
  const scope = scopeOf(state, 256, true);
  const found = call("floor", [value], scope);
  const whole = found && asWhole(found);
  return whole === undefined ? undefined : !closed && asWhole(value) === whole ? whole - 1n : whole;
}

function compareNumbers(gold: NumberSet, answer: NumberSet, state: State): Comparison {
  const [a, b] = sharing(gold, answer);
  const [left, right] = [listed(a, state) ?? a, listed(b, state) ?? b];
  if (left.domain !== right.domain) {
    const areFew = [left, right].every(({ reals }) => reals.every(isPoint));
    return areFew ? compareReals(left.reals, right.reals, state) : different("its numbers are taken from another set");
  }
  if (left.domain !== "ℤ") return compareReals(left.reals, right.reals, state);
  const [runs, others] = [runsOf(left.reals, state), runsOf(right.reals, state)];
  if (runs === undefined || others === undefined) return undecided("its whole numbers cannot be worked out");
  const isSame =
    runs.length === others.length &&
    runs.every(({ low, high }, i) => low === others[i]?.low && high === others[i]?.high);
  return isSame ? EQUAL : different("it is another set of numbers");
}

/**
 * Gives a set without a named domain the other one's domain if its letter is n, m, k or N. By convention these are
 * whole.
 */
function sharing(a: NumberSet, b: NumberSet): readonly [NumberSet, NumberSet] {
  const unsaid = ({ isSaid, letter }: NumberSet): boolean => !isSaid && letter !== undefined && /^[nmkN]$/.test(letter);
  if (unsaid(a)) return [{ ...a, domain: b.domain }, b];
  return unsaid(b) ? [a, { ...b, domain: a.domain }] : [a, b];
}

/** Returns whether a segment is a single number. */
function isPoint({ low, high }: Reals[number]): boolean {
  return low.value !== undefined && low.value === high.value;
}
