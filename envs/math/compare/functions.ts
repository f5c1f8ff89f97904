/**
 * Compares expressions with variables. Equal is what is so by algebra. Else a point where they differ refutes it, and where
 * nothing turns or breaks off, agreement at random points is taken for equality; where something does, they must agree on
 * each side of it. Points where one has no value tell nothing.
 */
import { evaluate } from "../evaluate.ts";
import { rngFor } from "../../lib/rng.ts";
import { type Num, order, signOf } from "../numbers/arithmetic.ts";
import { type Node, show, some } from "../syntax.ts";
import { type Algebra, algebraOf, isPlain } from "./algebra.ts";
import { depthOf, isTiny } from "./depth.ts";
import { lineAlong } from "./lines.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { BITS, hasJumps, jumpPoints, placeOf, pointPlace, points } from "./places.ts";
import { areSettled, sideOf, switchNodes } from "./sides.ts";

/** Of those at a point, how many a constant may take before it is lost beside the others. */
const POINT_DEPTH_MAX = 64;
const AGREED_MIN = 5;
/** Where nothing turns or breaks off, so many points of everyday size and of any are enough. */
const SMOOTH_ENOUGH = 24;

const hasI = (node: Node): boolean => some(node, (part) => part.kind === "symbol" && part.name === "i");
const isCase = (node: Node): boolean => node.kind === "cases";

/** What is found out point by point. */
interface Seen {
  agreed: number;
  /** Where they differ with a variable below 0, and have roots or logarithms. */
  differing: number;
  /** Points at which one of them alone has a value. */
  alone: number;
  /** The sides of what turns on which they agreed. */
  readonly sides: Set<string>;
}

export function compareFunctions(
  gold: Node,
  answer: Node,
  variables: readonly string[],
  state: State,
  logarithm: "e" | "10",
): Comparison {
  const real = !hasI(gold) && !hasI(answer);
  const algebra = algebraOf(gold, answer, real, state);
  if (algebra.gap?.size === 0) return EQUAL;
  if (algebra.gap !== undefined && isPlain(algebra)) return different("it is another expression");
  const nodes = [gold, answer];
  const seen: Seen = { agreed: 0, differing: 0, alone: 0, sides: new Set() };
  const look = lookingAt(gold, answer, switchNodes(algebra), real, logarithm, state);
  const lines = real ? linesOf(algebra, variables, state) : undefined;
  const enough = nodes.some(hasJumps) ? Infinity : SMOOTH_ENOUGH;
  for (const point of pointsFor(nodes, variables, lines?.points ?? [], state)) {
    const found = look(point, seen);
    if (state.budget.left < 0) return undecided("it takes too many steps to compare");
    if (found !== undefined) return found;
    if (seen.agreed >= enough && algebra.turns.length === 0) break;
  }
  const constants = placeOf(state, BITS.constant, false, logarithm);
  if (seen.agreed >= AGREED_MIN && nodes.some((node) => depthOf(node, constants) > POINT_DEPTH_MAX))
    return show(gold) === show(answer) ? EQUAL : undecided("it has powers too large or too small to be told apart");
  if (seen.agreed < AGREED_MIN)
    return seen.differing > 0
      ? different("it has another value at some point")
      : undecided("both are defined at too few points to compare them");
  if (seen.differing > 0) return undecided("it is equal only where its variables are positive");
  return concluded(algebra, seen, lines?.isComplete === true);
}

/** Of what agreed wherever both were looked at. */
function concluded(algebra: Algebra, seen: Seen, isComplete: boolean): Comparison {
  if (algebra.gap === undefined && algebra.switches.length === 0) return EQUAL;
  if (algebra.switches.length === 0) return EQUAL;
  if (isComplete && seen.alone === 0) return EQUAL;
  return areSettled(algebra, seen.sides)
    ? EQUAL
    : undecided("it agrees where it was looked at, and may differ on another side of what turns in it");
}

/** Looks at one point: what refutes it, if anything does. */
function lookingAt(
  gold: Node,
  answer: Node,
  switches: readonly Node[],
  real: boolean,
  logarithm: "e" | "10",
  state: State,
): (point: ReadonlyMap<string, Num>, seen: Seen) => Comparison | undefined {
  const haveRoots = hasRoots(gold) || hasRoots(answer);
  return (point, seen) => {
    const place = pointPlace(state, real, logarithm, point);
    const [left, right] = [evaluate(gold, place), evaluate(answer, place)];
    if (left === undefined || right === undefined) {
      if ((left === undefined) === (right === undefined)) return undefined;
      seen.alone++;
      return isCase(gold) && isCase(answer) ? different("it is defined elsewhere") : undefined;
    }
    const found = order(left, right, place);
    // Of what is 0 as far as can be seen nothing is known.
    if (found === "unclear" || (found === "near" && isTiny(left, right, place))) return undefined;
    if (found === "equal" || found === "near") {
      seen.agreed++;
      const side = switches.length === 0 ? undefined : sideOf(switches, point, state);
      if (side !== undefined) seen.sides.add(side);
      return undefined;
    }
    const isNegative = [...point.values()].some((value) => signOf(value) === -1);
    if (!isNegative || !haveRoots) return different("it has another value at some point");
    seen.differing++;
    return undefined;
  };
}

interface Lines {
  readonly points: readonly ReadonlyMap<string, Num>[];
  /** Whether they are all that there is to see: a single variable, and every place where something turns. */
  readonly isComplete: boolean;
}

/** Along each variable in turn, with everyday numbers and with any for the others. */
function linesOf(algebra: Algebra, variables: readonly string[], state: State): Lines | undefined {
  if (algebra.turns.length === 0) return undefined;
  const rng = rngFor("math-lines", state.seed, ...variables);
  const lines = (variables.length === 1 ? [1] : LINE_SIZES).flatMap((size) =>
    variables.map((name) => {
      const others = variables.filter((each) => each !== name);
      return lineAlong(name, new Map(others.map((each) => [each, BigInt(rng.int(-size, size))])), algebra, rng);
    }),
  );
  const isComplete = variables.length === 1 && lines.every((line) => line.isComplete);
  return { points: lines.flatMap((line) => line.points), isComplete };
}

const LINE_SIZES = [9, 2_000];

/** Those at the jumps of one variable come first. */
function* pointsFor(
  nodes: readonly Node[],
  variables: readonly string[],
  onLines: readonly ReadonlyMap<string, Num>[],
  state: State,
): Generator<ReadonlyMap<string, Num>> {
  const [name] = variables;
  if (name !== undefined && variables.length === 1 && nodes.some(hasJumps)) yield* jumpPoints(name, nodes, state);
  yield* onLines;
  yield* points(variables, state, nodes);
}

/** Roots and logarithms, which are simplified as if all variables were positive. */
function hasRoots(node: Node): boolean {
  return some(node, (part) => {
    if (part.kind === "call") return ["sqrt", "root", "ln", "log", "log10", "logbase"].includes(part.name);
    return part.kind === "power" && !(part.exponent.kind === "number" && part.exponent.value.den === 1n);
  });
}
