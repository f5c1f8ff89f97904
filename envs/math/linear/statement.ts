/** Defines the linear equations or inequality of a task, and writes them for prompts and pictures. */
import type { Rational } from "../../lib/rational.ts";

export type Relation = "=" | "<" | ">" | "<=" | ">=";

export type Term =
  | { readonly kind: "constant"; readonly value: Rational }
  | { readonly kind: "unknown"; readonly coefficient: Rational; readonly index: number }
  /** Group: a factor times a sum of terms in parentheses. The terms must not be groups. */
  | { readonly kind: "group"; readonly factor: Rational; readonly terms: readonly Term[] };

/** Equation or inequality: two sides, each a sum of terms, and the relation between them. */
export interface Statement {
  readonly left: readonly Term[];
  readonly relation: Relation;
  readonly right: readonly Term[];
}

/** A system of as many equations as unknowns, or one inequality in one unknown. */
export interface LinearInstance {
  /** Names of the unknowns, in the order in which the prompt asks for them. */
  readonly names: readonly string[];
  readonly statements: readonly Statement[];
}

export function isInequality({ statements }: LinearInstance): boolean {
  return statements.some(({ relation }) => relation !== "=");
}

const FLIPPED: Readonly<Record<Relation, Relation>> = { "=": "=", "<": ">", ">": "<", "<=": ">=", ">=": "<=" };

/**
 * Returns the relation that holds after the sides are swapped, or both are multiplied by a negative number: ">" for
 * "<", and "=" for "=".
 */
export function flipped(relation: Relation): Relation {
  return FLIPPED[relation];
}

// Functions that write an equation or inequality as text.

interface Notation {
  readonly relations: Readonly<Record<Relation, string>>;
  fraction(num: string, den: string): string;
  /** Writes a fraction before an unknown or a group. */
  factor(num: string, den: string): string;
}

const PLAIN: Notation = {
  relations: { "=": "=", "<": "<", ">": ">", "<=": "<=", ">=": ">=" },
  fraction: (num, den) => `${num}/${den}`,
  factor: (num, den) => `(${num}/${den})`,
};

const TEX: Notation = {
  relations: { "=": "=", "<": "<", ">": ">", "<=": "\\le", ">=": "\\ge" },
  fraction: (num, den) => `\\frac{${num}}{${den}}`,
  factor: (num, den) => `\\frac{${num}}{${den}}`,
};

/** Writes each statement as text: "(3/4)x - 2(x + 5) = 7". */
export function textsOf(instance: LinearInstance): readonly string[] {
  return instance.statements.map((statement) => written(statement, instance.names, PLAIN));
}

/** Writes each statement in TeX, for pictures. */
export function texsOf(instance: LinearInstance): readonly string[] {
  return instance.statements.map((statement) => written(statement, instance.names, TEX));
}

function written({ left, relation, right }: Statement, names: readonly string[], notation: Notation): string {
  return `${sum(left, names, notation)} ${notation.relations[relation]} ${sum(right, names, notation)}`;
}

function sum(terms: readonly Term[], names: readonly string[], notation: Notation): string {
  let text = "";
  for (const term of terms) {
    const isNegative = leading(term).num < 0;
    if (text === "") text = isNegative ? "-" : "";
    else text += isNegative ? " - " : " + ";
    text += unsigned(term, names, notation);
  }
  return text === "" ? "0" : text;
}

function leading(term: Term): Rational {
  if (term.kind === "constant") return term.value;
  return term.kind === "unknown" ? term.coefficient : term.factor;
}

function unsigned(term: Term, names: readonly string[], notation: Notation): string {
  const { num, den } = leading(term);
  const [above, below] = [`${num}`.replace("-", ""), `${den}`];
  if (term.kind === "constant") return den === 1 ? above : notation.fraction(above, below);
  const factor = den === 1 ? (above === "1" ? "" : above) : notation.factor(above, below);
  if (term.kind === "unknown") return `${factor}${names[term.index]}`;
  return `${factor}(${sum(term.terms, names, notation)})`;
}

/**
 * Returns a key that is equal for tasks that differ only in the names of unknowns, or in the order of terms, sides,
 * equations or unknowns.
 */
export function invariantOf({ names, statements }: LinearInstance): string {
  const forms = orders(names.length).map((order) =>
    statements
      .map((statement) => statementForm(statement, order))
      .sort()
      .join(";"),
  );
  return forms.reduce((least, form) => (form < least ? form : least));
}

function statementForm({ left, relation, right }: Statement, order: readonly number[]): string {
  const [one, other] = [sumForm(left, order), sumForm(right, order)];
  return one <= other ? `${one} ${relation} ${other}` : `${other} ${flipped(relation)} ${one}`;
}

function sumForm(terms: readonly Term[], order: readonly number[]): string {
  const forms = terms.map((term) => {
    const { num, den } = leading(term);
    const inner = term.kind === "group" ? `(${sumForm(term.terms, order)})` : "";
    return `${num}/${den}${term.kind === "unknown" ? `x${order[term.index]}` : inner}`;
  });
  return forms.sort().join("+");
}

/** Returns every order of the numbers 0 to size − 1. `size` is at most 4. */
function orders(size: number): readonly (readonly number[])[] {
  if (size === 0) return [[]];
  return orders(size - 1).flatMap((order) => Array.from({ length: size }, (_, at) => order.toSpliced(at, 0, size - 1)));
}
