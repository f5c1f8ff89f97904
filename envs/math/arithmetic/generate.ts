/**
 * Generates random arithmetic expressions. The estimated work to compute one by hand, in steps on single digits, lies
 * within the range of the level.
 */
import { defineGenerator } from "../../define.ts";
import { equalsInteger, type Rational } from "../../lib/rational.ts";
import type { Rng } from "../../lib/rng.ts";
import {
  defineParameters,
  minMax,
  type ParametersOf,
  type Range,
  ranges,
  share,
  sizeAxis,
  wholeNumber,
} from "../../parameters.ts";
import { type Binary, type Expression, literalsOf } from "./expression.ts";
import { workOut } from "./solve.ts";

export interface ArithmeticInstance {
  readonly expression: Expression;
}

const parameters = defineParameters({
  ...minMax("operations", ["Fewest operations.", "Most operations."], [2, 3], { min: 2, max: 12, integer: true }),
  ...minMax(
    "work",
    [
      "Least estimated work by hand, in steps on single digits (envs/math/arithmetic/README.md).",
      "Most estimated work by hand.",
    ],
    [4, 19],
    { min: 0, max: 10_000, integer: true },
  ),
  digits: wholeNumber("Most digits of a whole number in the expression.", 2, [1, 6]),
  value_digits: wholeNumber(
    "Most digits of the numerator and of the denominator of any value, intermediate values included.",
    4,
    [2, 15],
  ),
  denominator_max: wholeNumber("Largest denominator of a fraction in the expression.", 12, [3, 999]),
  fractions: share("Share of the numbers in the expression that are fractions.", 0),
  decimals: share("Share of the numbers in the expression that are decimals.", 0),
  negatives: share("Share of the whole numbers in the expression that are negative.", 0),
  percentages: share("Share of the operations that take a percentage.", 0),
  powers: share("Share of the operations that are powers.", 0),
  divisors: share(
    "Share of the operations that are remainders, greatest common divisors or least common multiples.",
    0,
  ),
});

type ArithmeticParameters = ParametersOf<typeof parameters>;
type Shares = Pick<
  ArithmeticParameters,
  "fractions" | "decimals" | "negatives" | "percentages" | "powers" | "divisors"
>;
type Sizes = Pick<ArithmeticParameters, "digits" | "value_digits" | "denominator_max">;

function level(name: string, description: string, operations: Range, work: Range, sizes: Sizes, shares: Shares) {
  const words = `${description}; ${operations[0]} to ${operations[1]} operations, work ${work[0]} to ${work[1]}`;
  return { name, description: words, parameters: { ...ranges({ operations, work }), ...sizes, ...shares } };
}

export const generator = defineGenerator({
  parameters,
  // Longer expressions take more work by hand and have larger intermediate values, so each value of the axis also sets
  // limits for these two.
  axes: [
    sizeAxis("operations", [2, 12], (operations) => ({
      ...ranges({ work: [0, 10_000] }),
      value_digits: 2 + operations,
    })),
  ],
  levels: [
    level(
      ...(["easy", "whole numbers and + - * /", [2, 3], [4, 14]] as const),
      { digits: 2, value_digits: 4, denominator_max: 9 },
      { fractions: 0, decimals: 0, negatives: 0, percentages: 0, powers: 0, divisors: 0 },
    ),
    level(
      ...(["medium", "fractions, decimals, percentages and powers too", [3, 4], [15, 59]] as const),
      { digits: 2, value_digits: 6, denominator_max: 12 },
      { fractions: 0.25, decimals: 0.15, negatives: 0.05, percentages: 0.1, powers: 0.1, divisors: 0 },
    ),
    level(
      ...(["hard", "remainders, common divisors and multiples too", [5, 6], [60, 179]] as const),
      { digits: 3, value_digits: 9, denominator_max: 20 },
      { fractions: 0.25, decimals: 0.15, negatives: 0.1, percentages: 0.1, powers: 0.1, divisors: 0.15 },
    ),
    level(
      ...(["benchmark", "the same as hard, but longer", [7, 9], [180, 600]] as const),
      { digits: 3, value_digits: 12, denominator_max: 30 },
      { fractions: 0.25, decimals: 0.15, negatives: 0.1, percentages: 0.1, powers: 0.1, divisors: 0.15 },
    ),
  ],
  generate,
  conflict({ fractions, decimals, percentages, powers, divisors }) {
    if (fractions + decimals > 1)
      return `fractions and decimals are shares and must add up to at most 1: ${fractions} + ${decimals} > 1`;
    if (percentages + powers + divisors <= 1) return undefined;
    return `percentages, powers and divisors are shares and must add up to at most 1: ${percentages} + ${powers} + ${divisors} > 1`;
  },
});

/** Maximum number of random expressions that are tried for one instance before the generator gives up. */
const TRIES = 40;

function generate(p: ArithmeticParameters, rng: Rng): ArithmeticInstance | undefined {
  for (let tried = 0; tried < TRIES; tried++) {
    const expression = operation(p, rng.int(p.operations_min, p.operations_max), rng, false);
    const worked = workOut(expression, p.value_digits);
    if (worked === undefined || worked.work < p.work_min || worked.work > p.work_max) continue;
    if (!isGivenAway(expression, worked.value)) return { expression };
  }
  return undefined;
}

/**
 * Returns whether the value of the expression is easy to guess: it is one of the numbers in the expression, or a whole
 * number from −2 to 2.
 */
function isGivenAway(expression: Expression, { num, den }: Rational): boolean {
  const text = den === 1 ? `${num}` : `${num}/${den}`;
  return literalsOf(expression).includes(text) || SMALL.some((small) => equalsInteger({ num, den }, small));
}

const SMALL = [-2, -1, 0, 1, 2] as const;

const PLAIN: readonly Binary[] = ["sum", "difference", "product", "quotient"];
/** Operations whose result is whole if their operands are whole. */
const WHOLE: readonly Binary[] = ["sum", "difference", "product"];

/** Returns a random expression with `count` operations. If `whole` is true, its value is a whole number. */
function operation(p: ArithmeticParameters, count: number, rng: Rng, whole: boolean): Expression {
  if (count === 0) return whole ? integer(p, rng) : number(p, rng);
  const at = rng.float();
  if (at < p.powers) return power(p, count, rng, whole);
  if (at < p.powers + p.divisors) return divisorOf(p, count, rng);
  if (at < p.powers + p.divisors + p.percentages && !whole) {
    return { kind: "percentage", percent: percent(rng), of: operation(p, count - 1, rng, false) };
  }
  return binary(p, rng.pick(whole ? WHOLE : PLAIN), count, rng, whole);
}

function binary(p: ArithmeticParameters, kind: Binary, count: number, rng: Rng, whole: boolean): Expression {
  const onLeft = rng.int(0, count - 1);
  const left = operation(p, onLeft, rng, whole);
  return { kind, left, right: operation(p, count - 1 - onLeft, rng, whole) };
}

const EXPONENT_MAX = 4;

function power(p: ArithmeticParameters, count: number, rng: Rng, whole: boolean): Expression {
  return { kind: "power", base: operation(p, count - 1, rng, whole), exponent: rng.int(2, EXPONENT_MAX) };
}

function divisorOf(p: ArithmeticParameters, count: number, rng: Rng): Expression {
  const kind = rng.pick(["gcd", "lcm", "remainder", "residue"] as const);
  if (kind === "remainder") {
    return { kind, of: operation(p, count - 1, rng, true), modulus: rng.int(3, 99) };
  }
  if (kind === "residue" && count >= 2) {
    const base = operation(p, count - 2, rng, true);
    return { kind: "remainder", of: { kind: "power", base, exponent: rng.int(5, 60) }, modulus: rng.int(3, 99) };
  }
  return shared(kind === "lcm" ? "lcm" : "gcd", p, count, rng);
}

/**
 * Returns a random gcd or lcm of two expressions. Operands that are plain numbers are chosen as multiples of a common
 * number, because random numbers seldom have a large gcd.
 */
function shared(kind: "gcd" | "lcm", p: ArithmeticParameters, count: number, rng: Rng): Expression {
  if (count > 1) return binary(p, kind, count, rng, true);
  const most = 10 ** p.digits - 1;
  const common = rng.int(2, Math.max(2, Math.floor(most / 8)));
  const multiple = (): Expression => ({
    kind: "integer",
    value: common * rng.int(2, Math.max(3, Math.floor(most / common))),
  });
  return { kind, left: multiple(), right: multiple() };
}

function number(p: ArithmeticParameters, rng: Rng): Expression {
  const at = rng.float();
  if (at < p.fractions) return fraction(p.denominator_max, rng);
  return at < p.fractions + p.decimals ? decimal(rng) : integer(p, rng);
}

function integer(p: ArithmeticParameters, rng: Rng): Expression {
  const value = rng.int(2, 10 ** rng.int(1, p.digits) - 1);
  return { kind: "integer", value: rng.float() < p.negatives ? -value : value };
}

/** Returns a fraction between 0 and 3, in lowest terms. */
function fraction(denominatorMax: number, rng: Rng): Expression {
  const den = rng.int(2, denominatorMax);
  const num = rng.int(1, 3 * den - 1);
  const common = commonDivisor(num, den);
  if (common === den) return { kind: "fraction", num: 1, den };
  return { kind: "fraction", num: num / common, den: den / common };
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** Returns a random decimal below 20 with one or two places, whose last digit is not 0. */
function decimal(rng: Rng): Expression {
  const places = rng.int(1, 2);
  return { kind: "decimal", units: 10 * rng.int(0, 2 * 10 ** places - 1) + rng.int(1, 9), places };
}

/**
 * Returns a random percentage: half of the time a multiple of 5 from 5 to 95, otherwise a whole number from 2 to 150.
 */
function percent(rng: Rng): number {
  return rng.int(0, 1) === 0 ? 5 * rng.int(1, 19) : rng.int(2, 150);
}
