/** Compares answers with ±, by replacing each ± with + and with −. */
import { hasDoubleSign, type Node, some, type Term, variablesOf, withChildren } from "../syntax.ts";
import type { Compare } from "./assignments.ts";
import { any, type Comparison, different, undecided } from "./outcome.ts";
import { isCurve } from "./lists.ts";
import { assignmentOf } from "./shape.ts";

const COMBINATIONS_MAX = 16;

/**
 * Returns all values of an expression with ±. If `apart` is true, each ± takes its sign independently, unless the
 * expression also has a ∓.
 */
export function doubled(node: Node, apart: boolean): readonly Node[] {
  let count = 0;
  let isTied = !apart;
  withSigns(node, (sign) => {
    count++;
    isTied ||= sign === "∓";
    return "+";
  });
  if (isTied)
    return [
      withSigns(node, (sign) => (sign === "±" ? "+" : "-")),
      withSigns(node, (sign) => (sign === "±" ? "-" : "+")),
    ];
  if (2 ** count > COMBINATIONS_MAX) return [node];
  return Array.from({ length: 2 ** count }, (_, bits) => {
    let place = 0;
    return withSigns(node, () => ((bits >> place++) & 1 ? "-" : "+"));
  });
}

/**
 * Kinds of nodes in which a ± gives the whole node several values. Lists and sets are expanded item by item instead.
 */
const SIGNED: ReadonlySet<Node["kind"]> = new Set(["multiply", "power", "call", "unit", "bracket", "relation"]);

/** Returns the node with each ± and ∓ replaced by the sign that the callback `choose` returns, in written order. */
function withSigns(node: Node, choose: (sign: "±" | "∓") => "+" | "-"): Node {
  const each = (child: Node): Node => (hasDoubleSign(child) ? withSigns(child, choose) : child);
  if (node.kind !== "add") return SIGNED.has(node.kind) ? withChildren(node, each) : node;
  return {
    ...node,
    terms: node.terms.map(({ sign, node: term }): Term => ({
      sign: sign === "±" || sign === "∓" ? choose(sign) : sign,
      node: each(term),
    })),
  };
}

/**
 * Compares answers with ±. Each ± takes its sign independently of the others, but some authors mean the same sign
 * everywhere. If the answers are equal only in that second sense, the result is undecided: "(±1, ±2)" could mean two
 * pairs or four.
 */
export function compareDoubled(gold: Node, answer: Node, compare: Compare): Comparison {
  const [name, other] = [gold, answer].map(nameOfOne);
  if (name !== undefined && other !== undefined && name !== other) return different("it names another quantity");
  // If an answer is an equation that assigns no value to a name, whole equations are compared.
  const named = [gold, answer].some((node) => partsOf(node).some(isEquation));
  const spelled = (node: Node, apart: boolean): Node => (hasDoubleSign(node) ? listOf(node, apart, named) : node);
  const compared = (apart: boolean): Comparison => {
    const both = [spelled(gold, apart), spelled(answer, apart)] as const;
    const isOpen = both.some(hasDoubleSign) || [gold, answer].some((node) => some(node, isUnclear));
    return isOpen ? undecided("one of the two answers has a ± whose meaning is unclear") : compare(...both);
  };
  const together = (): Comparison => {
    const found = compared(false);
    return found.kind === "equal"
      ? undecided("it is not known whether all signs ± are the same or independent")
      : found;
  };
  const found = any([() => compared(true), together]);
  // The two equations y = ±√x together are the curve y² = x, which this comparison does not detect.
  return found.kind === "different" && isCurve(gold) && isCurve(answer)
    ? undecided("an equation with ± is not compared with other equations")
    : found;
}

/** Returns the name x of "x = ±1". Returns undefined for "x = ±y", which has two variables. */
function nameOfOne(node: Node): string | undefined {
  const name = variablesOf(node).size === 1 ? assignmentOf(node)?.name : undefined;
  return name?.kind === "symbol" ? name.name : undefined;
}

const partsOf = (node: Node): readonly Node[] => (node.kind === "list" || node.kind === "set" ? node.items : [node]);

function isEquation(node: Node): boolean {
  return node.kind === "relation" && node.operators.every((operator) => operator === "=") && !assignmentOf(node);
}

function listOf(node: Node, apart: boolean, named: boolean): Node {
  if (node.kind === "list" || node.kind === "set") {
    const items = node.items.flatMap((item) => (hasDoubleSign(item) ? doubled(item, apart) : [item]));
    return node.kind === "set" ? { kind: "set", items } : { ...node, items };
  }
  // The ± may be inside a set: ℝ ∖ {±1}.
  if (node.kind === "sets")
    return { ...node, left: listOf(node.left, apart, named), right: listOf(node.right, apart, named) };
  if (!hasDoubleSign(node)) return node;
  const assigned = named ? undefined : assignmentOf(node);
  const only = assigned?.values.length === 1 ? assigned.values[0] : undefined;
  // x ≠ ±1 excludes both values, so its parts are joined by "and".
  const joiner = node.kind === "relation" && node.operators.includes("≠") ? "and" : "or";
  return { kind: "list", joiner, items: doubled(only ?? node, apart) };
}

/** Returns whether a node is an inequality with ±, such as x < ±3, which has no clear meaning. */
const isUnclear = (node: Node): boolean =>
  node.kind === "relation" && hasDoubleSign(node) && node.operators.some((operator) => "<>≤≥".includes(operator));
