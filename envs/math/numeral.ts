/**
 * Reads and grades the answers of generated tasks. An answer is read as in `math`, but must be a finished value. An
 * unevaluated expression is refused, because the task itself is one.
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
 * Returns the value of a whole number, a decimal, a fraction or a mixed number, in lowest terms. Undefined means: the
 * node is none of these.
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

/** Returns the value of a signed whole number. Undefined means: the node is none. */
function wholeOf(node: Node): bigint | undefined {
  if (node.kind === "number") return node.digits === undefined ? undefined : node.value.num;
  const [term, ...more] = node.kind === "add" ? node.terms : [];
  const value = term?.node.kind === "number" && more.length === 0 ? wholeOf(term.node) : undefined;
  if (value === undefined || term === undefined) return undefined;
  return term.sign === "-" ? -value : term.sign === "+" ? value : undefined;
}

/** A value and the name it is assigned to. The name is undefined if the value stands alone. */
export interface NamedValue {
  readonly name: Node | undefined;
  readonly value: Fraction;
}

/** Reads "31", "p = 31", "31 = p" and "p = 62/2 = 31". Undefined means: something else, or two different values. */
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
  // The name must be the first part, or the second of two.
  const isAtEnd = name === node.parts[0] || (name === node.parts[1] && node.parts.length === 2);
  if (first === undefined || name === undefined || names.length > 0 || !isAtEnd) return undefined;
  return more.every(({ num, den }) => num === first.num && den === first.den) ? { name, value: first } : undefined;
}

/** Returns whether a name fits the unknown: no name, a phrase, or this letter. */
export function isNamed(name: Node | undefined, letter: string): boolean {
  return name === undefined || name.kind === "text" || (name.kind === "symbol" && name.name === letter);
}

/** Returns whether a name fits an expression's value: no name, any letter or phrase, or the expression as given. */
export function mayName(name: Node | undefined, expression: Node | undefined): boolean {
  return name === undefined || isName(name) || (expression !== undefined && show(name) === show(expression));
}

/**
 * Grades values against the expected ones, both in lowest terms. The facts never show the expected values. `wrong`
 * returns the violation for a wrong value.
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
