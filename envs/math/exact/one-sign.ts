/** Polynomials that have one sign wherever their variables are real, and a value there. */
import { type Node, some } from "../syntax.ts";
import { variablesOf } from "../variables.ts";
import { atomsIn, plus, type Polynomial, ZERO } from "./polynomial.ts";
import { type Atom, type Ring } from "./ring.ts";
import { isNeverNegative, isPositive } from "./roots-and-amounts.ts";
import { univariateIn } from "./univariate.ts";
import { zerosOf } from "./zeros.ts";

/** The sign that a polynomial has everywhere; undefined: it has none, or it is not seen. */
export function signOfAll(a: Polynomial, ring: Ring): 1 | -1 | undefined {
  if (![...atomsIn(a)].every((index) => isEverywhere(ring.atoms[index] as Atom, ring))) return undefined;
  for (const sign of [1, -1] as const) {
    const turned = sign === 1 ? a : plus(ZERO, a, -1n);
    if (isNeverNegative(turned, ring) && hasPositiveTerm(turned, ring)) return sign;
  }
  const [index, ...others] = atomsIn(a);
  const univariate = index === undefined || others.length > 0 ? undefined : univariateIn(a, index);
  if (univariate === undefined || zerosOf(univariate, ring.budget)?.length !== 0) return undefined;
  return (univariate[0] as bigint) > 0n ? 1 : -1;
}

/** A number, or a power of e times one. */
function hasPositiveTerm(a: Polynomial, { atoms }: Ring): boolean {
  return [...a.keys()].some((monomial) =>
    [...monomial].every((exponent, index) => {
      const atom = atoms[index];
      return exponent === "\0" || (atom?.kind === "other" && isPositive(atom.node));
    }),
  );
}

/** Whether it has a value wherever its variables are real: √x has none below 0. */
function isEverywhere(atom: Atom, ring: Ring): boolean {
  if (atom.kind === "variable") return true;
  if (atom.kind === "other") return !some(atom.node, mayHaveNone);
  const areInside = [...atomsIn(atom.of)].every((index) => isEverywhere(ring.atoms[index] as Atom, ring));
  return areInside && (atom.kind === "amount" || atom.degree % 2 === 1 || isNeverNegative(atom.of, ring));
}

/** What divides by a variable, and functions but a few. */
function mayHaveNone(node: Node): boolean {
  if (node.kind === "multiply") return node.factors.some((each) => each.inverse && variablesOf(each.node).size > 0);
  if (node.kind === "power")
    return !isPositive(node.base) && !(node.exponent.kind === "number" && node.exponent.value.den === 1n);
  return node.kind === "call" && !["abs", "exp", "sin", "cos", "arctan"].includes(node.name);
}
