/** Renames letters that an author may choose freely: n in f(n) = n + 1, c in f(x) = cx, and C in x² + C. */
import { differenceOf, type Node, numberNode, replaced, show, some, symbol, variablesOf } from "../syntax.ts";
import { assignmentOf } from "./shape.ts";

/** Common letters of arbitrary constants. */
const CONSTANTS: ReadonlySet<string> = new Set(["C", "c", "K", "k", "C_0", "C_1", "c_1"]);

/**
 * Renames the arguments of the function that the answer defines, and its arbitrary constant, as in the expected answer.
 * Returns the answer itself if there is nothing to rename.
 */
export function withNamesOf(gold: Node, answer: Node): Node {
  const [one, other] = [boundOf(gold), boundOf(answer)];
  if (one === undefined || other === undefined || one.head !== other.head) return answer;
  const [left, right] = withConstants(one, other);
  if (left.names.length !== right.names.length || left.names.every((name, i) => name === right.names[i])) return answer;
  // All names change at once, so that f(x, y) and f(y, x) stay different and new names do not collide with old ones.
  const places = right.names.map((_, i) => `${i} of ${left.head}`);
  const away = right.names.reduce((node, name, i) => replaced(node, name, symbol(places[i] as string)), right.value);
  const apart = left.names.reduce((node, name) => replaced(node, name, symbol(`${name} of the answer`)), away);
  const value = left.names.reduce((node, name, i) => replaced(node, places[i] as string, symbol(name)), apart);
  return { kind: "relation", parts: [left.name, value], operators: ["="] };
}

/**
 * Renames the parameter of the answer to that of the expected answer: (s, 2s) to (t, 2t), or π/4 + kπ to π/4 + nπ.
 * `isFree` is true if both answers declare the same set for the parameter ("t ∈ ℝ"), or if it is a factor of π. Returns
 * undefined if there is no parameter.
 */
export function withParameterOf(
  gold: Node,
  answer: Node,
): { readonly answer: Node; readonly isFree: boolean } | undefined {
  const [count, another] = [countOf(gold), countOf(answer)];
  if (count !== undefined && another !== undefined && count !== another)
    return { answer: replaced(answer, another, symbol(count)), isFree: true };
  const [name, other] = [gold, answer].map((node) => {
    const [only, ...more] = variablesOf(node);
    const isTuple = some(node, (part) => part.kind === "bracket" && part.items.length > 1);
    return isTuple && more.length === 0 ? only : undefined;
  });
  if (name === undefined || other === undefined || name === other) return undefined;
  const [set, same] = [setOf(gold, name), setOf(answer, other)];
  const isFree = set !== undefined && set === same;
  return { answer: replaced(answer, other, symbol(name)), isFree };
}

/** Letters that stand for integers even if the answer does not declare them, as k in kπ. */
const COUNTS: readonly string[] = ["k", "n", "m"];

/** Returns the letter k of "x = π/4 + kπ". */
function countOf(node: Node): string | undefined {
  const [only, ...more] = COUNTS.filter((name) => variablesOf(node).has(name));
  const isTurns = (part: Node): boolean =>
    part.kind === "multiply" &&
    [only, "π"].every((name) => part.factors.some((factor) => !factor.inverse && show(factor.node) === name));
  return only !== undefined && more.length === 0 && some(node, isTurns) ? only : undefined;
}

/** Returns the set that a letter is declared in: ℝ for "t ∈ ℝ". */
function setOf(node: Node, name: string): string | undefined {
  const sets = (node.kind === "list" ? node.items : []).flatMap((item) => {
    const [letter, set] = item.kind === "relation" && item.operators[0] === "∈" ? item.parts : [];
    return letter !== undefined && set !== undefined && show(letter) === name ? [show(set)] : [];
  });
  return sets[0];
}

interface Bound {
  readonly name: Node;
  readonly head: string;
  readonly names: readonly string[];
  readonly value: Node;
}

function boundOf(node: Node): Bound | undefined {
  const assigned = assignmentOf(node);
  const [value, ...more] = assigned === undefined ? [] : [...assigned.values, ...assigned.roundings];
  if (assigned === undefined || value === undefined || more.length > 0) return undefined;
  const { name } = assigned;
  const [head, names] = headOf(name);
  const inside = variablesOf(value);
  const isConstant = name.kind === "call" && name.name.length === 1 && inside.size === 0;
  const areInside = isConstant || names.every((each) => inside.has(each));
  const areBound = names.length > 0 && areInside && new Set(names).size === names.length;
  return areBound ? { name, head, names, value } : undefined;
}

/** Adds an arbitrary constant, such as C, to the names to rename, if each answer has exactly one. */
function withConstants(left: Bound, right: Bound): readonly [Bound, Bound] {
  const [one, other] = [loneConstant(left), loneConstant(right)];
  if (one === undefined || other === undefined) return [left, right];
  return [
    { ...left, names: [...left.names, one] },
    { ...right, names: [...right.names, other] },
  ];
}

function loneConstant({ names, value }: Bound): string | undefined {
  const [only, ...more] = [...variablesOf(value)].filter((name) => CONSTANTS.has(name) && !names.includes(name));
  return more.length === 0 ? only : undefined;
}

/** Splits a name into head and arguments: f and n for f(n), P and x for P(x), a and n for a_n. */
export function headOf(name: Node): readonly [head: string, names: readonly string[]] {
  const areSymbols = (nodes: readonly Node[]): boolean => nodes.every(({ kind }) => kind === "symbol");
  if (name.kind === "call" && areSymbols(name.args)) return [name.name, name.args.map(show)];
  if (name.kind === "multiply" && name.factors.length === 2) {
    const [head, argument] = name.factors.map(({ node }) => node) as [Node, Node];
    if (argument.kind === "symbol") return [show(head), [argument.name]];
    if (argument.kind === "bracket" && areSymbols(argument.items)) return [show(head), argument.items.map(show)];
  }
  const [, head = "", index = ""] = name.kind === "symbol" ? (/^([^_]+)_([a-z])$/.exec(name.name) ?? []) : [];
  return [head, index === "" ? [] : [index]];
}

// Functions for arbitrary constants in answers, such as C in "x^2 + C".

/** Matches the names of a constant of integration. Problems do not use these names for given quantities. */
const INTEGRATION = /^[Cc](?:_\d)?$/;
/** Matches names that may be arbitrary constants if a constant of integration is also present. */
const ARBITRARY = /^(?:[ABCK]|[Cc](?:_\d)?)$/;
const PERMUTED_MAX = 3;

/**
 * Returns copies of the answer with its arbitrary constants renamed to those of the expected answer, in each possible
 * order: Ae^x becomes Ce^x.
 */
export function withOtherConstants(gold: Node, answer: Node): readonly Node[] {
  const [left, right] = [variablesOf(gold), variablesOf(answer)];
  if (!INTEGRATED.some((name) => left.has(name) && right.has(name))) return [];
  const isFree = (name: string): boolean =>
    ARBITRARY.test(name) && (INTEGRATION.test(name) || !(left.has(name) && right.has(name)));
  const [names, others] = [[...left].filter(isFree).sort(), [...right].filter(isFree).sort()];
  if (names.length !== others.length || names.length === 0 || names.length > PERMUTED_MAX) return [];
  // Without a constant of integration, A and B may be given by the problem.
  if (![names, others].some((each) => each.every((name) => INTEGRATION.test(name)))) return [];
  const apart = others.reduce((node, name) => replaced(node, name, symbol(`${name} of the answer`)), answer);
  return permutations(names).map((order) =>
    others.reduce((node, name, i) => replaced(node, `${name} of the answer`, symbol(order[i] as string)), apart),
  );
}

function permutations(items: readonly string[]): readonly (readonly string[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item) => permutations(items.filter((each) => each !== item)).map((rest) => [item, ...rest]));
}

// Functions that recognize which arbitrary constants are constants of integration.

/**
 * Variables of integration. In a sum without any of them, such as "a + c", the letter c is not a constant of
 * integration.
 */
const INTEGRATED: readonly string[] = ["x", "t", "u", "y", "z", "s", "v", "r", "θ"];

/**
 * A sum without its constant. `isIntegration` is true if the constant was C or c, which is arbitrary, and false for k.
 */
interface BesideConstant {
  readonly rest: Node;
  readonly isIntegration: boolean;
}

/** Removes the constant from a sum such as x² + C. Returns undefined if there is none. */
export function besideConstant(node: Node): BesideConstant | undefined {
  if (node.kind !== "add") return undefined;
  const lone = node.terms.filter(({ node: term }) => term.kind === "symbol" && CONSTANTS.has(term.name));
  const [only] = lone;
  if (only?.sign !== "+" || lone.length > 1) return undefined;
  const rest: Node = { kind: "add", terms: node.terms.filter((term) => term !== only) };
  const variables = variablesOf(rest);
  const name = show(only.node);
  const isBeside = INTEGRATED.some((each) => variables.has(each)) && !variables.has(name);
  return isBeside ? { rest, isIntegration: INTEGRATION.test(name) } : undefined;
}

const ZEROS: readonly bigint[] = [1n, 2n, 7n, -3n];

/**
 * Returns several copies of an expression of one variable. Each is shifted by a constant so that it is 0 at a point of
 * its own. The copies of two antiderivatives that differ by a constant are equal.
 */
export function vanishing(node: Node, name: string): readonly Node[] {
  return ZEROS.map((num) => differenceOf(node, replaced(node, name, numberNode(num, 5n))));
}
