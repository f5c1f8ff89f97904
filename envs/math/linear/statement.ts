/** What a task of linear algebra is: equations or an inequality; how they are written for the policy, and for pictures. */
import type { Rational } from "../../lib/rational.ts";

export type Relation = "=" | "<" | ">" | "<=" | ">=";

export type Term =
  | { readonly kind: "constant"; readonly value: Rational }
  | { readonly kind: "unknown"; readonly coefficient: Rational; readonly index: number }
  /** The factor times the sum of the terms, which are no groups. */
  | { readonly kind: "group"; readonly factor: Rational; readonly terms: readonly Term[] };

/** One side and the other: sums of terms. */
export interface Statement {
  readonly left: readonly Term[];
  readonly relation: Relation;
  readonly right: readonly Term[];
}

/** As many equations as unknowns, or one inequality. */
export interface LinearInstance {
  /** Of the unknowns, in the order that they are asked for. */
  readonly names: readonly string[];
  readonly statements: readonly Statement[];
}

export function isInequality({ statements }: LinearInstance): boolean {
  return statements.some(({ relation }) => relation !== "=");
}

const FLIPPED: Readonly<Record<Relation, Relation>> = { "=": "=", "<": ">", ">": "<", "<=": ">=", ">=": "<=" };

/** What holds with the sides exchanged, or both multiplied by a negative number. */
export function flipped(relation: Relation): Relation {
  return FLIPPED[relation];
}

// As it is written.

interface Notation {
  readonly relations: Readonly<Record<Relation, string>>;
  fraction(num: string, den: string): string;
  /** A fraction before an unknown or a group. */
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

/** Of each statement: "(3/4)x - 2(x + 5) = 7". */
export function textsOf(instance: LinearInstance): readonly string[] {
  return instance.statements.map((statement) => written(statement, instance.names, PLAIN));
}

/** The same for pictures. */
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

// What only another order or other names tell apart.

/** The same for statements with their terms, sides, equations, unknowns or names exchanged. */
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

/** Every order of 0 … size − 1; there are at most four unknowns. */
function orders(size: number): readonly (readonly number[])[] {
  if (size === 0) return [[]];
  return orders(size - 1).flatMap((order) => Array.from({ length: size }, (_, at) => order.toSpliced(at, 0, size - 1)));
}
