/** How a bandit turns signals into what it keeps of each arm, and that into probabilities. All of it pure. */
import type { ObservedGroup, View } from "../policy.ts";

/** What rules read of a bandit's configuration. */
export interface RuleNumbers {
  /** EMA-softmax: the moving average's rate, in (0, 1], and the softmax's temperature, above 0. */
  readonly alpha: number;
  readonly tau: number;
  /** EXP3.S: the learning rate, in (0, 1], and the share of the weights that is spread over all arms, in [0, 1]. */
  readonly exp3Rate: number;
  readonly exp3Share: number;
  /** Thompson sampling and UCB: by what the past counts less after each update batch, in (0, 1]. */
  readonly discount: number;
  /** Thompson sampling: the prior's standard deviation; UCB: the bonus' factor. At least 0. */
  readonly exploration: number;
}

/** A signal of a group, as the rule is to learn from it. */
export interface Lesson extends Pick<ObservedGroup, "arm" | "weight" | "probability"> {
  readonly signal: number;
}

/** What a rule keeps: some numbers of each arm, in columns that have a number for each. */
export type Columns = readonly (readonly number[])[];

export interface Rule {
  /** Rules of one keeping understand each other's columns. */
  readonly keeps: "means" | "log weights" | "discounted sums";
  /** An arm's numbers before anything was observed. */
  readonly initial: readonly number[];
  /** What is drawn by, before an even share is mixed in. They sum to 1. */
  probabilities(numbers: RuleNumbers, columns: Columns, view: View): readonly number[];
  /** After one more update batch. */
  observe(numbers: RuleNumbers, columns: Columns, lessons: readonly Lesson[]): Columns;
  /** What each arm is worth, for those who look on. */
  values(columns: Columns): readonly number[];
  /** An arm's numbers that stand for a mean of signals; left out: nothing in it does. */
  fromMean?(mean: number): readonly number[];
}

/** Signals of an arm in one update batch. */
export interface ArmSums {
  /** Groups with a signal. */
  readonly count: number;
  /** The sum of their weights, and of their signals times their weights. */
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
