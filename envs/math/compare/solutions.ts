/** Finds the real numbers for which a linear relation of one variable holds, such as 2x + 1 > 7. */
import { divide, type Maybe, negate, type Num, signOf } from "../numbers/arithmetic.ts";
import { differenceOf, type Node, numberNode, type Relation, variablesOf } from "../syntax.ts";
import type { State } from "./outcome.ts";
import { BITS, realValue, scopeOf } from "./points.ts";

// Types for sets of real numbers, which consist of segments of the real line.

/** End of a segment of the real line. If it has no value, the segment is unbounded on this side. */
export interface End {
  readonly value: Num | undefined;
  readonly closed: boolean;
}

export interface Segment {
  readonly low: End;
  readonly high: End;
}

/** A set of real numbers, as disjoint segments in ascending order. */
export type Reals = readonly Segment[];

export const OPEN: End = { value: undefined, closed: false };
export const ALL: Reals = [{ low: OPEN, high: OPEN }];

/**
 * Returns the numbers for which a relation in the variable `name` holds. Returns undefined if the relation is not
 * linear, or holds everywhere or nowhere.
 */
export function solutionsOf(left: Node, operator: Relation, right: Node, name: string, state: State): Maybe<Reals> {
  const linear = linearIn(differenceOf(left, right), name);
  const [slope, rest] = (linear ?? []).map((part) => realValue(part, state));
  const sign = slope && signOf(slope);
  const value = slope && rest && divide(negate(rest), slope, scopeOf(state, BITS.constant, true));
  if (sign === undefined || sign === 0 || value === undefined) return undefined;
  const end: End = { value, closed: "=≤≥".includes(operator) };
  const [below, above]: readonly [Segment, Segment] = [
    { low: OPEN, high: end },
    { low: end, high: OPEN },
  ];
  if (operator === "=") return [{ low: end, high: end }];
  if (operator === "≠") return [below, above];
  if (!"<≤>≥".includes(operator)) return undefined;
  return ["<≤".includes(operator) === sign > 0 ? below : above];
}

const ZERO = numberNode(0n);

/** Returns a and b of a·x + b. Returns undefined if the expression is not written in linear form. */
function linearIn(node: Node, name: string): readonly [slope: Node, rest: Node] | undefined {
  if (!variablesOf(node).has(name)) return [ZERO, node];
  switch (node.kind) {
    case "symbol":
      return [numberNode(1n), ZERO];
    case "bracket":
      return node.items.length === 1 ? linearIn(node.items[0] as Node, name) : undefined;
    case "add": {
      const parts = node.terms.map((term) => linearIn(term.node, name));
      if (parts.includes(undefined)) return undefined;
      const side = (i: 0 | 1): Node => ({
        kind: "add",
        terms: node.terms.map((term, at) => ({ ...term, node: parts[at]?.[i] as Node })),
      });
      return [side(0), side(1)];
    }
    case "multiply": {
      const at = node.factors.findIndex((factor) => variablesOf(factor.node).has(name));
      const others = node.factors.toSpliced(at, 1);
      const inner = node.factors[at]?.inverse === false ? linearIn(node.factors[at].node, name) : undefined;
      if (inner === undefined || others.some((factor) => variablesOf(factor.node).has(name))) return undefined;
      const scaled = (part: Node): Node => ({ ...node, factors: [...others, { inverse: false, node: part }] });
      return [scaled(inner[0]), scaled(inner[1])];
    }
    default:
      return undefined;
  }
}
