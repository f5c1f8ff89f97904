/**
 * Interface of a bandit's rule, which turns signals into numbers of each arm, and those into probabilities. Rules are
 * pure.
 */
import type { ObservedGroup, View } from "../policy.ts";

/** Numbers of a bandit's configuration that rules read. */
export interface RuleNumbers {
  /** EMA-softmax: the moving average's rate, in (0, 1], and the softmax's temperature, above 0. */
  readonly alpha: number;
  readonly tau: number;
  /** EXP3.S: the learning rate, in (0, 1], and the share of the weights that is spread over all arms, in [0, 1]. */
  readonly exp3Rate: number;
  readonly exp3Share: number;
  /** Thompson sampling and UCB: factor of earlier signals after each update batch, in (0, 1]. */
  readonly discount: number;
  /** Thompson sampling: the prior's standard deviation; UCB: the bonus' factor. At least 0. */
  readonly exploration: number;
}

/** A signal of a group, from which the rule learns. */
export interface Lesson extends Pick<ObservedGroup, "arm" | "weight" | "probability"> {
  readonly signal: number;
}

/** Numbers that a rule keeps of each arm. Each column has one number for each arm. */
export type Columns = readonly (readonly number[])[];

export interface Rule {
  /** Kind of numbers in the columns. Rules of one kind can use each other's columns. */
  readonly keeps: "means" | "log weights" | "discounted sums";
  /** Numbers of an arm before any signal. */
  readonly initial: readonly number[];
  /** Returns the probabilities before an even share is mixed in. Their sum is 1. */
  probabilities(numbers: RuleNumbers, columns: Columns, view: View): readonly number[];
  /** Returns the columns after one more update batch. */
  observe(numbers: RuleNumbers, columns: Columns, lessons: readonly Lesson[]): Columns;
  /** Returns the value of each arm, which is shown to people. */
  values(columns: Columns): readonly number[];
  /** Returns the numbers of an arm that stand for a mean of signals. Unset: the rule has no such numbers. */
  fromMean?(mean: number): readonly number[];
}

/** Sums of an arm's signals in one update batch. */
export interface ArmSums {
  /** Number of groups with a signal. */
  readonly count: number;
  /** Sum of the groups' weights, and sum of their weighted signals. */
  readonly weight: number;
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
