/**
 * Polynomials with whole coefficients in any number of atoms. A monomial is a string whose i-th code unit is the
 * exponent of the i-th atom, without zeros at the end. The order of strings is then the lexicographic order of
 * monomials.
 */
import { gcd } from "../numbers/rational.ts";
import { bitLength, type Budget, spend } from "../numbers/budget.ts";

/** Coefficients by monomial. No coefficient is 0. */
export type Polynomial = ReadonlyMap<string, bigint>;

/** Undefined means: the steps are spent, or the result has too many terms. */
type Maybe<T> = T | undefined;

const TERMS_MAX = 1_200;
const EXPONENT_MAX = 512;
/** Maximum size, in bits, of a coefficient and of a number that becomes one. */
export const COEFFICIENT_BITS_MAX = 4_000;
/** Products of two terms that one step pays for. */
const PRODUCTS_A_STEP = 1;

export const ZERO: Polynomial = new Map();

export function constantOf(value: bigint): Polynomial {
  return value === 0n ? ZERO : new Map([["", value]]);
}

/** Returns an atom raised to a power. */
export function atomOf(index: number, exponent = 1): Polynomial {
  return new Map([["\0".repeat(index) + String.fromCharCode(exponent), 1n]]);
}

export function exponentIn(monomial: string, index: number): number {
  return index < monomial.length ? monomial.charCodeAt(index) : 0;
}

/** Returns a monomial with the exponent of one atom replaced. */
export function withExponent(monomial: string, index: number, exponent: number): string {
  const padded = monomial.padEnd(index + 1, "\0");
  return trimmed(padded.slice(0, index) + String.fromCharCode(exponent) + padded.slice(index + 1));
}

function trimmed(monomial: string): string {
  let end = monomial.length;
  while (end > 0 && monomial.charCodeAt(end - 1) === 0) end--;
  return monomial.slice(0, end);
}

function timesMonomial(a: string, b: string): string {
  const [long, short] = a.length >= b.length ? [a, b] : [b, a];
  let text = "";
  for (let i = 0; i < short.length; i++) text += String.fromCharCode(long.charCodeAt(i) + short.charCodeAt(i));
  return text + long.slice(short.length);
}

/** Divides one monomial by another. Undefined if b does not divide a. */
function overMonomial(a: string, b: string): Maybe<string> {
  if (b.length > a.length) return undefined;
  let text = "";
  for (let i = 0; i < a.length; i++) {
    const rest = a.charCodeAt(i) - exponentIn(b, i);
    if (rest < 0) return undefined;
    text += String.fromCharCode(rest);
  }
  return trimmed(text);
}

function put(terms: Map<string, bigint>, monomial: string, coefficient: bigint): void {
  const sum = (terms.get(monomial) ?? 0n) + coefficient;
  if (sum === 0n) terms.delete(monomial);
  else terms.set(monomial, sum);
}

export function areSame(a: Polynomial, b: Polynomial): boolean {
  return a.size === b.size && [...a].every(([monomial, coefficient]) => b.get(monomial) === coefficient);
}

/** Returns a + scale · b. */
export function plus(a: Polynomial, b: Polynomial, scale = 1n): Polynomial {
  const terms = new Map(a);
  for (const [monomial, coefficient] of b) put(terms, monomial, scale * coefficient);
  return terms;
}

export function times(a: Polynomial, b: Polynomial, budget: Budget): Maybe<Polynomial> {
  const bits = Math.max(0, ...[a, b].map(largestBits));
  if (bits > COEFFICIENT_BITS_MAX) return undefined;
  if (!spend(budget, Math.ceil((a.size * b.size * (1 + bits / 512)) / PRODUCTS_A_STEP))) return undefined;
  const terms = new Map<string, bigint>();
  for (const [left, coefficient] of a)
    for (const [right, other] of b) put(terms, timesMonomial(left, right), coefficient * other);
  const isSmall = terms.size <= TERMS_MAX && degreeMax(terms) <= EXPONENT_MAX;
  return isSmall ? terms : undefined;
}

function largestBits(a: Polynomial): number {
  let bits = 0;
  for (const coefficient of a.values()) bits = Math.max(bits, bitLength(coefficient));
  return bits;
}

function degreeMax(a: Polynomial): number {
  let most = 0;
  for (const monomial of a.keys())
    for (let i = 0; i < monomial.length; i++) most = Math.max(most, monomial.charCodeAt(i));
  return most;
}

export function degreeIn(a: Polynomial, index: number): number {
  let most = 0;
  for (const monomial of a.keys()) most = Math.max(most, exponentIn(monomial, index));
  return most;
}

export function toPower(a: Polynomial, exponent: number, budget: Budget): Maybe<Polynomial> {
  let result: Maybe<Polynomial> = constantOf(1n);
  for (let i = 0; i < exponent && result !== undefined; i++) result = times(result, a, budget);
  return result;
}

/** Returns the value of a constant polynomial. Undefined if it has atoms. */
export function asConstant(a: Polynomial): Maybe<bigint> {
  if (a.size === 0) return 0n;
  return a.size === 1 ? a.get("") : undefined;
}

/** Returns the indices of the atoms that occur. */
export function atomsIn(a: Polynomial): ReadonlySet<number> {
  const found = new Set<number>();
  for (const monomial of a.keys())
    for (let i = 0; i < monomial.length; i++) if (monomial.charCodeAt(i) > 0) found.add(i);
  return found;
}

function leading(a: Polynomial): string {
  let first = "";
  for (const monomial of a.keys()) if (monomial > first) first = monomial;
  return first;
}

/**
 * Returns a number and a polynomial whose product is `a`. The polynomial's coefficients have no common factor, and its
 * leading one is positive.
 */
export function primitive(a: Polynomial): { readonly content: bigint; readonly part: Polynomial } {
  if (a.size === 0) return { content: 0n, part: ZERO };
  let common = 0n;
  for (const coefficient of a.values()) common = gcd(common, coefficient);
  const content = (a.get(leading(a)) as bigint) < 0n ? -common : common;
  return { content, part: content === 1n ? a : over(a, content) };
}

/** Divides a polynomial by a number that divides each coefficient. */
export function over(a: Polynomial, divisor: bigint): Polynomial {
  return new Map([...a].map(([monomial, coefficient]) => [monomial, coefficient / divisor]));
}

/**
 * Returns a / b, where the coefficients of b have no common factor. Undefined if b does not divide a, or the steps are
 * spent.
 */
export function quotient(a: Polynomial, b: Polynomial, budget: Budget): Maybe<Polynomial> {
  const head = leading(b);
  const first = b.get(head);
  if (first === undefined) return undefined;
  let rest = new Map(a);
  const result = new Map<string, bigint>();
  while (rest.size > 0) {
    if (!spend(budget, Math.ceil((rest.size + b.size) / PRODUCTS_A_STEP)) || result.size > TERMS_MAX) return undefined;
    const next = leading(rest);
    const coefficient = rest.get(next) as bigint;
    const monomial = overMonomial(next, head);
    if (monomial === undefined || coefficient % first !== 0n) return undefined;
    const factor = coefficient / first;
    result.set(monomial, factor);
    rest = new Map(rest);
    for (const [each, other] of b) put(rest, timesMonomial(monomial, each), -factor * other);
  }
  return result;
}

/** Returns the square root of a whole number. Undefined if the number is no square. */
export function wholeRoot(value: bigint): Maybe<bigint> {
  if (value < 0n) return undefined;
  if (value < 2n) return value;
  let root = 1n << BigInt(Math.ceil(bitLength(value) / 2) + 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root * root === value ? root : undefined;
    root = next;
  }
}

/**
 * Returns the square root of a polynomial, with a positive leading coefficient. Undefined if there is none, or the
 * steps are spent.
 */
export function squareRoot(a: Polynomial, budget: Budget): Maybe<Polynomial> {
  if (a.size === 0) return ZERO;
  const head = leading(a);
  const coefficient = wholeRoot(a.get(head) as bigint);
  const half = halved(head);
  if (coefficient === undefined || half === undefined) return undefined;
  const root = new Map([[half, coefficient]]);
  // Each round finds the next term from the leading term of the rest.
  let rest = plus(a, new Map([[head, coefficient * coefficient]]), -1n);
  while (rest.size > 0) {
    if (root.size > TERMS_MAX / 8 || !spend(budget, Math.ceil((rest.size + root.size) / PRODUCTS_A_STEP)))
      return undefined;
    const next = leading(rest);
    const monomial = overMonomial(next, half);
    const doubled = rest.get(next) as bigint;
    if (monomial === undefined || monomial >= half || doubled % (2n * coefficient) !== 0n) return undefined;
    const term = doubled / (2n * coefficient);
    const changed = new Map(rest);
    for (const [each, other] of root) put(changed, timesMonomial(each, monomial), -2n * term * other);
    put(changed, timesMonomial(monomial, monomial), -term * term);
    if (changed.size > 0 && leading(changed) >= next) return undefined;
    root.set(monomial, term);
    rest = changed;
  }
  return root;
}

function halved(monomial: string): Maybe<string> {
  let text = "";
  for (let i = 0; i < monomial.length; i++) {
    const exponent = monomial.charCodeAt(i);
    if (exponent % 2 !== 0) return undefined;
    text += String.fromCharCode(exponent / 2);
  }
  return text;
}

/** Returns the coefficients of a polynomial in one atom, indexed by the atom's exponent. */
export function coefficientsIn(a: Polynomial, index: number): readonly Polynomial[] {
  const found = Array.from({ length: degreeIn(a, index) + 1 }, () => new Map<string, bigint>());
  for (const [monomial, coefficient] of a)
    found[exponentIn(monomial, index)]?.set(withExponent(monomial, index, 0), coefficient);
  return found;
}
