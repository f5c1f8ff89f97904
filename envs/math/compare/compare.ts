/**
 * Compares two syntax trees according to the kinds of their nodes. In all functions the expected answer comes first.
 */
import { spend } from "../numbers/budget.ts";
import { hasDoubleSign, type Node, type Piece, show, variablesOf } from "../syntax.ts";
import { all, any, type Comparison, different, EQUAL, type State, undecided, unordered } from "./outcome.ts";
import { areOfOthers, compareReals, realsOf } from "./reals.ts";
import { compareRelations } from "./relations.ts";
import { plain } from "./shape.ts";
import { compareDoubled } from "./double-signs.ts";
import {
  areCurves,
  areNumbered,
  chosenFrom,
  compareKinds,
  equationsOf,
  haveSameShape,
  isOrdered,
  isSetLike,
  isSeveral,
  itemsOf,
  namedPoints,
  optionsOf,
  recordOf,
  tupleRecord,
} from "./lists.ts";
import { compareClocks, compareRatios, compareResidues, compareSingle, compareTexts } from "./singles.ts";
import { type Conditioned, isIndex, withOneName, withoutCondition } from "./conditions.ts";
import { type Compare, compareAssignments, type Context } from "./assignments.ts";
import { compareKindsOf, isSystem, pairIn } from "./kinds.ts";
import { compareFamilies } from "./families.ts";
import { withNamesOf, withOtherConstants, withParameterOf } from "./renaming.ts";
import { areOtherVectors, isUnworked, withUnitVectors } from "./vectors.ts";

const PLAIN: Context = { isApproximate: false };

/**
 * Compares two answers. If a pair such as (1, 2) in the expected answer may be a point or an interval, both meanings
 * must give "equal". If only one does, the result is undecided.
 */
export function compareNodes(gold: Node, answer: Node, state: State): Comparison {
  const own = pairIn(gold, state);
  const pair =
    own === "none" ? undefined : (own ?? state.asked.pair ?? (isSystem(plain(answer)) ? "point" : undefined));
  if (own === "none" || pair !== undefined) return compareMeant(gold, answer, pair ? { ...state, pair } : state);
  const found = (["point", "interval"] as const).map((each) => compareMeant(gold, answer, { ...state, pair: each }));
  const isOpen = found.some(({ kind }) => kind === "equal") && !found.every(({ kind }) => kind === "equal");
  return isOpen ? undecided("the expected pair may be a point or an interval") : (found[0] as Comparison);
}

function compareMeant(gold: Node, answer: Node, state: State): Comparison {
  const straight = compareStatements(gold, answer, state);
  if (straight.kind === "equal") return straight;
  const others = gold.kind === "list" || answer.kind === "list" ? [] : withOtherConstants(gold, answer);
  if (others.some((other) => compareStatements(gold, other, state).kind === "equal")) return EQUAL;
  const renamed = straight.kind === "different" ? withParameterOf(gold, answer) : undefined;
  if (renamed === undefined || compareStatements(gold, renamed.answer, state).kind !== "equal") return straight;
  return renamed.isFree ? EQUAL : undecided("it is equal only if its parameter gets another name");
}

function compareStatements(gold: Node, answer: Node, state: State): Comparison {
  if (written(gold) === written(answer)) return EQUAL;
  const isBounded = boundsWholes(gold, answer) || boundsWholes(answer, gold);
  if (isBounded) return undecided("sets of whole numbers or fractions between bounds are not evaluated");
  const [given, said] = [withoutCondition(gold), withoutCondition(answer)];
  const [left, right] = withOneName(given, said);
  const compare = (one: Node, other: Node): Comparison => compareParts(one, other, state, PLAIN);
  const areFamilies = given.isFamily || said.isFamily;
  // A family of values, one for each integer k, such as π/4 + kπ, may be numbered from any start.
  const areMovable = areFamilies && [given, said].every(({ domain }) => domain === undefined || domain === "ℤ");
  const found = areMovable ? compareFamilies(left, right, state, compare) : compare(left, right);
  return found.kind === "equal" ? compareConditions(given, said, areFamilies, state) : found;
}

/**
 * Returns whether a node describes whole numbers or fractions by bounds, as "0 < x < 3, x ∈ ℤ" does. The form {2n | n ∈
 * ℤ, n < 5} counts if the other answer lists numbers.
 */
function boundsWholes(node: Node, other: Node): boolean {
  const [element, condition] = node.kind === "builder" ? [node.element, node.condition] : [undefined, node];
  const items = condition.kind === "list" && condition.joiner !== "or" ? condition.items : [condition];
  const isMember = (item: Node): boolean =>
    item.kind === "relation" && item.operators[0] === "∈" && /^[ℤℕℚ]/u.test(show(item.parts[1] as Node));
  // The letters n, m, k and N are integers by custom. A membership such as n ∈ ℤ then only states what the other answer
  // takes for granted.
  const isCustom = [...variablesOf(other)].some((name) => /^[nmkN]$/.test(name)) && element === undefined;
  const isBound = (item: Node): boolean => item.kind === "relation" && !"=≈≡∈".includes(item.operators[0] as string);
  const isAlone = element === undefined ? items.every((item) => isMember(item) || isBound(item)) : isName(element);
  const isOfWholes = items.some(isMember) || (element !== undefined && isMember(element));
  return !isCustom && isOfWholes && items.some(isBound) && (isAlone || variablesOf(other).size === 0);
}

const isName = (element: Node): boolean => element.kind === "symbol" || element.kind === "relation";

/** Compares the side conditions of two answers whose main parts are equal. */
function compareConditions(gold: Conditioned, answer: Conditioned, areFamilies: boolean, state: State): Comparison {
  const isOther = gold.domain !== undefined && answer.domain !== undefined && gold.domain !== answer.domain;
  if (areFamilies && isOther) return undecided("its parameter is declared in another set");
  const areReals = (gold.isOfReals && answer.domain !== undefined) || (answer.isOfReals && gold.domain !== undefined);
  if (areReals)
    return areFamilies
      ? different("its parameter is declared in another set")
      : undecided("its condition may allow other numbers than the expected one");
  const [fewer, more] = gold.others.length < answer.others.length ? [gold, answer] : [answer, gold];
  const isSaid = fewer.others.length > 0 || more.others.some((item) => areFamilies || !isIndex(item));
  if (fewer.others.length === 0) return isSaid ? undecided("only one of the two answers states a condition") : EQUAL;
  const listed = ({ others }: Conditioned): Node => ({ kind: "list", joiner: "and", items: others });
  return compareParts(listed(gold), listed(answer), state, PLAIN);
}

/** Number of steps of the budget that classifying one pair of parts costs. */
const PART_STEPS = 4;

function compareParts(goldNode: Node, answerNode: Node, state: State, context: Context): Comparison {
  if (!spend(state.budget, PART_STEPS)) return undecided("it takes too many steps to compare");
  if (areExact(goldNode, answerNode))
    return written(goldNode) === written(answerNode) ? EQUAL : different("its value differs");
  if (areMembersOfOthers(goldNode, answerNode)) return different("it is about another letter");
  const compare: Compare = (left, right, inner = context) => compareParts(left, right, state, inner);
  const gold = withUnitVectors(namedPoints(plain(goldNode)), answerNode);
  const answer = withNamesOf(gold, withUnitVectors(namedPoints(plain(answerNode)), goldNode));
  if (written(gold) === written(answer)) return EQUAL;
  const [chosen, given] = [chosenFrom(answerNode), chosenFrom(goldNode)];
  if (chosen !== undefined && gold.kind !== "relation" && !isSeveral(gold)) return compare(gold, chosen);
  if (given !== undefined && answer.kind !== "relation" && !isSeveral(answer)) return compare(given, answer);
  if (gold.kind === "residue" || answer.kind === "residue") return compareResidues(gold, answer, state, compare);
  if (gold.kind === "clock" || answer.kind === "clock") return compareClocks(gold, answer);
  if (gold.kind === "text" || answer.kind === "text") return compareTexts(gold, answer);
  if (hasDoubleSign(gold) || hasDoubleSign(answer)) return compareDoubled(gold, answer, compare);
  const kinds = compareKindsOf(gold, answer, state, compare);
  if (kinds !== undefined) return kinds;
  const named = compareAssignments(gold, answer, state, context, compare);
  if (named !== undefined) return named;
  if (areOtherVectors(gold, answer)) return undecided("a sum of unit vectors is compared only with another such sum");
  if (isUnworked(gold) || isUnworked(answer)) return undecided("products and sums of matrices are not evaluated");
  const sets = compareSets(gold, answer, state);
  if (sets !== undefined) return sets;
  if (gold.kind === "builder" || answer.kind === "builder")
    return undecided("a set given by a condition is not evaluated");
  if (areCurves(gold, answer)) return undecided("one equation is not compared with several");
  if (isSeveral(gold) || isSeveral(answer)) {
    const [options, others] = [optionsOf(gold), optionsOf(answer)];
    return options || others
      ? compare(options ?? gold, others ?? answer)
      : compareSeveral(gold, answer, state, context);
  }
  if (gold.kind === "relation" && answer.kind === "relation") return compareRelations(gold, answer, state);
  if (gold.kind === "ratio" || answer.kind === "ratio") return compareRatios(gold, answer, state);
  if (gold.kind === "cases" && answer.kind === "cases") return compareCases(gold.pieces, answer.pieces, state, compare);
  return compareSingle(gold, answer, state, context);
}

/**
 * Returns whether both answers say that a letter is in a set, but name different letters: "x ∈ {1, 2}" and "y ∈ {1,
 * 2}".
 */
function areMembersOfOthers(gold: Node, answer: Node): boolean {
  const [left, right] = [gold, answer].map((node) => {
    const [letter] = node.kind === "relation" && node.operators[0] === "∈" ? node.parts : [];
    return letter?.kind === "symbol" ? letter.name : undefined;
  });
  return left !== undefined && right !== undefined && left !== right;
}

/** Caches the text of each node, because list items are compared repeatedly. */
const writtenParts = new WeakMap<Node, string>();

function written(node: Node): string {
  let text = writtenParts.get(node);
  if (text === undefined) writtenParts.set(node, (text = show(node)));
  return text;
}

// Functions that compare sets of real numbers, e.g. intervals.

function compareSets(gold: Node, answer: Node, state: State): Comparison | undefined {
  if (!isSetLike(gold) && !isSetLike(answer)) return undefined;
  // Two brackets of the same form, e.g. (1, 2) and (1, 3), are compared item by item, not as sets.
  if (gold.kind === "bracket" && answer.kind === "bracket" && gold.open === answer.open && gold.close === answer.close)
    return undefined;
  const [left, right] = [realsOf(gold, state), realsOf(answer, state)];
  if (left !== undefined && right !== undefined)
    return areOfOthers(gold, answer) ? different("it is about another letter") : compareReals(left, right, state);
  const areBrackets = gold.kind === "bracket" && answer.kind === "bracket" && gold.items.length === 2;
  if (areBrackets) return different("its brackets differ");
  const isOneRelation = (gold.kind === "relation") !== (answer.kind === "relation");
  return isOneRelation ? undecided("only linear equations and inequalities are solved") : undefined;
}

/**
 * Returns whether one answer is a set of values and the other consists of several sets: {0, 1} and "{0}, {1}", or {0,
 * 1} and {{0}, {1}}.
 */
function isSetAgainstSets(one: Node, other: Node): boolean {
  const isPlain = one.kind === "set" && !one.items.some(({ kind }) => kind === "set");
  return isPlain && (other.kind === "list" || other.kind === "set") && other.items.every(({ kind }) => kind === "set");
}

/** Compares functions defined by cases, whose cases may come in any order. Returns undecided unless all cases match. */
function compareCases(gold: readonly Piece[], answer: readonly Piece[], state: State, compare: Compare): Comparison {
  const parts = ({ value, condition }: Piece): readonly Node[] => [value, condition ?? { kind: "text", text: "else" }];
  const found = unordered(
    gold.length,
    answer.length,
    (i, j) => {
      const [left, right] = [parts(gold[i] as Piece), parts(answer[j] as Piece)];
      return all(left.length, (k) => compare(left[k] as Node, right[k] as Node));
    },
    state,
  );
  return found.kind === "equal" ? found : undecided("its cases are written in another form than the expected ones");
}

// Functions that compare answers of several parts: lists, sets, tuples and matrices.

function compareSeveral(gold: Node, answer: Node, state: State, context: Context): Comparison {
  const strange = compareKinds(gold, answer);
  if (strange !== undefined) return strange;
  const records = compareRecords(gold, answer, state, context);
  if (records !== undefined) return records;
  const [left, right] = [itemsOf(gold), itemsOf(answer)];
  const compare = (i: number, j: number): Comparison => {
    const equations = equationsOf(gold, i, answer, j);
    return compareParts(...(equations ?? ([left[i], right[j]] as [Node, Node])), state, context);
  };
  if (isSetAgainstSets(gold, answer) || isSetAgainstSets(answer, gold))
    return different("one answer is a set and the other several sets");
  if (!haveSameShape(gold, answer)) return different("its matrix has another shape");
  if (isOrdered(gold) || isOrdered(answer)) {
    if (gold.kind === "set" || answer.kind === "set")
      return left.length === 1 && right.length === 1
        ? compare(0, 0)
        : different("one answer is a set and the other a tuple");
    if (left.length !== right.length)
      return different(`it has ${right.length} parts where ${left.length} are expected`);
    return all(left.length, (i) => compare(i, i));
  }
  if (gold.kind !== "set" && answer.kind !== "set") return inAnyOrder(left, right, compare, state);
  const found = sameMembers(left, right, compare);
  const [set, list] = gold.kind === "set" ? [left, answer] : [right, gold];
  if (found.kind !== "equal" || list.kind !== "list" || list.joiner === "or") return found;
  // A list may repeat a value on purpose: 1, 1, 2 may be three lengths. A set cannot.
  const isOnce = list.items.length === new Set(set.map(written)).size;
  if (isOnce || inAnyOrder(left, right, compare, state).kind === "equal") return found;
  return undecided("one of the two answers repeats a value");
}

/** Compares two sets. Duplicates count once; each item of one set must equal an item of the other set. */
function sameMembers(
  left: readonly Node[],
  right: readonly Node[],
  compare: (i: number, j: number) => Comparison,
): Comparison {
  const [golds, answers] = [left, right].map((items) => new Set(items.map(written)));
  const unmatched = (items: readonly Node[], others: ReadonlySet<string>): readonly number[] =>
    [...items.keys()].filter((i) => !others.has(written(items[i] as Node)));
  const [missing, more] = [unmatched(left, answers as Set<string>), unmatched(right, golds as Set<string>)];
  const isMember = all(more.length, (k) => any(left.map((_, i) => () => compare(i, more[k] as number))));
  if (isMember.kind === "different") return isMember;
  const isFound = all(missing.length, (k) => any(right.map((_, j) => () => compare(missing[k] as number, j))));
  return isFound.kind === "equal" ? isMember : isFound;
}

/**
 * Compares two lists of items in any order. Items with equal texts are paired first, so that only the remaining items
 * need a search.
 */
function inAnyOrder(
  left: readonly Node[],
  right: readonly Node[],
  compare: (i: number, j: number) => Comparison,
  state: State,
): Comparison {
  const places = Map.groupBy(right.keys(), (j) => written(right[j] as Node));
  const taken = new Set<number>();
  const others = [...left.keys()].filter((i) => {
    const partner = places.get(written(left[i] as Node))?.pop();
    if (partner !== undefined) taken.add(partner);
    return partner === undefined;
  });
  const rest = [...right.keys()].filter((j) => !taken.has(j));
  if (left.length !== right.length) return unordered(left.length, right.length, compare, state);
  return unordered(others.length, rest.length, (i, j) => compare(others[i] as number, rest[j] as number), state);
}

/**
 * Returns whether both nodes are numbers without a decimal point and without a base, so that comparing their texts
 * suffices.
 */
function areExact(gold: Node, answer: Node): boolean {
  return [gold, answer].every(
    (node) =>
      node.kind === "number" && node.decimals === undefined && node.base === undefined && node.goesOn === undefined,
  );
}

/**
 * Compares two answers that assign values to names, in any order: "x = 1, y = 2". Returns undefined if not every item
 * of both answers assigns a value.
 */
function compareRecords(gold: Node, answer: Node, state: State, context: Context): Comparison | undefined {
  const [left, right] = [recordOf(tupleRecord(gold)), recordOf(tupleRecord(answer))];
  if (left === undefined || right === undefined || left.size < 2) return undefined;
  if (right.size !== left.size) return different(`it has ${right.size} parts where ${left.size} are expected`);
  const pairs = [...left].map(([name, value]) => [value, right.get(name)] as const);
  if (pairs.every((pair): pair is readonly [Node, Node] => pair[1] !== undefined))
    return all(pairs.length, (i) => compareParts(...(pairs[i] as readonly [Node, Node]), state, context));
  return areNumbered(left) && areNumbered(right) ? undefined : different("it names other quantities");
}
