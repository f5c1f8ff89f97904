/** Points at which two polynomials are found to be unlike: exact ones, on lines along each variable. */
import { rngFor, type Rng } from "../../lib/rng.ts";
import { constantOf, type Polynomial } from "../exact/polynomial.ts";
import { type Ring, substituted } from "../exact/ring.ts";
import { univariateIn } from "../exact/univariate.ts";
import { haveSameZeros, signAt, type Univariate } from "../exact/zeros.ts";
import type { State } from "./outcome.ts";

/** How far from 0 the other variables lie. */
const SIZES = [0, 5, 30, 2_000];

/** Both polynomials along each variable in turn, with random whole numbers for the others. */
function* lines(
  left: Polynomial,
  right: Polynomial,
  ring: Ring,
  state: State,
): Generator<readonly [Univariate, Univariate, Rng]> {
  const rng = rngFor("math-witnesses", state.seed);
  for (const size of SIZES)
    for (const [index] of ring.atoms.entries()) {
      let both: readonly (Polynomial | undefined)[] = [left, right];
      for (const [other] of ring.atoms.entries()) {
        if (other === index) continue;
        const value = constantOf(BigInt(rng.int(-size, size)));
        both = both.map((each) => each && substituted(each, other, value, ring));
      }
      const [one, two] = both.map((each) => each && univariateIn(each, index));
      if (one !== undefined && two !== undefined) yield [one, two, rng];
    }
}

/** Whether there is a point where one of them is 0 and the other is not. */
export function haveOtherZeros(left: Polynomial, right: Polynomial, ring: Ring, state: State): boolean {
  for (const [one, other] of lines(left, right, ring, state))
    if (haveSameZeros(one, other, ring.budget) === false) return true;
  return false;
}

/** Thousandths. */
const DISTANCES = [1, 30, 1_000, 10_000, 100_000, 10_000_000];
const SHIFT = 10;

/** Whether there is a point where one of them is above 0 and the other is below. */
export function haveOtherSigns(left: Polynomial, right: Polynomial, ring: Ring, state: State): boolean {
  for (const [one, other, rng] of lines(left, right, ring, state))
    for (const distance of DISTANCES) {
      if ((ring.budget.left -= one.length + other.length) < 0) return false;
      const at = { num: BigInt(rng.int(-distance, distance)), shift: SHIFT };
      const signs = [one, other].map((each) => (each.length === 0 ? 0 : signAt(each, at)));
      if (signs[0] !== signs[1]) return true;
    }
  return false;
}
