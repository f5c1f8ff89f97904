/**
 * Exact fractions of bounded size. Their computation is charged to a budget of steps. A result that exceeds the bounds
 * is undefined, and the caller continues with approximations. For fractions without a bound see ../../lib/rational.ts.
 */
import { bitLength, type Budget, spend } from "./budget.ts";

/** The fraction num / den in lowest terms, with den > 0. */
export interface Rational {
  readonly num: bigint;
  readonly den: bigint;
}

/** Maximum number of bits of a whole number: 2^100000 and 10^30000 are exact. */
const WHOLE_BITS_MAX = 110_000;
/**
 * Maximum number of bits of the shorter of numerator and denominator. The limit bounds the rounds of Euclid's
 * algorithm.
 */
const PART_BITS_MAX = 4096;
/** Maximum number of bits of the longer of numerator and denominator. */
const LONG_PART_BITS_MAX = 16_000;

export const ZERO: Rational = { num: 0n, den: 1n };
export const ONE: Rational = { num: 1n, den: 1n };

export function whole(num: bigint): Rational {
  return { num, den: 1n };
}

/** Returns the greatest common divisor. The numbers should be short, because no budget bounds the work. */
export function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** Returns a fraction of short numbers in lowest terms. The denominator must not be 0. */
export function reduced(num: bigint, den: bigint): Rational {
  const divisor = den < 0n ? -gcd(num, den) : gcd(num, den);
  return { num: num / divisor, den: den / divisor };
}

/**
 * Returns a fraction in lowest terms. Returns undefined if the denominator is 0, if num or den is too large, or if the
 * budget is spent.
 */
export function fraction(num: bigint, den: bigint, budget: Budget): Rational | undefined {
  if (den === 0n) return undefined;
  if (den === 1n) return fits(num, WHOLE_BITS_MAX, budget) ? { num, den } : undefined;
  // The number of rounds of Euclid's algorithm is at most about the bit length of the smaller number.
  const isShort = BigInt.asIntN(PART_BITS_MAX, num) === num || BigInt.asIntN(PART_BITS_MAX, den) === den;
  if (!isShort || !fits(num, LONG_PART_BITS_MAX, budget) || !fits(den, LONG_PART_BITS_MAX, budget)) {
    // A quotient of large whole numbers may itself be whole.
    return fits(num, WHOLE_BITS_MAX, budget) && spend(budget, bitLength(num) / 64) && num % den === 0n
      ? { num: num / den, den: 1n }
      : undefined;
  }
  let a = num < 0n ? -num : num;
  let b = den < 0n ? -den : den;
  let rounds = 0;
  while (b !== 0n) {
    [a, b] = [b, a % b];
    rounds++;
  }
  // A round of Euclid's algorithm takes time proportional to the length of the numbers.
  if (!spend(budget, (rounds / 4) * Math.max(1, bitLength(den) / 1024))) return undefined;
  const factor = den < 0n ? -a : a;
  return { num: num / factor, den: den / factor };
}

function fits(value: bigint, bitsMax: number, budget: Budget): boolean {
  if (BigInt.asIntN(256, value) === value) return true;
  const bits = bitLength(value);
  return bits <= bitsMax && spend(budget, bits / 256);
}

export function add(a: Rational, b: Rational, budget: Budget): Rational | undefined {
  return a.den === b.den
    ? fraction(a.num + b.num, a.den, budget)
    : fraction(a.num * b.den + b.num * a.den, a.den * b.den, budget);
}

export function multiply(a: Rational, b: Rational, budget: Budget): Rational | undefined {
  return fraction(a.num * b.num, a.den * b.den, budget);
}

export function divide(a: Rational, b: Rational, budget: Budget): Rational | undefined {
  return fraction(a.num * b.den, a.den * b.num, budget);
}

export function negate({ num, den }: Rational): Rational {
  return { num: -num, den };
}

export function absolute(a: Rational): Rational {
  return a.num < 0n ? negate(a) : a;
}

export function compare(a: Rational, b: Rational): number {
  const difference = a.num * b.den - b.num * a.den;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function floor({ num, den }: Rational): bigint {
  const quotient = num / den;
  return num < 0n && quotient * den !== num ? quotient - 1n : quotient;
}

/**
 * Returns the power of a fraction with a whole exponent. Undefined for 0 to a negative power, or if the result is too
 * large.
 */
export function power(base: Rational, exponent: bigint, budget: Budget): Rational | undefined {
  const { num, den } = base;
  if (den === 1n && (num === 1n || num === 0n))
    return num === 0n && exponent <= 0n ? (exponent === 0n ? ONE : undefined) : base;
  if (num === -1n && den === 1n) return exponent % 2n === 0n ? ONE : base;
  const size = exponent < 0n ? -exponent : exponent;
  const bitsMax = den === 1n && exponent >= 0n ? WHOLE_BITS_MAX : PART_BITS_MAX;
  const bits = Math.max(bitLength(num), bitLength(den)) * Number(size);
  if (!(bits <= bitsMax) || !spend(budget, 1 + bits / 128)) return undefined;
  const raised = { num: num ** size, den: den ** size };
  return exponent >= 0n ? raised : fraction(raised.den, raised.num, budget);
}

/**
 * Returns the exact root of the given degree, e.g. 2/3 for the cube root of 8/27, or undefined. The degree is at least
 * 2, and odd for negative numbers.
 */
export function root({ num, den }: Rational, degree: number, budget: Budget): Rational | undefined {
  const top = wholeRoot(num < 0n ? -num : num, degree, budget);
  const bottom = top === undefined ? undefined : wholeRoot(den, degree, budget);
  if (top === undefined || bottom === undefined) return undefined;
  return { num: num < 0n ? -top : top, den: bottom };
}

function wholeRoot(value: bigint, degree: number, budget: Budget): bigint | undefined {
  if (value < 2n) return value;
  const bits = bitLength(value);
  if (bits > 8_192 || degree > bits || !spend(budget, 4 + (bits * bits) / 20_000)) return undefined;
  // Newton's method starts above the root and decreases to its whole part.
  const n = BigInt(degree);
  let guess = 1n << BigInt(Math.ceil(bits / degree) + 1);
  for (;;) {
    const next = ((n - 1n) * guess + value / guess ** (n - 1n)) / n;
    if (next >= guess) break;
    guess = next;
  }
  return guess ** n === value ? guess : undefined;
}

/**
 * Returns a text such as "5" or "-3/4"; different fractions get different texts. A num or den above 400 bits is written
 * in base 16, because that takes linear time.
 */
export function showRational({ num, den }: Rational): string {
  const [top, bottom] = [num, den].map((part) => (bitLength(part) > 400 ? `#${part.toString(16)}` : `${part}`));
  return den === 1n ? `${top}` : `${top}/${bottom}`;
}
