/**
 * Complex numbers with an error bound ("balls"). Each part is a bigint over 2^bits, and the bound counts units of the
 * last place. Operations return undefined if the result is out of range or has no finite bound.
 */
import type { Budget } from "./budget.ts";
import { spend } from "./budget.ts";
import { atan2, exp as expFixed, ln as lnFixed, pi, sinCos, sqrtWhole } from "./fixed.ts";
import type { Rational } from "./rational.ts";

export interface Ball {
  readonly re: bigint;
  readonly im: bigint;
  /** Error bound of each part, in units of the last place. */
  readonly error: number;
}

/** Precision of an operation, and the budget of steps that it draws on. */
export interface Precision {
  /** Number of binary digits after the point. */
  readonly bits: number;
  readonly budget: Budget;
}

/**
 * Maximum number of binary digits of a part, including those after the point. Magnitudes of this size still fit into a
 * double.
 */
const RANGE_BITS = 940;
const RANGE = 1n << BigInt(RANGE_BITS);

function checked(re: bigint, im: bigint, error: number): Ball | undefined {
  const inRange = re < RANGE && re > -RANGE && im < RANGE && im > -RANGE;
  return inRange && Number.isFinite(error) ? { re, im, error } : undefined;
}

export function ofRational({ num, den }: Rational, { bits }: Precision): Ball | undefined {
  if (den === 1n) return checked(num << BigInt(bits), 0n, 0);
  return checked((num << BigInt(bits)) / den, 0n, 1);
}

/** Returns |re| + |im| in units of the last place. */
export function magnitude({ re, im }: Ball): number {
  return Math.abs(Number(re)) + Math.abs(Number(im));
}

export function isReal({ im }: Ball): boolean {
  return im === 0n;
}

/** Returns whether the true value may be 0, given the error bound. */
export function mayBeZero(a: Ball): boolean {
  return magnitude(a) <= 2 * a.error;
}

export function addBalls(a: Ball, b: Ball): Ball | undefined {
  return checked(a.re + b.re, a.im + b.im, a.error + b.error);
}

export function negateBall({ re, im, error }: Ball): Ball {
  return { re: -re, im: -im, error };
}

export function multiplyBalls(a: Ball, b: Ball, { bits }: Precision): Ball | undefined {
  const shift = BigInt(bits);
  const scale = 2 ** -bits;
  const error = 2 + (magnitude(a) * b.error + magnitude(b) * a.error + a.error * b.error) * scale;
  if (a.im === 0n && b.im === 0n) return checked((a.re * b.re) >> shift, 0n, error);
  return checked((a.re * b.re - a.im * b.im) >> shift, (a.re * b.im + a.im * b.re) >> shift, error);
}

/** Divides two balls. Undefined if b may be 0. */
export function divideBalls(a: Ball, b: Ball, precision: Precision): Ball | undefined {
  if (mayBeZero(b)) return undefined;
  const { bits } = precision;
  const shift = BigInt(bits);
  const least = Math.max(Math.abs(Number(b.re)), Math.abs(Number(b.im))) - b.error;
  if (!(least > 0)) return undefined;
  const scaled = 2 ** bits / least;
  // The bound is |a/b − a'/b'| ≤ (|a| εb / |b| + εa) / |b'|.
  const error = 2 + (a.error + (magnitude(a) * b.error) / least) * scaled;
  if (b.im === 0n) return checked((a.re << shift) / b.re, (a.im << shift) / b.re, error);
  const square = b.re * b.re + b.im * b.im;
  return checked(
    ((a.re * b.re + a.im * b.im) << shift) / square,
    ((a.im * b.re - a.re * b.im) << shift) / square,
    error,
  );
}

// Functions such as sin and ln of a number with an error bound. Costs are in steps of the budget, of about a
// microsecond each.

const COST = { sqrt: 4, exp: 20, ln: 40, angle: 40, sin: 25 } as const;

function cost(steps: number, { bits, budget }: Precision): boolean {
  return spend(budget, bits > 300 ? 6 * steps : steps);
}

/** Returns the principal square root. */
export function sqrtBall(a: Ball, precision: Precision): Ball | undefined {
  if (!cost(COST.sqrt, precision)) return undefined;
  const shift = BigInt(precision.bits);
  if (a.im === 0n) {
    const root = sqrtWhole((a.re < 0n ? -a.re : a.re) << shift);
    const error = rootError(Math.abs(Number(a.re)), a.error, precision);
    return a.re < 0n ? checked(0n, root, error) : checked(root, 0n, error);
  }
  const size = sqrtWhole(a.re * a.re + a.im * a.im);
  const re = sqrtWhole(((size + a.re) / 2n) << shift);
  const im = sqrtWhole(((size - a.re) / 2n) << shift);
  const error = rootError(Math.abs(Number(a.im)) + Math.abs(Number(a.re)), a.error + 2, precision) * 8;
  // If a is near the real axis, one part of the root is small, because `size` and |a.re| nearly cancel. That part loses
  // half of its digits.
  const least = Math.min(Number(re), Math.abs(Number(im)));
  return checked(
    re,
    a.im < 0n ? -im : im,
    least === 0 ? 2 ** (precision.bits / 2) : error * Math.max(1, Number(size) / least / least) + 4,
  );
}

function rootError(size: number, error: number, { bits }: Precision): number {
  if (size <= 2 * error) return Math.sqrt(3 * error + 1) * 2 ** (bits / 2);
  return 2 + (error / Math.sqrt(size - error)) * 2 ** (bits / 2);
}

export function expBall(a: Ball, precision: Precision): Ball | undefined {
  const { bits } = precision;
  // With a greater exponent, e^a could have more than RANGE_BITS digits; 0.69 is just below ln 2.
  const limit = BigInt(Math.floor((RANGE_BITS - bits) * 0.69)) << BigInt(bits);
  if (a.re > limit || a.re < -(1n << BigInt(bits + 12)) || !cost(COST.exp, precision)) return undefined;
  const size = expFixed(a.re, bits);
  const relative = Math.expm1(Math.min(700, a.error * 2 ** -bits));
  const error = 2 + Number(size) * relative;
  if (a.im === 0n) return checked(size, 0n, error);
  const turned = turn(a.im, precision);
  if (turned === undefined) return undefined;
  return checked(
    (size * turned[1]) >> BigInt(bits),
    (size * turned[0]) >> BigInt(bits),
    2 * error + 4 + Number(size) * 2 ** -bits * 2,
  );
}

/** Returns sine and cosine of an angle. Undefined if the angle is 2^80 or more, which no real answer needs. */
function turn(angle: bigint, precision: Precision): readonly [bigint, bigint] | undefined {
  if (angle >> BigInt(precision.bits + 80) !== 0n && angle >> BigInt(precision.bits + 80) !== -1n) return undefined;
  return cost(COST.sin, precision) ? sinCos(angle, precision.bits) : undefined;
}

export function sinCosBall(a: Ball, precision: Precision): readonly [sin: Ball, cos: Ball] | undefined {
  if (a.im !== 0n) return undefined;
  const turned = turn(a.re, precision);
  if (turned === undefined) return undefined;
  const error = a.error + 2;
  return [
    { re: turned[0], im: 0n, error },
    { re: turned[1], im: 0n, error },
  ];
}

/** Returns the principal logarithm. */
export function lnBall(a: Ball, precision: Precision): Ball | undefined {
  if (mayBeZero(a) || !cost(COST.ln, precision)) return undefined;
  const { bits } = precision;
  const least = Math.max(Math.abs(Number(a.re)), Math.abs(Number(a.im))) - a.error;
  const error = 4 + (2 * a.error * 2 ** bits) / least;
  if (a.im === 0n && a.re > 0n) return checked(lnFixed(a.re, bits), 0n, error);
  const size = a.im === 0n ? -a.re : sqrtWhole(a.re * a.re + a.im * a.im);
  if (size <= 0n) return undefined;
  const angle = angleOf(a, precision);
  const sizeError = a.im === 0n ? 0 : (2 ** bits / Number(size)) * 2;
  return angle === undefined ? undefined : checked(lnFixed(size, bits), angle.re, error + angle.error + sizeError);
}

/** Returns the argument of a complex number, in (−π, π]. */
export function angleOf(a: Ball, precision: Precision): Ball | undefined {
  if (mayBeZero(a) || !cost(COST.angle, precision)) return undefined;
  const { bits } = precision;
  if (a.im === 0n) return { re: a.re > 0n ? 0n : pi(bits), im: 0n, error: 1 };
  const least = Math.max(Math.abs(Number(a.re)), Math.abs(Number(a.im))) - a.error;
  return checked(atan2(a.im, a.re, bits), 0n, 8 + (2 * (a.error + 1) * 2 ** bits) / least);
}

export function piBall({ bits }: Precision): Ball {
  return { re: pi(bits), im: 0n, error: 1 };
}

/** Returns the distance of two numbers and the error bound of that distance, both in units of the last place. */
export function distance(a: Ball, b: Ball): { readonly size: number; readonly error: number } {
  const size = Math.max(Math.abs(Number(a.re - b.re)), Math.abs(Number(a.im - b.im)));
  return { size, error: a.error + b.error };
}
