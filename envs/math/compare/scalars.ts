/**
 * Compares expressions: constants by their exact values or by some seventy digits, others at random points. Points where
 * one has no value tell nothing, and enough others must agree.
 */
import { rngFor, type Rng } from "../../lib/rng.ts";
import { evaluate, type Place } from "../evaluate.ts";
import { exact, type Num, order, type Order, signOf, toBall, wholeNum } from "../numbers/arithmetic.ts";
import { magnitude } from "../numbers/ball.ts";
import { bitLength } from "../numbers/budget.ts";
import { children, type Node, show, some } from "../syntax.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { roundsTo } from "./rounding.ts";

/** Binary digits after the point: of constants, of constants too near to tell, of expressions at a point. */
const BITS = { constant: 256, close: 640, most: 960, point: 160 } as const;
/** Of those at a point, how many a constant may take before it is lost beside the others. */
const POINT_DEPTH_MAX = 64;

const CONSTANTS: ReadonlySet<string> = new Set(["π", "e", "i", "∞", "ℝ", "ℤ", "ℕ", "ℚ", "ℂ", "∅", "…"]);

/** The variables of an expression. */
export function variablesOf(node: Node, found = new Set<string>()): Set<string> {
  if (node.kind === "symbol" && !CONSTANTS.has(node.name)) found.add(node.name);
  if (node.kind === "series") {
    const inner = variablesOf(node.body);
    inner.delete(node.index);
    for (const name of inner) found.add(name);
    variablesOf(node.from, found);
    variablesOf(node.to, found);
  } else for (const child of children(node)) variablesOf(child, found);
  return found;
}

const hasLog = (node: Node): boolean => some(node, (part) => part.kind === "call" && part.name === "log");
const hasI = (node: Node): boolean => some(node, (part) => part.kind === "symbol" && part.name === "i");

export function placeOf(state: State, bits: number, real: boolean, logarithm: "e" | "10" = "e"): Place {
  return { bits, budget: state.budget, variables: new Map(), real, logarithm, sign: 1 };
}

/** The value of a constant that is real; undefined: it has none. */
export function realValue(node: Node, state: State): Num | undefined {
  return evaluate(node, placeOf(state, BITS.constant, true));
}

export function compareValues(a: Num, b: Num, state: State): Order {
  return order(a, b, placeOf(state, BITS.constant, true));
}

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
  return found;
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

const TRIES = 30;
const AGREED_ENOUGH = 8;
const AGREED_MIN = 5;

/** Whole numbers that are tried besides, for what is defined for these alone. */
const WHOLE_TRIES = 16;

/** The same points for the same texts. */
export function* points(variables: readonly string[], state: State): Generator<ReadonlyMap<string, Num>> {
  const rng = rngFor("math-points", state.seed, ...variables);
  for (let i = 0; i < TRIES; i++) yield new Map(variables.map((name) => [name, coordinate(i % KINDS, rng)]));
  for (let i = 0; i < WHOLE_TRIES; i++)
    yield new Map(variables.map((name) => [name, wholeNum(BigInt(rng.int(2, 40)))]));
}

const KINDS = 5;

/** In (0, 1), in (1, 5), in (−4, 0), a whole number, or in (−4, 4): where functions are defined differs. */
function coordinate(kind: number, rng: Rng): Num {
  if (kind === 3) return wholeNum(BigInt(rng.int(1, 15)));
  const part = BigInt(rng.int(1, 2 ** 24 - 1));
  const unit = 2n ** 24n;
  const num = [part, 4n * part + unit, -4n * part, unit, 8n * part - 4n * unit][kind] as bigint;
  return { kind: "ball", ball: { re: num << BigInt(BITS.point - 24), im: 0n, error: 0 } };
}

export function pointPlace(
  state: State,
  real: boolean,
  logarithm: "e" | "10",
  variables: ReadonlyMap<string, Num>,
): Place {
  return { ...placeOf(state, BITS.point, real, logarithm), variables };
}

function compareAtPoints(
  gold: Node,
  answer: Node,
  variables: readonly string[],
  state: State,
  logarithm: "e" | "10",
): Comparison {
  const real = !hasI(gold) && !hasI(answer);
  let [agreed, differing] = [0, 0];
  for (const point of points(variables, state)) {
    const place = pointPlace(state, real, logarithm, point);
    const left = evaluate(gold, place);
    const right = left && evaluate(answer, place);
    if (state.budget.left < 0) return undecided("it takes too many steps to compare");
    if (left === undefined || right === undefined) continue;
    const found = order(left, right, place);
    // Of what is 0 as far as can be seen nothing is known.
    if (found === "near" && isTiny(left, right, place)) continue;
    if (found === "equal" || found === "near") agreed++;
    else if (found !== "unclear") {
      const isNegative = [...point.values()].some((value) => signOf(value) === -1);
      if (!isNegative || !(hasRoots(gold) || hasRoots(answer))) return different("it has another value at some point");
      differing++;
    }
    if (agreed >= AGREED_ENOUGH) break;
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

/** Roots and logarithms, which are simplified as if all variables were positive. */
function hasRoots(node: Node): boolean {
  return some(node, (part) => {
    if (part.kind === "call") return ["sqrt", "root", "ln", "log", "log10", "logbase"].includes(part.name);
    return part.kind === "power" && !(part.exponent.kind === "number" && part.exponent.value.den === 1n);
  });
}
