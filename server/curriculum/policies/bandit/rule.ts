/**
 * Interface of a bandit's rule. A rule keeps numbers for each arm, learns from signals, and computes the arms'
 * probabilities. Rules are pure functions.
 */
import type { ObservedGroup, View } from "../policy.ts";

/** Numbers in a bandit's configuration that its rule reads. */
export interface RuleNumbers {
  /** EMA-softmax: rate of the moving average, in (0, 1]. */
  readonly alpha: number;
  /** EMA-softmax: temperature of the softmax, above 0. */
  readonly tau: number;
  /** EXP3.S: learning rate, in (0, 1]. */
  readonly exp3Rate: number;
  /** EXP3.S: share of the weights that is spread over all arms, in [0, 1]. */
  readonly exp3Share: number;
  /** Thompson sampling and UCB: factor by which earlier signals are multiplied after each update batch, in (0, 1]. */
  readonly discount: number;
  /** Thompson sampling: standard deviation of the prior. UCB: factor of the confidence bonus. At least 0. */
  readonly exploration: number;
}

/** Learning signal of one group, with its arm, weight and draw probability. */
export interface Lesson extends Pick<ObservedGroup, "arm" | "weight" | "probability"> {
  readonly signal: number;
}

/** Numbers that a rule keeps about the arms: lists (columns) with one number for each arm. */
export type Columns = readonly (readonly number[])[];

export interface Rule {
  /** Meaning of the numbers in the columns. Rules with the same meaning can take over each other's columns. */
  readonly keeps: "means" | "log weights" | "discounted sums";
  /** Number in each column for an arm that has had no signal. */
  readonly initial: readonly number[];
  /**
   * Returns each arm's probability; their sum is 1. The bandit then spreads a share ε of the draws evenly over the
   * arms.
   */
  probabilities(numbers: RuleNumbers, columns: Columns, view: View): readonly number[];
  /** Returns the columns after one more update batch. */
  observe(numbers: RuleNumbers, columns: Columns, lessons: readonly Lesson[]): Columns;
  /** Returns a value for each arm, for display, e.g. its mean signal. */
  values(columns: Columns): readonly number[];
  /**
   * Returns the numbers to put into the columns for an arm whose mean signal is known. Unset: the rule cannot start
   * from a mean.
   */
  fromMean?(mean: number): readonly number[];
}

/** Sums over an arm's groups in one update batch. */
export interface ArmSums {
  /** Number of groups with a signal. */
  readonly count: number;
  /** Sum of the groups' weights. */
  readonly weight: number;
  /** Sum of weight × signal over the groups. */
  readonly signal: number;
}

export function sumByArm(armCount: number, lessons: readonly Lesson[]): readonly ArmSums[] {
  const sums = Array.from({ length: armCount }, () => ({ count: 0, weight: 0, signal: 0 }));
  for (const { arm, signal, weight } of lessons) {
    const sum = sums[arm];
    if (sum === undefined) continue;
    sum.count++;
    sum.weight += weight;
    sum.signal += weight * signal;
  }
  return sums;
}
