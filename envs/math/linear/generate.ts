/**
 * Generates random linear equations and inequalities. The estimated work to solve them by hand, in steps on single
 * digits, lies within the range of the level.
 */
import { divide, equalsInteger, fromInteger, type Rational } from "../../lib/rational.ts";
import { defineGenerator } from "../../define.ts";
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
import { digitsOf } from "../work.ts";
import { solveLinear } from "./solve.ts";
import type { LinearInstance, Relation, Statement, Term } from "./statement.ts";

const UNKNOWNS_MAX = 4;

const parameters = defineParameters({
  ...minMax("unknowns", ["Fewest unknowns.", "Most unknowns."], [1, 1], { min: 1, max: UNKNOWNS_MAX, integer: true }),
  ...minMax(
    "work",
    [
      "Least estimated work by hand, in steps on single digits (envs/math/linear/README.md).",
      "Most estimated work by hand.",
    ],
    [4, 11],
    { min: 0, max: 10_000, integer: true },
  ),
  coefficient_max: wholeNumber(
    "Largest number in a task. Only constants of tasks with several unknowns may be larger.",
    9,
    [2, 999],
  ),
  solution_max: wholeNumber("Largest magnitude of a numerator in a solution of several unknowns.", 12, [3, 999]),
  denominator_max: wholeNumber(
    "Largest denominator in a solution of several unknowns, and of fractions in a task.",
    1,
    [1, 99],
  ),
  value_digits: wholeNumber(
    "Most digits of the numerator and of the denominator of a solution of one unknown.",
    2,
    [1, 12],
  ),
  groups: share(
    "Share of the terms with the unknown that are a factor times a sum in parentheses, in tasks of one unknown.",
    0,
  ),
  fractions: share("Share of the numbers that are fractions, in tasks of one unknown.", 0),
  inequalities: share("Share of the tasks of one unknown that are inequalities.", 0),
});

type LinearParameters = ParametersOf<typeof parameters>;
type Others = Omit<LinearParameters, "unknowns_min" | "unknowns_max" | "work_min" | "work_max">;

function level(name: string, description: string, unknowns: Range, work: Range, others: Others) {
  const words = `${description}; work ${work[0]} to ${work[1]}`;
  return { name, description: words, parameters: { ...ranges({ unknowns, work }), ...others } };
}

export const generator = defineGenerator({
  parameters,
  axes: [sizeAxis("unknowns", [1, UNKNOWNS_MAX], () => ranges({ work: [0, 10_000] }))],
  levels: [
    level("easy", "an equation or an inequality in one unknown", [1, 1], [6, 19], {
      coefficient_max: 20,
      solution_max: 9,
      denominator_max: 1,
      value_digits: 2,
      groups: 0.1,
      fractions: 0,
      inequalities: 0.25,
    }),
    level("medium", "one unknown with parentheses and fractions, or two unknowns", [1, 2], [20, 69], {
      coefficient_max: 12,
      solution_max: 20,
      denominator_max: 6,
      value_digits: 3,
      groups: 0.35,
      fractions: 0.3,
      inequalities: 0.25,
    }),
    level("hard", "two or three unknowns", [2, 3], [70, 399], {
      coefficient_max: 15,
      solution_max: 30,
      denominator_max: 9,
      value_digits: 4,
      groups: 0,
      fractions: 0,
      inequalities: 0,
    }),
    level("benchmark", "three or four unknowns", [3, 4], [400, 2500], {
      coefficient_max: 20,
      solution_max: 60,
      denominator_max: 12,
      value_digits: 6,
      groups: 0,
      fractions: 0,
      inequalities: 0,
    }),
  ],
  generate,
});

/** Maximum number of random candidates that are tried for one instance before the generator gives up. */
const TRIES = 40;

function generate(p: LinearParameters, rng: Rng): LinearInstance | undefined {
  for (let tried = 0; tried < TRIES; tried++) {
    const unknowns = rng.int(p.unknowns_min, p.unknowns_max);
    const names = rng.pick(NAMES).slice(0, unknowns);
    const statements = unknowns === 1 ? [oneUnknown(p, rng)] : system(p, unknowns, rng);
    const solved = statements && solveLinear({ names, statements });
    if (statements === undefined || solved === undefined) continue;
    if (solved.work < p.work_min || solved.work > p.work_max) continue;
    if (unknowns > 1 || isFitting(solved.values[0] as Rational, p.value_digits)) return { names, statements };
  }
  return undefined;
}

/** Names of unknowns. Without e and i, which are constants, and without l and o, which look like digits. */
const NAMES: readonly (readonly string[])[] = [
  ["x", "y", "z", "w"],
  ["a", "b", "c", "d"],
  ["p", "q", "r", "s"],
  ["u", "v", "w", "t"],
];

/**
 * Returns whether a solution has at most `digitsMax` digits and is hard to guess: it must not be a whole number from −2
 * to 2.
 */
function isFitting(value: Rational, digitsMax: number): boolean {
  if ([-2, -1, 0, 1, 2].some((small) => equalsInteger(value, small))) return false;
  return digitsOf(value.num) <= digitsMax && digitsOf(value.den) <= digitsMax;
}

// Functions that generate tasks with one unknown.

const ORDERED: readonly Relation[] = ["<", ">", "<=", ">="];

function oneUnknown(p: LinearParameters, rng: Rng): Statement {
  const relation = rng.float() < p.inequalities ? rng.pick(ORDERED) : "=";
  const left = side(p, rng.int(2, 3), rng);
  return { left, relation, right: side(p, rng.int(1, 2), rng) };
}

/**
 * Returns a random side of an equation or inequality, with its terms in random order. At least one term has the
 * unknown.
 */
function side(p: LinearParameters, count: number, rng: Rng): readonly Term[] {
  const terms = Array.from({ length: count }, (_, i) =>
    i === 0 || rng.int(0, 2) === 0 ? withUnknown(p, rng) : constant(p, rng),
  );
  return rng.shuffle(terms);
}

function withUnknown(p: LinearParameters, rng: Rng): Term {
  const coefficient = number(p, rng);
  if (rng.float() >= p.groups) return { kind: "unknown", coefficient, index: 0 };
  const inner = rng.shuffle<Term>([
    { kind: "unknown", coefficient: signed(rng.int(1, 5), rng), index: 0 },
    constant(p, rng),
  ]);
  return { kind: "group", factor: number(p, rng), terms: inner };
}

function constant(p: LinearParameters, rng: Rng): Term {
  return { kind: "constant", value: number(p, rng) };
}

function number(p: LinearParameters, rng: Rng): Rational {
  const den = rng.float() < p.fractions ? rng.int(2, Math.max(2, p.denominator_max)) : 1;
  return divide(signed(rng.int(2, p.coefficient_max), rng), fromInteger(den)) ?? fromInteger(1);
}

function signed(magnitude: number, rng: Rng): Rational {
  return fromInteger(rng.int(0, 1) === 0 ? magnitude : -magnitude);
}

// Functions that generate tasks with several unknowns. The solution is drawn first, and all its components have the
// same denominator.

function system(p: LinearParameters, unknowns: number, rng: Rng): readonly Statement[] | undefined {
  const den = rng.int(1, p.denominator_max);
  const nums = Array.from({ length: unknowns }, () => rng.int(-p.solution_max, p.solution_max));
  if (nums.every((num) => num === 0)) return undefined;
  const rows = Array.from({ length: unknowns }, () => equation(p, nums, den, rng));
  return rows.every((row) => row !== undefined) ? rows : undefined;
}

/** Probability with which an unknown is left out of an equation. */
const ABSENT = 0.2;

/**
 * Returns a random equation that has at least two unknowns and a whole constant. The unknowns have the values nums[i] /
 * den. One coefficient is increased until the constant is whole. Returns undefined if that fails.
 */
function equation(p: LinearParameters, nums: readonly number[], den: number, rng: Rng): Statement | undefined {
  const coefficients = nums.map(() => (rng.float() < ABSENT ? 0 : rng.int(-p.coefficient_max, p.coefficient_max)));
  const at = rng.int(0, nums.length - 1);
  for (let moved = 0; moved < den; moved++, coefficients[at] = (coefficients[at] as number) + 1) {
    const sum = nums.reduce((total, num, i) => total + num * (coefficients[i] as number), 0);
    if (sum % den !== 0 || coefficients.filter((each) => each !== 0).length < 2) continue;
    const left = coefficients.flatMap((each, index): readonly Term[] =>
      each === 0 ? [] : [{ kind: "unknown", coefficient: fromInteger(each), index }],
    );
    return { left, relation: "=", right: [{ kind: "constant", value: fromInteger(sum / den) }] };
  }
  return undefined;
}
