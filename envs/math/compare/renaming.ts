/** Names that are free to choose: the n of f(n) = n + 1, the c of f(x) = cx, and the C of x² + C. */
import { differenceOf, type Node, numberNode, replaced, show, some, symbol, variablesOf } from "../syntax.ts";
import { assignmentOf } from "./shape.ts";

/** Letters that a constant goes by that may be any. */
const CONSTANTS: ReadonlySet<string> = new Set(["C", "c", "K", "k", "C_0", "C_1", "c_1"]);

/** The answer with the gold's names for what a function is of, and for its constant; the same node where there are none, or others. */
export function withNamesOf(gold: Node, answer: Node): Node {
  const [one, other] = [boundOf(gold), boundOf(answer)];
  if (one === undefined || other === undefined || one.head !== other.head) return answer;
  const [left, right] = withConstants(one, other);
  if (left.names.length !== right.names.length || left.names.every((name, i) => name === right.names[i])) return answer;
  // All at once, so that f(x, y) and f(y, x) are told apart, and a name that is taken gives way.
  const places = right.names.map((_, i) => `${i} of ${left.head}`);
  const away = right.names.reduce((node, name, i) => replaced(node, name, symbol(places[i] as string)), right.value);
  const apart = left.names.reduce((node, name) => replaced(node, name, symbol(`${name} of the answer`)), away);
  const value = left.names.reduce((node, name, i) => replaced(node, places[i] as string, symbol(name)), apart);
  return { kind: "relation", parts: [left.name, value], operators: ["="] };
}

/**
 * (s, 2s) with the t of (t, 2t), and π/4 + kπ with the n of π/4 + nπ; `isFree`: both say "t ∈ ℝ", or it counts turns, and
 * so it may be any letter. Undefined: there is no such letter.
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

/** Letters that count whole turns where nothing says so. */
const COUNTS: readonly string[] = ["k", "n", "m"];

/** The k of "x = π/4 + kπ". */
function countOf(node: Node): string | undefined {
  const [only, ...more] = COUNTS.filter((name) => variablesOf(node).has(name));
  const isTurns = (part: Node): boolean =>
    part.kind === "multiply" &&
    [only, "π"].every((name) => part.factors.some((factor) => !factor.inverse && show(factor.node) === name));
  return only !== undefined && more.length === 0 && some(node, isTurns) ? only : undefined;
}

/** The ℝ of "t ∈ ℝ". */
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

/** Where each has one constant, it is a name like what they are of. */
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

/** The f and the n of f(n), the P and the x of P(x), the a and the n of a_n. */
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

// Constants that may be any number.

/** What is written for a constant of integration, and nothing that a problem gives. */
const INTEGRATION = /^[Cc](?:_\d)?$/;
/** What else stands for one beside these. */
const ARBITRARY = /^(?:[ABCK]|[Cc](?:_\d)?)$/;
const PERMUTED_MAX = 3;

/** The answer with the gold's names for constants that may be any number, each way round: Ae^x as Ce^x. */
export function withOtherConstants(gold: Node, answer: Node): readonly Node[] {
  const [left, right] = [variablesOf(gold), variablesOf(answer)];
  if (!INTEGRATED.some((name) => left.has(name) && right.has(name))) return [];
  const isFree = (name: string): boolean =>
    ARBITRARY.test(name) && (INTEGRATION.test(name) || !(left.has(name) && right.has(name)));
  const [names, others] = [[...left].filter(isFree).sort(), [...right].filter(isFree).sort()];
  if (names.length !== others.length || names.length === 0 || names.length > PERMUTED_MAX) return [];
  // A and B alone may be given by the problem.
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

// Constants of integration.

/** Letters that are integrated over; "a + c" is a sum like any. */
const INTEGRATED: readonly string[] = ["x", "t", "u", "y", "z", "s", "v", "r", "θ"];

/** What stands beside "+ C" in a sum, and whether that is a constant of integration, which is anyone's, and no k. */
interface BesideConstant {
  readonly rest: Node;
  readonly isIntegration: boolean;
}

/** Undefined: there is none. */
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

/** Expressions of one variable, moved so that they vanish at a point: equal where they differ by a constant. */
export function vanishing(node: Node, name: string): readonly Node[] {
  return ZEROS.map((num) => differenceOf(node, replaced(node, name, numberNode(num, 5n))));
}
