/**
 * Chooses the precision and the points at which expressions are evaluated. Constants get many digits. Expressions with
 * variables get random test points, seeded by both texts.
 */
import { type Rng, rngFor } from "../../lib/rng.ts";
import { evaluate, type Scope } from "../evaluate.ts";
import { exact, type Num, order, type Order, toBall, wholeNum } from "../numbers/arithmetic.ts";
import { type Node, some, variablesOf } from "../syntax.ts";
import { absolute, floor, type Rational } from "../numbers/rational.ts";
import type { State } from "./outcome.ts";
import { magnitude } from "../numbers/ball.ts";
import { bitLength } from "../numbers/budget.ts";

/**
 * Precisions of evaluation, in binary digits after the point. `constant`: for constants. `close`: for constants that
 * are too close to distinguish with the digits of `constant`. `most`: the maximum. `point`: for expressions at a test
 * point.
 */
export const BITS = { constant: 256, close: 640, most: 960, point: 160 } as const;

/** Name that replaces the letter of a parameter declared as a whole number, as k in "k ∈ ℤ". */
export const WHOLE = "whole";

export function scopeOf(state: State, bits: number, real: boolean): Scope {
  const { budget, logarithm } = state;
  return { bits, budget, variables: new Map(), real, logarithm, sign: 1 };
}

/** Returns the value of a real constant. Undefined if the expression has no value or the value cannot be computed. */
export function realValue(node: Node, state: State): Num | undefined {
  return evaluate(node, scopeOf(state, BITS.constant, true));
}

export function compareValues(a: Num, b: Num, state: State): Order {
  return order(a, b, scopeOf(state, BITS.constant, true));
}

export function pointScope(state: State, real: boolean, variables: ReadonlyMap<string, Num>): Scope {
  return { ...scopeOf(state, BITS.point, real), variables };
}

/**
 * Maximum number of variables for which every combination of signs is tried at the test points. Further variables get
 * random signs.
 */
const SIGNED_MAX = 3;
/** Minimum number of combinations of signs that are tried at the test points of one stage (a member of Points). */
const STAGE_MIN = 8;
/** Number of test points near 0. */
const TINY = 4;
/** Number of test points with small whole numbers. */
const SMALL_WHOLES = 20;
/** Number of test points whose whole coordinates may also be large, or near a number in the expressions. */
const LARGE_WHOLES = 12;

type Point = ReadonlyMap<string, Num>;

/** Test points in stages, from cheap to expensive. The same texts always get the same points. */
export interface Points {
  /**
   * Points with coordinates of everyday size (up to 15), each of a random size class, in every combination of signs.
   */
  readonly everyday: () => Iterable<Point>;
  /** Points near 0, where e.g. x² and x⁴ differ greatly in size. */
  readonly tiny: () => Iterable<Point>;
  /** Points whose coordinates may be larger, up to 10^6, and points near numbers in the expressions. */
  readonly wide: () => Iterable<Point>;
  /** Points of positive whole numbers. */
  readonly whole: () => Iterable<Point>;
  /** Points where one variable is a whole number that the expressions contain, or that number plus 1. */
  readonly named: () => Iterable<Point>;
}

export function pointsOf(variables: readonly string[], state: State, nodes: readonly Node[]): Points {
  let known: readonly bigint[] | undefined;
  const thresholds = (): readonly bigint[] => (known ??= wholeConstants(nodes, state));
  const stage = (name: string): Rng => rngFor("math-points", state.seed, name, ...variables);
  const at = (rng: Rng, make: (i: number) => Num): Point =>
    new Map(
      variables.map((name, i) => {
        return [name, name === WHOLE ? wholeNum(anyWhole(thresholds(), rng)) : make(i)];
      }),
    );
  function* signed(sizes: readonly Size[], rng: Rng): Iterable<Point> {
    for (const signs of signsOf(variables.length, rng))
      yield at(rng, (i) => coordinate(rng.pick(sizes), signs[i] === true, rng));
  }
  return {
    everyday: () => signed(EVERYDAY, stage("everyday")),
    *tiny() {
      const rng = stage("tiny");
      for (let i = 0; i < TINY; i++) yield at(rng, () => coordinate("tiny", rng.int(0, 1) === 0, rng));
    },
    *wide() {
      yield* signed([...EVERYDAY, ...FAR, ...FAR], stage("wide"));
      if (nodes.some(isCurved)) yield* signed(["far"], stage("far"));
      // A term of the expression may have an effect only near a number in the expressions, so points near that number
      // are tried.
      const rng = stage("beside");
      for (const threshold of nodes.some(isCurved) ? thresholds().filter((each) => each > NEAR_MAX) : [])
        for (const sign of [1n, -1n]) yield at(rng, () => beside(sign * threshold, rng));
    },
    *whole() {
      const rng = stage("whole");
      const wholePoint = (make: () => bigint): Point => new Map(variables.map((name) => [name, wholeNum(make())]));
      for (let i = 0; i < SMALL_WHOLES; i++) yield wholePoint(() => BigInt(rng.int(1, 25)));
      for (let i = 0; i < LARGE_WHOLES; i++) yield wholePoint(() => anyWhole(thresholds(), rng));
    },
    *named() {
      const rng = stage("named");
      const small = (): Num => wholeNum(BigInt(rng.int(1, 25)));
      for (const threshold of thresholds())
        for (const more of [0n, 1n])
          for (const name of variables)
            yield new Map(variables.map((each) => [each, each === name ? wholeNum(threshold + more) : small()]));
    },
  };
}

/** Yields the test points of all stages except `named`. */
export function* points(variables: readonly string[], state: State, nodes: readonly Node[] = []): Iterable<Point> {
  const { everyday, tiny, wide, whole } = pointsOf(variables, state, nodes);
  yield* everyday();
  yield* wide();
  yield* tiny();
  yield* whole();
}

/**
 * Returns at least STAGE_MIN combinations of signs for `count` coordinates, in random order. The first SIGNED_MAX
 * coordinates get every combination; further ones get random signs.
 */
function signsOf(count: number, rng: Rng): readonly (readonly boolean[])[] {
  const known = Math.min(count, SIGNED_MAX);
  const combinations = Array.from({ length: Math.max(STAGE_MIN, 2 ** known) }, (_, bits) =>
    Array.from({ length: count }, (_, i) => (i < known ? ((bits >> i) & 1) === 1 : rng.int(0, 1) === 1)),
  );
  return rng.shuffle(combinations);
}

type Size = "part" | "few" | "whole" | "tens" | "far" | "tiny";
const EVERYDAY: readonly Size[] = ["part", "few", "whole"];
const FAR: readonly Size[] = ["tens", "far"];

/**
 * Returns a random coordinate of a size class. The classes are "part": 0 to 1, "few": 1 to 5, "whole": a whole number
 * up to 15, "tens": 10 to 100, "far": 100 to 10^6, and "tiny": below 10^-4.
 */
function coordinate(size: Size, isNegative: boolean, rng: Rng): Num {
  if (size === "whole") return wholeNum(BigInt(isNegative ? -rng.int(1, 15) : rng.int(1, 15)));
  const part = BigInt(rng.int(1, 2 ** 24 - 1));
  const unit = 1n << BigInt(BITS.point);
  const share = (unit * part) >> 24n;
  const scale =
    size === "tens" || size === "far" || size === "tiny" ? 10n ** BigInt(size === "tens" ? 1 : rng.int(2, 5)) : 1n;
  const least = { part: 0n, few: unit, tens: 10n * unit, far: scale * unit, tiny: 0n }[size];
  const span = { part: share, few: 4n * share, tens: 90n * share, far: 9n * scale * share, tiny: share / scale ** 2n }[
    size
  ];
  const re = least + span;
  return { kind: "ball", ball: { re: isNegative ? -re : re, im: 0n, error: 0 } };
}

/**
 * Returns whether an expression has a function call or a variable in an exponent. Such an expression may be nearly
 * constant over large ranges.
 */
const isCurved = (node: Node): boolean =>
  some(node, (part) => part.kind === "call" || (part.kind === "power" && variablesOf(part.exponent).size > 0));

/** Largest constant that needs no test points near it: the points of everyday size (up to 15) lie near it anyway. */
const NEAR_MAX = 5n;

/** Returns a random number less than 1 away from a whole number. */
function beside(whole: bigint, rng: Rng): Num {
  return exact({ num: 2_048n * whole + BigInt(2 * rng.int(-1_000, 1_000) + 1), den: 2_048n });
}

/** Returns a random whole number: a small one, one near a number in the expressions, or a large one. */
function anyWhole(thresholds: readonly bigint[], rng: Rng): bigint {
  const kind = rng.int(0, 2);
  if (kind === 0) return BigInt(rng.int(1, 60));
  if (kind === 1 && thresholds.length > 0) return rng.pick(thresholds) * BigInt(rng.int(1, 3)) + BigInt(rng.int(-1, 2));
  return BigInt(Math.floor(10 ** (1.5 + 2 * rng.float())));
}

const JUMPS: ReadonlySet<string> = new Set(["floor", "ceil", "mod", "gcd", "lcm"]);

/** Returns whether an expression may jump, as floor(x) does. Random points on both sides of a jump do not detect it. */
export function hasJumps(node: Node): boolean {
  return some(node, (part) => part.kind === "cases" || (part.kind === "call" && JUMPS.has(part.name)));
}

const CONSTANTS_MAX = 12;
const CONSTANTS_SEEN_MAX = 60;
const CONSTANT_MAX = 10n ** 15n;

/**
 * Returns the largest constants in the expressions, whether written or computed, e.g. 100 or 10^4, rounded down to
 * whole numbers.
 */
function wholeConstants(nodes: readonly Node[], state: State): readonly bigint[] {
  const found = new Set<bigint>();
  for (const node of nodes)
    some(node, (part) => {
      if (part.kind === "symbol" || part.kind === "unit" || variablesOf(part).size > 0) return false;
      const value = realValue(part, state);
      const whole = value?.kind === "exact" ? floor(absolute(value.value)) : 0n;
      if (whole > 1n && whole <= CONSTANT_MAX) found.add(whole);
      return found.size >= CONSTANTS_SEEN_MAX;
    });
  return [...found].sort((a, b) => (a < b ? 1 : -1)).slice(0, CONSTANTS_MAX);
}

// Functions that estimate how large or small the numbers in an expression become. The estimate decides how many digits
// a comparison needs.

/** Returns whether both values are so close to 0 that the precision cannot show whether they differ. */
export function isTiny(a: Num, b: Num, scope: Scope): boolean {
  const limit = 2 ** (scope.bits * 0.6);
  return [a, b].every((each) => {
    const value = toBall(each, scope);
    return value !== undefined && magnitude(value) < limit;
  });
}

/**
 * Returns the depth of an expression: the number of bits that its very large or very small parts may need. Sums the
 * distances of these parts from 1, on a binary log scale. At a precision of 256 bits, 2^-2024 looks like 0, and 1 −
 * 2^-2024 like 1.
 */
export function depthOf(node: Node, scope: Scope): number {
  let depth = 0;
  const add = (part: Node): boolean => {
    if (part.kind === "number") depth += Math.max(digitsOf(exact(part.value)), finenessOf(part.value));
    else if (part.kind === "power") depth += powerDepth(part, scope);
    else if (part.kind === "call") depth += callDepth(part, scope);
    else if (part.kind === "multiply" && variablesOf(part).size === 0) depth += valueDepth(part, scope);
    return false;
  };
  some(node, add);
  return depth;
}

/**
 * Maximum distance of a value from 1, on a binary log scale, at which the value adds nothing to the depth of its
 * expression. The depth is the number of bits that a comparison may need (see `depthOf`).
 */
const EVERYDAY_BITS = 40;

function digitsOf(value: Num): number {
  const bits = Math.abs(log2Of(value));
  return bits > EVERYDAY_BITS ? bits : 0;
}

/**
 * Maximum length, in bits, of a denominator that adds nothing to the depth of its expression (see `depthOf`). A longer
 * one may hide a difference: a decimal 6.28… of fifty digits looks like 2π at the precision of a test point.
 */
const FINE_BITS = 100;

function finenessOf({ den }: Rational): number {
  const bits = bitLength(den);
  return bits > FINE_BITS ? bits : 0;
}

/**
 * Returns the depth of a product of constants, i.e. the number of bits that its value may need. The value may be tiny
 * although no factor is.
 */
function valueDepth(node: Node, scope: Scope): number {
  const value = evaluate(node, scope);
  return value === undefined ? 0 : digitsOf(value);
}

function powerDepth({ base, exponent }: Extract<Node, { kind: "power" }>, scope: Scope): number {
  const value = evaluate(base, scope);
  return value === undefined ? 0 : exponentOf(exponent, scope) * Math.abs(log2Of(value));
}

/**
 * Returns the depth of a function call, i.e. the number of bits that its value may need. At 288 bits, for example,
 * `tanh(100)` cannot be distinguished from 1.
 */
function callDepth({ name, args }: Extract<Node, { kind: "call" }>, scope: Scope): number {
  if (name === "exp") return exponentOf(args[0], scope) * Math.LOG2E;
  return ["sinh", "cosh", "tanh"].includes(name) ? 2 * exponentOf(args[0], scope) * Math.LOG2E : 0;
}

/** Returns the absolute value of a constant exponent, e.g. 2024 for 2^-2024. Returns 0 if the exponent has no value. */
function exponentOf(node: Node | undefined, scope: Scope): number {
  const value = node && evaluate(node, scope);
  return value === undefined ? 0 : 2 ** log2Of(value);
}

/**
 * Returns the approximate binary logarithm of a value. A value that is 0 within the precision counts as the smallest
 * number of the precision.
 */
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
