/**
 * Detects vector answers that need care: sums and products of matrices, which no code computes, and unit vectors i, j,
 * k with or without an arrow.
 */
import { type Node, replaced, some, symbol } from "../syntax.ts";

const isArray = (node: Node): boolean => node.kind === "matrix" || (node.kind === "bracket" && node.items.length > 1);

/**
 * Returns whether an answer is an unevaluated sum, product or power of matrices or vectors. Such answers are not
 * compared, because no code evaluates them.
 */
export function isUnworked(node: Node): boolean {
  const isWork = node.kind === "add" || node.kind === "multiply" || node.kind === "power";
  return isWork && some(node, isArray) && !some(node, isDeterminant);
}

const isDeterminant = (node: Node): boolean => node.kind === "call" && node.name === "det";

const UNITS = ["i", "j", "k"] as const;

const holds = (node: Node, name: string): boolean => some(node, (part) => part.kind === "symbol" && part.name === name);
const isMarked = (node: Node): boolean => UNITS.some((unit) => holds(node, `⃗${unit}`));

/** Marks the unit vectors of "3i − 2j" with arrows if the other answer has them. */
export function withUnitVectors(node: Node, other: Node): Node {
  if (!isMarked(other) || isMarked(node) || !holds(node, "j")) return node;
  return UNITS.reduce((marked, unit) => replaced(marked, unit, symbol(`⃗${unit}`)), node);
}

/** Returns whether one answer is a sum of unit vectors i, j, k, and the other a tuple, a matrix or a complex number. */
export function areOtherVectors(gold: Node, answer: Node): boolean {
  const isTuple = (node: Node): boolean => node.kind === "bracket" || node.kind === "matrix";
  const isSum = (node: Node): boolean => !isTuple(node) && (isMarked(node) || (holds(node, "i") && holds(node, "j")));
  const isNumber = (node: Node): boolean => !isMarked(node) && holds(node, "i");
  return [
    [gold, answer],
    [answer, gold],
  ].some(([one, other]) => one && other && isSum(one) && (isTuple(other) || (isMarked(one) && isNumber(other))));
}
