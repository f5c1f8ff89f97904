/** Simplifies √u and |u| by what is known to be positive or to have one sign everywhere. */
import { type Node, some, variablesOf } from "../syntax.ts";
import {
  asConstant,
  atomOf,
  atomsIn,
  constantOf,
  exponentIn,
  plus,
  type Polynomial,
  primitive,
  quotient,
  squareRoot,
  times,
  wholeRoot,
  ZERO,
} from "./polynomial.ts";
import {
  type Atom,
  type Fraction,
  inverse,
  keyOf,
  numberOf,
  ofPolynomial,
  product,
  type Ring,
  whole,
  wholeFraction,
  written,
} from "./ring.ts";
import { univariateIn, zerosOf } from "./zeros.ts";

// √u and |u| after squares, numbers and positive factors are taken out.

type Maybe<T> = T | undefined;

export function absoluteOf({ num, den }: Fraction, ring: Ring, isTurning = true): Maybe<Fraction> {
  const [top, bottom] = [absolute(num, ring, isTurning), absolute(den, ring, isTurning)];
  const under = bottom && inverse(bottom);
  return top && under && product(top, under, ring);
}

/** Returns an absolute value by factors: |2x²y(x + 1)| as 2x²·|y|·|x + 1|. */
function absolute(a: Polynomial, ring: Ring, isTurning: boolean): Maybe<Fraction> {
  if (a.size === 0) return wholeFraction(0n);
  const { content, part } = primitive(a);
  const common = commonMonomial(part);
  const rest = quotient(part, new Map([[common, 1n]]), ring.budget);
  let result: Maybe<Fraction> = wholeFraction(content < 0n ? -content : content);
  for (let index = 0; index < common.length; index++) {
    const exponent = exponentIn(common, index);
    const single = exponent === 0 ? undefined : absoluteOfOne(atomOf(index), ring, isTurning);
    const raised = single && whole(single, exponent, ring);
    if (exponent > 0) result = result && raised && product(result, raised, ring);
  }
  const other = rest && absoluteOfOne(rest, ring, isTurning);
  return result && other && product(result, other, ring);
}

function absoluteOfOne(a: Polynomial, ring: Ring, isTurning: boolean): Maybe<Fraction> {
  if (isNeverNegative(a, ring) || squareRoot(a, ring.budget) !== undefined) return ofPolynomial(a);
  const key = `|${keyOf(a)}|`;
  const found = ofPolynomial(written(ring, key, () => ({ kind: "absolute", of: a })));
  const index = ring.indices.get(key);
  if (isTurning && index !== undefined) ring.turning.add(index);
  return found;
}

/** Returns the greatest monomial that divides each term. */
function commonMonomial(a: Polynomial): string {
  let common: number[] | undefined;
  for (const monomial of a.keys()) {
    const exponents = [...(common ?? monomial)].map((_, index) => exponentIn(monomial, index));
    common = common === undefined ? exponents : common.map((least, index) => Math.min(least, exponents[index] ?? 0));
  }
  return String.fromCharCode(...(common ?? [])).replace(/\0+$/, "");
}

/** Returns whether each term is a positive number times something never negative: x² + |y| + 1. */
export function isNeverNegative(a: Polynomial, { atoms }: Ring): boolean {
  for (const [monomial, coefficient] of a) {
    if (coefficient < 0n) return false;
    for (let index = 0; index < monomial.length; index++) {
      const atom = atoms[index];
      const isNonnegative =
        atom?.kind === "absolute" ||
        (atom?.kind === "root" && atom.degree % 2 === 0 && asConstant(atom.of) !== -1n) ||
        (atom?.kind === "other" && isPositive(atom.node));
      if (exponentIn(monomial, index) % 2 === 1 && !isNonnegative) return false;
    }
  }
  return true;
}

/** Returns whether a node is π, e, or a power of one of them. */
export function isPositive(node: Node): boolean {
  return node.kind === "symbol"
    ? node.name === "π" || node.name === "e"
    : node.kind === "power" && isPositive(node.base);
}

/** Returns the root of a fraction. In real rings, (u²v)^(1/2) becomes |u|·v^(1/2). Undefined if it has no such form. */
export function rootOf(a: Fraction, degree: number, ring: Ring): Maybe<Fraction> {
  const constant = numberOf(a);
  if (!ring.real && (constant === undefined || constant.num < 0n)) return undefined;
  // The root of p/q is the root of p·q^(degree − 1), divided by |q|, or by q if the degree is odd.
  const raised = whole({ num: a.den, den: constantOf(1n) }, degree - 1, ring);
  const radicand = raised && times(a.num, raised.num, ring.budget);
  const below = degree % 2 === 0 ? absoluteOf(ofPolynomial(a.den) as Fraction, ring, false) : ofPolynomial(a.den);
  const under = below && inverse(below);
  const top = radicand && rooted(radicand, degree, ring);
  return top && under && product(top, under, ring);
}

function rooted(a: Polynomial, degree: number, ring: Ring): Maybe<Fraction> {
  if (a.size === 0) return wholeFraction(0n);
  if (degree === 1) return ofPolynomial(a);
  if (degree % 2 === 0) {
    const square = squareRoot(a, ring.budget);
    const size = square && absolute(square, ring, true);
    if (size !== undefined && numberOf({ num: size.den, den: constantOf(1n) })?.num === 1n)
      return rooted(size.num, degree / 2, ring);
  }
  if (degree !== 2) return atom(a, degree, ring);
  const { square, rest } = squareTaken(a, ring);
  const [outside, inside] = [absolute(square, ring, true), atom(rest, 2, ring)];
  return outside && inside && product(outside, inside, ring);
}

function atom(a: Polynomial, degree: number, ring: Ring): Maybe<Fraction> {
  if (a.size === 1 && a.get("") === 1n) return wholeFraction(1n);
  return ofPolynomial(written(ring, `${degree} root ${keyOf(a)}`, () => ({ kind: "root", degree, of: a })));
}

const PRIMES = [2n, 3n, 5n, 7n, 11n, 13n, 17n, 19n, 23n, 29n, 31n, 37n];

/**
 * Splits a polynomial into square² · rest. Squares are taken out of its number, its common monomial, and the remainder
 * if that is a square.
 */
function squareTaken(a: Polynomial, ring: Ring): { readonly square: Polynomial; readonly rest: Polynomial } {
  const { content, part } = primitive(a);
  let [outside, inside] = [1n, content];
  const whole = wholeRoot(content < 0n ? -content : content);
  if (whole !== undefined) [outside, inside] = [whole, content < 0n ? -1n : 1n];
  else
    for (const prime of PRIMES)
      for (let turn = 0; turn < 200 && inside % (prime * prime) === 0n; turn++)
        [outside, inside] = [outside * prime, inside / (prime * prime)];
  const common = commonMonomial(part);
  const halves = String.fromCharCode(...[...common].map((_, i) => Math.floor(exponentIn(common, i) / 2)));
  const half = halves.replace(/\0+$/, "");
  const squared = times(new Map([[half, 1n]]), new Map([[half, 1n]]), ring.budget);
  const divided = squared && quotient(part, squared, ring.budget);
  const rest = divided ?? part;
  const square = new Map([[divided === undefined ? "" : half, outside]]);
  const whole2 = squareRoot(rest, ring.budget);
  const joined = whole2 && times(square, whole2, ring.budget);
  if (joined !== undefined) return { square: joined, rest: constantOf(inside) };
  return { square, rest: new Map([...rest].map(([monomial, coefficient]) => [monomial, coefficient * inside])) };
}

// Polynomials that have a value, with one sign, for all real values of their variables.

/** Returns the sign that a polynomial has everywhere. Undefined if it has none, or none is recognized. */
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

/** Returns whether a term is a number, or a number times a positive constant such as a power of e. */
function hasPositiveTerm(a: Polynomial, { atoms }: Ring): boolean {
  return [...a.keys()].some((monomial) =>
    [...monomial].every((exponent, index) => {
      const atom = atoms[index];
      return exponent === "\0" || (atom?.kind === "other" && isPositive(atom.node));
    }),
  );
}

/** Returns whether an atom has a value for all real values of its variables. √x has none below 0. */
function isEverywhere(atom: Atom, ring: Ring): boolean {
  if (atom.kind === "variable") return true;
  if (atom.kind === "other") return !some(atom.node, mayHaveNone);
  const areInside = [...atomsIn(atom.of)].every((index) => isEverywhere(ring.atoms[index] as Atom, ring));
  return areInside && (atom.kind === "absolute" || atom.degree % 2 === 1 || isNeverNegative(atom.of, ring));
}

/** Returns whether a node may lack a value: quotients by variables, broken powers, and all but a few functions. */
function mayHaveNone(node: Node): boolean {
  if (node.kind === "multiply") return node.factors.some((each) => each.inverse && variablesOf(each.node).size > 0);
  if (node.kind === "power")
    return !isPositive(node.base) && !(node.exponent.kind === "number" && node.exponent.value.den === 1n);
  return node.kind === "call" && !["abs", "exp", "sin", "cos", "arctan"].includes(node.name);
}
