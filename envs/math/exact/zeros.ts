/**
 * Finds the real zeros of a polynomial in one variable by Sturm's theorem. The sign changes in a chain of remainders at
 * two points tell how many zeros lie between them.
 */
import { bitLength, type Budget, spend } from "../numbers/budget.ts";
import { gcd, type Rational } from "../numbers/rational.ts";
import { asConstant, atomsIn, coefficientsIn, degreeIn, plus, type Polynomial, times, ZERO } from "./polynomial.ts";
import { reduced, type Ring, substituted } from "./ring.ts";

/** Coefficients of a polynomial: index i holds that of x^i. The last one is not 0. */
export type Univariate = readonly bigint[];

type Maybe<T> = T | undefined;

/**
 * The interval (low, high] with exactly one zero. Both ends have the form num / 2^shift. `exact` is set if the zero is
 * a fraction.
 */
export interface Zero {
  readonly low: Dyadic;
  readonly high: Dyadic;
  readonly exact?: Rational;
}

interface Dyadic {
  readonly num: bigint;
  readonly shift: number;
}

const DEGREE_MAX = 40;
const COEFFICIENT_BITS_MAX = 8_000;

function trimmed(a: readonly bigint[]): Univariate {
  let end = a.length;
  while (end > 0 && a[end - 1] === 0n) end--;
  return a.slice(0, end);
}

function primitive(a: Univariate): Univariate {
  let common = 0n;
  for (const each of a) common = gcd(common, each);
  return common <= 1n ? a : a.map((each) => each / common);
}

/** Returns the remainder of a divided by b, times a positive number. Undefined if the steps are spent. */
function remainder(a: Univariate, b: Univariate, budget: Budget): Maybe<Univariate> {
  let rest = [...a];
  const head = b.at(-1) as bigint;
  const size = head < 0n ? -head : head;
  while (rest.length >= b.length) {
    const bits = rest.reduce((most, each) => Math.max(most, bitLength(each)), 0);
    if (bits > COEFFICIENT_BITS_MAX || !spend(budget, rest.length * (1 + bits / 512))) return undefined;
    const factor = (rest.at(-1) as bigint) * (head < 0n ? -1n : 1n);
    const shift = rest.length - b.length;
    rest = rest.map((each, i) => each * size - (i >= shift ? factor * (b[i - shift] as bigint) : 0n));
    rest = [...trimmed(rest)];
  }
  return primitive(rest);
}

function derivative(a: Univariate): Univariate {
  return trimmed(a.slice(1).map((each, i) => each * BigInt(i + 1)));
}

/** Returns a, b and the negated remainders that follow. If b is the derivative of a, this is Sturm's chain. */
function chainOf(a: Univariate, b: Univariate, budget: Budget): Maybe<readonly Univariate[]> {
  const chain = [primitive(a), primitive(b)];
  for (;;) {
    const [before, last] = chain.slice(-2) as [Univariate, Univariate];
    if (last.length === 0) return chain.slice(0, -1);
    const rest = remainder(before, last, budget);
    if (rest === undefined) return undefined;
    chain.push(rest.map((each) => -each));
  }
}

/** Returns a polynomial with the same zeros, all of them simple. */
function squareFree(a: Univariate, budget: Budget): Maybe<Univariate> {
  const divisor = chainOf(a, derivative(a), budget)?.at(-1);
  if (divisor === undefined) return undefined;
  if (divisor.length <= 1) return primitive(a);
  // Long division. A factor keeps each step in whole numbers.
  let rest = [...a];
  const head = divisor.at(-1) as bigint;
  const result: bigint[] = [];
  while (rest.length >= divisor.length) {
    const bits = bitLength(rest.at(-1) as bigint);
    if (bits > COEFFICIENT_BITS_MAX || !spend(budget, rest.length * (1 + bits / 512))) return undefined;
    const shift = rest.length - divisor.length;
    if ((rest.at(-1) as bigint) % head !== 0n) {
      rest = rest.map((each) => each * head);
      for (const [i, each] of result.entries()) result[i] = each * head;
    }
    const factor = (rest.at(-1) as bigint) / head;
    result[shift] = factor;
    rest = rest.map((each, i) => each - (i >= shift ? factor * (divisor[i - shift] as bigint) : 0n)).slice(0, -1);
  }
  return primitive(trimmed(Array.from(result, (each) => each ?? 0n)));
}

/** Returns the sign of a polynomial at num / 2^shift. */
export function signAt(a: Univariate, { num, shift }: Dyadic): -1 | 0 | 1 {
  let value = 0n;
  for (let i = a.length - 1; i >= 0; i--)
    value = value * num + ((a[i] as bigint) << BigInt(shift * (a.length - 1 - i)));
  return value === 0n ? 0 : value < 0n ? -1 : 1;
}

function changesAt(chain: readonly Univariate[], at: Dyadic, budget: Budget): Maybe<number> {
  const bits = at.shift + bitLength(at.num);
  if (!spend(budget, (chain.length * chain.length * (1 + (bits * chain.length) / 1024)) / 4)) return undefined;
  const signs = chain.map((each) => signAt(each, at)).filter((sign) => sign !== 0);
  return signs.filter((sign, i) => i > 0 && sign !== signs[i - 1]).length;
}

function middle(a: Dyadic, b: Dyadic): Dyadic {
  const shift = Math.max(a.shift, b.shift) + 1;
  const num = (aligned(a, shift) + aligned(b, shift)) >> 1n;
  return { num, shift };
}

export function aligned({ num, shift }: Dyadic, to: number): bigint {
  return num << BigInt(to - shift);
}

const ROUNDS_MAX = 400;

/** Returns all real zeros in ascending order. Undefined if the degree is too high, or the steps are spent. */
export function zerosOf(given: Univariate, budget: Budget): Maybe<readonly Zero[]> {
  const polynomial = trimmed(given);
  if (polynomial.length === 0 || polynomial.length > DEGREE_MAX + 1) return undefined;
  if (polynomial.length === 1) return [];
  const a = squareFree(polynomial, budget);
  const chain = a && chainOf(a, derivative(a), budget);
  if (a === undefined || chain === undefined) return undefined;
  // Cauchy's bound: no zero is larger than 1 plus the ratio of the largest coefficient to the leading one.
  const bits = Math.max(...a.map((each) => bitLength(each))) - bitLength(a.at(-1) as bigint) + 6;
  const bound = 1n << BigInt(Math.max(1, bits));
  const found: Zero[] = [];
  const open = [{ low: { num: -bound, shift: 0 }, high: { num: bound, shift: 0 } }];
  for (let round = 0; open.length > 0; round++) {
    const { low, high } = open.pop() as Zero;
    const [left, right] = [changesAt(chain, low, budget), changesAt(chain, high, budget)];
    if (left === undefined || right === undefined || round > ROUNDS_MAX) return undefined;
    if (left - right === 1) found.push(fractional(a, { low, high }));
    if (left - right < 2) continue;
    const half = middle(low, high);
    open.push({ low: half, high }, { low, high: half });
  }
  return found;
}

const HEAD_BITS_MAX = 200;

/** Sets `exact` if the zero is a fraction. Its denominator must divide the leading coefficient. */
function fractional(a: Univariate, zero: Zero): Zero {
  const head = a.at(-1) as bigint;
  if (bitLength(head) > HEAD_BITS_MAX) return zero;
  const near = narrowed(a, zero, bitLength(head) + 2);
  const shift = near.high.shift;
  // At most one multiple of 1/head can lie between the ends.
  const parts = (near.high.num * head) >> BigInt(shift);
  for (const num of [parts, parts + 1n, parts - 1n]) {
    if (evaluated(a, num, head) !== 0n) continue;
    const common = gcd(num, head) * (head < 0n ? -1n : 1n);
    const exact = { num: num / common, den: head / common };
    const isBehind = ({ num: end, shift: places }: Dyadic): boolean => exact.num << BigInt(places) > end * exact.den;
    const isInside = isBehind(near.low) && !isBehind(near.high);
    if (isInside) return { ...near, exact };
  }
  return near;
}

/** Returns the value at num / den, times den^n. */
function evaluated(a: Univariate, num: bigint, den: bigint): bigint {
  let [value, power] = [0n, 1n];
  for (let i = a.length - 1; i >= 0; i--, power *= den) value = value * num + (a[i] as bigint) * power;
  return value;
}

/** Narrows a zero to less than 2^-bits. The polynomial must have simple zeros only. */
export function narrowed(a: Univariate, { low, high, ...rest }: Zero, bits: number): Zero {
  let [from, to] = [low, high];
  const last = signAt(a, to);
  while (isWider(from, to, bits)) {
    const half = last === 0 ? to : middle(from, to);
    const sign = signAt(a, half);
    if (sign === 0) return { ...rest, ...justBelow(half, bits) };
    if (sign === last) to = half;
    else from = half;
  }
  return { ...rest, low: from, high: to };
}

/** Returns an interval that ends at a zero found exactly. */
function justBelow(at: Dyadic, bits: number): Zero {
  const shift = Math.max(bits + 1, at.shift);
  const num = aligned(at, shift);
  return { low: { num: num - 1n, shift }, high: { num, shift } };
}

function isWider(low: Dyadic, high: Dyadic, bits: number): boolean {
  const shift = Math.max(low.shift, high.shift);
  const width = aligned(high, shift) - aligned(low, shift);
  return width << BigInt(bits) > 1n << BigInt(shift);
}

/** Returns the polynomial without multiple zeros, as `narrowed` needs it. */
export function simplified(a: Univariate, budget: Budget): Maybe<Univariate> {
  return squareFree(trimmed(a), budget);
}

/** Returns whether two polynomials have the same real zeros. */
export function haveSameZeros(a: Univariate, b: Univariate, budget: Budget): Maybe<boolean> {
  const [left, right] = [trimmed(a), trimmed(b)];
  if (left.length === 0 || right.length === 0) return left.length === right.length ? true : undefined;
  const common = chainOf(left, right, budget)?.at(-1);
  const counts = [left, right, common].map((each) => each && zerosOf(each, budget)?.length);
  return counts.includes(undefined) ? undefined : counts.every((count) => count === counts[2]);
}

// Replaces roots and absolute values, to get polynomials in one variable. The results may have additional zeros.

const BRANCHES_MAX = 32;

/**
 * Returns polynomials in variables alone, one of which is 0 wherever `a` is 0. An absolute value is replaced by both
 * signs, and a + b√u by a² − b²u. A branch that is 0 everywhere is dropped; it ends where an absolute value turns.
 * Undefined if there are other atoms.
 */
export function withoutRoots(a: Polynomial, ring: Ring): Maybe<readonly Polynomial[]> {
  let branches: readonly Polynomial[] = [a];
  for (let index = ring.atoms.length - 1; index >= 0; index--) {
    const next: Polynomial[] = [];
    for (const branch of branches) {
      const found = degreeIn(branch, index) === 0 ? [branch] : without(branch, index, ring);
      if (found === undefined) return undefined;
      next.push(...found);
    }
    branches = next.filter(({ size }) => size > 0);
    if (branches.length > BRANCHES_MAX) return undefined;
  }
  return branches;
}

function without(a: Polynomial, index: number, ring: Ring): Maybe<readonly Polynomial[]> {
  const atom = ring.atoms[index];
  if (atom?.kind === "variable") return [a];
  if (atom?.kind === "absolute") {
    const both = [atom.of, plus(ZERO, atom.of, -1n)].map((by) => substituted(a, index, by, ring));
    return both.includes(undefined) ? undefined : (both as readonly Polynomial[]);
  }
  if (atom?.kind !== "root" || atom.degree !== 2) return undefined;
  const reducedOnce = reduced(a, ring);
  const [rest, factor] = (reducedOnce && coefficientsIn(reducedOnce, index)) ?? [];
  if (rest === undefined || factor === undefined) return rest && [rest];
  const [left, right] = [times(rest, rest, ring.budget), times(factor, factor, ring.budget)];
  const other = right && times(right, atom.of, ring.budget);
  const norm = left && other && plus(left, other, -1n);
  // If the product is 0 everywhere, it says nothing about the zeros.
  return norm === undefined || norm.size === 0 ? undefined : [norm];
}

/** Returns the coefficients of a polynomial in one atom. Undefined if it has other atoms. */
export function univariateIn(a: Polynomial, index: number): Maybe<Univariate> {
  if ([...atomsIn(a)].some((each) => each !== index)) return undefined;
  return coefficientsIn(a, index).map((coefficient) => asConstant(coefficient) ?? 0n);
}
