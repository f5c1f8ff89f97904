/** Where the parts of an expression are drawn, and what each is worth. */
import type { Expression, Operator } from "../expression.ts";
import { add, divide, fromInteger, multiply, subtract } from "../rational.ts";
import type { Rational } from "../rational.ts";
import { assertNever } from "../../lib/assert-never.ts";
import { path, segment } from "../../lib/picture/svg.ts";
import type { Shape } from "../../lib/picture/svg.ts";

export const NODE = { width: 56, height: 32 } as const;
const STEP = NODE.width + 8;

export interface TreeNode {
  readonly x: number;
  readonly y: number;
  /** Of a leaf. */
  readonly number: number | undefined;
  /** As it is read; of what is no leaf. */
  readonly operator: string | undefined;
  /** Undefined: it divides by zero, here or below. */
  readonly value: Rational | undefined;
  readonly children: readonly TreeNode[];
}

export interface Tree {
  /** Children before parents: the root is the last. */
  readonly nodes: readonly TreeNode[];
  readonly width: number;
  readonly height: number;
}

const SIGNS: Readonly<Record<Operator, string>> = { "+": "+", "-": "−", "*": "×", "/": "÷" };

/** Leaves side by side in the order written, each operation above the middle of its two operands. */
export function placedNodes(expression: Expression): Tree {
  const nodes: TreeNode[] = [];
  let leaves = 0;
  const depth = depthOf(expression);
  // A chain of dozens of operations stays of a height that can be looked at.
  const level = Math.max(40, Math.min(62, 1800 / (depth + 1)));

  function place(part: Expression, height: number): TreeNode {
    const y = height * level + NODE.height / 2;
    const node = part.kind === "number" ? leaf(part.value, y) : inner(part, y, height);
    nodes.push(node);
    return node;
  }

  function leaf(number: number, y: number): TreeNode {
    const x = leaves++ * STEP + STEP / 2;
    return { x, y, number, operator: undefined, value: fromInteger(number), children: [] };
  }

  function inner(part: Extract<Expression, { kind: "binary" }>, y: number, height: number): TreeNode {
    const [left, right] = [place(part.left, height + 1), place(part.right, height + 1)];
    const value = combined(part.operator, left.value, right.value);
    const x = (left.x + right.x) / 2;
    return { x, y, number: undefined, operator: SIGNS[part.operator], value, children: [left, right] };
  }

  place(expression, 0);
  return { nodes, width: leaves * STEP, height: depth * level + NODE.height };
}

function depthOf(expression: Expression): number {
  return expression.kind === "number" ? 0 : 1 + Math.max(depthOf(expression.left), depthOf(expression.right));
}

function combined(operator: Operator, a: Rational | undefined, b: Rational | undefined): Rational | undefined {
  if (a === undefined || b === undefined) return undefined;
  switch (operator) {
    case "+":
      return add(a, b);
    case "-":
      return subtract(a, b);
    case "*":
      return multiply(a, b);
    case "/":
      return divide(a, b);
    default:
      return assertNever(operator);
  }
}

/** Lines from each operation to its operands. */
export function linkShapes(nodes: readonly TreeNode[], left: number, top: number): readonly Shape[] {
  const lines = nodes.flatMap(({ x, y, children }) =>
    children.map((child) => segment(left + x, top + y, left + child.x, top + child.y)),
  );
  return lines.length === 0 ? [] : [path(lines, "gd-link")];
}
