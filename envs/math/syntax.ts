/** Defines the syntax tree of a parsed answer, with helpers to build, show and search trees. */
import { assertNever } from "../lib/assert-never.ts";
import { type Rational, showRational } from "./numbers/rational.ts";
import { isConstant } from "./read/names.ts";

export type Sign = "+" | "-" | "±" | "∓";

export interface Term {
  readonly sign: Sign;
  readonly node: Node;
}

export interface Factor {
  readonly inverse: boolean;
  readonly node: Node;
}

export type Relation = "=" | "≠" | "<" | ">" | "≤" | "≥" | "≈" | "∈" | "≡" | "∝";

/** The separator of a list without brackets. */
export type Joiner = "," | "and" | "or";

export type Node =
  | {
      readonly kind: "number";
      readonly value: Rational;
      /** Number of digits after the decimal point. Unset if none was written. */
      readonly decimals?: number;
      /** Set if the decimal continues without end, as in "3.141…". */
      readonly goesOn?: true;
      /** Base given by a subscript, e.g. 2 in 1011_2. */
      readonly base?: number;
      /** Digits of a number with a base, as written. */
      readonly digits?: string;
    }
  /**
   * A variable, a constant, ∞ or a set such as ℝ. `run` is the unbroken run of letters in which the symbol was written,
   * e.g. "abc" for the a of abc.
   */
  | { readonly kind: "symbol"; readonly name: string; readonly run?: string }
  | { readonly kind: "add"; readonly terms: readonly Term[] }
  | { readonly kind: "multiply"; readonly factors: readonly Factor[] }
  | { readonly kind: "power"; readonly base: Node; readonly exponent: Node }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Node[] }
  /** \sum or \prod over a range of whole numbers. */
  | {
      readonly kind: "series";
      readonly name: "sum" | "product";
      readonly index: string;
      readonly from: Node;
      readonly to: Node;
      readonly body: Node;
    }
  /** A number with a unit, such as "cm^2", "%" or "°". */
  | { readonly kind: "unit"; readonly node: Node; readonly unit: string }
  | { readonly kind: "ratio"; readonly parts: readonly Node[] }
  /** Items in brackets. "(1,2)" may be an open interval or a point; "[1,2]" may be a closed interval. */
  | { readonly kind: "bracket"; readonly open: "(" | "["; readonly close: ")" | "]"; readonly items: readonly Node[] }
  | { readonly kind: "set"; readonly items: readonly Node[] }
  /** A set such as {x | x > 3}. */
  | { readonly kind: "builder"; readonly element: Node; readonly condition: Node }
  | { readonly kind: "sets"; readonly operator: "∪" | "∩" | "∖"; readonly left: Node; readonly right: Node }
  | { readonly kind: "list"; readonly joiner: Joiner; readonly items: readonly Node[] }
  | { readonly kind: "relation"; readonly parts: readonly Node[]; readonly operators: readonly Relation[] }
  | { readonly kind: "matrix"; readonly rows: readonly (readonly Node[])[] }
  /** A congruence class, such as "2 (mod 5)" or "x ≡ 1, 4 (mod 5)". */
  | { readonly kind: "residue"; readonly node: Node; readonly modulus: Node }
  /** A function defined by cases. The first case that applies counts. */
  | { readonly kind: "cases"; readonly pieces: readonly Piece[] }
  /** A time of day in minutes, possibly with a fraction. `half` is true if the text says neither AM nor PM. */
  | { readonly kind: "clock"; readonly minutes: number; readonly half: boolean }
  /** Words that are not a formula. */
  | { readonly kind: "text"; readonly text: string };

export interface Piece {
  readonly value: Node;
  /** Condition of the case. Undefined for "otherwise". */
  readonly condition: Node | undefined;
}

export function symbol(name: string): Node {
  return { kind: "symbol", name };
}

export function numberNode(num: bigint, den = 1n): Node {
  return { kind: "number", value: { num, den } };
}

export function negated(node: Node): Node {
  return { kind: "add", terms: [{ sign: "-", node }] };
}

export function sumOf(...nodes: readonly Node[]): Node {
  return { kind: "add", terms: nodes.map((node) => ({ sign: "+", node })) };
}

export function differenceOf(left: Node, right: Node): Node {
  return { kind: "add", terms: [left, right].map((node, i) => ({ sign: i === 0 ? "+" : "-", node })) };
}

export function productOf(...nodes: readonly Node[]): Node {
  return { kind: "multiply", factors: nodes.map((node) => ({ inverse: false, node })) };
}

export function quotientOf(top: Node, bottom: Node): Node {
  return { kind: "multiply", factors: [top, bottom].map((node, i) => ({ inverse: i === 1, node })) };
}

export function equationOf(left: Node, right: Node): Extract<Node, { kind: "relation" }> {
  return { kind: "relation", parts: [left, right], operators: ["="] };
}

/** Writes a tree as text. Two trees get the same text only if they are equal. Call it only on trees of bounded size. */
export function show(node: Node): string {
  switch (node.kind) {
    case "number":
      return node.digits !== undefined && node.base !== undefined
        ? `${node.digits}_${node.base}`
        : showRational(node.value);
    case "symbol":
      return node.name;
    case "text":
      return `"${node.text}"`;
    case "add":
      return `(${node.terms.map((term, i) => `${i === 0 && term.sign === "+" ? "" : term.sign}${wrapped(term.node)}`).join("")})`;
    case "multiply":
      return node.factors
        .map(
          (factor, i) =>
            `${i === 0 ? (factor.inverse ? "1/" : "") : factor.inverse ? "/" : "*"}${wrapped(factor.node)}`,
        )
        .join("");
    case "power":
      return `${wrapped(node.base)}^${wrapped(node.exponent)}`;
    case "call":
      return `${node.name}(${node.args.map(show).join(", ")})`;
    case "series":
      return `${node.name}(${show(node.body)}, ${node.index} = ${show(node.from)} to ${show(node.to)})`;
    case "unit":
      return `${wrapped(node.node)} ${node.unit}`;
    case "ratio":
      return node.parts.map(wrapped).join(":");
    case "bracket":
      return `${node.open}${node.items.map(show).join(", ")}${node.close}`;
    case "set":
      return `{${node.items.map(show).join(", ")}}`;
    case "builder":
      return `{${show(node.element)} | ${show(node.condition)}}`;
    case "sets":
      return `(${show(node.left)} ${node.operator} ${show(node.right)})`;
    case "list":
      return node.items.map(show).join(node.joiner === "," ? ", " : ` ${node.joiner} `);
    case "relation":
      return node.parts.map((part, i) => `${i === 0 ? "" : ` ${node.operators[i - 1]} `}${show(part)}`).join("");
    case "residue":
      return `${wrapped(node.node)} (mod ${show(node.modulus)})`;
    case "cases":
      return `{${node.pieces.map(({ value, condition }) => `${show(value)} if ${condition === undefined ? "not" : show(condition)}`).join("; ")}}`;
    case "clock":
      return `${Math.floor(node.minutes / 60)}:${`${node.minutes % 60}`.padStart(2, "0")}${node.half ? " a.m. or p.m." : " h"}`;
    case "matrix":
      return `[${node.rows.map((row) => `[${row.map(show).join(", ")}]`).join(", ")}]`;
    default:
      return assertNever(node);
  }
}

/** Writes a node, in parentheses if it is compound, so that different trees get different texts. */
function wrapped(node: Node): string {
  const isSingle =
    node.kind === "number"
      ? node.value.den === 1n
      : ["symbol", "call", "add", "bracket", "set", "series", "matrix", "sets"].includes(node.kind);
  return isSingle ? show(node) : `(${show(node)})`;
}

/** Returns the child nodes in written order. */
export function children(node: Node): readonly Node[] {
  const found: Node[] = [];
  withChildren(node, (child) => {
    found.push(child);
    return child;
  });
  return found;
}

/** Returns the node with each child replaced by the callback, which sees the children in written order. */
export function withChildren(node: Node, each: (child: Node) => Node): Node {
  switch (node.kind) {
    case "number":
    case "symbol":
    case "clock":
    case "text":
      return node;
    case "add":
      return { ...node, terms: node.terms.map((term) => ({ ...term, node: each(term.node) })) };
    case "multiply":
      return { ...node, factors: node.factors.map((factor) => ({ ...factor, node: each(factor.node) })) };
    case "power":
      return { ...node, base: each(node.base), exponent: each(node.exponent) };
    case "call":
      return { ...node, args: node.args.map(each) };
    case "series":
      return { ...node, from: each(node.from), to: each(node.to), body: each(node.body) };
    case "unit":
      return { ...node, node: each(node.node) };
    case "ratio":
    case "relation":
      return { ...node, parts: node.parts.map(each) };
    case "bracket":
    case "set":
    case "list":
      return { ...node, items: node.items.map(each) };
    case "builder":
      return { ...node, element: each(node.element), condition: each(node.condition) };
    case "sets":
      return { ...node, left: each(node.left), right: each(node.right) };
    case "residue":
      return { ...node, node: each(node.node), modulus: each(node.modulus) };
    case "cases":
      return {
        ...node,
        pieces: node.pieces.map(({ value, condition }) => ({
          value: each(value),
          condition: condition && each(condition),
        })),
      };
    case "matrix":
      return { ...node, rows: node.rows.map((row) => row.map(each)) };
    default:
      return assertNever(node);
  }
}

/** Returns whether the node or one of its descendants satisfies a condition. */
export function some(node: Node, isSo: (node: Node) => boolean): boolean {
  return isSo(node) || children(node).some((child) => some(child, isSo));
}

export const isDouble = (sign: string): boolean => sign === "±" || sign === "∓";

export function hasDoubleSign(node: Node): boolean {
  return some(node, (part) => part.kind === "add" && part.terms.some(({ sign }) => isDouble(sign)));
}

/** Returns the node with each occurrence of a symbol replaced. */
export function replaced(node: Node, name: string, by: Node): Node {
  if (node.kind === "symbol") return node.name === name ? by : node;
  return withChildren(node, (child) => replaced(child, name, by));
}

/**
 * Splits "2 mod 5", with or without a sign, or "2 [5]" (French notation) into residue and modulus. Returns other nodes
 * without a modulus.
 */
export function splitModulus(node: Node): readonly [Node, Node?] {
  if (node.kind === "call" && node.name === "mod") return node.args as readonly [Node, Node];
  const last = node.kind === "multiply" ? node.factors.at(-1)?.node : undefined;
  if (node.kind === "multiply" && last?.kind === "bracket" && last.open === "[" && last.items.length === 1)
    return [{ ...node, factors: node.factors.slice(0, -1) }, last.items[0] as Node];
  const [term] = node.kind === "add" && node.terms.length === 1 ? node.terms : [];
  if (term === undefined) return [node];
  const [rest, modulus] = splitModulus(term.node);
  return modulus === undefined ? [node] : [{ kind: "add", terms: [{ ...term, node: rest }] }, modulus];
}

// Functions that list the variables of an expression.

/** Caches the variables of each tree, because comparisons need them repeatedly. */
const known = new WeakMap<Node, ReadonlySet<string>>();

/** Returns the variables of an expression. Bound indices of series are not included. */
export function variablesOf(node: Node): ReadonlySet<string> {
  let found = known.get(node);
  if (found === undefined) known.set(node, (found = variablesIn(node, new Set())));
  return found;
}

function variablesIn(node: Node, found: Set<string>): ReadonlySet<string> {
  if (node.kind === "symbol" && !isConstant(node.name)) found.add(node.name);
  if (node.kind === "series") {
    for (const name of variablesOf(node.body)) if (name !== node.index) found.add(name);
    variablesIn(node.from, found);
    variablesIn(node.to, found);
  } else for (const child of children(node)) variablesIn(child, found);
  return found;
}
