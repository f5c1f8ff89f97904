/**
 * Finds the real numbers for which a relation of one variable holds. The sides may meet, turn or break off only at
 * zeros of certain polynomials. The relation is tested at these places and between them.
 */
import { add, divide, exact, type Maybe, negate, type Num, order, signOf, wholeNum } from "../numbers/arithmetic.ts";
import { evaluate } from "../evaluate.ts";
import { gap, newRing, nodeOf, type Ring, wholeFraction } from "../exact/ring.ts";
import { fractionOf } from "../exact/normal.ts";
import { asConstant, atomsIn, coefficientsIn, type Polynomial } from "../exact/polynomial.ts";
import { aligned, narrowed, simplified, type Univariate, univariateIn, withoutRoots, zerosOf } from "../exact/zeros.ts";
import { spend } from "../numbers/budget.ts";
import { differenceOf, type Node, type Relation, variablesOf } from "../syntax.ts";
import { turnsIn } from "./algebra.ts";
import type { State } from "./outcome.ts";
import { BITS, compareValues, scopeOf } from "./points.ts";

// Segments of real numbers, from which sets are built.

/** An end of a segment. Without a value, the segment is unbounded on this side. */
export interface End {
  readonly value: Num | undefined;
  readonly closed: boolean;
}

export interface Segment {
  readonly low: End;
  readonly high: End;
}

/** Disjoint segments in ascending order. */
export type Reals = readonly Segment[];

export const OPEN: End = { value: undefined, closed: false };
export const ALL: Reals = [{ low: OPEN, high: OPEN }];

const PLACES_MAX = 40;

/** Returns the solutions of a relation. Undefined means: they cannot be found. */
export function solutionsOf(left: Node, operator: Relation, right: Node, name: string, state: State): Maybe<Reals> {
  const difference = differenceOf(left, right);
  const places = placesOf(difference, name, state);
  if (places === undefined) return undefined;
  const holdsAt = (x: Num): boolean | undefined => holds(difference, operator, name, x, state);
  const inside = between(places, state).map(holdsAt);
  const at = places.map(holdsAt);
  if (inside.includes(undefined) || at.includes(undefined)) return undefined;
  return stretches(places, inside as readonly boolean[], at as readonly boolean[]);
}

/** Joins the stretches and single places at which the relation holds into segments. */
function stretches(places: readonly Num[], inside: readonly boolean[], at: readonly boolean[]): Reals {
  const found: Segment[] = [];
  let low: End | undefined = inside[0] === true ? OPEN : undefined;
  for (const [i, value] of places.entries()) {
    const [here, next] = [at[i] === true, inside[i + 1] === true];
    if (low !== undefined && !(here && next)) found.push({ low, high: { value, closed: here } });
    else if (low === undefined && here && !next)
      found.push({ low: { value, closed: true }, high: { value, closed: true } });
    if (!(low !== undefined && here && next)) low = next ? { value, closed: here } : undefined;
  }
  return low === undefined ? found : [...found, { low, high: OPEN }];
}

/** Returns the places where the sides meet, turn or break off, in ascending order. Some others may be among them. */
function placesOf(difference: Node, name: string, state: State): Maybe<readonly Num[]> {
  const ring = newRing(state.budget, true);
  const fraction = fractionOf(difference, ring);
  const index = ring.indices.get(`the variable ${name}`);
  const num = fraction && gap(fraction, wholeFraction(0n), ring);
  if (fraction === undefined || num === undefined) return undefined;
  if (index === undefined) return [];
  const found: Num[] = [];
  for (const polynomial of [num, fraction.den, ...turnsIn(ring)]) {
    const zeros = zerosIn(polynomial, index, ring, state);
    if (zeros === undefined) return undefined;
    for (const zero of zeros) if (!found.some((other) => isSame(other, zero, state))) found.push(zero);
    if (found.length > PLACES_MAX) return undefined;
  }
  return found.toSorted((a, b) => (compareValues(a, b, state) === "less" ? -1 : 1));
}

function isSame(a: Num, b: Num, state: State): boolean {
  const found = compareValues(a, b, state);
  return found === "equal" || found === "near";
}

function zerosIn(polynomial: Polynomial, index: number, ring: Ring, state: State): Maybe<readonly Num[]> {
  const branches = withoutRoots(polynomial, ring)?.map((branch) => univariateIn(branch, index));
  if (branches === undefined || branches.includes(undefined)) return zeroOfLinear(polynomial, index, ring, state);
  const found = (branches as readonly Univariate[]).map((branch) => zerosOfOne(branch, ring));
  return found.includes(undefined) ? undefined : (found as readonly (readonly Num[])[]).flat();
}

function zerosOfOne(univariate: Univariate, ring: Ring): Maybe<readonly Num[]> {
  const [zeros, simple] = [zerosOf(univariate, ring.budget), simplified(univariate, ring.budget)];
  if (zeros === undefined || simple === undefined) return undefined;
  const found = zeros.map((zero): Maybe<Num> => {
    if (zero.exact !== undefined) return exact(zero.exact);
    if (!spend(ring.budget, BITS.constant * simple.length)) return undefined;
    const { high } = narrowed(simple, zero, BITS.constant);
    const shift = Math.max(high.shift, BITS.constant);
    return { kind: "ball", ball: { re: aligned(high, shift) >> BigInt(shift - BITS.constant), im: 0n, error: 2 } };
  });
  return found.includes(undefined) ? undefined : (found as readonly Num[]);
}

/** Returns the zero of a linear polynomial with irrational coefficients, such as πx + √2. */
function zeroOfLinear(polynomial: Polynomial, index: number, ring: Ring, state: State): Maybe<readonly Num[]> {
  const [rest, factor, ...others] = coefficientsIn(polynomial, index);
  const isNumber = (a: Polynomial): boolean =>
    [...atomsIn(a)].every((each) => {
      const atom = ring.atoms[each];
      return (
        (atom?.kind === "other" && variablesOf(atom.node).size === 0) ||
        (atom?.kind === "root" && asConstant(atom.of) !== undefined)
      );
    });
  if (rest === undefined || others.length > 0 || !isNumber(rest) || (factor && !isNumber(factor))) return undefined;
  if (factor === undefined) return [];
  const scope = scopeOf(state, BITS.constant, true);
  const [over, under] = [evaluate(nodeOf(rest, ring), scope), evaluate(nodeOf(factor, ring), scope)];
  const value = over && under && divide(negate(over), under, scope);
  return value && [value];
}

/** Returns a number below all places, one between each two, and one above all. */
function between(places: readonly Num[], state: State): readonly Num[] {
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined) return [exact({ num: 22n, den: 7n })];
  const scope = scopeOf(state, BITS.constant, true);
  const middles = places.slice(1).map((high, i) => {
    const sum = add(places[i] as Num, high, scope);
    return (sum && divide(sum, wholeNum(2n), scope)) ?? high;
  });
  const beyond = (value: Num, by: bigint): Num => add(value, exact({ num: by, den: 7n }), scope) ?? value;
  return [beyond(first, -22n), ...middles, beyond(last, 22n)];
}

/**
 * Returns whether the relation to 0 holds at x. False if the expression has no value there. Undefined means: undecided.
 */
function holds(node: Node, operator: Relation, name: string, x: Num, state: State): boolean | undefined {
  const scope = { ...scopeOf(state, BITS.constant, true), variables: new Map([[name, x]]) };
  const value = evaluate(node, scope);
  if (state.budget.left < 0) return undefined;
  if (value === undefined) return false;
  const found = order(value, wholeNum(0n), scope);
  const sign = signOf(value) ?? (found === "near" ? 0 : undefined);
  return sign === undefined ? undefined : SIGNS[operator]?.includes(sign);
}

/** Signs of the difference for which each relation holds. */
const SIGNS: Readonly<Partial<Record<Relation, readonly number[]>>> = {
  "<": [-1],
  "≤": [-1, 0],
  ">": [1],
  "≥": [1, 0],
  "=": [0],
  "≠": [-1, 1],
};
