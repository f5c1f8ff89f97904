/** Kinds of answers, and the table of those that may be equal although they are of different kinds. */
import { type Node, show, some, variablesOf } from "../syntax.ts";
import { all, type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { BITS, placeOf, realValue } from "./places.ts";
import { order } from "../numbers/arithmetic.ts";
import { areNumbered, isSetLike, itemsOf, namedPoints, namedTuple, recordOf, tupleRecord } from "./several.ts";
import { assignmentOf } from "./shape.ts";

/** A list without brackets, "2, 3", may be a point or a set; "reals" are sets of reals that are told by a relation. */
type Kind = "point" | "interval" | "set" | "list" | "system" | "numbered values" | "reals";

/**
 * How two kinds are compared: by their parts as they stand, or the values of one by its names and the other's places.
 * "tuple": values without brackets are a point only if the problem has several unknowns.
 */
type Rule = "parts" | "names" | "tuple";

/** A pair of kinds that is missing is different; what is of no kind here is compared by what it is. */
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

/** (4, 7), which is a point or an open interval. */
function isOpenPair(node: Node): boolean {
  return node.kind === "bracket" && node.open === "(" && node.close === ")" && node.items.length === 2;
}

/** The kind of the pairs in an expected answer, if their ends tell it; undefined: they may be points or intervals. */
export function pairIn(gold: Node, state: State): "point" | "interval" | "none" | undefined {
  if (gold.kind === "sets") return "interval";
  const pairs = (gold.kind === "list" || gold.kind === "set" ? gold.items : [gold]).filter(isOpenPair);
  if (pairs.length === 0) return "none";
  const isUnbounded = (part: Node): boolean => part.kind === "symbol" && part.name === "∞";
  if (pairs.some((pair) => some(pair, isUnbounded))) return "interval";
  return pairs.some((pair) => !isRising(pair as Bracket, state)) ? "point" : undefined;
}

/** Whether the first may be less than the second. */
function isRising({ items }: Bracket, state: State): boolean {
  const [low, high] = items.map((item) => realValue(item, state));
  const found = low && high && order(low, high, placeOf(state, BITS.constant, true));
  return found === undefined || found === "less" || found === "unclear";
}

/** Undefined: it is of none of the kinds that are told apart here. */
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

/** Values with names: of one name they are a set, of several a system; undefined: an item names no value. */
function kindOfNamed(node: Extract<Node, { kind: "list" | "set" | "bracket" }>): Kind | undefined {
  const assigned = node.items.map((item) => assignmentOf(item));
  const names = new Set(assigned.flatMap((each) => (each === undefined ? [] : [show(each.name)])));
  const areValues = assigned.every((each) => each?.values.every((value) => !namesOneOf(value, names)));
  // A = (1, 2), B = (3, 4) are points.
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

/** Whether an answer says by its names that it is of points. */
export function isSystem(answer: Node): boolean {
  if (namedPoints(answer) !== answer) return true;
  const isCase = (item: Node): boolean => item.kind === "list" || namedTuple(item) !== undefined;
  const cases = answer.kind === "list" && answer.items.every(isCase) ? answer.items : [answer];
  return cases.every((each) => ["system", "numbered values"].includes(kindOf(each, undefined) ?? ""));
}

/** Undefined: the kinds say nothing, and what they are is compared. */
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

/** A point, or values without brackets, beside another one or a system. */
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
      : different("it gives the values of something else");
  }
  if (left !== undefined) return compareByNames(left, itemsOf(answer), state, compare);
  if (right !== undefined) return compareByNames(right, itemsOf(gold), state, (value, item) => compare(item, value));
  const [golds, answers] = [itemsOf(gold), itemsOf(answer)];
  if (golds.length !== answers.length) return different("it has another number of parts");
  return all(golds.length, (i) => compare(golds[i] as Node, answers[i] as Node));
}

/** Values with names beside values in the order that the problem gives the names, else in that of the alphabet. */
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
  if (found.kind === "equal") return areOthers ? undecided("the problem has other unknowns") : EQUAL;
  // The order in which they are written may be the problem's.
  return inOrder(names).kind === "different" ? found : undecided("the order of its names is not known");
}

/** x_2 comes before x_10. */
const placeInAlphabet = (name: string): string => name.replace(/\d+/g, (digits) => digits.padStart(4, "0"));
