/**
 * Brings two expressions into one polynomial ring. The ring decides equality by algebra where possible. Otherwise it
 * says where the expressions turn or break off, and at which points on which sides they must agree.
 */
import { fractionOf } from "../exact/normal.ts";
import { constantOf, degreeIn, plus, type Polynomial, ZERO } from "../exact/polynomial.ts";
import { gap, newRing, nodeOf, reduced, type Ring, substituted } from "../exact/ring.ts";
import type { Node } from "../syntax.ts";
import type { State } from "./outcome.ts";
import type { Rng } from "../../lib/rng.ts";
import { aligned, narrowed, simplified, univariateIn, withoutRoots, zerosOf } from "../exact/zeros.ts";
import { exact, type Num, signOf, wholeNum } from "../numbers/arithmetic.ts";
import { spend } from "../numbers/budget.ts";
import { floor, type Rational } from "../numbers/rational.ts";
import { BITS, pointScope } from "./points.ts";
import { evaluate } from "../evaluate.ts";
import { isFeasible } from "../exact/feasible.ts";

// The difference of two expressions, and the zeros of what makes them turn or break off.

export interface Algebra {
  readonly ring: Ring;
  /** Numerator of the difference: 0 if the expressions are equal. Undefined if the difference cannot be computed. */
  readonly gap: Polynomial | undefined;
  /** Polynomials that are zero where an expression turns, jumps, breaks off or has no value. */
  readonly turns: readonly Polynomial[];
  /**
   * Polynomials that are zero where an absolute value or a case changes. The expressions have another form on each
   * side.
   */
  readonly switches: readonly Polynomial[];
}

/** Maximum share of the remaining steps that the algebra may spend. */
const SHARE = 0.4;

export function algebraOf(gold: Node, answer: Node, real: boolean, state: State): Algebra {
  const budget = { left: Math.floor(state.budget.left * SHARE) };
  const before = budget.left;
  const ring = newRing(budget, real);
  const [left, right] = [fractionOf(gold, ring), fractionOf(answer, ring)];
  const found = left && right && gap(left, right, ring);
  const switches = ring.atoms.flatMap((atom, index): readonly Polynomial[] => {
    if (atom.kind === "absolute") return ring.turning.has(index) ? [atom.of] : [];
    return atom.kind === "other" && atom.node.kind === "cases" ? atom.turns : [];
  });
  const dens = [left, right].flatMap((fraction) => (fraction === undefined ? [] : [fraction.den]));
  const turns = [...turnsIn(ring), ...dens].filter((each) => each.size > 1 || !each.has(""));
  state.budget.left -= before - budget.left;
  return { ring: { ...ring, budget: state.budget }, gap: found, turns, switches };
}

/** Returns whether the ring has only variables. Then a difference that is not 0 by algebra is not 0. */
export function isPlain({ ring }: Algebra): boolean {
  return ring.atoms.every(({ kind }) => kind === "variable");
}

/** Returns the polynomials that are zero where an atom turns or breaks off. */
export function turnsIn({ atoms }: Ring): readonly Polynomial[] {
  return atoms.flatMap((atom): readonly Polynomial[] => {
    if (atom.kind === "root") return atom.degree % 2 === 0 ? [atom.of] : [];
    return atom.kind === "absolute" ? [atom.of] : atom.kind === "other" ? atom.turns : [];
  });
}

// Test points on lines along which one variable goes from −∞ to ∞. They lie between each two turns, on the turns, and
// far beyond the last ones.

/** A zero of a turning polynomial, in units of 2^-bits. `value` is the exact number if it is a fraction. */
interface Turn {
  readonly at: bigint;
  readonly value: Num | undefined;
}

const BITS_OF_TURN = 128;
const TURNS_MAX = 24;

export interface Line {
  readonly points: readonly ReadonlyMap<string, Num>[];
  /** Whether every turn is known. */
  readonly isComplete: boolean;
}

/** Returns the test points along one variable. The other variables have fixed whole numbers. */
export function lineAlong(
  name: string,
  others: ReadonlyMap<string, bigint>,
  { ring, turns }: Algebra,
  isWhole: boolean,
  rng: Rng,
): Line {
  const found = turns.map((polynomial) => turnsOf(polynomial, name, others, ring));
  const known = found.flatMap((each) => each ?? []).sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const apart = known.filter(({ at }, i) => i === 0 || at - (known[i - 1] as Turn).at > 4n).slice(0, TURNS_MAX);
  const fixed = [...others].map(([other, value]) => [other, wholeNum(value)] as const);
  const place = (value: Num): ReadonlyMap<string, Num> => new Map([[name, value], ...fixed]);
  const inside = between(
    apart.map(({ at }) => at),
    rng,
  );
  const values = isWhole
    ? [...apart.flatMap(({ at }) => [at, at + UNIT]), ...inside].map((at) => wholeNum(at >> BigInt(BITS_OF_TURN)))
    : [...apart.flatMap(({ value }) => value ?? []), ...inside.map(numberAt)];
  const isComplete = !found.includes(undefined) && apart.length < TURNS_MAX;
  return { points: values.map(place), isComplete };
}

function turnsOf(
  polynomial: Polynomial,
  name: string,
  others: ReadonlyMap<string, bigint>,
  ring: Ring,
): readonly Turn[] | undefined {
  const index = ring.indices.get(`the variable ${name}`);
  const branches = withoutRoots(polynomial, ring);
  if (branches === undefined || index === undefined) return branches === undefined ? undefined : [];
  const found = branches.map((branch) => turnsOfOne(branch, index, others, ring));
  return found.includes(undefined) ? undefined : (found as readonly (readonly Turn[])[]).flat();
}

function turnsOfOne(
  polynomial: Polynomial,
  index: number,
  others: ReadonlyMap<string, bigint>,
  ring: Ring,
): readonly Turn[] | undefined {
  let rest: Polynomial | undefined = polynomial;
  for (const [other, value] of others) {
    const at = ring.indices.get(`the variable ${other}`);
    if (at !== undefined && rest !== undefined && degreeIn(rest, at) > 0)
      rest = substituted(rest, at, constantOf(value), ring);
  }
  const univariate = rest && univariateIn(rest, index);
  // A polynomial that is 0 along the whole line has no isolated zeros.
  if (univariate === undefined || rest?.size === 0) return rest?.size === 0 ? [] : undefined;
  const [zeros, simple] = [zerosOf(univariate, ring.budget), simplified(univariate, ring.budget)];
  if (zeros === undefined || simple === undefined) return undefined;
  const found = zeros.map((zero): Turn | undefined => {
    if (zero.exact !== undefined) return { at: floor(multiplied(zero.exact, UNIT)), value: exact(zero.exact) };
    if (!spend(ring.budget, (BITS_OF_TURN * simple.length) / NARROWING_A_STEP)) return undefined;
    const { high } = narrowed(simple, zero, BITS_OF_TURN);
    const shift = Math.max(high.shift, BITS_OF_TURN);
    return { at: aligned(high, shift) >> BigInt(shift - BITS_OF_TURN), value: undefined };
  });
  return found.includes(undefined) ? undefined : (found as readonly Turn[]);
}

const multiplied = ({ num, den }: Rational, by: bigint): Rational => ({ num: num * by, den });

/** Coefficients that one step may process for each digit. */
const NARROWING_A_STEP = 3;

const UNIT = 1n << BigInt(BITS_OF_TURN);
/** Distances beyond the outermost turns, near and far. */
const BEYOND = [1n, 40n, 1_000_000n];

function between(turns: readonly bigint[], rng: Rng): readonly bigint[] {
  const part = (): bigint => BigInt(rng.int(1, 2 ** 20 - 1));
  const inside = turns.slice(1).flatMap((high, i) => {
    const low = turns[i] as bigint;
    return [low, (low + high) / 2n].map((from) => from + (((high - low) / 2n) * part()) / 2n ** 20n);
  });
  const [first = 0n, last = 0n] = [turns[0], turns.at(-1)];
  const outside = BEYOND.flatMap((distance) => {
    const beyond = distance * UNIT + (UNIT * part()) / 2n ** 20n;
    return [last + beyond, first - beyond];
  });
  return [...inside, ...outside];
}

function numberAt(value: bigint): Num {
  return { kind: "ball", ball: { re: value << BigInt(BITS.point - BITS_OF_TURN), im: 0n, error: 0 } };
}

// Decides equality on every side of the switches for expressions that agreed at all points. Each absolute value is
// replaced by either sign of its argument. A side is settled if the difference is then 0, if no point lies there, or if
// the two were seen to agree there.

/** Returns the side of each switch on which a point lies, such as "+-". Undefined means: on a switch, or unknown. */
export function sideOf(switches: readonly Node[], point: ReadonlyMap<string, Num>, state: State): string | undefined {
  let side = "";
  for (const node of switches) {
    const value = evaluate(node, pointScope(state, true, point));
    const sign = value && signOf(value);
    if (sign === undefined || sign === 0) return undefined;
    side += sign > 0 ? "+" : "-";
  }
  return side;
}

export function switchNodes({ ring, switches }: Algebra): readonly Node[] {
  return switches.map((each) => nodeOf(each, ring));
}

const SWITCHES_MAX = 10;

/**
 * Returns whether the expressions are equal on every side. `seen` holds the sides on which they agreed at some point.
 */
export function areSettled({ ring, gap, switches }: Algebra, seen: ReadonlySet<string>): boolean {
  if (switches.length > SWITCHES_MAX) return false;
  const absolutes = switches.map((each) =>
    ring.atoms.findIndex((atom) => atom.kind === "absolute" && atom.of === each),
  );
  return settled({ gap, switches, absolutes, at: switches.length - 1, side: "" }, ring, seen);
}

interface Side {
  /** The difference after replacing the absolute values behind index `at`. Undefined means: unknown. */
  readonly gap: Polynomial | undefined;
  /** The switches behind index `at` are positive on this side. */
  readonly switches: readonly Polynomial[];
  readonly absolutes: readonly number[];
  readonly at: number;
  readonly side: string;
}

function settled({ gap, switches, absolutes, at, side }: Side, ring: Ring, seen: ReadonlySet<string>): boolean {
  if (gap?.size === 0) return true;
  if (ring.budget.left < 0) return false;
  // A switch that is 0 all over this side does not bound it.
  const decided = switches.slice(at + 1).filter(({ size }) => size > 0);
  if (isFeasible(decided.filter(isLinear), ring.budget) === false) return true;
  if (at < 0) return seen.has(side);
  return ([1n, -1n] as const).every((sign) => {
    const turned = sign > 0n ? (switches[at] as Polynomial) : plus(ZERO, switches[at] as Polynomial, -1n);
    const index = absolutes[at] as number;
    const put = (a: Polynomial | undefined): Polynomial | undefined => {
      const found = a === undefined || index < 0 ? a : substituted(a, index, turned, ring);
      return found && reduced(found, ring);
    };
    const next = switches.with(at, turned).map((each, i) => (i > at ? (put(each) ?? each) : each));
    return settled(
      { gap: put(gap), switches: next, absolutes, at: at - 1, side: (sign > 0n ? "+" : "-") + side },
      ring,
      seen,
    );
  });
}

function isLinear(a: Polynomial): boolean {
  return [...a.keys()].every((monomial) => [...monomial].reduce((sum, each) => sum + each.charCodeAt(0), 0) <= 1);
}
