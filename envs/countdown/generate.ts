/**
 * Generates countdown tasks from random expression trees: the numbers are a tree's leaves, and the target is its value
 * (ADSC 3.4). Also reads rows of data pools.
 */
import { defineGenerator } from "../define.ts";
import type { Level, RowReader, SearchWork } from "../environment.ts";
import { malformed, type Parsed } from "../facts.ts";
import type { Rng } from "../lib/rng.ts";
import { defineParameters, minMax, type ParametersOf, ranges, sizeAxis, wholeNumber } from "../parameters.ts";
import { type CountdownInstance, LIMITS } from "./instance.ts";
import { combine, countSolutions, makeValues, SOLUTIONS_CAP, type Values } from "./solve.ts";

// Parameters of the generator, the tiers (levels of difficulty) made of them (ADSC table 1), and the test whether an
// instance fits a tier. README.md explains each in words.

/**
 * Minimum count of numbers of an instance that can be sparse, i.e. have few solutions for its size. Most instances of
 * three numbers have few anyway.
 */
const SPARSE_NUMBERS_MIN = 4;

/**
 * Maximum number of solutions of a sparse instance. 8% of the generated instances with four numbers have at most this
 * many. See README.md.
 */
const SPARSE_SOLUTIONS = 3;

const { numbersMin, numbersMax, numberMax, targetMax } = LIMITS;
const WAYS = { max: SOLUTIONS_CAP, integer: true };

const parameters = defineParameters({
  ...minMax("numbers", ["Fewest numbers given.", "Most numbers given."], [3, 4], {
    min: numbersMin,
    max: numbersMax,
    integer: true,
  }),
  ...minMax("number", ["Smallest number given.", "Largest number given."], [1, 99], {
    min: 1,
    max: numberMax,
    integer: true,
  }),
  ...minMax("target", ["Smallest target.", "Largest target."], [1, 1000], { min: 1, max: targetMax, integer: true }),
  fewest_target_min: wholeNumber(
    "Smallest target of instances with numbers_min numbers. It has an effect only above target_min.",
    1,
    [1, targetMax],
  ),
  ...minMax(
    "solutions",
    ["Fewest solutions (ways to reach the target).", `Most solutions; ${SOLUTIONS_CAP}: no limit.`],
    [1, SOLUTIONS_CAP],
    { min: 1, ...WAYS },
  ),
  sparse_solutions: {
    description:
      "An instance of four or more numbers with at most this many solutions is sparse. 0: no instance is sparse.",
    min: 0,
    defaultValue: 0,
    ...WAYS,
  },
  sparse_kept: wholeNumber(
    "0: the generator leaves out sparse instances. 1: it keeps them, with any target up to target_max.",
    1,
    [0, 1],
  ),
});

export type CountdownParameters = ParametersOf<typeof parameters>;

/** Parameters that the tiers (levels of difficulty) share. Each tier replaces a few of them. */
const BASE: CountdownParameters = {
  ...ranges({ numbers: [3, 4], number: [1, 99], target: [1, 1000] }),
  fewest_target_min: 1,
  ...ranges({ solutions: [1, SOLUTIONS_CAP] }),
  sparse_solutions: 0,
  sparse_kept: 1,
};

/**
 * Tiers (levels of difficulty), easiest first. In the paper, an instance belongs to the first tier that it fits. Each
 * tier here therefore excludes the instances of the earlier ones.
 */
const TIERS: readonly Level<CountdownParameters>[] = [
  { name: "T0", description: "3 numbers, targets to 30", parameters: { ...BASE, numbers_max: 3, target_max: 30 } },
  {
    name: "T1",
    description: "3 numbers and targets from 31 on (made ones to 75), or 4 numbers and targets to 75, not sparse",
    parameters: {
      ...BASE,
      target_max: 75,
      fewest_target_min: 31,
      sparse_solutions: SPARSE_SOLUTIONS,
      sparse_kept: 0,
    },
  },
  {
    name: "T2",
    description: "4 numbers, targets from 76 to 150, not sparse",
    parameters: {
      ...BASE,
      numbers_min: 4,
      target_min: 76,
      target_max: 150,
      sparse_solutions: SPARSE_SOLUTIONS,
      sparse_kept: 0,
    },
  },
  {
    name: "T3",
    description: "4 numbers, targets from 151 on (made ones to 1000), or sparse with any target",
    parameters: { ...BASE, numbers_min: 4, target_min: 151, sparse_solutions: SPARSE_SOLUTIONS },
  },
  {
    name: "OOD",
    description: "5 numbers",
    parameters: { ...BASE, numbers_min: 5, numbers_max: 5 },
    evaluationOnly: true,
  },
];

/**
 * Returns the smallest target that may fit for this count of numbers. If the parameters keep sparse instances, it is 1:
 * these may have targets below target_min, and only a search tells which instances are sparse.
 */
function lowestTarget(p: CountdownParameters, length: number): number {
  if (sparseSolutionsMax(p, length) > 0 && p.sparse_kept === 1) return 1;
  return plainTargetMin(p, length);
}

/**
 * Returns whether the count of numbers, the target and the count of solutions fit the parameters. Counts the solutions
 * by an exhaustive search.
 */
export function fits(instance: CountdownInstance, p: CountdownParameters, work?: SearchWork): boolean {
  return fitsCounted(instance, p, (enough) => countSolutions(instance.numbers, instance.target, enough, work));
}

/**
 * Returns whether an instance fits the parameters, as `fits` does. `countUpTo` counts the instance's solutions, up to
 * the number `enough`.
 */
function fitsCounted(
  { numbers: { length }, target }: CountdownInstance,
  p: CountdownParameters,
  countUpTo: (enough: number) => number,
): boolean {
  if (length < p.numbers_min || length > p.numbers_max) return false;
  if (target < lowestTarget(p, length) || target > p.target_max) return false;
  const sparseMax = sparseSolutionsMax(p, length);
  const unlimited = p.solutions_max >= SOLUTIONS_CAP;
  const enough = Math.max(p.solutions_min, sparseMax + 1, unlimited ? 1 : p.solutions_max + 1);
  const solutions = countUpTo(enough);
  if (solutions < p.solutions_min || (!unlimited && solutions > p.solutions_max)) return false;
  return solutions <= sparseMax ? p.sparse_kept === 1 : target >= plainTargetMin(p, length);
}

/**
 * Tier, by the count of numbers, of an instance whose target is too large for the parameters of every tier (ADSC table
 * 1). Rows and tasks of teachers may have such targets; generated tasks do not.
 */
const TIER_OF_LARGER: Readonly<Record<number, string>> = { 3: "T1", 4: "T3", 5: "OOD" };

/**
 * Returns the tier of an instance, whatever the size of its numbers and target. Returns undefined if the instance has
 * no solution, or if it has 2 or 6 numbers.
 */
export function tierOf(instance: CountdownInstance): string | undefined {
  const { numbers, target } = instance;
  // Skip the search over six numbers: it takes longest, and its result is unused.
  if (TIER_OF_LARGER[numbers.length] === undefined) return undefined;
  // Count the solutions once for all tiers, because none needs a higher count than this.
  const solutions = countSolutions(numbers, target, SPARSE_SOLUTIONS + 1);
  if (solutions === 0) return undefined;
  const within = TIERS.find((each) => fitsCounted(instance, each.parameters, () => solutions));
  return within?.name ?? TIER_OF_LARGER[numbers.length];
}

function sparseSolutionsMax(p: CountdownParameters, length: number): number {
  return length >= SPARSE_NUMBERS_MIN ? p.sparse_solutions : 0;
}

function plainTargetMin(p: CountdownParameters, length: number): number {
  return length === p.numbers_min ? Math.max(p.target_min, p.fewest_target_min) : p.target_min;
}

/**
 * Maximum number of random trees tried for one instance. One tree in 26 fits tier T0, so that all 128 fail for one
 * instance in 160.
 */
const TREES_MAX = 128;

/** Indices in STEPS of the steps a+b, a·b, a−b and a/b. Because a is chosen at random, b−a and b/a are not needed. */
const KINDS = [0, 1, 2, 4] as const;

export const generator = defineGenerator({
  parameters,
  levels: TIERS,
  axes: [sizeAxis("numbers", [2, numbersMax])],
  generate,
  accepts: fits,
});

function generate(p: CountdownParameters, rng: Rng): CountdownInstance | undefined {
  const values = makeValues(p.numbers_max);
  const numbers: number[] = [];
  for (let tried = 0; tried < TREES_MAX; tried++) {
    const length = rng.int(p.numbers_min, p.numbers_max);
    for (let i = 0; i < length; i++) numbers[i] = rng.int(p.number_min, p.number_max);
    const target = randomValue(numbers, length, values, rng);
    if (Number.isInteger(target) && target >= lowestTarget(p, length) && target <= p.target_max) {
      return { numbers: numbers.slice(0, length), target };
    }
  }
  return undefined;
}

/**
 * Returns the value of a random tree over the first `length` numbers: combines two random values by a random operator
 * until one value is left. Returns NaN for a division by zero. The returned quotient is an integer exactly if the true
 * value is one, because numerator and denominator are exact and below 2^53.
 */
function randomValue(numbers: readonly number[], length: number, values: Values, rng: Rng): number {
  const { nums, dens } = values;
  for (let i = 0; i < length; i++) {
    nums[i] = numbers[i]!;
    dens[i] = 1;
  }
  for (let last = length - 1; last > 0; last--) {
    const i = rng.int(0, last);
    const other = rng.int(0, last - 1);
    const j = other >= i ? other + 1 : other;
    if (!combine(values, Math.min(i, j), rng.pick(KINDS), nums[i]!, dens[i]!, nums[j]!, dens[j]!)) return NaN;
    nums[Math.max(i, j)] = nums[last]!;
    dens[Math.max(i, j)] = dens[last]!;
  }
  return nums[0]! / dens[0]!;
}

// Reader of data pool rows with the columns of the public set of tasks with 3 to 4 numbers: {"nums": [44, 19, 35],
// "target": 98}.

export const rows = {
  read,
  columns: ["nums", "target"],
  levelOf: tierOf,
  difficulty: { measure: "solutions", source: "the count of solutions, then the target", of: difficulty },
  defaultPool: { name: "countdown", file: new URL("pool.jsonl", import.meta.url) },
} satisfies RowReader<CountdownInstance>;

/**
 * Returns the difficulty of an instance; larger is harder. Fewer solutions are harder (Curriculum RLOO 3.2). With equal
 * counts, larger targets are harder.
 */
function difficulty({ numbers, target }: CountdownInstance): number {
  return (SOLUTIONS_CAP - countSolutions(numbers, target)) * TARGETS + target;
}

/**
 * Factor of the count of solutions in a difficulty. It exceeds every target, so that targets only decide between equal
 * counts.
 */
const TARGETS = 2 ** 17;

function read(row: unknown): Parsed<CountdownInstance> {
  if (typeof row !== "object" || row === null) return malformed("a row is an object with nums and target");
  const { nums, target } = row as { readonly nums?: unknown; readonly target?: unknown };
  if (!Array.isArray(nums) || nums.length < numbersMin || nums.length > numbersMax) {
    return malformed(
      `column nums must be a list of ${numbersMin} to ${numbersMax} numbers, and is ${shownValue(nums)}`,
    );
  }
  const numbers: readonly unknown[] = nums;
  if (!numbers.every((each) => isWhole(each, numberMax))) {
    return malformed(`column nums must be whole numbers from 1 to ${numberMax}, and is ${shownValue(nums)}`);
  }
  if (!isWhole(target, targetMax))
    return malformed(`column target must be a whole number from 1 to ${targetMax}, and is ${shownValue(target)}`);
  return { kind: "answer", answer: { numbers, target } };
}

/** Returns the start of a value's JSON, for an error text. */
function shownValue(value: unknown): string {
  const text =
    typeof value === "bigint"
      ? `${value}`
      : JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? `${each}` : each));
  return text === undefined ? "not there" : text.slice(0, 64);
}

function isWhole(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max;
}
