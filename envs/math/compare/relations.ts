/** Equations and inequalities that name no value. */
import { fractionOf } from "../exact/normal.ts";
import { signOfAll } from "../exact/one-sign.ts";
import { areSame, type Polynomial, primitive, quotient, times } from "../exact/polynomial.ts";
import { type Fraction, newRing, reduced, type Ring } from "../exact/ring.ts";
import type { Node, Relation } from "../syntax.ts";
import { all, type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { compareProportions } from "./proportions.ts";
import { haveOtherSigns, haveOtherZeros } from "./witnesses.ts";

type RelationNode = Extract<Node, { kind: "relation" }>;

function difference([left, right]: readonly Node[]): Node {
  return {
    kind: "add",
    terms: [
      { sign: "+", node: left as Node },
      { sign: "-", node: right as Node },
    ],
  };
}

const GREATER: Readonly<Partial<Record<Relation, Relation>>> = { "<": ">", "≤": "≥" };

/** Two relations between the same variables. */
export function compareRelations(gold: RelationNode, answer: RelationNode, state: State): Comparison {
  if (gold.parts.length !== answer.parts.length)
    return undecided("chains of relations of different lengths are not compared");
  if (gold.parts.length > 2) return compareChains(gold, answer, state);
  const [left, right] = [directed(gold), directed(answer)];
  if (left.operator !== right.operator) return different("its sign of relation is another");
  const isEquation = left.operator === "=" || left.operator === "≠";
  if (!isEquation && left.operator !== ">" && left.operator !== "≥")
    return undecided(`"${left.operator}" is not compared`);
  const ring = newRing(state.budget, true);
  const [one, other] = [left, right].map(({ gap }) => partsOf(gap, ring));
  if (one === undefined || other === undefined) return compareProportions(left.gap, right.gap, isEquation, state);
  const compare = isEquation ? compareZeros : left.operator === "≥" ? compareBounds : compareSigns;
  const found = compare(one, other, ring, state);
  return found ?? compareProportions(left.gap, right.gap, isEquation, state);
}

/** As "something > 0" or "something = 0". */
function directed({ parts, operators }: RelationNode): { readonly operator: Relation; readonly gap: Node } {
  const operator = operators[0] as Relation;
  const turned = GREATER[operator];
  if (turned !== undefined) return { operator: turned, gap: difference(parts.toReversed()) };
  return { operator: operator === "≈" || operator === "≡" ? "=" : operator, gap: difference(parts) };
}

function compareChains(gold: RelationNode, answer: RelationNode, state: State): Comparison {
  const pair = (node: RelationNode, i: number): RelationNode => ({
    kind: "relation",
    parts: node.parts.slice(i, i + 2),
    operators: node.operators.slice(i, i + 1),
  });
  const count = gold.operators.length;
  const straight = all(count, (i) => compareRelations(pair(gold, i), pair(answer, i), state));
  return straight.kind === "equal"
    ? straight
    : all(count, (i) => compareRelations(pair(gold, i), pair(answer, count - 1 - i), state));
}

/** What is 0 or above it as a fraction, with what is known of roots put in. */
function partsOf(gap: Node, ring: Ring): Fraction | undefined {
  const fraction = fractionOf(gap, ring);
  const [num, den] = [fraction && reduced(fraction.num, ring), fraction && reduced(fraction.den, ring)];
  return num !== undefined && den !== undefined && den.size > 0 ? { num, den } : undefined;
}

const arePlain = ({ atoms }: Ring): boolean => atoms.every(({ kind }) => kind === "variable");

/** Of equations: by what is 0. Undefined: it cannot be told by algebra. */
function compareZeros(gold: Fraction, answer: Fraction, ring: Ring, state: State): Comparison | undefined {
  const [left, right] = [primitive(gold.num).part, primitive(answer.num).part];
  if (left.size > 0 && areSame(left, right)) return EQUAL;
  if (left.size === 0 || right.size === 0)
    return left.size === right.size ? EQUAL : arePlain(ring) ? different("it is another equation") : undefined;
  const dens = times(gold.den, answer.den, ring.budget);
  const [more, less] = [quotient(right, left, ring.budget), quotient(left, right, ring.budget)];
  if (dens !== undefined && more !== undefined && isHarmless(more, left, dens, ring)) return EQUAL;
  if (dens !== undefined && less !== undefined && isHarmless(less, right, dens, ring)) return EQUAL;
  if (!arePlain(ring)) return undefined;
  return haveOtherZeros(left, right, ring, state)
    ? different("it is another equation")
    : undecided("the equations are no multiples of each other");
}

const REPEATS_MAX = 6;

/** Whether a factor has no zeros but those that the equation has anyway, or where a denominator is 0. */
function isHarmless(factor: Polynomial, equation: Polynomial, dens: Polynomial, ring: Ring): boolean {
  let rest = factor;
  const part = primitive(dens).part;
  for (const divisor of [equation, part]) {
    if (divisor.size === 1 && divisor.has("")) continue;
    for (let turn = 0; turn < REPEATS_MAX; turn++) {
      const next = quotient(rest, divisor, ring.budget);
      if (next === undefined) break;
      rest = next;
    }
  }
  const squared = times(part, part, ring.budget);
  const isInDens =
    squared !== undefined &&
    part.size + rest.size > 2 &&
    quotient(squared, primitive(rest).part, ring.budget) !== undefined;
  return isInDens || signOfAll(rest, ring) !== undefined;
}

/** Of "≥": x/y ≥ 0 leaves out where y is 0, and xy ≥ 0 does not. */
function compareBounds(gold: Fraction, answer: Fraction, ring: Ring, state: State): Comparison | undefined {
  const found = compareSigns(gold, answer, ring, state);
  const [den, other] = [gold, answer].map((each) => primitive(each.den).part) as [Polynomial, Polynomial];
  if (found?.kind !== "equal" || areSame(den, other)) return found;
  const haveZeros = [den, other].some((each) => signOfAll(each, ring) === undefined);
  return haveZeros ? undecided("they may differ where a denominator is 0") : found;
}

/** Of inequalities: by what is above 0. */
function compareSigns(gold: Fraction, answer: Fraction, ring: Ring, state: State): Comparison | undefined {
  const [left, right] = [gold, answer].map(({ num, den }) => times(num, den, ring.budget));
  if (left === undefined || right === undefined || left.size === 0 || right.size === 0) return undefined;
  const [one, other] = [primitive(left), primitive(right)];
  const isTurned = one.content < 0n !== other.content < 0n;
  if (areSame(one.part, other.part)) return isTurned ? turnedOver() : EQUAL;
  const factor = quotient(other.part, one.part, ring.budget) ?? quotient(one.part, other.part, ring.budget);
  if (factor !== undefined && signOfAll(factor, ring) === (isTurned ? -1 : 1)) return EQUAL;
  if (!arePlain(ring)) return undefined;
  return haveOtherSigns(left, right, ring, state)
    ? different("it is another relation")
    : undecided("the relations are no multiples of each other");
}

function turnedOver(): Comparison {
  return different("it is the opposite relation");
}
