/** Reads answers that have several parts: lists, sets, tuples and named values. */
import { equationOf, type Factor, type Node, show, symbol, variablesOf } from "../syntax.ts";
import { type Comparison, different, undecided } from "./outcome.ts";
import { assignmentOf, isName } from "./shape.ts";

export type Several = Extract<Node, { kind: "list" | "set" | "bracket" | "matrix" }>;

export function isSeveral(node: Node): node is Several {
  return ["list", "set", "matrix"].includes(node.kind) || (node.kind === "bracket" && node.items.length > 0);
}

export function isOrdered(node: Node): boolean {
  return node.kind === "bracket" || node.kind === "matrix";
}

const isSymbol = (node: Node, name: string): boolean => node.kind === "symbol" && node.name === name;
const goesOn = (node: Node): boolean => isSeveral(node) && itemsOf(node).some((item) => isSymbol(item, "…"));

/**
 * Compares two answers without comparing their items, if that suffices: the empty set with a list, a list with "…" and
 * one without, "and" with "or". Returns undefined if the items must be compared.
 */
export function compareKinds(gold: Node, answer: Node): Comparison | undefined {
  if (isSymbol(gold, "∅") || isSymbol(answer, "∅")) return different("the empty set has no parts");
  if (goesOn(gold) !== goesOn(answer)) return undecided("only one of the two lists has an ellipsis");
  if (isEquationOfOne(gold) || isEquationOfOne(answer))
    return undecided("an unsolved equation is not compared with values");
  return compareJoiners(gold, answer) ?? compareJoiners(answer, gold);
}

/** Returns whether a node is an unsolved equation of one variable, such as x² = 4. */
function isEquationOfOne(node: Node): boolean {
  const isEquation = node.kind === "relation" && node.operators.every((operator) => operator === "=");
  return isEquation && assignmentOf(node) === undefined && variablesOf(node).size === 1;
}

/**
 * Compares a list joined by "or" with one joined by "and". For numbers, and for values of one name, both words mean the
 * same. Returns undefined if the items must be compared.
 */
function compareJoiners(one: Node, other: Node): Comparison | undefined {
  if (one.kind !== "list" || one.joiner !== "or" || one.items.some(isSeveral)) return undefined;
  if (other.kind === "bracket" || namedTuple(other) !== undefined)
    return different("one answer is a tuple and the other offers alternatives");
  if (other.kind !== "list" || other.joiner === "or" || other.items.length !== one.items.length) return undefined;
  // Values of one name joined by commas, as in y = x, y = −x, may be branches of one curve.
  if (other.joiner === "," && areValuesOfOne(one.items)) return undefined;
  const areNames = [...one.items, ...other.items].every(isName) && other.joiner === "and";
  return areNames || holdsTogether(other)
    ? undecided("one answer joins its parts by 'and', the other by 'or'")
    : undefined;
}

/**
 * Returns whether a list makes statements about several letters that hold together: "a > 0, b > 0" or "x = 1, y = 2".
 */
function holdsTogether({ items }: Extract<Node, { kind: "list" }>): boolean {
  return items.every(({ kind }) => kind === "relation" || kind === "residue") && !areValuesOfOne(items);
}

/** Returns whether all items are values of one name: "y = x, y = -x" or "x_1 = 1, x_2 = 2". */
function areValuesOfOne(items: readonly Node[]): boolean {
  const names = items.map((item) => assignmentOf(item)?.name);
  return !names.includes(undefined) && new Set(names.map((name) => baseOf(show(name as Node)))).size === 1;
}

/** Strips the subscript of a name: x_1 becomes x. */
const baseOf = (name: string): string => name.replace(/_.*$/, "");

/** Returns the shape of a matrix, e.g. "2 × 3". Returns undefined for other nodes. */
function shapeOf(node: Node): string | undefined {
  return node.kind === "matrix" ? `${node.rows.length} × ${node.rows[0]?.length}` : undefined;
}

/**
 * Returns whether two answers may be equal in view of their shapes. A matrix does not equal a list of its cells, unless
 * it is a single row or column.
 */
export function haveSameShape(gold: Node, answer: Node): boolean {
  const [left, right] = [shapeOf(gold), shapeOf(answer)];
  if (left !== undefined && right !== undefined) return left === right;
  return [gold, answer].every(
    (node) => node.kind !== "matrix" || node.rows.length === 1 || node.rows.every((row) => row.length === 1),
  );
}

/**
 * Returns the items of an answer. If all assigned items share one name, only their values are returned. With several
 * names, as in "x = 1, y = ±2", the items keep their names.
 */
export function itemsOf(node: Node): readonly Node[] {
  if (node.kind === "matrix") return node.rows.flat();
  const items = isSeveral(node) ? node.items : [node];
  const names = items.flatMap((item) => assignmentOf(item)?.name ?? []);
  const areOthers = new Set(names.map((name) => baseOf(show(name)))).size > 1;
  if (node.kind === "set" || node.kind === "bracket" || (areOthers && node.kind === "list")) return items;
  return items.map((item) => assignmentOf(item)?.values.at(-1) ?? item);
}

/**
 * Returns two list items that must be compared as equations, because only one of them assigns a value to a name: "y =
 * 2x" and "2x - y = 0". Returns undefined for other items.
 */
export function equationsOf(gold: Node, i: number, answer: Node, j: number): readonly [Node, Node] | undefined {
  const [left, right] = [gold, answer].map((node, k) =>
    node.kind === "list" ? node.items[k === 0 ? i : j] : undefined,
  );
  if (left?.kind !== "relation" || right?.kind !== "relation") return undefined;
  return (assignmentOf(left) === undefined) === (assignmentOf(right) === undefined) ? undefined : [left, right];
}

/**
 * Returns the values of an answer by name, as in "p = 3, q = 2". Returns undefined if an item has no name or a name
 * repeats.
 */
export function recordOf(node: Node): ReadonlyMap<string, Node> | undefined {
  const items = node.kind === "list" || node.kind === "bracket" || node.kind === "set" ? node.items : [node];
  // In "cos π = -1, sin π = 0" the function calls act as names.
  const names = (part: Node): boolean => isName(part) || (part.kind === "call" && variablesOf(part).size === 0);
  const pairs = items.flatMap((item) => {
    const assigned = assignmentOf(item, names);
    return assigned === undefined ? [] : [[show(assigned.name), assigned.values.at(-1) as Node] as const];
  });
  const record = new Map(pairs);
  const areAlternatives = node.kind === "list" && node.joiner === "or" && !areNumbered(record);
  return record.size === items.length && !areAlternatives ? record : undefined;
}

export function areNumbered(record: ReadonlyMap<string, Node>): boolean {
  return new Set([...record.keys()].map(baseOf)).size === 1;
}

/** Returns the names and values of (p, q) = (3, 2). Returns undefined if their counts differ. */
export function namedTuple(node: Node): { readonly names: readonly Node[]; readonly values: Several } | undefined {
  if (node.kind !== "relation" || node.operators.length !== 1 || node.operators[0] !== "=") return undefined;
  const [names, values] = node.parts;
  if (names?.kind !== "bracket" || !names.items.every(isName)) return undefined;
  const isWhole = values !== undefined && isSeveral(values) && itemsOf(values).length === names.items.length;
  return isWhole ? { names: names.items, values } : undefined;
}

/** Rewrites (p, q) = (3, 2) as "p = 3, q = 2". */
export function tupleRecord(node: Node): Node {
  const tuple = namedTuple(node);
  if (tuple === undefined) return node;
  const values = itemsOf(tuple.values);
  const items = tuple.names.map((name, i) => equationOf(name, values[i] as Node));
  return { kind: "list", joiner: "and", items };
}

/**
 * Returns whether a node describes a set of real numbers, e.g. by an interval or an inequality, instead of listing
 * values.
 */
export function isSetLike(node: Node): boolean {
  if (node.kind === "sets" || node.kind === "builder") return true;
  if (node.kind === "symbol") return /^[ℝ∅]/u.test(node.name);
  if (node.kind === "relation")
    return node.operators.some((operator) => operator !== "=" && operator !== "≈" && operator !== "≡");
  if (node.kind === "list") return node.items.some((item) => isSetLike(item) && item.kind !== "bracket");
  return node.kind === "bracket" && (node.open === "[" || node.close === "]") && node.items.length === 2;
}

const isEquation = (node: Node): boolean =>
  node.kind === "relation" && node.operators.join() === "=" && node.parts[0]?.kind !== "bracket";
export const isCurve = (node: Node): boolean => isEquation(node) && variablesOf(node).size > 1;

/**
 * Returns whether one answer is an equation of several variables and the other a list of equations, which may be
 * branches of its curve.
 */
export function areCurves(gold: Node, answer: Node): boolean {
  const areParts = (node: Node): boolean =>
    node.kind === "list" && variablesOf(node).size > 1 && node.items.every(isEquation);
  return (areParts(gold) && isCurve(answer)) || (areParts(answer) && isCurve(gold));
}

/**
 * Splits multiple-choice options written side by side, such as "ACD" or "①③", into a list. Returns undefined for other
 * nodes.
 */
export function optionsOf(node: Node): Node | undefined {
  const names =
    node.kind === "multiply" ? node.factors.map(({ node: each, inverse }) => (inverse ? each : nameOf(each))) : [];
  const isOption = names.every((name) => typeof name === "string" && /^[A-H①-⑳]$/u.test(name));
  if (names.length < 2 || !isOption || new Set(names).size < names.length) return undefined;
  return { kind: "list", joiner: ",", items: (names as readonly string[]).map(symbol) };
}

const nameOf = (node: Node): string | undefined => (node.kind === "symbol" ? node.name : undefined);

/** Rewrites A(1, 2), a named point, as A = (1, 2), alone and in lists. */
export function namedPoints(node: Node): Node {
  if (node.kind === "list" || node.kind === "set") {
    const items = node.items.map(namedPoint);
    return items.some((item, i) => item !== node.items[i]) ? { ...node, items } : node;
  }
  return namedPoint(node);
}

function namedPoint(node: Node): Node {
  if (node.kind !== "multiply" || node.factors.length !== 2) return node;
  const [{ node: name }, { node: place, inverse }] = node.factors as readonly [Factor, Factor];
  const isPoint = name.kind === "symbol" && place.kind === "bracket" && place.items.length > 1 && !inverse;
  if (!isPoint || !/^[A-Z](?:['_]|$)/.test(name.name) || place.open !== "(" || place.close !== ")") return node;
  return equationOf(name, place);
}

/**
 * Rewrites C(10, 3) as a binomial coefficient, and A(10, 3) or P(10, 3) as a number of arrangements. Used if the other
 * answer is not a point.
 */
export function chosenFrom(node: Node): Node | undefined {
  const point = namedPoint(node);
  const [name, place] = point === node || point.kind !== "relation" ? [] : point.parts;
  if (name?.kind !== "symbol" || place?.kind !== "bracket" || place.items.length !== 2) return undefined;
  const chosen = { C: "binom", A: "arrangements", P: "arrangements" }[name.name];
  return chosen === undefined ? undefined : { kind: "call", name: chosen, args: place.items };
}
