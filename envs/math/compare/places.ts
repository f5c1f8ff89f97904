/** Where expressions are evaluated: without variables to many digits, with them at points that both texts seed. */
import { type Rng, rngFor } from "../../lib/rng.ts";
import { evaluate, type Place } from "../evaluate.ts";
import { add, divide, exact, type Num, order, type Order, toBall, wholeNum } from "../numbers/arithmetic.ts";
import { type Node, some, variablesOf } from "../syntax.ts";
import { absolute, floor, type Rational } from "../numbers/rational.ts";
import type { State } from "./outcome.ts";
import { magnitude } from "../numbers/ball.ts";
import { bitLength } from "../numbers/budget.ts";

/** Binary digits after the point: of constants, of constants too near to tell, of expressions at a point. */
export const BITS = { constant: 256, close: 640, most: 960, point: 160 } as const;

/** The name that is given to what a condition says is a whole number: "k ∈ ℤ". */
export const WHOLE = "whole";

export function placeOf(state: State, bits: number, real: boolean): Place {
  const { budget, logarithm } = state;
  return { bits, budget, variables: new Map(), real, logarithm, sign: 1 };
}

/** The value of a constant that is real; undefined: it has none. */
export function realValue(node: Node, state: State): Num | undefined {
  return evaluate(node, placeOf(state, BITS.constant, true));
}

export function compareValues(a: Num, b: Num, state: State): Order {
  return order(a, b, placeOf(state, BITS.constant, true));
}

export function pointPlace(state: State, real: boolean, variables: ReadonlyMap<string, Num>): Place {
  return { ...placeOf(state, BITS.point, real), variables };
}

/** With so many variables every combination of their signs is tried; with more some. */
const SIGNED_MAX = 4;
/** Points of each stage at least, and tiny ones. */
const STAGE_MIN = 8;
const TINY = 4;
/** Whole numbers, for what is defined for these alone: small ones, and those beside what the expressions name, or large. */
const SMALL_WHOLES = 20;
const LARGE_WHOLES = 12;

type Point = ReadonlyMap<string, Num>;

/** Points in the order in which they are looked at, the same for the same texts. */
export interface Points {
  /** Each coordinate of a size of its own, with every combination of signs: of everyday size. */
  readonly everyday: () => Iterable<Point>;
  /** Tiny ones, where what is flat or steep is told from what is not. */
  readonly tiny: () => Iterable<Point>;
  /** Of any size. */
  readonly wide: () => Iterable<Point>;
  /** Whole numbers above 0. */
  readonly whole: () => Iterable<Point>;
  /** Those whole numbers that the expressions name, and the next ones. */
  readonly named: () => Iterable<Point>;
}

export function pointsOf(variables: readonly string[], state: State, nodes: readonly Node[]): Points {
  const wholes = wholesOf(nodes);
  let known: readonly bigint[] | undefined;
  const thresholds = (): readonly bigint[] => (known ??= wholeConstants(nodes, state));
  const stage = (name: string): Rng => rngFor("math-points", state.seed, name, ...variables);
  const at = (rng: Rng, make: (i: number) => Num): Point =>
    new Map(
      variables.map((name, i) => {
        const isWhole = name === WHOLE || wholes.has(name);
        return [name, isWhole ? wholeNum(anyWhole(thresholds(), rng)) : make(i)];
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
      yield* signed([...EVERYDAY, ...FAR], stage("wide"));
      yield* signed(["far"], stage("far"));
      // What is flat but near a number that it names is seen beside that number alone.
      const rng = stage("beside");
      for (const threshold of thresholds().filter((each) => each > NEAR_MAX))
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

/** All of them. */
export function* points(variables: readonly string[], state: State, nodes: readonly Node[] = []): Iterable<Point> {
  const { everyday, tiny, wide, whole } = pointsOf(variables, state, nodes);
  yield* everyday();
  yield* wide();
  yield* tiny();
  yield* whole();
}

/** Every combination of signs, in any order, as often as a stage has points. */
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

/** In (0, 1), (1, 5), a whole number up to 15, up to 100, from 100 to 10^6, or down to 10^-9. */
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

/** What everyday points reach. */
const NEAR_MAX = 5n;

/** Less than 1 away from a whole number. */
function beside(whole: bigint, rng: Rng): Num {
  return exact({ num: 2_048n * whole + BigInt(2 * rng.int(-1_000, 1_000) + 1), den: 2_048n });
}

/** A small number, one beside what the expressions name, or a large one. */
function anyWhole(thresholds: readonly bigint[], rng: Rng): bigint {
  const kind = rng.int(0, 2);
  if (kind === 0) return BigInt(rng.int(1, 60));
  if (kind === 1 && thresholds.length > 0) return rng.pick(thresholds) * BigInt(rng.int(1, 3)) + BigInt(rng.int(-1, 2));
  return BigInt(Math.floor(10 ** (1.5 + 2 * rng.float())));
}

// Expressions that jump, whose points must not all lie between two jumps.

const JUMPS: ReadonlySet<string> = new Set(["floor", "ceil", "mod", "gcd", "lcm"]);
/** Of one part: whether it jumps at each of many places. */
export const jumps = (part: Node): boolean => part.kind === "call" && JUMPS.has(part.name);

export function hasJumps(node: Node): boolean {
  return some(node, (part) => part.kind === "cases" || jumps(part));
}

/** Letters that are whole numbers by custom, where whole parts or remainders are taken. */
const WHOLE_LETTERS: ReadonlySet<string> = new Set(["n", "m", "k", "N"]);

export function wholesOf(nodes: readonly Node[]): ReadonlySet<string> {
  return nodes.some((node) => some(node, jumps)) ? WHOLE_LETTERS : new Set();
}

const CONSTANTS_MAX = 12;
const CONSTANTS_SEEN_MAX = 60;
const CONSTANT_MAX = 10n ** 15n;

/** Points at, between and beside the jumps of expressions of one variable. */
export function* jumpPoints(name: string, nodes: readonly Node[], state: State): Generator<ReadonlyMap<string, Num>> {
  const at = (value: Num): ReadonlyMap<string, Num> => new Map([[name, value]]);
  if (name === WHOLE || wholesOf(nodes).has(name)) {
    for (let k = 1n; k <= 24n; k++) yield at(wholeNum(k));
    for (const c of wholeConstants(nodes, state))
      for (const near of [c - 1n, c, c + 1n, 2n * c - 1n, 2n * c, 2n * c + 1n]) yield at(wholeNum(near));
    return;
  }
  const place = placeOf(state, BITS.point, true);
  const ends = endsOf(nodes, place);
  const besides = [-100n, -7n, -1n, 1n, 7n, 100n].map((num) => exact({ num, den: 7n }));
  for (const [i, end] of ends.entries()) {
    yield at(end);
    for (const beside of besides) yield at(add(end, beside, place) as Num);
    const next = ends[i + 1];
    const sum = next && add(end, next, place);
    const middle = sum && divide(sum, wholeNum(2n), place);
    if (middle !== undefined) yield at(middle);
  }
}

/** The largest numbers that the expressions name, or work out of numbers, cut to whole ones: 100, and 10^4. */
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

/** What the conditions of cases compare their variable with, and 0: with the digits of the points that they become. */
function endsOf(nodes: readonly Node[], place: Place): readonly Num[] {
  const ends: Num[] = [wholeNum(0n)];
  for (const node of nodes)
    some(node, (part) => {
      const value = part.kind === "cases" || variablesOf(part).size > 0 ? undefined : evaluate(part, place);
      if (value !== undefined && ends.every((end) => order(end, value, place) !== "equal")) ends.push(value);
      return ends.length >= CONSTANTS_MAX;
    });
  return ends.toSorted((a, b) => (order(a, b, place) === "less" ? -1 : 1));
}

// How far from 1 the numbers lie of which an expression is made: what is lost beside them at a precision.

/** Whether both are so near to 0 that nothing is known of them. */
export function isTiny(a: Num, b: Num, place: Place): boolean {
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
export function depthOf(node: Node, place: Place): number {
  let depth = 0;
  const add = (part: Node): boolean => {
    if (part.kind === "number") depth += Math.max(digitsOf(exact(part.value)), finenessOf(part.value));
    else if (part.kind === "power") depth += powerDepth(part, place);
    else if (part.kind === "call") depth += callDepth(part, place);
    else if (part.kind === "multiply" && variablesOf(part).size === 0) depth += valueDepth(part, place);
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

/** 6.28… of fifty digits is 2π to whoever looks at as many. */
const FINE_BITS = 100;

function finenessOf({ den }: Rational): number {
  const bits = bitLength(den);
  return bits > FINE_BITS ? bits : 0;
}

/** Of factors that are small together. */
function valueDepth(node: Node, place: Place): number {
  const value = evaluate(node, place);
  return value === undefined ? 0 : digitsOf(value);
}

function powerDepth({ base, exponent }: Extract<Node, { kind: "power" }>, place: Place): number {
  const value = evaluate(base, place);
  return value === undefined ? 0 : exponentOf(exponent, place) * Math.abs(log2Of(value));
}

/** tanh(100) is 1 to 288 digits. */
function callDepth({ name, args }: Extract<Node, { kind: "call" }>, place: Place): number {
  if (name === "exp") return exponentOf(args[0], place) * Math.LOG2E;
  return ["sinh", "cosh", "tanh"].includes(name) ? 2 * exponentOf(args[0], place) * Math.LOG2E : 0;
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
