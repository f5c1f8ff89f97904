/** Parses and grades the answer to a linear task. */
import { type Facts, malformed, type Parsed } from "../../facts.ts";
import { gradeValues, isNamed, namedValue, numeralOf, valueOfNumeral, wrongFacts } from "../numeral.ts";
import type { Rational } from "../numbers/rational.ts";
import type { Node, Relation as Sign } from "../syntax.ts";
import { readMath } from "../value.ts";
import { solveLinear } from "./solve.ts";
import { flipped, isInequality, type LinearInstance, type Relation } from "./statement.ts";

export interface LinearAnswer {
  readonly names: readonly string[];
  readonly relation: Relation;
  /** The values in lowest terms, in the order of the unknowns. */
  readonly values: readonly string[];
}

/** Writes an answer as a model would, e.g. "x = 3, y = -1". */
export function format({ names, relation, values }: LinearAnswer): string {
  return values.map((value, i) => `${names[i]} ${relation} ${value}`).join(", ");
}

const LENGTH_MAX = 2000;

/**
 * Parses an answer. For equations it may be "x = 3, y = -1" in any order, "(x, y) = (3, -1)", "(3, -1)" in the order
 * that the prompt asks for, or a bare value for one unknown. For an inequality it may be "x > 3/2", "3/2 < x" or an
 * interval.
 */
export function parse(text: string, instance: LinearInstance): Parsed<LinearAnswer> {
  if (text.length > LENGTH_MAX) return malformed(`it has ${text.length} characters, and the limit is ${LENGTH_MAX}`);
  const read = readMath(text);
  if (read.kind === "malformed") return read;
  const { names } = instance;
  const isOfOne = isInequality(instance);
  for (const { node } of read.answer.readings) {
    const found = isOfOne ? inequality(said(node), names[0] as string) : equations(node, names);
    if (found !== undefined) return { kind: "answer", answer: { names, ...found } };
  }
  const [name] = names;
  if (isOfOne)
    return malformed(`it is not of the form ${name} < …, ${name} <= …, ${name} > … or ${name} >= …, nor an interval`);
  const wanted = names.map((each) => `${each} = …`).join(", ");
  return malformed(
    `it is not of the form ${wanted}, with each unknown once, and a whole number, fraction or decimal for each`,
  );
}

export function verify(instance: LinearInstance, { relation, values }: LinearAnswer): Facts {
  const solved = solveLinear(instance);
  if (solved === undefined) throw new Error("bug: the equations of a task have no solution");
  const wrong = (value: string, i: number): string => `${instance.names[i]} ${relation} ${value} does not hold`;
  if (relation === solved.relation) return gradeValues(solved.values, values, wrong);
  return wrongFacts(wrong((values[0] ?? "").slice(0, 100), 0));
}

type Given = Pick<LinearAnswer, "relation" | "values">;

/** Strips introductory words: "The solution is x = 3" becomes "x = 3". */
function said(node: Node): Node {
  const [words, statement, ...more] = node.kind === "relation" && node.operators[0] === "=" ? node.parts : [];
  return words?.kind === "text" && statement !== undefined && more.length === 0 && statement.kind !== "number"
    ? said(statement)
    : node;
}

// Functions that read an answer to equations, e.g. "x = 2, y = 3".

function equations(node: Node, names: readonly string[]): Given | undefined {
  const values =
    (names.length === 1 ? ofOne(node, names[0] as string) : undefined) ?? byName(node, names) ?? inOrder(node, names);
  return values && { relation: "=", values };
}

/** Reads an answer to an equation in one unknown, "x = 3" or "3". */
function ofOne(node: Node, name: string): readonly string[] | undefined {
  const found = namedValue(said(node));
  return found !== undefined && isNamed(found.name, name) ? [numeralOf(found.value)] : undefined;
}

/** Reads an answer that names its values, in any order: "x = 3, y = -1". */
function byName(node: Node, names: readonly string[]): readonly string[] | undefined {
  const isRow = (node.kind === "list" && node.joiner !== "or") || (node.kind === "bracket" && node.open === "(");
  const items = isRow ? node.items : [];
  if (items.length !== names.length) return undefined;
  const found = new Map<string, string>();
  for (const item of items) {
    const { name, value } = namedValue(said(item)) ?? {};
    if (name?.kind === "symbol" && value !== undefined) found.set(name.name, numeralOf(value));
  }
  const values = names.flatMap((name) => found.get(name) ?? []);
  return values.length === names.length ? values : undefined;
}

/** Reads an answer whose values are in the order of the unknowns: "(x,y) = (3,-1)" or "(3,-1)". */
function inOrder(given: Node, names: readonly string[]): readonly string[] | undefined {
  const node = said(given);
  const [left, right, ...more] = node.kind === "relation" && node.operators[0] === "=" ? node.parts : [];
  const isTuple = left !== undefined && right !== undefined && more.length === 0 && namesOf(left) === names.join(" ");
  const items = itemsOf(isTuple ? right : node);
  const values = items.map(valueOfNumeral).filter((value): value is Rational => value !== undefined);
  return items.length === names.length && names.length > 1 && values.length === items.length
    ? values.map(numeralOf)
    : undefined;
}

/** Returns the items of a tuple, or of a matrix with one row or one column. */
function itemsOf(node: Node): readonly Node[] {
  if (node.kind === "matrix") return node.rows.length === 1 || node.rows[0]?.length === 1 ? node.rows.flat() : [];
  return node.kind === "bracket" && node.open === "(" && node.close === ")" ? node.items : [];
}

function namesOf(node: Node): string {
  return itemsOf(node)
    .map((item) => (item.kind === "symbol" ? item.name : "?"))
    .join(" ");
}

// Functions that read an answer to one inequality, e.g. "x > 2".

const RELATIONS: Readonly<Partial<Record<Sign, Relation>>> = { "<": "<", ">": ">", "≤": "<=", "≥": ">=" };

function inequality(node: Node, name: string): Given | undefined {
  if (node.kind === "builder") return isLetter(node.element, name) ? inequality(node.condition, name) : undefined;
  if (node.kind === "bracket") return interval(node);
  if (node.kind !== "relation" || node.parts.length !== 2) return undefined;
  const [left, right] = node.parts as readonly [Node, Node];
  const [sign] = node.operators as readonly [Sign];
  if (sign === "∈") return isLetter(left, name) ? inequality(right, name) : undefined;
  const relation = RELATIONS[sign];
  if (relation === undefined) return undefined;
  const value = valueOfNumeral(isLetter(left, name) ? right : left);
  if (value === undefined || !(isLetter(left, name) || isLetter(right, name))) return undefined;
  return { relation: isLetter(left, name) ? relation : flipped(relation), values: [numeralOf(value)] };
}

function isLetter(node: Node, name: string): boolean {
  return node.kind === "symbol" && node.name === name;
}

/** Reads an unbounded interval such as "(3/2, ∞)". */
function interval({ open, close, items }: Extract<Node, { kind: "bracket" }>): Given | undefined {
  const [low, high, ...more] = items;
  if (low === undefined || high === undefined || more.length > 0) return undefined;
  const [from, to] = [valueOfNumeral(low), valueOfNumeral(high)];
  if (from !== undefined && isInfinite(high, "+"))
    return { relation: open === "(" ? ">" : ">=", values: [numeralOf(from)] };
  if (to !== undefined && isInfinite(low, "-"))
    return { relation: close === ")" ? "<" : "<=", values: [numeralOf(to)] };
  return undefined;
}

function isInfinite(node: Node, sign: "+" | "-"): boolean {
  const [term, ...more] = node.kind === "add" ? node.terms : [{ sign: "+", node } as const];
  return more.length === 0 && term?.sign === sign && isLetter(term.node, "∞");
}
