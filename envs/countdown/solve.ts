/** Counts the ways to reach the target by exhaustive search, and returns one of them. */
import type { SearchWork, Solution } from "../environment.ts";
import { binary, type CountdownAnswer, type Expression, literal } from "./expression.ts";
import { type CountdownInstance, LIMITS } from "./instance.ts";

// One step of countdown combines two values into one. Values are unreduced fractions in doubles: value i is nums[i] /
// dens[i].
//
// Every double here is an integer below 2^53 and therefore exact. Let M bound the numerator and denominator of a
// value. A step from values with M1 and M2 gives at most 2·M1·M2 (a sum). Hence n numbers of at most m give
// 2^(n−1)·m^n. This is 2.05e15 < 2^53 at the limits of instance.ts (n = 6, m = 200). No step needs a gcd, which makes
// the search fast.

/** Number of ways to combine a and b (docs/decisions/0005-countdown.md): a+b, a·b, a−b, b−a, a/b, b/a. */
export const STEP_KINDS = 6;

/** Operator of each kind of step. If `swapped` is true, b is the left operand. */
export const STEPS = [
  { operator: "+", swapped: false },
  { operator: "*", swapped: false },
  { operator: "-", swapped: false },
  { operator: "-", swapped: true },
  { operator: "/", swapped: false },
  { operator: "/", swapped: true },
] as const;

/** Fractions: value i is nums[i] / dens[i]. Denominators may be negative, but never zero. */
export interface Values {
  readonly nums: Float64Array;
  readonly dens: Float64Array;
}

export function makeValues(length: number): Values {
  return { nums: new Float64Array(length), dens: new Float64Array(length) };
}

/**
 * Combines the fractions an/ad and bn/bd by the step `kind`, and writes the result at index `at` of `values`. For a
 * division by zero, writes nothing and returns false.
 */
export function combine(
  values: Values,
  at: number,
  kind: number,
  an: number,
  ad: number,
  bn: number,
  bd: number,
): boolean {
  let num = 0;
  let den = ad * bd;
  if (kind === 0) num = an * bd + bn * ad;
  else if (kind === 1) num = an * bn;
  else if (kind === 2) num = an * bd - bn * ad;
  else if (kind === 3) num = bn * ad - an * bd;
  else {
    if ((kind === 4 ? bn : an) === 0) return false;
    num = kind === 4 ? an * bd : bn * ad;
    den = kind === 4 ? ad * bn : bd * an;
  }
  values.nums[at] = num;
  values.dens[at] = den;
  return true;
}

/**
 * Returns how many of the six ways to combine an/ad and bn/bd give the target. If target·den exceeds 2^53, so does its
 * rounded double. It is then larger than any numerator, so the comparison stays exact.
 */
export function hits(an: number, ad: number, bn: number, bd: number, target: number): number {
  const left = an * bd;
  const right = bn * ad;
  const goal = target * (ad * bd);
  let count = 0;
  if (left + right === goal) count++;
  if (an * bn === goal) count++;
  if (left - right === goal) count++;
  if (right - left === goal) count++;
  if (bn !== 0 && left === target * right) count++;
  if (an !== 0 && right === target * left) count++;
  return count;
}

/** Number of solutions at which counting stops (Curriculum RLOO 3.2). */
export const SOLUTIONS_CAP = 128;

/**
 * Number of places for the values of one state of the search. The state with k values left starts at index k · WIDTH.
 */
const WIDTH = LIMITS.numbersMax;

interface Search {
  readonly values: Values;
  readonly target: number;
  readonly cap: number;
  readonly nodesMax: number;
  /**
   * Step that the search tries in each state: for the state with k values left, its two positions and its kind, from
   * index 3 · k.
   */
  readonly path: Uint8Array;
  count: number;
  nodes: number;
}

function startSearch(numbers: readonly number[], target: number, cap: number, nodesMax: number): Search {
  const values = makeValues((WIDTH + 1) * WIDTH);
  values.nums.set(numbers, numbers.length * WIDTH);
  values.dens.fill(1);
  return { values, target, cap, nodesMax, path: new Uint8Array(3 * (WIDTH + 1)), count: 0, nodes: 0 };
}

/**
 * Counts the solutions that continue from the current state, which has k ≥ 2 values left. Stops at `cap` solutions, or
 * after `nodesMax` states.
 */
function visit(search: Search, k: number): void {
  const { nums, dens } = search.values;
  const from = k * WIDTH;
  if (search.nodes >= search.nodesMax) return;
  search.nodes++;
  if (k === 2) {
    search.count += hits(nums[from]!, dens[from]!, nums[from + 1]!, dens[from + 1]!, search.target);
    return;
  }
  for (let i = 0; i < k - 1; i++) {
    for (let j = i + 1; j < k; j++) {
      keepOthers(search.values, k, i, j);
      visitPair(search, k, i, j);
      if (search.count >= search.cap || search.nodes >= search.nodesMax) return;
    }
  }
}

/**
 * Copies the values of the state with k values left, except values i and j, to the front of the state with k − 1 left.
 */
function keepOthers({ nums, dens }: Values, k: number, i: number, j: number): void {
  let to = (k - 1) * WIDTH;
  for (let from = 0; from < k; from++) {
    if (from === i || from === j) continue;
    nums[to] = nums[k * WIDTH + from]!;
    dens[to] = dens[k * WIDTH + from]!;
    to++;
  }
}

/**
 * Continues the search after each of the six steps that combine values i and j of the state with k values left. The
 * result of the step becomes the last value of the next state.
 */
function visitPair(search: Search, k: number, i: number, j: number): void {
  const { values, path } = search;
  const a = k * WIDTH + i;
  const b = k * WIDTH + j;
  const to = (k - 1) * WIDTH + k - 2;
  path[3 * k] = i;
  path[3 * k + 1] = j;
  for (let kind = 0; kind < STEP_KINDS; kind++) {
    path[3 * k + 2] = kind;
    if (!combine(values, to, kind, values.nums[a]!, values.dens[a]!, values.nums[b]!, values.dens[b]!)) continue;
    visit(search, k - 1);
    if (search.count >= search.cap || search.nodes >= search.nodesMax) return;
  }
}

/**
 * Counts the ways to reach the target by combining two values n − 1 times. A way is a sequence of steps. Each step is
 * an unordered pair of positions and one of a+b, a·b, a−b, b−a, a/b, b/a. Stops at `cap` solutions, or when `work` has
 * no nodes left.
 */
export function countSolutions(
  numbers: readonly number[],
  target: number,
  cap: number = SOLUTIONS_CAP,
  work?: SearchWork,
): number {
  const search = startSearch(numbers, target, cap, work?.nodesLeft ?? Infinity);
  visit(search, numbers.length);
  if (work !== undefined) work.nodesLeft -= search.nodes;
  return Math.min(search.count, cap);
}

/**
 * Returns the first solution found. A task to satisfy has objective 1 if it is solved and 0 if not.
 * - With a solution, value is 1.
 * - If there is provably none, value is 0 and `proven` is true.
 * - If `nodesMax` states did not suffice, value is 0 and bound is 1. LIMITS allow at most 3.7 million states.
 *
 * Without a solution, the answer is the sum of the numbers.
 */
export function solve(instance: CountdownInstance, nodesMax = Infinity): Solution<CountdownAnswer> {
  const { numbers, target } = instance;
  const search = startSearch(numbers, target, 1, nodesMax);
  visit(search, numbers.length);
  const { nodes } = search;
  if (search.count > 0) {
    return { answer: { expression: foundExpression(search, numbers) }, value: 1, bound: 1, proven: true, nodes };
  }
  const sum = numbers.map(literal).reduce((left, right) => binary("+", left, right));
  const proven = nodes < nodesMax;
  return { answer: { expression: sum }, value: 0, bound: proven ? 0 : 1, proven, nodes };
}

/**
 * Returns the solution that the search found as an expression. The search's path holds all steps except the last one,
 * which `visit` counts without storing it.
 */
function foundExpression(search: Search, numbers: readonly number[]): Expression {
  let trees = numbers.map(literal);
  for (let k = numbers.length; k > 2; k--) {
    const [i, j, kind] = [search.path[3 * k]!, search.path[3 * k + 1]!, search.path[3 * k + 2]!];
    const joined = join(kind, trees[i]!, trees[j]!);
    trees = [...trees.filter((_, at) => at !== i && at !== j), joined];
  }
  return join(lastKind(search), trees[0]!, trees[1]!);
}

function join(kind: number, a: Expression, b: Expression): Expression {
  const { operator, swapped } = STEPS[kind]!;
  return swapped ? binary(operator, b, a) : binary(operator, a, b);
}

/** Returns the first kind of step that combines the last two values into the target. */
function lastKind({ values, target }: Search): number {
  const { nums, dens } = values;
  const a = 2 * WIDTH;
  for (let kind = 0; kind < STEP_KINDS; kind++) {
    const defined = combine(values, WIDTH, kind, nums[a]!, dens[a]!, nums[a + 1]!, dens[a + 1]!);
    if (defined && nums[WIDTH] === target * dens[WIDTH]!) return kind;
  }
  throw new Error("bug: a solution that the search counted has no last step");
}
