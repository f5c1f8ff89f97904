/**
 * Arithmetic on numbers of two kinds: exact fractions while they are small enough, and approximations with an error
 * bound (balls) otherwise.
 */
import {
  addBalls,
  type Ball,
  distance,
  divideBalls,
  expBall,
  isReal,
  lnBall,
  magnitude,
  mayBeZero,
  multiplyBalls,
  negateBall,
  ofRational,
  type Precision,
  sqrtBall,
} from "./ball.ts";
import { spend } from "./budget.ts";
import * as rational from "./rational.ts";
import type { Rational } from "./rational.ts";

export type Num = { readonly kind: "exact"; readonly value: Rational } | { readonly kind: "ball"; readonly ball: Ball };

/**
 * Result of a computation. Undefined means: no value exists, the value is out of range, or the step budget is spent.
 */
export type Maybe<T> = T | undefined;

export function exact(value: Rational): Num {
  return { kind: "exact", value };
}

export function wholeNum(value: bigint): Num {
  return exact(rational.whole(value));
}

export function ball(value: Maybe<Ball>): Maybe<Num> {
  return value === undefined ? undefined : { kind: "ball", ball: value };
}

export function toBall(a: Num, precision: Precision): Maybe<Ball> {
  return a.kind === "ball" ? a.ball : ofRational(a.value, precision);
}

function both(a: Num, b: Num, precision: Precision, combine: (a: Ball, b: Ball) => Maybe<Ball>): Maybe<Num> {
  const [left, right] = [toBall(a, precision), toBall(b, precision)];
  return left === undefined || right === undefined ? undefined : ball(combine(left, right));
}

export function add(a: Num, b: Num, precision: Precision): Maybe<Num> {
  if (a.kind === "exact" && b.kind === "exact") {
    const sum = rational.add(a.value, b.value, precision.budget);
    if (sum !== undefined) return exact(sum);
  }
  return both(a, b, precision, addBalls);
}

export function negate(a: Num): Num {
  return a.kind === "exact" ? exact(rational.negate(a.value)) : { kind: "ball", ball: negateBall(a.ball) };
}

export function multiply(a: Num, b: Num, precision: Precision): Maybe<Num> {
  if (a.kind === "exact" && b.kind === "exact") {
    const product = rational.multiply(a.value, b.value, precision.budget);
    if (product !== undefined) return exact(product);
  }
  return both(a, b, precision, (left, right) => multiplyBalls(left, right, precision));
}

/** Divides two numbers. Returns undefined if b is 0 or may be 0 within its error. */
export function divide(a: Num, b: Num, precision: Precision): Maybe<Num> {
  if (b.kind === "exact" && b.value.num === 0n) return undefined;
  if (a.kind === "exact" && b.kind === "exact") {
    const quotient = rational.divide(a.value, b.value, precision.budget);
    if (quotient !== undefined) return exact(quotient);
  }
  return both(a, b, precision, (left, right) => divideBalls(left, right, precision));
}

/** Returns the value of an exact whole number. Undefined for other numbers. */
export function asWhole(a: Num): Maybe<bigint> {
  return a.kind === "exact" && a.value.den === 1n ? a.value.num : undefined;
}

/** Returns the sign of a number as −1, 0 or 1. Undefined if the number is not real, or its sign is uncertain. */
export function signOf(a: Num): Maybe<-1 | 0 | 1> {
  if (a.kind === "exact") return a.value.num === 0n ? 0 : a.value.num < 0n ? -1 : 1;
  if (!isReal(a.ball) || mayBeZero(a.ball)) return undefined;
  return a.ball.re < 0n ? -1 : 1;
}

/**
 * Result of comparing two numbers. "near": no difference within the computed digits. "apart": different, and at least
 * one is not real. "unclear": the errors are too large to tell.
 */
export type Order = "equal" | "near" | "less" | "greater" | "apart" | "unclear";

/**
 * Minimum share of the binary digits that must be certain for two numbers without a visible difference to count as
 * "near".
 */
const KNOWN_SHARE = 0.6;

export function order(a: Num, b: Num, precision: Precision): Order {
  if (a.kind === "exact" && b.kind === "exact") {
    const compared = rational.compare(a.value, b.value);
    return compared === 0 ? "equal" : compared < 0 ? "less" : "greater";
  }
  const [left, right] = [toBall(a, precision), toBall(b, precision)];
  if (left === undefined || right === undefined) return "unclear";
  const { size, error } = distance(left, right);
  if (size > 2 * error + 4) {
    if (!isReal(left) || !isReal(right)) return "apart";
    return left.re < right.re ? "less" : "greater";
  }
  // The difference is within the error. The numbers agree in most digits, or both are too close to 0 to tell.
  const largest = Math.max(magnitude(left), magnitude(right), 2 ** (precision.bits * 0.8));
  return error <= largest * 2 ** (-precision.bits * KNOWN_SHARE) ? "near" : "unclear";
}

// Functions for powers and roots.

/**
 * Raises a number to a power. If `real` is set, a power of a negative base that is not real, such as (−1)^(1/2), is
 * undefined.
 */
export function power(base: Num, exponent: Num, real: boolean, precision: Precision): Maybe<Num> {
  if (exponent.kind === "exact") return rationalPower(base, exponent.value, real, precision);
  const sign = signOf(base);
  if (sign === 0) return undefined;
  if (real && sign !== 1) return undefined;
  const [left, right] = [toBall(base, precision), toBall(exponent, precision)];
  if (left === undefined || right === undefined) return undefined;
  const logarithm = lnBall(left, precision);
  const scaled = logarithm && multiplyBalls(logarithm, right, precision);
  return ball(scaled && expBall(scaled, precision));
}

function rationalPower(base: Num, { num, den }: Rational, real: boolean, precision: Precision): Maybe<Num> {
  if (den === 1n) return wholePower(base, num, precision);
  const rooted = root(base, den, real, precision);
  return rooted === undefined ? undefined : wholePower(rooted, num, precision);
}

function wholePower(base: Num, exponent: bigint, precision: Precision): Maybe<Num> {
  if (base.kind === "exact") {
    const raised = rational.power(base.value, exponent, precision.budget);
    if (raised !== undefined) return exact(raised);
    if (base.value.num === 0n) return undefined;
  }
  let factor = toBall(base, precision);
  let result = ofRational(rational.ONE, precision);
  for (let rest = exponent < 0n ? -exponent : exponent; rest > 0n; rest >>= 1n) {
    if (factor === undefined || result === undefined || !spend(precision.budget, 2)) return undefined;
    if (rest & 1n) result = multiplyBalls(result, factor, precision);
    if (rest > 1n) factor = multiplyBalls(factor, factor, precision);
  }
  const power = ball(result);
  return exponent >= 0n || power === undefined ? power : divide(wholeNum(1n), power, precision);
}

/**
 * Returns a root. For negative numbers it is the real root if the degree is odd, else the principal root. Undefined if
 * `real` is set and the result is not real.
 */
export function root(a: Num, degree: bigint, real: boolean, precision: Precision): Maybe<Num> {
  if (degree < 1n || degree > 10_000n) return undefined;
  if (degree === 1n) return a;
  const sign = signOf(a);
  if (sign === 0) return a;
  if (sign === -1) {
    const opposite = degree % 2n === 1n ? root(negate(a), degree, real, precision) : undefined;
    if (degree % 2n === 1n) return opposite && negate(opposite);
    if (real) return undefined;
  }
  if (a.kind === "exact" && sign === 1) {
    const found = rational.root(a.value, Number(degree), precision.budget);
    if (found !== undefined) return exact(found);
  }
  const value = toBall(a, precision);
  if (value === undefined || (real && !isReal(value))) return undefined;
  if (degree === 2n) return ball(sqrtBall(value, precision));
  const logarithm = lnBall(value, precision);
  const part =
    logarithm && divideBalls(logarithm, { re: degree << BigInt(precision.bits), im: 0n, error: 0 }, precision);
  return ball(part && expBall(part, precision));
}
