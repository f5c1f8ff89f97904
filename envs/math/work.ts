/**
 * Measures how much work a calculation by hand is, in steps on single digits. The levels of generated tasks differ by
 * this measure. A product costs the product of its factors' digit counts (schoolbook multiplication). A sum costs the
 * digits of its longer number. Fractions add the work on each part and the reduction.
 */
import type { Rational } from "../lib/rational.ts";

export function digitsOf(integer: number | bigint): number {
  return `${integer}`.replace("-", "").length;
}

/** Work of a product. For a quotient, pass the reciprocal of the divisor. */
export function productWork(a: Rational, b: Rational): number {
  const above = digitsOf(a.num) * digitsOf(b.num);
  if (a.den === 1 && b.den === 1) return above;
  const below = digitsOf(a.den) * digitsOf(b.den);
  const reducing = (digitsOf(a.num) + digitsOf(b.num)) * (digitsOf(a.den) + digitsOf(b.den));
  return above + below + reducing;
}

/** Work of a sum or a difference. */
export function sumWork(a: Rational, b: Rational): number {
  const longest = Math.max(digitsOf(a.num), digitsOf(b.num));
  if (a.den === 1 && b.den === 1) return longest;
  const crossed = digitsOf(a.num) * digitsOf(b.den) + digitsOf(b.num) * digitsOf(a.den);
  return crossed + 2 * digitsOf(a.den) * digitsOf(b.den) + longest;
}
