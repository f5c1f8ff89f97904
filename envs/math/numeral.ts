/**
 * Reads and grades the answers of math/arithmetic and math/linear. An answer is parsed as in the environment `math`,
 * but must be a finished value: an expression such as 2 + 3 is refused, because it may copy the task.
 */
import type { Facts } from "../facts.ts";
import { equalsInteger, type Rational } from "../lib/rational.ts";
import { isName } from "./compare/shape.ts";
import { type Rational as Fraction, reduced } from "./numbers/rational.ts";
import { type Node, show } from "./syntax.ts";

/** Writes a whole number or a fraction, with its sign. */
export function numeralOf({ num, den }: Rational | Fraction): string {
  return den === 1n || equalsInteger({ num: den, den: 1 }, 1) ? `${num}` : `${num}/${den}`;
}

/**
 * Returns the value of a whole number, a decimal, a fraction or a mixed number, in lowest terms. Returns undefined for
 * any other node.
 */
export function valueOfNumeral(node: Node): Fraction | undefined {
  if (node.kind === "number") return node.goesOn === true ? undefined : node.value;
  if (node.kind === "add") {
    const [term, ...more] = node.terms;
    if (term === undefined || more.length > 0 || (term.sign !== "-" && term.sign !== "+")) return undefined;
    const value = valueOfNumeral(term.node);
    return value && { num: term.sign === "-" ? -value.num : value.num, den: value.den };
  }
  if (node.kind !== "multiply" || node.factors.length !== 2) return undefined;
  const [top, bottom] = node.factors.map(({ node: part, inverse }, i) =>
    inverse === (i === 1) ? wholeOf(part) : undefined,
  );
  return top === undefined || bottom === undefined || bottom === 0n ? undefined : reduced(top, bottom);
}

/** Returns the value of a whole number with or without a sign. Returns undefined for any other node. */
function wholeOf(node: Node): bigint | undefined {
  if (node.kind === "number") return node.digits === undefined ? undefined : node.value.num;
  const [term, ...more] = node.kind === "add" ? node.terms : [];
  const value = term?.node.kind === "number" && more.length === 0 ? wholeOf(term.node) : undefined;
  if (value === undefined || term === undefined) return undefined;
  return term.sign === "-" ? -value : term.sign === "+" ? value : undefined;
}

/**
 * A value and the name to which it is assigned, e.g. 31 and p for "p = 31". The name is undefined if the value stands
 * alone.
 */
export interface NamedValue {
  readonly name: Node | undefined;
  readonly value: Fraction;
}

/**
 * Reads a value with or without a name: "31", "p = 31", "31 = p" or "p = 62/2 = 31". Returns undefined for any other
 * form, or if the values differ.
 */
export function namedValue(node: Node): NamedValue | undefined {
  if (node.kind !== "relation") {
    const value = valueOfNumeral(node);
    return value && { name: undefined, value };
  }
  if (node.operators.some((operator) => operator !== "=")) return undefined;
  const values = node.parts.map(valueOfNumeral);
  const others = node.parts.filter((_, i) => values[i] === undefined);
  const [first, ...more] = values.filter((value) => value !== undefined);
  const [name, ...names] = others;
  // The name must be the first part of the equation, or the second of two parts.
  const isAtEnd = name === node.parts[0] || (name === node.parts[1] && node.parts.length === 2);
  if (first === undefined || name === undefined || names.length > 0 || !isAtEnd) return undefined;
  return more.every(({ num, den }) => num === first.num && den === first.den) ? { name, value: first } : undefined;
}

/**
 * Returns whether a value with this name answers for the unknown `letter`: there is no name, a phrase, or that letter.
 */
export function isNamed(name: Node | undefined, letter: string): boolean {
  return name === undefined || name.kind === "text" || (name.kind === "symbol" && name.name === letter);
}

/**
 * Returns whether a value with this name answers for the given expression: there is no name, a letter or phrase such as
 * x, f(x) or AB, or the expression itself.
 */
export function mayName(name: Node | undefined, expression: Node | undefined): boolean {
  return name === undefined || isName(name) || (expression !== undefined && show(name) === show(expression));
}

/**
 * Grades values against the expected ones; both are in lowest terms. The result never reveals the expected values. The
 * callback `wrong` returns the message for a wrong value at index i.
 */
export function gradeValues(
  expected: readonly Rational[],
  values: readonly string[],
  wrong: (value: string, i: number) => string,
): Facts {
  const at = expected.findIndex((value, i) => numeralOf(value) !== values[i]);
  if (at >= 0) return wrongFacts(wrong((values[at] ?? "").slice(0, 100), at));
  return { kind: "graded", components: [{ name: "correctness", value: 1 }], solved: true };
}

export function wrongFacts(violation: string): Facts {
  return { kind: "graded", components: [{ name: "correctness", value: 0 }], solved: false, violation };
}
