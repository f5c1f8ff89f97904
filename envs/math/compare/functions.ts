/**
 * Compares expressions with variables. Algebra decides equality if it can. Otherwise a point where the values differ
 * refutes equality. Without turns or breaks, agreement at random points counts as equality. With them, the expressions
 * must agree on each side. A point where one has no value tells nothing.
 */
import { evaluate, type Scope } from "../evaluate.ts";
import { newRing, nodeOf } from "../exact/ring.ts";
import { asConstant, primitive } from "../exact/polynomial.ts";
import { rngFor } from "../../lib/rng.ts";
import { type Num, order, signOf, wholeNum } from "../numbers/arithmetic.ts";
import { children, type Node, numberNode, show, some, withChildren } from "../syntax.ts";
import { type Algebra, algebraOf, areSettled, isPlain, lineAlong, sideOf, switchNodes } from "./algebra.ts";
import {
  BITS,
  depthOf,
  hasJumps,
  isTiny,
  jumpPoints,
  jumps,
  scopeOf,
  pointScope,
  pointsOf,
  WHOLE,
  wholesOf,
} from "./points.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { fractionOf } from "../exact/normal.ts";
import { signOfAll } from "../exact/roots-and-absolutes.ts";

/**
 * Maximum depth, in bits, of a constant that is compared at points. Larger or smaller constants drown the other terms.
 */
const POINT_DEPTH_MAX = 64;
const AGREED_MIN = 5;
/** Number of agreeing points above which whole-number points are not needed. */
const AGREED_ENOUGH = 8;
/** Maximum steps for a point of whole numbers. Factorials of large numbers are skipped. */
const WHOLE_STEPS_MAX = 300;
/** Maximum steps for a point of whole numbers that the answers name: C(n, 100) is 0 below 100. */
const NAMED_STEPS_MAX = 1_000;
const WHOLE_FUNCTIONS: ReadonlySet<string> = new Set([
  ...["factorial", "factorial2", "binom", "arrangements", "gamma", "mod", "gcd", "lcm"],
]);
const isOfWholes = (part: Node): boolean =>
  part.kind === "series" || (part.kind === "call" && WHOLE_FUNCTIONS.has(part.name));

/** Returns whether a node is a series whose terms turn or jump. Such turns are not located. */
const turnsInside = (part: Node): boolean => part.kind === "series" && some(part.body, turnsOrJumps);
const turnsOrJumps = (part: Node): boolean =>
  part.kind === "cases" || jumps(part) || (part.kind === "call" && ["abs", "max", "min", "sgn"].includes(part.name));

type Look = (point: ReadonlyMap<string, Num>, seen: Seen, stepsMax: number) => Comparison | undefined;

const hasI = (node: Node): boolean => some(node, (part) => part.kind === "symbol" && part.name === "i");
const isCase = (node: Node): boolean => node.kind === "cases";

/** Observations over all points. */
interface Seen {
  agreed: number;
  /** Points where the values differ, a variable is negative and the expressions have roots or logarithms. */
  differing: number;
  /** Points at which only one of the two has a value. */
  alone: number;
  /** Sides of the switches on which the two agreed. */
  readonly sides: Set<string>;
}

const newSeen = (): Seen => ({ agreed: 0, differing: 0, alone: 0, sides: new Set() });

export function compareFunctions(gold: Node, answer: Node, variables: readonly string[], state: State): Comparison {
  const real = !hasI(gold) && !hasI(answer);
  const algebra = algebraOf(gold, answer, real, state);
  const look = lookingAt(gold, answer, algebra, real, state);
  if (algebra.gap?.size === 0)
    return compareAtSigns(gold, answer, variables, state, (point) => {
      const seen = newSeen();
      return look(point, seen, Infinity) ?? (seen.differing > 0 ? different("it has another value there") : undefined);
    });
  if (algebra.gap !== undefined && (isPlain(algebra) || asConstant(algebra.gap) !== undefined))
    return different("it is another expression");
  const isJumping = [gold, answer].some((node) => some(node, jumps));
  const isHidden = [gold, answer].some((node) => some(node, turnsInside));
  const looked = lookAll(look, algebra, variables, [gold, answer], real, state);
  if ("kind" in looked) return looked;
  const { seen } = looked;
  const constants = scopeOf(state, BITS.constant, false);
  if (seen.agreed >= AGREED_MIN && [gold, answer].some((node) => depthOf(node, constants) > POINT_DEPTH_MAX))
    return show(gold) === show(answer) ? EQUAL : undecided("it has powers too large or too small to be told apart");
  if (seen.agreed < AGREED_MIN)
    return seen.differing > 0
      ? different("it has another value at some point")
      : undecided("both are defined at too few points to compare them");
  if (seen.differing > 0) return undecided("it is equal only where its variables are positive");
  if (isHidden || (isJumping && (variables.length > 1 || !looked.isComplete)))
    return undecided("it agrees at all tested points, and may jump between them");
  const isSeen = algebra.switches.length === 0 || (looked.isComplete && !isJumping && seen.alone === 0);
  return isSeen || areSettled(algebra, seen.sides)
    ? EQUAL
    : undecided("it agrees at all tested points, and may differ where an absolute value or a case changes");
}

/** Compares at all points, the cheapest first. Returns a comparison as soon as one is certain. */
function lookAll(
  look: Look,
  algebra: Algebra,
  variables: readonly string[],
  nodes: readonly Node[],
  real: boolean,
  state: State,
): Comparison | { readonly seen: Seen; readonly isComplete: boolean } {
  const seen = newSeen();
  const lookAt = (points: Iterable<ReadonlyMap<string, Num>>, stepsMax = Infinity): Comparison | undefined => {
    for (const point of points) {
      const found = look(point, seen, stepsMax);
      if (state.budget.left < 0) return undecided("it takes too many steps to compare");
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const { everyday, tiny, wide, whole, named } = pointsOf(variables, state, nodes);
  const [name] = variables;
  const isJumping = nodes.some(hasJumps);
  const atJumps = name !== undefined && variables.length === 1 && isJumping ? jumpPoints(name, nodes, state) : [];
  const first = lookAt(atJumps) ?? lookAt(everyday());
  if (first !== undefined) return first;
  if (algebra.switches.length > 0 && seen.differing === 0 && areSettled(algebra, new Set())) return EQUAL;
  const lines = real && algebra.turns.length > 0 ? linesOf(algebra, variables, wholesOf(nodes), state) : undefined;
  const isComplete = lines?.isComplete ?? variables.length === 1;
  const found = lookAt(lines?.points ?? []) ?? lookAt(tiny());
  if (found !== undefined) return found;
  const wider = lookAt(wide());
  if (wider !== undefined) return wider;
  const isForWholes = seen.agreed < AGREED_ENOUGH || nodes.some((node) => some(node, isOfWholes));
  const refuted = isForWholes ? (lookAt(named(), NAMED_STEPS_MAX) ?? lookAt(whole(), WHOLE_STEPS_MAX)) : undefined;
  return refuted ?? { seen, isComplete };
}

/** Returns a function that compares at one point. Its result is a refutation or undefined. */
function lookingAt(gold: Node, answer: Node, algebra: Algebra, real: boolean, state: State): Look {
  const haveRoots = hasRoots(gold) || hasRoots(answer);
  const switches = switchNodes(algebra);
  const gap = algebra.gap && nodeOf(primitive(algebra.gap).part, algebra.ring);
  return (point, seen, stepsMax) => {
    const budget = { left: Math.min(state.budget.left, stepsMax) };
    const before = budget.left;
    const scope = { ...pointScope(state, real, point), budget };
    const left = evaluate(gold, scope);
    const right = evaluate(answer, scope);
    // A point over its own step limit is charged at most that limit, because refused work is not done.
    state.budget.left -= before === stepsMax ? before - Math.max(0, budget.left) : before - budget.left;
    if (budget.left < 0) return undefined;
    if (left === undefined || right === undefined) {
      if ((left === undefined) === (right === undefined)) return undefined;
      seen.alone++;
      return isCase(gold) && isCase(answer) ? different("it is defined for other values") : undefined;
    }
    const found = order(left, right, scope);
    // Two values that are 0 within precision tell nothing.
    if (found === "unclear" || (found === "near" && isTiny(left, right, scope))) return undefined;
    // Values may look near although their difference, without its common factor, is clearly not 0.
    const isGap = gap !== undefined && seen.agreed < GAP_POINTS && found === "near" && isFar(gap, scope);
    if ((found === "equal" || found === "near") && !isGap) {
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

const GAP_POINTS = 4;

function isFar(gap: Node, scope: Scope): boolean {
  const value = evaluate(gap, scope);
  const sign = value && signOf(value);
  return sign === 1 || sign === -1;
}

interface Lines {
  readonly points: readonly ReadonlyMap<string, Num>[];
  /** Whether the points cover everything: one variable, and every turn is known. */
  readonly isComplete: boolean;
}

/**
 * Returns test points along each variable in turn. The other variables get small numbers in one pass and large ones in
 * another.
 */
function linesOf(algebra: Algebra, variables: readonly string[], wholes: ReadonlySet<string>, state: State): Lines {
  const rng = rngFor("math-lines", state.seed, ...variables);
  const lines = (variables.length === 1 ? [1] : LINE_SIZES).flatMap((size) =>
    variables.map((name) => {
      const others = variables.filter((each) => each !== name);
      const isWhole = (each: string): boolean => each === WHOLE || wholes.has(each);
      const at = others.map((each) => [each, BigInt(rng.int(isWhole(each) ? 1 : -size, size))] as const);
      return lineAlong(name, new Map(at), algebra, isWhole(name), rng);
    }),
  );
  const isComplete = variables.length === 1 && lines.every((line) => line.isComplete);
  return { points: lines.flatMap((line) => line.points), isComplete };
}

const LINE_SIZES = [9, 2_000];

/** Returns whether a node has roots or logarithms. Authors simplify these as if all variables were positive. */
function hasRoots(node: Node): boolean {
  return some(node, (part) => {
    if (part.kind === "call") return ["sqrt", "root", "ln", "log", "log10", "logbase"].includes(part.name);
    return part.kind === "power" && !(part.exponent.kind === "number" && part.exponent.value.den === 1n);
  });
}

// Algebra takes sgn u for |u|/u, which has no value at u = 0. An equality that it finds may fail there. The expressions
// are therefore compared where each u vanishes, alone and together.

type Point = ReadonlyMap<string, Num>;

/**
 * Compares expressions that algebra found equal where no argument of sgn vanishes. `look` returns a refutation at a
 * point, if any.
 */
function compareAtSigns(
  gold: Node,
  answer: Node,
  variables: readonly string[],
  state: State,
  look: (point: Point) => Comparison | undefined,
): Comparison {
  const signed = new Map([...signedIn(gold), ...signedIn(answer)].map((node) => [show(node), node] as const));
  if (signed.size === 0 || algebraOf(opaque(gold), opaque(answer), true, state).gap?.size === 0) return EQUAL;
  const open = new Set([...signed.values()].filter((node) => !hasOneSign(node, state)));
  for (const point of vanishingPoints([...open], variables, state)) {
    const refuted = look(point);
    if (refuted !== undefined) return refuted;
    for (const node of open) {
      const value = evaluate(node, pointScope(state, true, point));
      if (value !== undefined && signOf(value) === 0) open.delete(node);
    }
  }
  return open.size === 0 ? EQUAL : undecided("it may differ where the argument of sgn is 0");
}

function signedIn(node: Node): readonly Node[] {
  const inside = children(node).flatMap(signedIn);
  const [of] = node.kind === "call" && node.name === "sgn" ? node.args : [];
  return of === undefined ? inside : [of, ...inside];
}

/** Replaces sgn by an unknown function. */
function opaque(node: Node): Node {
  const inside = withChildren(node, opaque);
  return inside.kind === "call" && inside.name === "sgn" ? { ...inside, name: "the sign of" } : inside;
}

function hasOneSign(node: Node, { budget }: State): boolean {
  const ring = newRing(budget, true);
  const fraction = fractionOf(node, ring);
  return fraction !== undefined && signOfAll(fraction.num, ring) !== undefined;
}

const CORNERS_MAX = 100;

function vanishingPoints(nodes: readonly Node[], variables: readonly string[], state: State): readonly Point[] {
  const rng = rngFor("math-signs", state.seed);
  const found = nodes.map((node) => algebraOf(node, numberNode(0n), true, state));
  const along = (name: string, most: number): readonly Point[] =>
    found.flatMap(({ gap, ...rest }) => {
      const others = variables
        .filter((each) => each !== name)
        .map((each) => [each, BigInt(rng.int(-most, most))] as const);
      return lineAlong(name, new Map(others), { ...rest, gap, turns: gap ? [gap] : [] }, false, rng).points;
    });
  const corners = variables.reduce<readonly Point[]>(
    (points, name) => {
      const values = along(name, 0)
        .flatMap((point) => point.get(name) ?? [])
        .filter((value) => value.kind === "exact");
      return points.flatMap((point) => [wholeNum(0n), ...values].map((value) => new Map([...point, [name, value]])));
    },
    [new Map()],
  );
  return [...variables.flatMap((name) => along(name, 9)), ...corners.slice(0, CORNERS_MAX)];
}
