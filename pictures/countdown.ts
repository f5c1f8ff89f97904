/** Draws an expression as a tree with the value of each node, so that a person sees where it misses the target. */
import type { Picture, Shape } from "../envs/picture.ts";
import { legendOf, notesOf } from "./lib/picture.ts";
import { path, rect, segment, text } from "./lib/svg.ts";
import {
  combined,
  type CountdownAnswer,
  type Expression,
  formatAnswer,
  operands,
  type Operator,
} from "../envs/countdown/expression.ts";
import type { CountdownInstance } from "../envs/countdown/instance.ts";
import { equalsInteger, fromInteger, type Rational, showRational } from "../envs/lib/rational.ts";

// Sizes of the nodes of the drawn expression tree, in pixels.

const NODE = { width: 56, height: 32 } as const;
const STEP = NODE.width + 8;

interface TreeNode {
  readonly x: number;
  readonly y: number;
  /** Number that a leaf holds. Undefined for an operation. */
  readonly number: number | undefined;
  /** Sign of an operation, e.g. "×". Undefined for a leaf. */
  readonly operator: string | undefined;
  /** Value of the node. Undefined if the node, or one below it, divides by zero. */
  readonly value: Rational | undefined;
  readonly children: readonly TreeNode[];
}

export interface Tree {
  /** Nodes of the tree, children before parents, so that the root is last. */
  readonly nodes: readonly TreeNode[];
  readonly width: number;
  readonly height: number;
}

const SIGNS: Readonly<Record<Operator, string>> = { "+": "+", "-": "−", "*": "×", "/": "÷" };

/** Places the leaves side by side in written order, and each operation above the middle of its two operands. */
function placedNodes(expression: Expression): Tree {
  const nodes: TreeNode[] = [];
  let leaves = 0;
  const depth = depthOf(expression);
  // Limit the height of a tree with dozens of operations in a chain.
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

/** Draws lines from each operation to its operands. */
function linkShapes(nodes: readonly TreeNode[], left: number, top: number): readonly Shape[] {
  const lines = nodes.flatMap(({ x, y, children }) =>
    children.map((child) => segment(left + x, top + y, left + child.x, top + child.y)),
  );
  return lines.length === 0 ? [] : [path(lines, "gd-link")];
}

const TOP = 62;
const CHIP = 54;
const LEFT = 10;

export function draw(instance: CountdownInstance, answer?: CountdownAnswer, best?: CountdownAnswer): Picture {
  const { numbers, target } = instance;
  const used = answer === undefined ? [] : operands(answer.expression);
  const tree = answer === undefined ? undefined : placedNodes(answer.expression);
  const unused = answer === undefined ? [] : lacking(numbers, used);
  const excess = lacking(used, numbers);
  const nodes = tree?.nodes ?? [];
  const surplus = surplusLeaves(nodes, numbers);
  const root = nodes.at(-1);
  const hits = root?.value !== undefined && equalsInteger(root.value, target);
  const given = givenShapes(numbers, unused, target);
  const width = Math.max(given.width, tree?.width ?? 0, 440);
  const left = (width - (tree?.width ?? 0)) / 2;
  return {
    width,
    height: tree === undefined ? 40 : TOP + tree.height + 10,
    shapes: [
      ...given.shapes,
      ...linkShapes(nodes, left, TOP),
      ...nodes.flatMap((node) =>
        nodeShapes(node, left, surplus.has(node), node === root && node.value !== undefined ? hits : undefined),
      ),
    ],
    legend: legendOf(
      [nodes.length > 0, "box", "gd-plain", "number or operation, with its value"],
      [hits, "box", "gd-f2", "equals the target"],
      [root?.value !== undefined && !hits, "box", "gd-wrong", "does not equal the target"],
      [excess.length > 0, "box", "gd-missing", "number that is not given, or not so often"],
      [unused.length > 0 && excess.length === 0, "box", "gd-missing", "number that is not used"],
      [root !== undefined && root.value === undefined, "box", "gd-missing", "division by zero"],
    ),
    notes: notesOf(
      unused.length > 0 ? `Not used: ${unused.join(", ")}` : undefined,
      excess.length > 0 ? `Used, but not given or not so often: ${excess.slice(0, 12).join(", ")}` : undefined,
      answer?.claimed !== undefined && answer.claimed !== target ? `It claims to be ${answer.claimed}.` : undefined,
      best && `One right answer: ${formatAnswer(best)}`,
    ),
  };
}

/** Returns the numbers that the first list holds more often than the second, once for each surplus. */
function lacking(some: readonly number[], others: readonly number[]): readonly number[] {
  return some.filter(beyond(others));
}

/**
 * Returns a function that is called with one number after the other. The function returns whether the number is missing
 * from the list, or was seen more often than the list holds it.
 */
function beyond(numbers: readonly number[]): (number: number) => boolean {
  const left = [...numbers];
  return (number) => {
    const at = left.indexOf(number);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  };
}

/** Returns the leaves whose number is not given in the task, or is already used up by earlier leaves. */
function surplusLeaves(nodes: readonly TreeNode[], numbers: readonly number[]): ReadonlySet<TreeNode> {
  const isSurplus = beyond(numbers);
  return new Set(nodes.filter(({ number }) => number !== undefined && isSurplus(Math.abs(number))));
}

/** Draws the numbers given in the task, with the unused ones marked, and the target. */
function givenShapes(numbers: readonly number[], unused: readonly number[], target: number) {
  const isUsed = beyond(unused);
  const start = LEFT + 56;
  const chips = numbers.flatMap((number, i): readonly Shape[] => {
    const x = start + i * (CHIP + 8);
    return [
      rect(x, 4, CHIP, 28, "gd-plain"),
      ...(isUsed(number) ? [] : [rect(x - 3, 1, CHIP + 6, 34, "gd-missing")]),
      text(x + CHIP / 2, 18, "gd-mid", `${number}`),
    ];
  });
  const x = start + numbers.length * (CHIP + 8) + 70;
  const shapes = [
    text(LEFT, 22, "gd-text", "given"),
    ...chips,
    text(x - 10, 22, "gd-end", "target"),
    rect(x, 4, CHIP + 20, 28, "gd-limit"),
    text(x + CHIP / 2 + 10, 18, "gd-mid", `${target}`),
  ];
  return { shapes, width: x + CHIP + 40 };
}

/**
 * Draws a node: an operator above its value, or a number. `hits` says whether the root equals the target, and is
 * undefined for other nodes.
 */
function nodeShapes(node: TreeNode, left: number, surplus: boolean, hits: boolean | undefined): readonly Shape[] {
  const [centre, middle] = [left + node.x, TOP + node.y];
  const label = hits === true ? "gd-on-light" : "gd-label";
  const { operator } = node;
  return [
    boxAround(centre, middle, 0, hits === true ? "gd-f2" : "gd-plain"),
    ...(surplus || divides(node) ? [boxAround(centre, middle, 2, "gd-missing")] : []),
    ...(hits === false ? [boxAround(centre, middle, 0, "gd-wrong")] : []),
    ...(operator === undefined ? [] : [text(centre, middle - 7, hits === true ? label : "gd-label gd-soft", operator)]),
    text(centre, operator === undefined ? middle : middle + 6, label, worth(node)),
  ];
}

function boxAround(x: number, y: number, grow: number, className: string): Shape {
  const [width, height] = [NODE.width + 2 * grow, NODE.height + 2 * grow];
  return rect(x - width / 2, y - height / 2, width, height, className);
}

/** Returns whether this node itself divides by zero, and not one below it. */
function divides({ value, children }: TreeNode): boolean {
  return value === undefined && children.every((child) => child.value !== undefined);
}

function worth({ value }: TreeNode): string {
  if (value === undefined) return "none";
  const words = showRational(value);
  return words.length <= 9 ? words : `${words.slice(0, 8)}…`;
}
