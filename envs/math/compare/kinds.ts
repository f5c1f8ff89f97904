/**
 * Classifies answers of several parts. The table RULES says which different kinds, e.g. a point and a list, may still
 * be equal.
 */
import { type Node, show, some, variablesOf } from "../syntax.ts";
import { all, type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { BITS, scopeOf, realValue } from "./points.ts";
import { order } from "../numbers/arithmetic.ts";
import { areNumbered, isSetLike, itemsOf, namedPoints, namedTuple, recordOf, tupleRecord } from "./lists.ts";
import { assignmentOf } from "./shape.ts";

/**
 * Kinds of answers. A "list" has no brackets, as in "2, 3", and may mean a point or a set. "reals" is a set of real
 * numbers that a relation describes.
 */
type Kind = "point" | "interval" | "set" | "list" | "system" | "numbered values" | "reals";

/**
 * Way to compare two kinds of answers. "parts": part by part, in any order if the kinds allow it. "names": the values
 * of names with the values at the same places. "tuple": like "names", but values without brackets are a point only if
 * the problem has several unknowns.
 */
type Rule = "parts" | "names" | "tuple";

/**
 * Rules for pairs of kinds that may be equal; the first key is the kind of the expected answer. A pair that is missing
 * here is always different. Nodes without a kind are compared by other rules.
 */
const RULES: Readonly<Record<Kind, Readonly<Partial<Record<Kind, Rule>>>>> = {
  point: { point: "parts", list: "parts", system: "names", "numbered values": "names" },
  interval: { interval: "parts", reals: "parts" },
  set: { set: "parts", list: "parts", "numbered values": "parts", reals: "parts" },
  list: { point: "tuple", list: "parts", set: "parts", system: "tuple", "numbered values": "parts", reals: "parts" },
  system: { system: "parts", point: "names", list: "names", "numbered values": "names" },
  "numbered values": { point: "names", set: "parts", list: "parts", system: "names", "numbered values": "parts" },
  reals: { reals: "parts", interval: "parts", set: "parts", list: "parts" },
};

type Bracket = Extract<Node, { kind: "bracket" }>;

/** Returns whether a node is a pair such as (4, 7), which is a point or an open interval. */
function isOpenPair(node: Node): boolean {
  return node.kind === "bracket" && node.open === "(" && node.close === ")" && node.items.length === 2;
}

/**
 * Returns the meaning of pairs such as (4, 7) in an expected answer, if the numbers in the pairs decide it. "none":
 * there are no pairs. Undefined: the pairs may be points or intervals.
 */
export function pairIn(gold: Node, state: State): "point" | "interval" | "none" | undefined {
  if (gold.kind === "sets") return "interval";
  const pairs = (gold.kind === "list" || gold.kind === "set" ? gold.items : [gold]).filter(isOpenPair);
  if (pairs.length === 0) return "none";
  const isUnbounded = (part: Node): boolean => part.kind === "symbol" && part.name === "∞";
  if (pairs.some((pair) => some(pair, isUnbounded))) return "interval";
  return pairs.some((pair) => !isRising(pair as Bracket, state)) ? "point" : undefined;
}

/** Returns whether the first item of a pair is less than the second. Returns true also if their order is unknown. */
function isRising({ items }: Bracket, state: State): boolean {
  const [low, high] = items.map((item) => realValue(item, state));
  const found = low && high && order(low, high, scopeOf(state, BITS.constant, true));
  return found === undefined || found === "less" || found === "unclear";
}

/** Returns the kind of an answer, or undefined if it is of no kind in the table RULES. */
function kindOf(node: Node, pair: State["pair"]): Kind | undefined {
  if (namedTuple(node) !== undefined) return "system";
  if (node.kind === "list" || node.kind === "set" || node.kind === "bracket") {
    const named = kindOfNamed(node);
    if (named !== undefined) return named;
  }
  switch (node.kind) {
    case "set":
      return "set";
    case "bracket":
      if (node.items.length < 2) return undefined;
      if (isOpenPair(node)) return pair ?? "point";
      return node.items.length === 2 && (node.open === "[" || node.close === "]") ? "interval" : "point";
    case "matrix":
      return node.rows.length === 1 || node.rows.every((row) => row.length === 1) ? "point" : undefined;
    case "list":
      if (isSetLike(node)) return "reals";
      return node.items.some(({ kind }) => kind === "relation" || kind === "residue" || kind === "text")
        ? undefined
        : node.joiner === "or"
          ? "set"
          : "list";
    default:
      return isSetLike(node) && node.kind !== "symbol" ? "reals" : undefined;
  }
}

/**
 * Returns the kind of a list of assigned values: a set if they share one name, else a system or numbered values.
 * Returns undefined if an item assigns no value.
 */
function kindOfNamed(node: Extract<Node, { kind: "list" | "set" | "bracket" }>): Kind | undefined {
  const assigned = node.items.map((item) => assignmentOf(item));
  const names = new Set(assigned.flatMap((each) => (each === undefined ? [] : [show(each.name)])));
  const areValues = assigned.every((each) => each?.values.every((value) => !namesOneOf(value, names)));
  // Named points, such as A = (1, 2), B = (3, 4), are not a system.
  if (assigned.every((each) => each?.values.at(-1)?.kind === "bracket")) return undefined;
  const isOrBare = (item: Node, i: number): boolean => assigned[i] !== undefined || item.kind !== "relation";
  if (names.size === 1 && node.kind === "list" && node.items.every(isOrBare) && node.items.length > 1) return "set";
  if (!areValues || node.items.length < 2) return undefined;
  if (node.kind === "list" && node.joiner === "or") return "set";
  const record = recordOf(node);
  if (record === undefined) return undefined;
  return areNumbered(record) ? "numbered values" : "system";
}

const namesOneOf = (value: Node, names: ReadonlySet<string>): boolean =>
  [...variablesOf(value)].some((name) => names.has(name));

/** Returns whether the names in an answer show that it consists of points: A(1, 2) or "x = 1, y = 2". */
export function isSystem(answer: Node): boolean {
  if (namedPoints(answer) !== answer) return true;
  const isCase = (item: Node): boolean => item.kind === "list" || namedTuple(item) !== undefined;
  const cases = answer.kind === "list" && answer.items.every(isCase) ? answer.items : [answer];
  return cases.every((each) => ["system", "numbered values"].includes(kindOf(each, undefined) ?? ""));
}

/**
 * Compares two answers as the table RULES says for their kinds. Returns undefined if an answer has no kind, so that
 * other rules must decide.
 */
export function compareKindsOf(
  gold: Node,
  answer: Node,
  state: State,
  compare: (gold: Node, answer: Node) => Comparison,
): Comparison | undefined {
  const left = kindOf(gold, state.pair);
  const right = left && kindOf(answer, left === "interval" || left === "reals" ? "interval" : "point");
  if (left === undefined || right === undefined) return undefined;
  const rule = RULES[left][right];
  if (rule === undefined) return different(`it is a ${right}, and a ${left} is expected`);
  const found = rule === "parts" ? undefined : compareInOrder(gold, answer, state, compare);
  const isTuple =
    state.asked.pair === "point" || state.asked.unknowns.some(({ length }) => length === itemsOf(gold).length);
  if (rule !== "tuple" || found?.kind !== "equal" || isTuple) return found;
  return undecided("the expected values may be a point or a set");
}

/** Compares two answers whose values have an order: points, values without brackets, or named values. */
function compareInOrder(
  gold: Node,
  answer: Node,
  state: State,
  compare: (gold: Node, answer: Node) => Comparison,
): Comparison {
  const [left, right] = [gold, answer].map((node) => recordOf(tupleRecord(node)));
  if (left !== undefined && right !== undefined) {
    const pairs = [...left].map(([name, value]) => [value, right.get(name)] as const);
    const areNamedAlike = left.size === right.size && pairs.every((pair) => pair[1] !== undefined);
    return areNamedAlike
      ? all(pairs.length, (i) => compare(...(pairs[i] as readonly [Node, Node])))
      : different("it names other quantities");
  }
  if (left !== undefined) return compareByNames(left, itemsOf(answer), state, compare);
  if (right !== undefined) return compareByNames(right, itemsOf(gold), state, (value, item) => compare(item, value));
  const [golds, answers] = [itemsOf(gold), itemsOf(answer)];
  if (golds.length !== answers.length) return different("it has another number of parts");
  return all(golds.length, (i) => compare(golds[i] as Node, answers[i] as Node));
}

/**
 * Compares values of names, as in "x = 1, y = 2", with a sequence of values. The names are put in the order of the
 * unknowns in the problem, or else in alphabetical order.
 */
function compareByNames(
  record: ReadonlyMap<string, Node>,
  items: readonly Node[],
  state: State,
  compare: (value: Node, item: Node) => Comparison,
): Comparison {
  const names = [...record.keys()];
  if (items.length !== names.length) return different(`it has another number of parts`);
  const inOrder = (order: readonly string[]): Comparison =>
    all(order.length, (i) => compare(record.get(order[i] as string) as Node, items[i] as Node));
  const { asked } = state;
  const told = asked.unknowns.find((unknowns) => names.every((name) => unknowns.includes(name)));
  if (told !== undefined) return inOrder(told.filter((name) => record.has(name)));
  const sorted = names.toSorted((a, b) => (placeInAlphabet(a) < placeInAlphabet(b) ? -1 : 1));
  const found = inOrder(sorted);
  if (found.kind === "undecided") return found;
  const areOthers = asked.unknowns.some(({ length }) => length === names.length) && !names.every(asked.names);
  if (found.kind === "equal") return areOthers ? undecided("the problem names other unknowns") : EQUAL;
  // The answer's names may already be in the problem's order. If the values fit in that order, the result is undecided.
  return inOrder(names).kind === "different"
    ? found
    : undecided("the problem does not say in which order the values come");
}

/** Returns a key for sorting names. Numbers in it are padded, so that x_2 comes before x_10. */
const placeInAlphabet = (name: string): string => name.replace(/\d+/g, (digits) => digits.padStart(4, "0"));
