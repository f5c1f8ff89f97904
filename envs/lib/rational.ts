/** Computes with exact fractions of any size: doubles as long as they are exact, bigints beyond. */

type Integer = number | bigint;

/**
 * Fraction num / den in lowest terms, with den > 0. A part is a number exactly if it is a safe integer (magnitude below
 * 2^53), so that equal fractions have equal parts.
 */
export interface Rational {
  readonly num: Integer;
  readonly den: Integer;
}

const ZERO: Rational = { num: 0, den: 1 };

/** Returns a safe integer as a fraction. */
export function fromInteger(value: number): Rational {
  return value === 0 ? ZERO : { num: value, den: 1 };
}

export function add(a: Rational, b: Rational): Rational {
  return reduce(plus(times(a.num, b.den), times(b.num, a.den)), times(a.den, b.den));
}

export function subtract(a: Rational, b: Rational): Rational {
  return add(a, { num: negated(b.num), den: b.den });
}

export function multiply(a: Rational, b: Rational): Rational {
  return reduce(times(a.num, b.num), times(a.den, b.den));
}

/** Divides two fractions. Returns undefined for a division by zero. */
export function divide(a: Rational, b: Rational): Rational | undefined {
  return b.num === 0 ? undefined : reduce(times(a.num, b.den), times(a.den, b.num));
}

export function equalsInteger(a: Rational, value: number): boolean {
  return a.den === 1 && a.num === value;
}

/**
 * Returns a text such as "23" or "47/2". Shortens texts of more than 40 characters, because a model may write numbers
 * of hundreds of digits.
 */
export function showRational(a: Rational): string {
  const text = a.den === 1 ? `${a.num}` : `${a.num}/${a.den}`;
  return text.length <= 40 ? text : `${text.slice(0, 20)}… (${text.length} characters)`;
}

/**
 * Multiplies two integers. A product of doubles that is a safe integer is exact, because rounding never crosses 2^53.
 * Larger products are computed with bigints.
 */
function times(a: Integer, b: Integer): Integer {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    if (Number.isSafeInteger(product)) return product;
  }
  return BigInt(a) * BigInt(b);
}

function plus(a: Integer, b: Integer): Integer {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return BigInt(a) + BigInt(b);
}

function negated(a: Integer): Integer {
  return typeof a === "number" ? 0 - a : -a;
}

function reduce(num: Integer, den: Integer): Rational {
  if (typeof num === "number" && typeof den === "number") {
    if (num === 0) return ZERO;
    if (den === 1) return { num, den };
    const factor = Math.sign(den) * gcd(Math.abs(num), Math.abs(den));
    return { num: num / factor, den: den / factor };
  }
  return reduceBig(BigInt(num), BigInt(den));
}

function reduceBig(num: bigint, den: bigint): Rational {
  let a = num < 0n ? -num : num;
  let b = den < 0n ? -den : den;
  while (b !== 0n) [a, b] = [b, a % b];
  const factor = den < 0n ? -a : a;
  return num === 0n ? ZERO : { num: demoted(num / factor), den: demoted(den / factor) };
}

function demoted(value: bigint): Integer {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

function gcd(a: number, b: number): number {
  while (b !== 0) {
    const rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
