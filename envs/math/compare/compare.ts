/** Compares two answers by what they are: the gold first, the answer second. */
import { children, type Node, show, some } from "../syntax.ts";
import { all, any, type Comparison, different, EQUAL, type State, undecided, unordered } from "./outcome.ts";
import { compareReals, realsOf } from "./reals.ts";
import { compareRelations } from "./relations.ts";
import { compareScalars, variablesOf } from "./scalars.ts";
import { assignmentOf, type Assignment, doubled, hasDoubleSign, isAskedFor, plain, textOf } from "./shape.ts";
import {
  areBracketsOther,
  areNumbered,
  isOrdered,
  haveSameShape,
  isSetLike,
  isSeveral,
  itemsOf,
  recordOf,
  tupleRecord,
  valuesOfNames,
} from "./several.ts";
import { compareMeasured, measuredOf } from "./units.ts";
import { withoutConditions } from "./conditions.ts";

/** What is known of a gold on the way down. */
interface Context {
  readonly isApproximate: boolean;
}

const PLAIN: Context = { isApproximate: false };

export function compareNodes(gold: Node, answer: Node, state: State): Comparison {
  const [left, right] = withoutConditions(gold, answer);
  return compareParts(left, right, state, PLAIN);
}

function compareParts(goldNode: Node, answerNode: Node, state: State, context: Context): Comparison {
  if (--state.budget.left < 0) return undecided("it takes too many steps to compare");
  const [gold, answer] = [plain(goldNode), plain(answerNode)];
  if (written(gold) === written(answer)) return EQUAL;
  const unnamed = gold.kind === "relation" ? undefined : valuesOfNames(answer);
  if (unnamed !== undefined) return compareParts(gold, unnamed, state, context);
  if (gold.kind === "text" || answer.kind === "text") return compareTexts(gold, answer);
  if (hasDoubleSign(gold) || hasDoubleSign(answer)) return compareDoubled(gold, answer, state, context);
  const named = compareAssignments(gold, answer, state, context);
  if (named !== undefined) return named;
  const sets = compareSets(gold, answer, state);
  if (sets !== undefined) return sets;
  if (isSeveral(gold) || isSeveral(answer)) return compareSeveral(gold, answer, state, context);
  if (gold.kind === "relation" && answer.kind === "relation") return compareRelations(gold, answer, state);
  if (gold.kind === "ratio" || answer.kind === "ratio") return compareRatios(gold, answer, state);
  return compareSingle(gold, answer, state, context);
}

/** Parts of a list are compared with each other again and again, and written once. */
const writtenParts = new WeakMap<Node, string>();

function written(node: Node): string {
  let text = writtenParts.get(node);
  if (text === undefined) writtenParts.set(node, (text = show(node)));
  return text;
}

function compareTexts(gold: Node, answer: Node): Comparison {
  if (gold.kind === "text" && answer.kind === "text")
    return textOf(gold.text) === textOf(answer.text) ? EQUAL : different("the words are others");
  return different(answer.kind === "text" ? "it is words" : "words are expected");
}

// ±

/** With as many values as the other side has: each ± with signs of its own, or all with the same. */
function compareDoubled(gold: Node, answer: Node, state: State, context: Context): Comparison {
  const spelled = (node: Node, apart: boolean): Node => (hasDoubleSign(node) ? listOf(node, apart) : node);
  const readings = [false, true].map(
    (apart) => () => compareParts(spelled(gold, apart), spelled(answer, apart), state, context),
  );
  return any(readings);
}

function listOf(node: Node, apart: boolean): Node {
  if (node.kind === "list" || node.kind === "set") {
    const items = node.items.flatMap((item) => (hasDoubleSign(item) ? doubled(item, apart) : [item]));
    return node.kind === "set" ? { kind: "set", items } : { ...node, items };
  }
  const assigned = assignmentOf(node);
  if (assigned !== undefined && assigned.values.length === 1)
    return { kind: "list", joiner: "or", items: doubled(assigned.values[0] as Node, apart) };
  return { kind: "list", joiner: "or", items: doubled(node, apart) };
}

// x = 5

function compareAssignments(gold: Node, answer: Node, state: State, context: Context): Comparison | undefined {
  const left = assignmentOf(gold);
  const right = assignmentOf(answer);
  if (left !== undefined && right !== undefined) return compareNamed(left, right, gold, answer, state, context);
  if (left !== undefined) {
    if (answer.kind === "relation")
      return answer.operators.every((operator) => operator === "=") && gold.kind === "relation"
        ? compareRelations(gold, answer, state)
        : undefined;
    return compareValues(left.values, answer, state, { isApproximate: left.isApproximate }, true);
  }
  const isValue =
    gold.kind !== "relation" &&
    (right !== undefined || !(gold.kind === "list" && gold.items.some(({ kind }) => kind === "relation")));
  const asked = right ?? (isValue && variablesOf(gold).size === 0 ? assignmentOf(answer, isAskedFor) : undefined);
  if (asked === undefined || !isValue) return undefined;
  return compareValues(asked.values, gold, state, context, false);
}

/** Each of the values that one side says it is. */
function compareValues(
  values: readonly Node[],
  other: Node,
  state: State,
  context: Context,
  isGold: boolean,
): Comparison {
  if (isGold) return any(values.map((value) => () => compareParts(value, other, state, context)));
  return all(values.length, (i) => compareParts(other, values[i] as Node, state, context));
}

function compareNamed(
  left: Assignment,
  right: Assignment,
  gold: Node,
  answer: Node,
  state: State,
  context: Context,
): Comparison {
  const inner = { isApproximate: left.isApproximate || context.isApproximate };
  const values = (): Comparison =>
    all(right.values.length, (i) =>
      any(left.values.map((value) => () => compareParts(value, right.values[i] as Node, state, inner))),
    );
  const isSame = show(left.name) === show(right.name);
  const found = compareNames(left.name, right.name, isSame, state) ? values() : undefined;
  if (found?.kind === "equal") return found;
  // "y = 2x" and "x = y/2" are the same equation.
  const areEquations =
    gold.kind === "relation" && answer.kind === "relation" && gold.parts.length === 2 && answer.parts.length === 2;
  const hasVariables =
    left.values.some((value) => variablesOf(value).size > 0) &&
    right.values.some((value) => variablesOf(value).size > 0);
  if (!isSame && areEquations && hasVariables && left.name.kind === "symbol" && right.name.kind === "symbol")
    return compareRelations(gold, answer, state);
  return found ?? different("it gives the value of something else");
}

/** Whether two names may name the same: a letter and f(x), words and anything. */
function compareNames(left: Node, right: Node, isSame: boolean, _state: State): boolean {
  if (isSame || left.kind === "text" || right.kind === "text") return true;
  return (
    (left.kind === "symbol") !== (right.kind === "symbol") ||
    (left.kind !== "symbol" && show(left) !== show(right) && left.kind !== right.kind)
  );
}

// Sets of reals.

function compareSets(gold: Node, answer: Node, state: State): Comparison | undefined {
  if (!isSetLike(gold) && !isSetLike(answer)) return undefined;
  // Two pairs in the same brackets are compared part by part.
  if (gold.kind === "bracket" && answer.kind === "bracket" && gold.open === answer.open && gold.close === answer.close)
    return undefined;
  const [left, right] = [realsOf(gold, state), realsOf(answer, state)];
  if (left !== undefined && right !== undefined) return compareReals(left, right, state);
  if (gold.kind === "bracket" && answer.kind === "bracket" && gold.items.length === 2)
    return bracketsDiffer(gold, answer);
  return undefined;
}

/** "[0, 1]" and "0, 1"; a tuple may leave out its parentheses, but not where its parts are joined by "or". */
function isIntervalAgainstList(bracket: Node, list: Node): boolean {
  if (bracket.kind !== "bracket" || list.kind !== "list" || bracket.items.length !== 2) return false;
  const isUnbounded = bracket.items.some((item) => some(item, (part) => part.kind === "symbol" && part.name === "∞"));
  return bracket.open === "[" || bracket.close === "]" || list.joiner === "or" || isUnbounded;
}

function bracketsDiffer(gold: Node, answer: Node): Comparison {
  return different(gold.kind === answer.kind ? "its brackets are others" : "it is another kind of thing");
}

// Several things.

function compareSeveral(gold: Node, answer: Node, state: State, context: Context): Comparison {
  const records = compareRecords(gold, answer, state, context);
  if (records !== undefined) return records;
  const [left, right] = [itemsOf(gold), itemsOf(answer)];
  const compare = (i: number, j: number): Comparison => compareParts(left[i] as Node, right[j] as Node, state, context);
  if (!haveSameShape(gold, answer)) return different("its matrix has another shape");
  if (isOrdered(gold) || isOrdered(answer)) {
    if (gold.kind === "set" || answer.kind === "set")
      return left.length === 1 && right.length === 1 ? compare(0, 0) : different("a set is no tuple");
    if (isIntervalAgainstList(gold, answer) || isIntervalAgainstList(answer, gold))
      return different("an interval is no list of its ends");
    if (areBracketsOther(gold, answer)) return different("its brackets are others");
    if (left.length !== right.length)
      return different(`it has ${right.length} parts where ${left.length} are expected`);
    return all(left.length, (i) => compare(i, i));
  }
  if (gold.kind !== "set" && answer.kind !== "set") return unordered(left.length, right.length, compare, state);
  const [once, otherOnce] = [distinct(left, state, context), distinct(right, state, context)];
  const compareOnce = (i: number, j: number): Comparison =>
    compareParts(once[i] as Node, otherOnce[j] as Node, state, context);
  return unordered(once.length, otherOnce.length, compareOnce, state);
}

/** Of a set what comes twice counts once. */
function distinct(items: readonly Node[], state: State, context: Context): readonly Node[] {
  const kept: Node[] = [];
  for (const item of items) {
    const isKnown = kept.some(
      (other) => state.budget.left >= 0 && compareParts(other, item, state, context).kind === "equal",
    );
    if (!isKnown) kept.push(item);
  }
  return kept;
}

function compareRecords(gold: Node, answer: Node, state: State, context: Context): Comparison | undefined {
  const [left, right] = [recordOf(tupleRecord(gold)), recordOf(tupleRecord(answer))];
  const [first, second] = [left ?? right, left === undefined ? undefined : right];
  if (first === undefined || first.size < 2) return undefined;
  if (second !== undefined) {
    if (second.size !== first.size) return different(`it has ${right?.size} parts where ${left?.size} are expected`);
    const isNamed = [...first.keys()].every((name) => second.has(name));
    if (isNamed)
      return all(first.size, (i) =>
        compareParts(
          [...first.values()][i] as Node,
          second.get([...first.keys()][i] as string) as Node,
          state,
          context,
        ),
      );
    return areNumbered(first) && areNumbered(second) ? undefined : different("it gives the values of something else");
  }
  // Names that differ in their subscripts alone may be given in any order; others in theirs.
  if (areNumbered(first)) return undefined;
  const other = left === undefined ? gold : answer;
  const items = itemsOf(other);
  if (items.length !== first.size) return different(`it has another number of parts`);
  const values = [...first.values()];
  return all(values.length, (i) =>
    left === undefined
      ? compareParts(items[i] as Node, values[i] as Node, state, context)
      : compareParts(values[i] as Node, items[i] as Node, state, context),
  );
}

// Ratios and single values.

function compareRatios(gold: Node, answer: Node, state: State): Comparison {
  if (gold.kind === "ratio" && answer.kind === "ratio") {
    if (gold.parts.length !== answer.parts.length) return different("it is a ratio of another number of parts");
    const quotient = (parts: readonly Node[], i: number): Node => ({
      kind: "ratio",
      parts: [parts[i] as Node, parts[i + 1] as Node],
    });
    return all(gold.parts.length - 1, (i) => compareScalars(quotient(gold.parts, i), quotient(answer.parts, i), state));
  }
  return compareScalars(gold, answer, state);
}

function compareSingle(gold: Node, answer: Node, state: State, context: Context): Comparison {
  if (gold.kind === "relation" || answer.kind === "relation")
    return undecided("a relation and a value are not compared");
  const [left, right] = [measuredOf(gold).node, measuredOf(answer).node];
  if (left.kind === "symbol" && right.kind === "symbol") return compareSymbols(left.name, right.name);
  const matrices = hasMatrix(gold) || hasMatrix(answer);
  if (matrices) return undecided("products and sums of matrices are not worked out");
  if (isSetSymbol(left) || isSetSymbol(right)) return different("it is another kind of thing");
  const base = compareBases(left, right);
  return base ?? compareMeasured(gold, answer, state, context.isApproximate);
}

/** Whether there is a matrix that is not worked out as a determinant. */
function hasMatrix(node: Node): boolean {
  if (node.kind === "call" && node.name === "det") return false;
  return node.kind === "matrix" || children(node).some(hasMatrix);
}
const isSetSymbol = (node: Node): boolean => node.kind === "symbol" && "ℝℤℕℚℂ∅∞".includes(node.name);

/** Letters: choices, whose case does not count, or variables. */
function compareSymbols(gold: string, answer: string): Comparison {
  if (gold === answer || (/^[A-J]$/.test(gold) && gold === answer.toUpperCase())) return EQUAL;
  return different("it is another letter");
}

/** 1011_2 is 11, and it is 1011 where the base is left out. */
function compareBases(gold: Node, answer: Node): Comparison | undefined {
  if (gold.kind !== "number" || answer.kind !== "number" || (gold.base === undefined) === (answer.base === undefined))
    return undefined;
  return gold.digits !== undefined && gold.digits === answer.digits ? EQUAL : undefined;
}
