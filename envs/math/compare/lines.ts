/**
 * Points on lines on which one variable goes from −∞ to ∞: in each stretch between two places where something turns or
 * breaks off, at these places, and far beyond the last ones.
 */
import type { Rng } from "../../lib/rng.ts";
import { constantOf, degreeIn, type Polynomial } from "../exact/polynomial.ts";
import { type Ring, substituted } from "../exact/ring.ts";
import { univariateIn, withoutRoots } from "../exact/univariate.ts";
import { aligned, narrowed, simplified, zerosOf } from "../exact/zeros.ts";
import { exact, type Num, wholeNum } from "../numbers/arithmetic.ts";
import { spend } from "../numbers/budget.ts";
import { floor, type Rational } from "../numbers/rational.ts";
import type { Algebra } from "./algebra.ts";
import { BITS } from "./places.ts";

/** Where something turns, in units of 2^-bits, and the number itself where it is a fraction. */
interface Turn {
  readonly at: bigint;
  readonly value: Num | undefined;
}

const BITS_OF_TURN = 128;
const TURNS_MAX = 24;

export interface Line {
  readonly points: readonly ReadonlyMap<string, Num>[];
  /** Whether every place where something turns is known. */
  readonly isComplete: boolean;
}

/** Along one variable, with whole numbers for the others. */
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
  // A polynomial that is 0 all along has no zeros of its own.
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

/** Coefficients that are worked through for a digit, for each step. */
const NARROWING_A_STEP = 3;

const UNIT = 1n << BigInt(BITS_OF_TURN);
/** Far beyond the last turn; and not so far. */
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
