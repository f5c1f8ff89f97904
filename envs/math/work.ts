/**
 * Measures the work of a calculation by hand, in steps on single digits. The difficulty levels of generated tasks are
 * based on it. A product costs the product of its factors' digit counts (schoolbook multiplication). A sum costs the
 * digits of its longer number. Fractions add the work on numerator and denominator, and the reduction.
 */
import type { Rational } from "../lib/rational.ts";

export function digitsOf(integer: number | bigint): number {
  return `${integer}`.replace("-", "").length;
}

/** Returns the work of a product, in steps. For a quotient, pass the reciprocal of the divisor. */
export function productWork(a: Rational, b: Rational): number {
  const above = digitsOf(a.num) * digitsOf(b.num);
  if (a.den === 1 && b.den === 1) return above;
  const below = digitsOf(a.den) * digitsOf(b.den);
  const reducing = (digitsOf(a.num) + digitsOf(b.num)) * (digitsOf(a.den) + digitsOf(b.den));
  return above + below + reducing;
}

/** Returns the work of a sum or a difference, in steps. */
export function sumWork(a: Rational, b: Rational): number {
  const longest = Math.max(digitsOf(a.num), digitsOf(b.num));
  if (a.den === 1 && b.den === 1) return longest;
  const crossed = digitsOf(a.num) * digitsOf(b.den) + digitsOf(b.num) * digitsOf(a.den);
  return crossed + 2 * digitsOf(a.den) * digitsOf(b.den) + longest;
}
