/**
 * Compares answers with ±. Each ± is expanded into both signs, or an equation is squared if the other answer is a
 * curve.
 */
import type { Rational } from "../numbers/rational.ts";
import {
  differenceOf,
  hasDoubleSign,
  isDouble,
  type Node,
  numberNode,
  productOf,
  some,
  type Term,
  variablesOf,
  withChildren,
} from "../syntax.ts";
import type { Compare } from "./assignments.ts";
import { any, type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { compareRelations } from "./relations.ts";
import { assignmentOf } from "./shape.ts";

const COMBINATIONS_MAX = 16;

/** Returns the values of a node with ±. If `apart` is true, each ± varies on its own, unless a ∓ ties them together. */
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

/** Kinds whose parts' signs count. Lists and sets are expanded item by item instead. */
const SIGNED: ReadonlySet<Node["kind"]> = new Set(["multiply", "power", "call", "unit", "bracket", "relation"]);

/** Returns the node with each ± and ∓ replaced, in the order in which they are written. */
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
 * Compares answers with ±. Each ± varies on its own. Some authors mean the same sign everywhere. Equality under that
 * meaning alone is undecided, or "(±1, ±2)" would equal both two pairs and four. Equations of several variables are
 * also compared without ±: y = ±√(1 − x²) is the circle.
 */
export function compareDoubled(gold: Node, answer: Node, state: State, compare: Compare): Comparison {
  const [name, other] = [gold, answer].map(nameOfOne);
  if (name !== undefined && other !== undefined && name !== other) return different("it names another quantity");
  const [left, right] = [multipliedOut(gold), multipliedOut(answer)];
  if (left && right && compareRelations(left, right, state).kind === "equal") return EQUAL;
  // An equation that names no value is compared with whole equations.
  const named = [gold, answer].some((node) => partsOf(node).some(isEquation));
  const spelled = (node: Node, apart: boolean): Node => (hasDoubleSign(node) ? listOf(node, apart, named) : node);
  const compared = (apart: boolean): Comparison => {
    const both = [spelled(gold, apart), spelled(answer, apart)] as const;
    const isOpen = both.some(hasDoubleSign) || [gold, answer].some((node) => some(node, isUnclear));
    return isOpen ? undecided("it has a ± that is not spelled out") : compare(...both);
  };
  const together = (): Comparison => {
    const found = compared(false);
    return found.kind === "equal" ? undecided("each ± may have signs of its own, or all the same") : found;
  };
  return any([() => compared(true), together]);
}

/** Returns the x of "x = ±1", but nothing for "x = ±y". */
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
  // The sign may be inside a set: ℝ ∖ {±1}.
  if (node.kind === "sets")
    return { ...node, left: listOf(node.left, apart, named), right: listOf(node.right, apart, named) };
  if (!hasDoubleSign(node)) return node;
  const assigned = named ? undefined : assignmentOf(node);
  const only = assigned?.values.length === 1 ? assigned.values[0] : undefined;
  // x ≠ ±1 excludes both values.
  const joiner = node.kind === "relation" && node.operators.includes("≠") ? "and" : "or";
  return { kind: "list", joiner, items: doubled(only ?? node, apart) };
}

/** Returns whether a node is an inequality with ±, such as x < ±3, which has no clear meaning. */
const isUnclear = (node: Node): boolean =>
  node.kind === "relation" && hasDoubleSign(node) && node.operators.some((operator) => "<>≤≥".includes(operator));

// Equations with ±, rewritten without ±.

type RelationNode = Extract<Node, { kind: "relation" }>;

/**
 * Returns an equation of several variables without ±. L = P ± Q becomes (L − P)² = Q². Undefined if there is no such
 * form.
 */
function multipliedOut(node: Node): RelationNode | undefined {
  if (node.kind !== "relation" || node.operators.join() !== "=" || variablesOf(node).size < 2) return undefined;
  if (!hasDoubleSign(node)) return node;
  const [left, right] = node.parts as readonly [Node, Node];
  if (hasDoubleSign(left)) return undefined;
  const found = halvesOf(right);
  const squared = found && squareOf(found.after);
  if (squared === undefined) return undefined;
  const rest = found?.before.length === 0 ? left : differenceOf(left, { kind: "add", terms: found?.before ?? [] });
  return { ...node, parts: [{ kind: "power", base: rest, exponent: numberNode(2n) }, squared] };
}

/** Splits a sum at its only ±. A factor around the sum is multiplied into both parts. */
function halvesOf(node: Node): { readonly before: readonly Term[]; readonly after: Node } | undefined {
  if (node.kind === "multiply") {
    const at = node.factors.findIndex(({ node: factor }) => hasDoubleSign(factor));
    const inner = node.factors[at];
    const others = node.factors.toSpliced(at, 1);
    const isPlain = others.every(({ node: factor }) => isNonZero(factor)) && inner?.inverse === false;
    const found = isPlain ? halvesOf(inner.node) : undefined;
    const scaled = (part: Node): Node => ({ kind: "multiply", factors: [...others, { inverse: false, node: part }] });
    return (
      found && {
        before: found.before.map((term) => ({ ...term, node: scaled(term.node) })),
        after: scaled(found.after),
      }
    );
  }
  if (node.kind === "bracket" && node.items.length === 1) return halvesOf(node.items[0] as Node);
  if (node.kind !== "add") return undefined;
  const [double, ...more] = node.terms.filter((term) => isDouble(term.sign) || hasDoubleSign(term.node));
  if (double === undefined || more.length > 0 || hasDoubleSign(double.node)) return undefined;
  return { before: node.terms.filter((term) => term !== double), after: double.node };
}

const isNonZero = (node: Node): boolean => node.kind === "number" && node.value.num !== 0n;

/**
 * Returns the square of a polynomial, or of a number times the root of a polynomial. Only these are defined at the same
 * places as their squares.
 */
function squareOf(node: Node): Node | undefined {
  const factors = node.kind === "multiply" ? node.factors : [{ inverse: false, node }];
  const roots = factors.filter(({ node: factor }) => radicandOf(factor) !== undefined);
  const others = factors.filter((factor) => !roots.includes(factor));
  const [root] = roots;
  if (root === undefined) return isPolynomial(node) ? productOf(node, node) : undefined;
  if (roots.length > 1 || root.inverse || !others.every(({ node: factor }) => isNonZero(factor))) return undefined;
  return { kind: "multiply", factors: [...others, ...others, { inverse: false, node: radicandOf(root.node) as Node }] };
}

function radicandOf(node: Node): Node | undefined {
  const isRoot = node.kind === "call" && node.name === "sqrt" && node.args.length === 1;
  const found = isRoot ? node.args[0] : node.kind === "power" && isHalf(node.exponent) ? node.base : undefined;
  return found !== undefined && isPolynomial(found) ? found : undefined;
}

function isHalf(node: Node): boolean {
  if (node.kind === "number") return node.value.num === 1n && node.value.den === 2n;
  const [top, bottom] = node.kind === "multiply" && node.factors.length === 2 ? node.factors : [];
  return top?.inverse === false && bottom?.inverse === true && isNumber(top.node, 1n) && isNumber(bottom.node, 2n);
}

const isNumber = (node: Node, num: bigint): boolean =>
  node.kind === "number" && node.value.num === num && node.value.den === 1n;

function isPolynomial(node: Node): boolean {
  switch (node.kind) {
    case "number":
    case "symbol":
      return true;
    case "add":
      return node.terms.every(({ node: term }) => isPolynomial(term));
    case "multiply":
      return node.factors.every(({ inverse, node: factor }) => (inverse ? isNonZero(factor) : isPolynomial(factor)));
    case "power":
      return isPolynomial(node.base) && node.exponent.kind === "number" && isNatural(node.exponent.value);
    case "bracket":
      return node.items.length === 1 && isPolynomial(node.items[0] as Node);
    default:
      return false;
  }
}

const isNatural = ({ num, den }: Rational): boolean => den === 1n && num >= 0n;
