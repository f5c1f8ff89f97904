/**
 * The ring in which polynomials are written. Its atoms are variables and everything that is no sum, product or whole
 * power: a root, an absolute value, sin(x). Identities of roots and absolute values are applied at the end, newest atom
 * first.
 */
import { type Budget, spend } from "../numbers/budget.ts";
import { type Node, numberNode, type Term } from "../syntax.ts";
import {
  areSame,
  asConstant,
  atomOf,
  atomsIn,
  coefficientsIn,
  constantOf,
  degreeIn,
  plus,
  type Polynomial,
  primitive,
  times,
  toPower,
  ZERO,
} from "./polynomial.ts";

type Maybe<T> = T | undefined;

/** The quotient num / den. */
export interface Fraction {
  readonly num: Polynomial;
  readonly den: Polynomial;
}

export type Atom =
  | { readonly kind: "variable"; readonly name: string }
  /** The number whose power of this degree is `of`. */
  | { readonly kind: "root"; readonly degree: number; readonly of: Polynomial }
  /** The absolute value |of|. */
  | { readonly kind: "absolute"; readonly of: Polynomial }
  /** A constant or a function without identities. It may break off or turn only at zeros of `turns`. */
  | {
      readonly kind: "other";
      readonly node: Node;
      readonly turns: readonly Polynomial[];
      readonly names: ReadonlySet<string>;
    };

/** A ring grows while expressions are written in it. Each atom refers to older atoms only. */
export interface Ring {
  readonly atoms: Atom[];
  readonly indices: Map<string, number>;
  readonly budget: Budget;
  /** Whether all values are real numbers. */
  readonly real: boolean;
  /**
   * Indices of absolute values that were written, or come from a square. Others, such as the |y| of √(x/y) = √(xy)/|y|,
   * occur on one side only.
   */
  readonly turning: Set<number>;
}

export function newRing(budget: Budget, real: boolean): Ring {
  return { atoms: [], indices: new Map(), budget, real, turning: new Set() };
}

const ATOMS_MAX = 40;

/** Returns whether a variable occurs inside an atom that is not the variable itself. */
export function isWithin(name: string, index: number, ring: Ring): boolean {
  const found = ring.atoms.map((atom) => atom.kind === "other" && atom.names.has(name));
  // Each atom refers to older atoms only, so one pass suffices.
  for (const [i, atom] of ring.atoms.entries())
    if (atom.kind === "root" || atom.kind === "absolute")
      found[i] = [...atomsIn(atom.of)].some((each) => found[each] === true || each === index);
  return found.includes(true);
}

/** Returns the atom with this key as a polynomial, and adds it if it is new. Undefined if there are too many atoms. */
export function written(ring: Ring, key: string, make: () => Atom): Maybe<Polynomial> {
  let index = ring.indices.get(key);
  if (index === undefined) {
    if (ring.atoms.length >= ATOMS_MAX) return undefined;
    index = ring.atoms.push(make()) - 1;
    ring.indices.set(key, index);
  }
  return atomOf(index);
}

/** Returns a text that is equal for equal polynomials of a ring. */
export function keyOf(a: Polynomial): string {
  const terms = [...a].sort(([left], [right]) => (left < right ? -1 : 1));
  return terms.map(([monomial, coefficient]) => `${coefficient}[${[...monomial].map(codeOf).join(",")}]`).join("+");
}

const codeOf = (character: string): number => character.charCodeAt(0);

export function keyOfFraction({ num, den }: Fraction): string {
  const [top, bottom] = [primitive(num), primitive(den)];
  const isFlipped = bottom.content < 0n;
  const [a, b] = isFlipped ? [-top.content, -bottom.content] : [top.content, bottom.content];
  const common = gcdOf(a, b);
  return `${a / common}*(${keyOf(top.part)})/${b / common}*(${keyOf(bottom.part)})`;
}

function gcdOf(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x === 0n ? 1n : x;
}

// Fractions.

export function wholeFraction(value: bigint): Fraction {
  return { num: constantOf(value), den: constantOf(1n) };
}

export function ofPolynomial(num: Maybe<Polynomial>): Maybe<Fraction> {
  return num && { num, den: constantOf(1n) };
}

/** Returns a + sign · b. */
export function sum(a: Fraction, b: Fraction, sign: 1n | -1n, { budget }: Ring): Maybe<Fraction> {
  if (!spend(budget, (a.num.size + b.num.size) / 8)) return undefined;
  if (areSame(a.den, b.den)) return { num: plus(a.num, b.num, sign), den: a.den };
  const [left, right] = [times(a.num, b.den, budget), times(b.num, a.den, budget)];
  const den = times(a.den, b.den, budget);
  return left && right && den && { num: plus(left, right, sign), den };
}

export function product(a: Fraction, b: Fraction, { budget }: Ring): Maybe<Fraction> {
  const [num, den] = [times(a.num, b.num, budget), times(a.den, b.den, budget)];
  return num && den && { num, den };
}

/** Returns 1 / a. Undefined if a is 0. */
export function inverse({ num, den }: Fraction): Maybe<Fraction> {
  return num.size === 0 ? undefined : { num: den, den: num };
}

export const POWER_MAX = 200;

export function whole(a: Fraction, exponent: number, { budget }: Ring): Maybe<Fraction> {
  if (Math.abs(exponent) > POWER_MAX) return undefined;
  const size = Math.abs(exponent);
  const [num, den] = [toPower(a.num, size, budget), toPower(a.den, size, budget)];
  if (num === undefined || den === undefined) return undefined;
  return exponent < 0 ? inverse({ num, den }) : { num, den };
}

/** Returns the value of a constant fraction. Undefined if it has atoms. */
export function numberOf({ num, den }: Fraction): Maybe<{ readonly num: bigint; readonly den: bigint }> {
  const [a, b] = [asConstant(num), asConstant(den)];
  if (a === undefined || b === undefined || b === 0n) return undefined;
  const common = b < 0n ? -gcdOf(a, -b) : gcdOf(a, b);
  return { num: a / common, den: b / common };
}

// Identities of roots and absolute values.

/** Applies r^degree = of to each root, and |u|² = u² to each absolute value. Undefined if the result is too large. */
export function reduced(a: Polynomial, ring: Ring): Maybe<Polynomial> {
  let result: Maybe<Polynomial> = a;
  for (let index = ring.atoms.length - 1; index >= 0 && result !== undefined; index--)
    result = reducedIn(result, index, ring);
  return result;
}

/** Applies the identities to numerator and denominator. Undefined if one is too large, or the denominator is 0. */
export function tidied({ num, den }: Fraction, ring: Ring): Maybe<Fraction> {
  const [top, bottom] = [reduced(num, ring), reduced(den, ring)];
  return top === undefined || bottom === undefined || bottom.size === 0 ? undefined : { num: top, den: bottom };
}

function reducedIn(a: Polynomial, index: number, { atoms, budget }: Ring): Maybe<Polynomial> {
  const atom = atoms[index];
  if (atom?.kind !== "root" && atom?.kind !== "absolute") return a;
  const degree = atom.kind === "root" ? atom.degree : 2;
  if (degreeIn(a, index) < degree) return a;
  const coefficients = coefficientsIn(a, index);
  const square = atom.kind === "root" ? atom.of : times(atom.of, atom.of, budget);
  let result: Polynomial = ZERO;
  for (const [exponent, coefficient] of coefficients.entries()) {
    const raised = square && toPower(square, Math.floor(exponent / degree), budget);
    const rest = exponent % degree === 0 ? constantOf(1n) : atomOf(index, exponent % degree);
    const term = raised && times(raised, rest, budget);
    const part = term && times(term, coefficient, budget);
    if (part === undefined) return undefined;
    result = plus(result, part);
  }
  return result;
}

/** Number of terms that one step sorts by an atom's exponent. */
const TERMS_A_STEP = 8;

/** Returns the polynomial with an atom replaced by another polynomial. Undefined if the steps are spent. */
export function substituted(a: Polynomial, index: number, by: Polynomial, { budget }: Ring): Maybe<Polynomial> {
  if (!spend(budget, a.size / TERMS_A_STEP)) return undefined;
  let result: Polynomial = ZERO;
  for (const coefficient of coefficientsIn(a, index).toReversed()) {
    const shifted = times(result, by, budget);
    if (shifted === undefined) return undefined;
    result = plus(shifted, coefficient);
  }
  return result;
}

/** Returns the numerator of a − b, which is 0 if they are equal. Undefined if too large, or if a denominator is 0. */
export function gap(a: Fraction, b: Fraction, ring: Ring): Maybe<Polynomial> {
  const found = sum(a, b, -1n, ring);
  const [num, den] = [found && reduced(found.num, ring), found && reduced(found.den, ring)];
  return den === undefined || den.size === 0 ? undefined : num;
}

// Converts polynomials back into expressions, to evaluate them.

/** Returns a polynomial as an expression. Each atom becomes one shared node, because evaluation counts steps. */
export function nodeOf(a: Polynomial, ring: Ring, known = new Map<number, Node>()): Node {
  const terms = [...a].map(([monomial, coefficient]): Term => {
    const powers = [...monomial].flatMap((character, index) =>
      character === "\0" ? [] : [{ inverse: false, node: powerOf(index, character.charCodeAt(0), ring, known) }],
    );
    const factors = [{ inverse: false, node: numberNode(coefficient) }, ...powers];
    return { sign: "+", node: { kind: "multiply", factors } };
  });
  return { kind: "add", terms };
}

function powerOf(index: number, exponent: number, ring: Ring, known: Map<number, Node>): Node {
  let base = known.get(index);
  if (base === undefined) known.set(index, (base = atomNode(index, ring, known)));
  return exponent === 1 ? base : { kind: "power", base, exponent: numberNode(BigInt(exponent)) };
}

function atomNode(index: number, ring: Ring, known: Map<number, Node>): Node {
  const atom = ring.atoms[index];
  if (atom === undefined) throw new Error(`bug: there is no atom ${index}`);
  switch (atom.kind) {
    case "variable":
      return { kind: "symbol", name: atom.name };
    case "root":
      return { kind: "call", name: "root", args: [nodeOf(atom.of, ring, known), numberNode(BigInt(atom.degree))] };
    case "absolute":
      return { kind: "call", name: "abs", args: [nodeOf(atom.of, ring, known)] };
    case "other":
      return atom.node;
  }
}
