/** Random expression trees: the numbers are a tree's leaves, the target is its value (paper 004, section 3.4). */
import type { Generator, Level, ParameterInfo, Parameters, Parsed, RowReader } from "../environment.ts";
import type { Rng } from "../lib/rng.ts";
import { type CountdownInstance, LIMITS } from "./instance.ts";
import { combine, countSolutions, makeValues, SOLUTIONS_CAP, type Values } from "./solve.ts";

// The parameters of countdown's generator, the tiers made of them (paper 004, table 1), and which instance fits which.
// README.md says in words what each is and why.

/** From this many numbers on, few solutions make an instance sparse; three numbers have few by nature. */
const SPARSE_NUMBERS_MIN = 4;

/** At most this many ways to the target are few: 8% of generated four-number instances have no more. See README.md. */
const SPARSE_SOLUTIONS = 3;

/** The parameters by name. They are complete when an environment sees them (environment.ts). */
export type CountdownParameters = Readonly<
  Record<
    | "numbers_min"
    | "numbers_max"
    | "number_min"
    | "number_max"
    | "target_min"
    | "target_max"
    | "fewest_target_min"
    | "solutions_min"
    | "solutions_max"
    | "sparse_solutions"
    | "sparse_kept",
    number
  >
>;

function parameter(name: string, description: string, min: number, max: number, defaultValue: number): ParameterInfo {
  return { name, description, min, max, defaultValue, integer: true };
}

const { numbersMin, numbersMax, numberMax, targetMax } = LIMITS;

export const parameters: readonly ParameterInfo[] = [
  parameter("numbers_min", "Fewest numbers given.", numbersMin, numbersMax, 3),
  parameter("numbers_max", "Most numbers given.", numbersMin, numbersMax, 4),
  parameter("number_min", "Smallest number drawn.", 1, numberMax, 1),
  parameter("number_max", "Largest number drawn.", 1, numberMax, 99),
  parameter("target_min", "Smallest target.", 1, targetMax, 1),
  parameter("target_max", "Largest target.", 1, targetMax, 1000),
  parameter(
    "fewest_target_min",
    "Smallest target with only numbers_min numbers, if above target_min.",
    1,
    targetMax,
    1,
  ),
  parameter("solutions_min", "Fewest ways to the target.", 1, SOLUTIONS_CAP, 1),
  parameter("solutions_max", "Most ways to the target; 128: no limit.", 1, SOLUTIONS_CAP, SOLUTIONS_CAP),
  parameter(
    "sparse_solutions",
    "An instance of four or more numbers with at most this many ways is sparse; 0: none is.",
    0,
    SOLUTIONS_CAP,
    0,
  ),
  parameter("sparse_kept", "Sparse instances: 0 never fit, 1 fit with any target up to target_max.", 0, 1, 1),
];

const defaults: Parameters = Object.fromEntries(parameters.map((each) => [each.name, each.defaultValue]));

function tier(name: string, description: string, given: Parameters): Level {
  return { name, description, parameters: { ...defaults, ...given } };
}

/** Easiest first. The first tier of the paper that fits wins, and so each leaves out what an earlier one holds. */
export const tiers: readonly Level[] = [
  tier("T0", "3 numbers, targets to 30", { numbers_max: 3, target_max: 30 }),
  tier("T1", "3 numbers and targets from 31 to 75, or 4 numbers and targets to 75, not sparse", {
    target_max: 75,
    fewest_target_min: 31,
    sparse_solutions: SPARSE_SOLUTIONS,
    sparse_kept: 0,
  }),
  tier("T2", "4 numbers, targets from 76 to 150, not sparse", {
    numbers_min: 4,
    target_min: 76,
    target_max: 150,
    sparse_solutions: SPARSE_SOLUTIONS,
    sparse_kept: 0,
  }),
  tier("T3", "4 numbers, targets from 151 to 1000, or sparse with any target to 1000", {
    numbers_min: 4,
    target_min: 151,
    sparse_solutions: SPARSE_SOLUTIONS,
  }),
  { ...tier("OOD", "5 numbers", { numbers_min: 5, numbers_max: 5 }), evaluationOnly: true },
];

/** Smallest target that a number of numbers can have; some below target_min are sparse, which takes a search to see. */
function lowestTarget(p: CountdownParameters, length: number): number {
  if (sparseSolutionsMax(p, length) > 0 && p.sparse_kept === 1) return 1;
  return plainTargetMin(p, length);
}

/** Whether count of numbers, target and count of solutions are what the parameters ask for; searches. */
export function fits({ numbers, target }: CountdownInstance, p: CountdownParameters): boolean {
  const { length } = numbers;
  if (length < p.numbers_min || length > p.numbers_max) return false;
  if (target < lowestTarget(p, length) || target > p.target_max) return false;
  const sparseMax = sparseSolutionsMax(p, length);
  const unlimited = p.solutions_max >= SOLUTIONS_CAP;
  const enough = Math.max(p.solutions_min, sparseMax + 1, unlimited ? 1 : p.solutions_max + 1);
  const solutions = countSolutions(numbers, target, enough);
  if (solutions < p.solutions_min || (!unlimited && solutions > p.solutions_max)) return false;
  return solutions <= sparseMax ? p.sparse_kept === 1 : target >= plainTargetMin(p, length);
}

/** The tier that the instance fits, whatever the size of its numbers; undefined: none. */
export function tierOf(instance: CountdownInstance): string | undefined {
  return tiers.find((each) => fits(instance, each.parameters))?.name;
}

function sparseSolutionsMax(p: CountdownParameters, length: number): number {
  return length >= SPARSE_NUMBERS_MIN ? p.sparse_solutions : 0;
}

function plainTargetMin(p: CountdownParameters, length: number): number {
  return length === p.numbers_min ? Math.max(p.target_min, p.fewest_target_min) : p.target_min;
}

/** Trees tried in one draw. A tree of T0 fits one time in 26, so that one draw in 160 finds none and is drawn anew. */
const TREES_MAX = 128;

/** a+b, a·b, a−b, a/b; which value is a is drawn, so the steps from b to a are not needed. */
const KINDS = [0, 1, 2, 4] as const;

export const generator: Generator<CountdownInstance> = { draw, accepts: fits };

function draw(p: CountdownParameters, rng: Rng): CountdownInstance | undefined {
  if (p.numbers_min > p.numbers_max || p.number_min > p.number_max) return undefined;
  const values = makeValues(p.numbers_max);
  const drawn: number[] = [];
  for (let tried = 0; tried < TREES_MAX; tried++) {
    const length = rng.int(p.numbers_min, p.numbers_max);
    for (let i = 0; i < length; i++) drawn[i] = rng.int(p.number_min, p.number_max);
    const target = drawValue(drawn, length, values, rng);
    if (Number.isInteger(target) && target >= lowestTarget(p, length) && target <= p.target_max) {
      return { numbers: drawn.slice(0, length), target };
    }
  }
  return undefined;
}

/**
 * The value of a random tree over the first `length` numbers: two values drawn at random become one until one is left.
 * NaN where it divides by zero. Whole exactly if the value is, for both parts are exact and below 2^53.
 */
function drawValue(numbers: readonly number[], length: number, values: Values, rng: Rng): number {
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

// Rows of a data pool, with the columns of the public 3-to-4 set: {"nums": [44, 19, 35], "target": 98}.

export const rows: RowReader<CountdownInstance> = {
  read,
  levelOf: tierOf,
  defaultPool: { name: "countdown", file: new URL("pool.jsonl", import.meta.url) },
};

function read(row: unknown): Parsed<CountdownInstance> {
  if (typeof row !== "object" || row === null) return malformed("a row is an object with nums and target");
  const { nums, target } = row as { readonly nums?: unknown; readonly target?: unknown };
  const { numbersMin, numbersMax, numberMax, targetMax } = LIMITS;
  if (!Array.isArray(nums) || nums.length < numbersMin || nums.length > numbersMax) {
    return malformed(`nums must be a list of ${numbersMin} to ${numbersMax} numbers`);
  }
  const numbers: readonly unknown[] = nums;
  if (!numbers.every((each) => isWhole(each, numberMax))) {
    return malformed(`nums must be whole numbers from 1 to ${numberMax}`);
  }
  if (!isWhole(target, targetMax)) return malformed(`target must be a whole number from 1 to ${targetMax}`);
  return { kind: "answer", answer: { numbers, target } };
}

function isWhole(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max;
}

function malformed(reason: string): Parsed<CountdownInstance> {
  return { kind: "malformed", reason };
}
