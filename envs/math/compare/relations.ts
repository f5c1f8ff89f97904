/**
 * Compares equations and inequalities that name no value. Polynomial ones are compared by their zeros and signs. Others
 * are compared by whether they are multiples of each other.
 */
import { fractionOf } from "../exact/normal.ts";
import { signOfAll } from "../exact/roots-and-absolutes.ts";
import {
  areSame,
  asConstant,
  coefficientsIn,
  constantOf,
  degreeIn,
  type Polynomial,
  primitive,
  quotient,
  times,
} from "../exact/polynomial.ts";
import { type Fraction, isWithin, newRing, nodeOf, reduced, type Ring, substituted } from "../exact/ring.ts";
import { differenceOf, type Node, numberNode, productOf, type Relation, replaced, variablesOf } from "../syntax.ts";
import { all, type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { type Rng, rngFor } from "../../lib/rng.ts";
import { haveSameZeros, signAt, type Univariate, univariateIn } from "../exact/zeros.ts";
import { evaluate, type Scope } from "../evaluate.ts";
import { divide, type Maybe, negate, type Num, order, signOf, wholeNum } from "../numbers/arithmetic.ts";
import { pointScope, points } from "./points.ts";
import { compareScalars } from "./scalars.ts";

type RelationNode = Extract<Node, { kind: "relation" }>;

const GREATER: Readonly<Partial<Record<Relation, Relation>>> = { "<": ">", "≤": "≥" };

/** Compares two relations between the same variables. */
export function compareRelations(gold: RelationNode, answer: RelationNode, state: State): Comparison {
  if (gold.parts.length !== answer.parts.length)
    return undecided("chains of relations of different lengths are not compared");
  if (gold.parts.length > 2) return compareChains(gold, answer, state);
  const [left, right] = [directed(gold), directed(answer)];
  if (left.operator !== right.operator) return different("its relation sign differs");
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

/** Rewrites a relation as "something > 0" or "something = 0". */
function directed({ parts, operators }: RelationNode): { readonly operator: Relation; readonly gap: Node } {
  const [operator, left, right] = [operators[0] as Relation, parts[0] as Node, parts[1] as Node];
  const turned = GREATER[operator];
  if (turned !== undefined) return { operator: turned, gap: differenceOf(right, left) };
  return { operator: operator === "≈" || operator === "≡" ? "=" : operator, gap: differenceOf(left, right) };
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

/** Returns the difference of the sides as a fraction with reduced roots. Undefined if it has no such form. */
function partsOf(gap: Node, ring: Ring): Fraction | undefined {
  const fraction = fractionOf(gap, ring);
  const [num, den] = [fraction && reduced(fraction.num, ring), fraction && reduced(fraction.den, ring)];
  return num !== undefined && den !== undefined && den.size > 0 ? { num, den } : undefined;
}

const arePlain = ({ atoms }: Ring): boolean => atoms.every(({ kind }) => kind === "variable");

/** Compares equations by their zeros. Undefined means: algebra cannot decide. */
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

/** Returns whether a factor adds no zeros: all its zeros are zeros of the equation or of a denominator. */
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

/** Compares relations with ≥. The relation x/y ≥ 0 excludes y = 0, and xy ≥ 0 does not. */
function compareBounds(gold: Fraction, answer: Fraction, ring: Ring, state: State): Comparison | undefined {
  const found = compareSigns(gold, answer, ring, state);
  const [den, other] = [gold, answer].map((each) => primitive(each.den).part) as [Polynomial, Polynomial];
  if (found?.kind !== "equal" || areSame(den, other)) return found;
  const haveZeros = [den, other].some((each) => signOfAll(each, ring) === undefined);
  return haveZeros ? undecided("they may differ where a denominator is 0") : found;
}

/** Compares inequalities by their signs. Undefined means: algebra cannot decide. */
function compareSigns(gold: Fraction, answer: Fraction, ring: Ring, state: State): Comparison | undefined {
  const [left, right] = [gold, answer].map(({ num, den }) => times(num, den, ring.budget));
  if (left === undefined || right === undefined || left.size === 0 || right.size === 0) return undefined;
  const [one, other] = [primitive(left), primitive(right)];
  const isTurned = one.content < 0n !== other.content < 0n;
  if (areSame(one.part, other.part)) return isTurned ? different("it is the opposite relation") : EQUAL;
  const factor = quotient(other.part, one.part, ring.budget) ?? quotient(one.part, other.part, ring.budget);
  if (factor !== undefined && signOfAll(factor, ring) === (isTurned ? -1 : 1)) return EQUAL;
  if (!arePlain(ring)) return undefined;
  return haveOtherSigns(left, right, ring, state)
    ? different("it is another relation")
    : undecided("the relations are no multiples of each other");
}

// Exact points, on lines along each variable, at which two polynomials are found to differ.

/** Largest distances of the other variables from 0. */
const SIZES = [0, 5, 30, 2_000];

/**
 * Yields both polynomials as functions of one variable, for each variable in turn. The other variables get random whole
 * numbers.
 */
function* lines(
  left: Polynomial,
  right: Polynomial,
  ring: Ring,
  state: State,
): Generator<readonly [Univariate, Univariate, Rng]> {
  const rng = rngFor("math-witnesses", state.seed);
  for (const size of SIZES)
    for (const [index] of ring.atoms.entries()) {
      let both: readonly (Polynomial | undefined)[] = [left, right];
      for (const [other] of ring.atoms.entries()) {
        if (other === index) continue;
        const value = constantOf(BigInt(rng.int(-size, size)));
        both = both.map((each) => each && substituted(each, other, value, ring));
      }
      const [one, two] = both.map((each) => each && univariateIn(each, index));
      if (one !== undefined && two !== undefined) yield [one, two, rng];
    }
}

/** Returns whether a point was found that is a zero of only one polynomial. */
function haveOtherZeros(left: Polynomial, right: Polynomial, ring: Ring, state: State): boolean {
  for (const [one, other] of lines(left, right, ring, state))
    if (haveSameZeros(one, other, ring.budget) === false) return true;
  return false;
}

/** Largest distances of the tested points from 0, in units of 2^-10. */
const DISTANCES = [1, 30, 1_000, 10_000, 100_000, 10_000_000];
const SHIFT = 10;

/** Returns whether a point was found at which the polynomials have different signs. */
function haveOtherSigns(left: Polynomial, right: Polynomial, ring: Ring, state: State): boolean {
  for (const [one, other, rng] of lines(left, right, ring, state))
    for (const distance of DISTANCES) {
      if ((ring.budget.left -= one.length + other.length) < 0) return false;
      const at = { num: BigInt(rng.int(-distance, distance)), shift: SHIFT };
      const signs = [one, other].map((each) => (each.length === 0 ? 0 : signAt(each, at)));
      if (signs[0] !== signs[1]) return true;
    }
  return false;
}

// Relations that are not polynomial. They are equal if one is a multiple of the other, or if both define one variable
// alike.

const UNLIKE = undecided("the relations are no multiples of each other");

function compareProportions(gold: Node, answer: Node, isEquation: boolean, state: State): Comparison {
  const variables = [...new Set([...variablesOf(gold), ...variablesOf(answer)])].sort();
  const at = sharedPoint(gold, answer, variables, state);
  if (at === undefined) return undecided("both relations are defined at too few points to compare them");
  const [goldThere, answerThere] = [gold, answer].map((node) => placed(node, at.point)) as [Node, Node];
  const found = compareScalars(productOf(gold, answerThere), productOf(answer, goldThere), state);
  if (found.kind === "equal") return at.isPositive || isEquation ? EQUAL : different("it is the opposite relation");
  if (found.kind === "undecided") return found;
  if (!isEquation)
    return areSeenToDiffer(gold, answer, variables, state) ? different("it is another relation") : UNLIKE;
  return compareGraphs(gold, answer, variables, state);
}

/** Returns the node with whole numbers in place of its variables. */
function placed(node: Node, point: ReadonlyMap<string, bigint>): Node {
  return [...point].reduce((rest, [name, num]) => replaced(rest, name, numberNode(num)), node);
}

/** Returns a point of whole numbers where neither expression is 0, and whether their signs agree there. */
function sharedPoint(
  gold: Node,
  answer: Node,
  variables: readonly string[],
  state: State,
): { readonly point: ReadonlyMap<string, bigint>; readonly isPositive: boolean } | undefined {
  for (let turn = 0n; turn < 8n; turn++) {
    const sign = turn % 2n === 0n ? 1n : -1n;
    const point = new Map(variables.map((name, i) => [name, sign * (2n + turn + 3n * BigInt(i))]));
    const numbers = new Map([...point].map(([name, value]) => [name, wholeNum(value)]));
    const scope = pointScope(state, true, numbers);
    const signs = [gold, answer].map((node) => signThere(node, scope));
    if (signs.every((each) => each !== undefined && each !== 0)) return { point, isPositive: signs[0] === signs[1] };
  }
  return undefined;
}

function signThere(node: Node, scope: Scope): ReturnType<typeof signOf> | undefined {
  const value = evaluate(node, scope);
  return value && signOf(value);
}

/** Returns whether the signs of two expressions differ at one of the test points. */
function areSeenToDiffer(gold: Node, answer: Node, variables: readonly string[], state: State): boolean {
  for (const point of points(variables, state)) {
    const scope = pointScope(state, true, point);
    const [left, right] = [gold, answer].map((node) => signThere(node, scope));
    if (left !== undefined && right !== undefined && left !== right) return true;
  }
  return false;
}

// Equations that define one variable.

const AGREED_MIN = 8;

/** Compares two equations that each define a variable. They are equal if each holds wherever the other does. */
function compareGraphs(gold: Node, answer: Node, variables: readonly string[], state: State): Comparison {
  const [forth, back] = [holdsOn(gold, answer, variables, state), holdsOn(answer, gold, variables, state)];
  if (forth === false || back === false) return different("it is another equation");
  return forth === true && back === true ? EQUAL : UNLIKE;
}

/**
 * Returns whether `other` is 0 on the graph of `equation`. Undefined means: no graph was found, or too few points
 * decide.
 */
function holdsOn(equation: Node, other: Node, variables: readonly string[], state: State): boolean | undefined {
  const graph = variables.flatMap((name) => graphOver(equation, name, state) ?? [])[0];
  if (graph === undefined) return undefined;
  let agreed = 0;
  for (const point of points(variables, state)) {
    const solution = graph.at(point);
    if (solution === undefined) continue;
    const scope = pointScope(state, true, new Map([...point, [graph.name, solution]]));
    const value = evaluate(other, scope);
    const found = value && order(value, wholeNum(0n), scope);
    if (found === "equal" || found === "near") agreed++;
    else if (found !== undefined && found !== "unclear") return false;
  }
  return agreed >= AGREED_MIN ? true : undefined;
}

interface Graph {
  readonly name: string;
  readonly at: (point: ReadonlyMap<string, Num>) => Maybe<Num>;
}

/** Solves an equation c·y + rest = 0 for y, where c is a number. Undefined if the equation has another form. */
function graphOver(equation: Node, name: string, state: State): Graph | undefined {
  const ring = newRing(state.budget, true);
  const fraction = fractionOf(equation, ring);
  const index = ring.indices.get(`the variable ${name}`);
  if (fraction === undefined || index === undefined || degreeIn(fraction.num, index) !== 1) return undefined;
  const isInside = isWithin(name, index, ring);
  const [rest, factor] = coefficientsIn(fraction.num, index);
  const slope = factor && asConstant(factor);
  if (isInside || rest === undefined || slope === undefined || asConstant(fraction.den) === undefined) return undefined;
  const node = nodeOf(rest, ring);
  const at = (point: ReadonlyMap<string, Num>): Maybe<Num> => {
    const scope = pointScope(state, true, point);
    const value = evaluate(node, scope);
    return value && divide(negate(value), wholeNum(slope), scope);
  };
  return { name, at };
}
