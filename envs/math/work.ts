/**
 * How much work a calculation by hand is, in steps on single digits: the measure by which the levels of generated tasks are
 * told apart. A product takes as many steps as the digits of its factors multiplied (schoolbook multiplication), a sum as
 * many as its longer number has digits; of fractions each part is worked out, and the result reduced.
 */
import type { Rational } from "../lib/rational.ts";

export function digitsOf(integer: number | bigint): number {
  return `${integer}`.replace("-", "").length;
}

/** Of a product; of a quotient, if the second is turned over. */
export function productWork(a: Rational, b: Rational): number {
  const above = digitsOf(a.num) * digitsOf(b.num);
  if (a.den === 1 && b.den === 1) return above;
  const below = digitsOf(a.den) * digitsOf(b.den);
  const reducing = (digitsOf(a.num) + digitsOf(b.num)) * (digitsOf(a.den) + digitsOf(b.den));
  return above + below + reducing;
}

/** Of a sum or a difference. */
export function sumWork(a: Rational, b: Rational): number {
  const longest = Math.max(digitsOf(a.num), digitsOf(b.num));
  if (a.den === 1 && b.den === 1) return longest;
  const crossed = digitsOf(a.num) * digitsOf(b.den) + digitsOf(b.num) * digitsOf(a.den);
  return crossed + 2 * digitsOf(a.den) * digitsOf(b.den) + longest;
}
