/** Random expressions with an exact evaluator that shares no code with the code under test. */
import type { Rng } from "../../../envs/lib/rng.ts";

export type Tree =
  | { readonly op: "number"; readonly value: number }
  | { readonly op: "variable"; readonly name: string }
  | { readonly op: "+" | "-" | "*" | "/"; readonly left: Tree; readonly right: Tree }
  | { readonly op: "^"; readonly left: Tree; readonly exponent: number };

export type Fraction = readonly [num: bigint, den: bigint];

export function evaluate(tree: Tree, at: Readonly<Record<string, Fraction>>): Fraction | undefined {
  switch (tree.op) {
    case "number":
      return [BigInt(tree.value), 1n];
    case "variable":
      return at[tree.name];
    case "^": {
      const base = evaluate(tree.left, at);
      return base && [base[0] ** BigInt(tree.exponent), base[1] ** BigInt(tree.exponent)];
    }
    default: {
      const [a, b] = [evaluate(tree.left, at), evaluate(tree.right, at)];
      if (a === undefined || b === undefined) return undefined;
      if (tree.op === "*") return [a[0] * b[0], a[1] * b[1]];
      if (tree.op === "/") return b[0] === 0n ? undefined : [a[0] * b[1], a[1] * b[0]];
      return [a[0] * b[1] + (tree.op === "+" ? 1n : -1n) * b[0] * a[1], a[1] * b[1]];
    }
  }
}

export function areEqual(a: Fraction, b: Fraction): boolean {
  return a[0] * b[1] === b[0] * a[1];
}

const PLACES: readonly Readonly<Record<string, Fraction>>[] = Array.from({ length: 7 }, (_, i) => ({
  x: [BigInt(3 * i - 8), BigInt(i + 5)],
  y: [BigInt(11 - 4 * i), BigInt(2 * i + 7)],
  n: [BigInt(5 * i - 13), BigInt(i + 3)],
}));

/** Whether two trees are different functions; undefined: they are nowhere defined together. */
export function differ(a: Tree, b: Tree): boolean | undefined {
  let compared = false;
  for (const at of PLACES) {
    const [left, right] = [evaluate(a, at), evaluate(b, at)];
    if (left === undefined || right === undefined) continue;
    compared = true;
    if (!areEqual(left, right)) return true;
  }
  return compared ? false : undefined;
}

export function number(value: number): Tree {
  return { op: "number", value };
}

export function randomTree(rng: Rng, depth: number, variables: readonly string[]): Tree {
  if (depth === 0 || rng.int(0, 5) === 0)
    return variables.length > 0 && rng.int(0, 2) > 0
      ? { op: "variable", name: rng.pick(variables) }
      : number(rng.int(1, 20));
  const op = rng.pick(["+", "-", "*", "*", "/", "^", "+", "-"] as const);
  const left = randomTree(rng, depth - 1, variables);
  return op === "^"
    ? { op, left, exponent: rng.int(2, 4) }
    : { op, left, right: randomTree(rng, depth - 1, variables) };
}

/** A tree with one thing changed: a number, a sign, an exponent, an operation, an order. */
export function changed(tree: Tree, rng: Rng): Tree {
  if (tree.op === "number")
    return number(tree.value + rng.pick([1, -1, 10, 2].filter((step) => tree.value + step > 0)));
  if (tree.op === "variable")
    return rng.int(0, 1) === 0
      ? { op: "^", left: tree, exponent: 2 }
      : { op: "variable", name: tree.name === "x" ? "y" : "x" };
  if (rng.int(0, 2) > 0) {
    if (tree.op !== "^" && rng.int(0, 1) === 0) return { ...tree, right: changed(tree.right, rng) };
    return { ...tree, left: changed(tree.left, rng) };
  }
  if (tree.op === "^") return { ...tree, exponent: tree.exponent + rng.pick([1, -1]) || 3 };
  const flipped = { "+": "-", "-": "+", "*": "/", "/": "*" } as const;
  return rng.int(0, 2) === 0 ? { ...tree, left: tree.right, right: tree.left } : { ...tree, op: flipped[tree.op] };
}

/** Returns an equal tree: sums and products swapped, brackets multiplied out, numbers written in another way. */
export function rewritten(tree: Tree, rng: Rng): Tree {
  if (tree.op === "number")
    return rng.int(0, 3) === 0 ? { op: "-", left: number(tree.value + 7), right: number(7) } : tree;
  if (tree.op === "variable") return tree;
  const left = rewritten(tree.left, rng);
  if (tree.op === "^")
    return tree.exponent === 2 && rng.int(0, 1) === 0 ? { op: "*", left, right: left } : { ...tree, left };
  const right = rewritten(tree.right, rng);
  if (tree.op === "*" && (right.op === "+" || right.op === "-") && rng.int(0, 1) === 0)
    return { op: right.op, left: { op: "*", left, right: right.left }, right: { op: "*", left, right: right.right } };
  if ((tree.op === "+" || tree.op === "*") && rng.int(0, 1) === 0) return { op: tree.op, left: right, right: left };
  if (tree.op === "/" && rng.int(0, 2) === 0) return { op: "*", left, right: { op: "/", left: number(1), right } };
  return { op: tree.op, left, right };
}

const STRENGTH = { "+": 1, "-": 1, "*": 2, "/": 2, "^": 3, number: 4, variable: 4 } as const;

/** The tree as LaTeX or as plain text, in one of the ways that people write it. */
export function written(tree: Tree, rng: Rng): string {
  return rng.int(0, 2) === 0 ? plain(tree) : latex(tree, rng);
}

function latex(tree: Tree, rng: Rng): string {
  const bracketed = (part: Tree, least: number): string => {
    const text = latex(part, rng);
    if (STRENGTH[part.op] >= least) return text;
    return rng.int(0, 1) === 0 ? `(${text})` : `\\left(${text}\\right)`;
  };
  switch (tree.op) {
    case "number":
      return `${tree.value}`;
    case "variable":
      return tree.name;
    case "^":
      return `${bracketed(tree.left, 4)}^{${tree.exponent}}`;
    case "/":
      return `\\${rng.pick(["frac", "dfrac", "tfrac"])}{${latex(tree.left, rng)}}{${latex(tree.right, rng)}}`;
    case "*": {
      const sign = rng.pick(["\\cdot ", "\\times ", "*"]);
      return `${bracketed(tree.left, 2)}${sign}${bracketed(tree.right, 2)}`;
    }
    default:
      return `${bracketed(tree.left, 1)}${rng.pick([tree.op, ` ${tree.op} `])}${bracketed(tree.right, 2)}`;
  }
}

function plain(tree: Tree): string {
  const bracketed = (part: Tree, least: number): string =>
    STRENGTH[part.op] >= least ? plain(part) : `(${plain(part)})`;
  switch (tree.op) {
    case "number":
      return `${tree.value}`;
    case "variable":
      return tree.name;
    case "^":
      return `${bracketed(tree.left, 4)}^${tree.exponent}`;
    case "+":
    case "-":
      return `${bracketed(tree.left, 1)}${tree.op}${bracketed(tree.right, 2)}`;
    default:
      return `${bracketed(tree.left, 2)}${tree.op}${bracketed(tree.right, 3)}`;
  }
}
