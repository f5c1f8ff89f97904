/**
 * Compares expressions: constants by their exact values or by some seventy digits, others at random points. Points where
 * one has no value tell nothing, and enough others must agree.
 */
import { evaluate, type Place } from "../evaluate.ts";
import { exact, type Num, order, signOf, toBall } from "../numbers/arithmetic.ts";
import { magnitude } from "../numbers/ball.ts";
import { bitLength } from "../numbers/budget.ts";
import { type Node, show, some } from "../syntax.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { BITS, hasJumps, jumpPoints, placeOf, pointPlace, points, variablesOf, wholesOf } from "./places.ts";
import { roundsTo } from "./rounding.ts";

/** Of those at a point, how many a constant may take before it is lost beside the others. */
const POINT_DEPTH_MAX = 64;

const hasLog = (node: Node): boolean => some(node, (part) => part.kind === "call" && part.name === "log");
const hasIntegral = (node: Node): boolean => some(node, (part) => part.kind === "call" && part.name === "integral");
const hasI = (node: Node): boolean => some(node, (part) => part.kind === "symbol" && part.name === "i");

export function compareScalars(gold: Node, answer: Node, state: State, isApproximate = false): Comparison {
  const variables = [...new Set([...variablesOf(gold), ...variablesOf(answer)])].sort();
  // Without a base, "log" is natural to some and decadic to others.
  const meanings = hasLog(gold) || hasLog(answer) ? (["e", "10"] as const) : (["e"] as const);
  let found: Comparison = EQUAL;
  for (const logarithm of meanings) {
    found =
      variables.length === 0
        ? compareConstants(gold, answer, state, logarithm, isApproximate)
        : compareAtPoints(gold, answer, variables, state, logarithm);
    if (found.kind === "equal") return found;
  }
  const isOpen = found.kind === "different" && [gold, answer].some(hasIntegral);
  return isOpen ? undecided("integrals are not worked out") : found;
}

// Constants.

function compareConstants(
  gold: Node,
  answer: Node,
  state: State,
  logarithm: "e" | "10",
  isApproximate: boolean,
): Comparison {
  const place = placeOf(state, BITS.constant, false, logarithm);
  const [left, right] = [evaluate(gold, place), evaluate(answer, place)];
  if (left === undefined || right === undefined) return noValue(state, right === undefined);
  const found = order(left, right, place);
  if (found === "equal") return EQUAL;
  if (found === "near" || found === "unclear") {
    const depth = Math.max(depthOf(gold, place), depthOf(answer, place));
    const isSure = found === "near" && depth === 0 && !isTiny(left, right, place);
    return isSure ? EQUAL : compareClose(gold, answer, depth, state, logarithm);
  }
  if (roundsTo(gold, answer, left, right, place, isApproximate)) return EQUAL;
  return different("its value is another");
}

function noValue({ budget }: State, isAnswers: boolean): Comparison {
  if (budget.left < 0) return undecided("it takes too many steps to compare");
  return undecided(`${isAnswers ? "it" : "the expected answer"} has no value that can be worked out`);
}

/** Whether both are so near to 0 that nothing is known of them. */
function isTiny(a: Num, b: Num, place: Place): boolean {
  const limit = 2 ** (place.bits * 0.6);
  return [a, b].every((each) => {
    const value = toBall(each, place);
    return value !== undefined && magnitude(value) < limit;
  });
}

/**
 * How many binary digits its powers and decimals may lie above or below 1 together: 2^-2024 is 0 to whoever looks at 256 of
 * them, and so is 1 − 2^-2024 the same as 1.
 */
function depthOf(node: Node, place: Place): number {
  let depth = 0;
  const add = (part: Node): boolean => {
    if (part.kind === "number") depth += digitsOf(exact(part.value));
    else if (part.kind === "power") depth += powerDepth(part, place);
    else if (part.kind === "call" && part.name === "exp") depth += exponentOf(part.args[0], place) * Math.LOG2E;
    return false;
  };
  some(node, add);
  return depth;
}

/** What numbers of everyday size take is no depth. */
const EVERYDAY_BITS = 40;

function digitsOf(value: Num): number {
  const bits = Math.abs(log2Of(value));
  return bits > EVERYDAY_BITS ? bits : 0;
}

function powerDepth({ base, exponent }: Extract<Node, { kind: "power" }>, place: Place): number {
  const value = evaluate(base, place);
  const bits = value === undefined ? 0 : exponentOf(exponent, place) * Math.abs(log2Of(value));
  return bits > EVERYDAY_BITS ? bits : 0;
}

/** Of an exponent that is a constant; else 0. */
function exponentOf(node: Node | undefined, place: Place): number {
  const value = node && evaluate(node, place);
  return value === undefined ? 0 : 2 ** log2Of(value);
}

/** Roughly; of what cannot be told from 0, as if it were 2 to the precision. */
function log2Of(value: Num): number {
  if (value.kind === "exact") {
    const { num, den } = value.value;
    return num === 0n ? 0 : logOf(num) - logOf(den);
  }
  const bits = logOf(value.ball.re === 0n ? value.ball.im : value.ball.re);
  return bits - BITS.constant;
}

function logOf(value: bigint): number {
  const size = value < 0n ? -value : value;
  const more = Math.max(0, bitLength(size) - 60);
  return size === 0n ? 0 : Math.log2(Number(size >> BigInt(more))) + more;
}

/** The same with more digits, and as many as its powers take. */
function compareClose(gold: Node, answer: Node, depth: number, state: State, logarithm: "e" | "10"): Comparison {
  const wanted = BITS.constant + 64 + depth;
  const place = placeOf(state, Math.ceil(Math.min(BITS.most, Math.max(BITS.close, wanted))), false, logarithm);
  const [left, right] = [evaluate(gold, place), evaluate(answer, place)];
  if (left === undefined || right === undefined) return noValue(state, right === undefined);
  switch (order(left, right, place)) {
    case "equal":
      return EQUAL;
    case "near":
      if (wanted <= BITS.most) return EQUAL;
      return undecided("its powers are too large or too small to be told from the expected ones");
    case "unclear":
      return undecided("its value is too near to the expected one to be told from it");
    case "less":
    case "greater":
    case "apart":
      return different("its value is another");
  }
}

// Expressions with variables.

const AGREED_ENOUGH = 8;
const AGREED_MIN = 5;

function compareAtPoints(
  gold: Node,
  answer: Node,
  variables: readonly string[],
  state: State,
  logarithm: "e" | "10",
): Comparison {
  const real = !hasI(gold) && !hasI(answer);
  const nodes = [gold, answer];
  const enough = nodes.some(hasJumps) ? Infinity : AGREED_ENOUGH;
  let [agreed, differing] = [0, 0];
  for (const point of pointsFor(nodes, variables, state)) {
    const place = pointPlace(state, real, logarithm, point);
    const left = evaluate(gold, place);
    const right = left && evaluate(answer, place);
    if (state.budget.left < 0) return undecided("it takes too many steps to compare");
    if (left === undefined || right === undefined) {
      if (isCase(gold) && isCase(answer) && (left === undefined) !== (evaluate(answer, place) === undefined))
        return different("it is defined elsewhere");
      continue;
    }
    const found = order(left, right, place);
    // Of what is 0 as far as can be seen nothing is known.
    if (found === "near" && isTiny(left, right, place)) continue;
    if (found === "equal" || found === "near") agreed++;
    else if (found !== "unclear") {
      const isNegative = [...point.values()].some((value) => signOf(value) === -1);
      if (!isNegative || !(hasRoots(gold) || hasRoots(answer))) return different("it has another value at some point");
      differing++;
    }
    if (agreed >= enough) break;
  }
  const constants = placeOf(state, BITS.constant, false, logarithm);
  if (agreed >= AGREED_MIN && [gold, answer].some((node) => depthOf(node, constants) > POINT_DEPTH_MAX))
    return show(gold) === show(answer) ? EQUAL : undecided("it has powers too large or too small to be told apart");
  if (agreed < AGREED_MIN)
    return differing > 0
      ? different("it has another value at some point")
      : undecided("both are defined at too few points to compare them");
  return differing === 0 ? EQUAL : undecided("it is equal only where its variables are positive");
}

const isCase = (node: Node): boolean => node.kind === "cases";

/** Those at the jumps of one variable come first. */
function* pointsFor(
  nodes: readonly Node[],
  variables: readonly string[],
  state: State,
): Generator<ReadonlyMap<string, Num>> {
  const [name] = variables;
  if (name !== undefined && variables.length === 1 && nodes.some(hasJumps)) yield* jumpPoints(name, nodes, state);
  yield* points(variables, state, wholesOf(nodes));
}

/** Roots and logarithms, which are simplified as if all variables were positive. */
function hasRoots(node: Node): boolean {
  return some(node, (part) => {
    if (part.kind === "call") return ["sqrt", "root", "ln", "log", "log10", "logbase"].includes(part.name);
    return part.kind === "power" && !(part.exponent.kind === "number" && part.exponent.value.den === 1n);
  });
}
