/** Polynomials of one variable out of those in atoms: without roots and amounts, at the price of zeros that they have not. */
import { asConstant, atomsIn, coefficientsIn, degreeIn, plus, type Polynomial, times, ZERO } from "./polynomial.ts";
import { reduced, type Ring, substituted } from "./ring.ts";
import type { Univariate } from "./zeros.ts";

type Maybe<T> = T | undefined;

const BRANCHES_MAX = 32;

/**
 * Polynomials in variables alone, of which one is 0 wherever this one is: with either sign of each amount, and for a + b√u
 * a² − b²u. What is 0 all along a branch is left out: that ends where an amount turns. Undefined: it has other atoms.
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
  if (atom?.kind === "amount") {
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
  // Where that is 0 all along nothing is known of the zeros.
  return norm === undefined || norm.size === 0 ? undefined : [norm];
}

/** Its coefficients where it has no atom but this one. */
export function univariateIn(a: Polynomial, index: number): Maybe<Univariate> {
  if ([...atomsIn(a)].some((each) => each !== index)) return undefined;
  return coefficientsIn(a, index).map((coefficient) => asConstant(coefficient) ?? 0n);
}
