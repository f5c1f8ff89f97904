/**
 * One step of countdown, two values into one, on unreduced fractions in doubles: value i is nums[i] / dens[i].
 *
 * Every double here is a whole number below 2^53 and so exact. Let M bound a value's numerator and denominator; a step
 * from values with M1 and M2 gives at most 2·M1·M2 (a sum), so n numbers of at most m give 2^(n−1)·m^n, which is
 * 2.05e15 < 2^53 at the limits of instance.ts (n = 6, m = 200). So no step needs a gcd, which makes search fast.
 */

/** The six ways to combine a and b (SPEC.md section 3): a+b, a·b, a−b, b−a, a/b, b/a. */
export const STEP_KINDS = 6;

/** Which operator a kind of step writes, and whether b comes first. */
export const STEPS = [
  { operator: "+", swapped: false },
  { operator: "*", swapped: false },
  { operator: "-", swapped: false },
  { operator: "-", swapped: true },
  { operator: "/", swapped: false },
  { operator: "/", swapped: true },
] as const;

/** Values of a search: numerators and denominators, side by side. Denominators may be negative, never zero. */
export interface Values {
  readonly nums: Float64Array;
  readonly dens: Float64Array;
}

export function makeValues(length: number): Values {
  return { nums: new Float64Array(length), dens: new Float64Array(length) };
}

/** Writes step `kind` of an/ad and bn/bd at index `at`; false, and nothing written, for a division by zero. */
export function combine(
  values: Values,
  at: number,
  kind: number,
  an: number,
  ad: number,
  bn: number,
  bd: number,
): boolean {
  let num = 0;
  let den = ad * bd;
  if (kind === 0) num = an * bd + bn * ad;
  else if (kind === 1) num = an * bn;
  else if (kind === 2) num = an * bd - bn * ad;
  else if (kind === 3) num = bn * ad - an * bd;
  else {
    if ((kind === 4 ? bn : an) === 0) return false;
    num = kind === 4 ? an * bd : bn * ad;
    den = kind === 4 ? ad * bn : bd * an;
  }
  values.nums[at] = num;
  values.dens[at] = den;
  return true;
}

/**
 * How many of the six steps of an/ad and bn/bd give the target. Where target·den is beyond 2^53 its rounded double is
 * too, hence larger than any numerator, so the comparison is exact all the same.
 */
export function hits(an: number, ad: number, bn: number, bd: number, target: number): number {
  const left = an * bd;
  const right = bn * ad;
  const goal = target * (ad * bd);
  let count = 0;
  if (left + right === goal) count++;
  if (an * bn === goal) count++;
  if (left - right === goal) count++;
  if (right - left === goal) count++;
  if (bn !== 0 && left === target * right) count++;
  if (an !== 0 && right === target * left) count++;
  return count;
}
