/** Polynomials of one variable out of those in atoms: without roots and amounts, at the price of zeros that they have not. */
import { atomsIn, coefficientsIn, asConstant, degreeIn, plus, type Polynomial, times } from "./polynomial.ts";
import { reduced, type Ring } from "./ring.ts";
import type { Univariate } from "./zeros.ts";

type Maybe<T> = T | undefined;

/** A polynomial that is 0 wherever this one is, in variables alone: a + b√u is a² − b²u. Undefined: it has other atoms. */
export function withoutRoots(a: Polynomial, ring: Ring): Maybe<Polynomial> {
  let result: Maybe<Polynomial> = reduced(a, ring);
  for (let index = ring.atoms.length - 1; index >= 0 && result !== undefined; index--) {
    const atom = ring.atoms[index];
    if (degreeIn(result, index) === 0 || atom?.kind === "variable") continue;
    if (atom?.kind !== "amount" && (atom?.kind !== "root" || atom.degree !== 2)) return undefined;
    const [rest, factor] = coefficientsIn(result, index) as [Polynomial, Polynomial];
    const square = atom.kind === "amount" ? times(atom.of, atom.of, ring.budget) : atom.of;
    const [left, right] = [times(rest, rest, ring.budget), times(factor, factor, ring.budget)];
    const other = right && square && times(right, square, ring.budget);
    const norm = left && other && plus(left, other, -1n);
    result = norm && reduced(norm, ring);
  }
  return result;
}

/** Its coefficients where it has no atom but this one. */
export function univariateIn(a: Polynomial, index: number): Maybe<Univariate> {
  if ([...atomsIn(a)].some((each) => each !== index)) return undefined;
  return coefficientsIn(a, index).map((coefficient) => asConstant(coefficient) ?? 0n);
}
