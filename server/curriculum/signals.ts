/** Signals of a closed group, from which policies learn, and measures of its success. */
import { type GroupOutcome, outcomeOf, type RewardRange } from "./advantages.ts";

/**
 * Computes a signal of a group. Undefined: the group gives none. Names are those of the contract's enum BanditSignal.
 */
type Signal = (outcome: GroupOutcome, range: RewardRange) => number | undefined;

/**
 * (1/K) Σ|A_k| divided by the range of the rewards (ADSC equation 3). For a scheme with a single reward the signal is
 * 0.
 */
const absoluteAdvantage: Signal = ({ advantage }, { min, max }) => {
  if (advantage === null) return undefined;
  return max > min ? advantage / (max - min) : 0;
};

/** Returns p (1 − p), which is greatest at one half. Here p is the share of solved samples. One sample gives no signal. */
const solvedVariance: Signal = ({ count, solved }) => {
  if (solved === null || count < 2) return undefined;
  return (solved / count) * (1 - solved / count);
};

/**
 * Returns the share of solved samples. The bandit computes learning progress from it, for an arm and not for a group
 * (policies/bandit/progress.ts).
 */
const solvedShare: Signal = ({ count, solved }) => (solved === null || count === 0 ? undefined : solved / count);

/** Whether some samples are solved and some are not. GRPO learns nothing from a group in which all are alike. */
const mixedOutcomes: Signal = ({ count, solved }) => {
  if (solved === null || count < 2) return undefined;
  return Number(solved > 0 && solved < count);
};

/** Registry of signals. */
export const signals = {
  ABSOLUTE_ADVANTAGE: absoluteAdvantage,
  SOLVED_VARIANCE: solvedVariance,
  LEARNING_PROGRESS: solvedShare,
  MIXED_OUTCOMES: mixedOutcomes,
} as const satisfies Readonly<Record<string, Signal>>;

/** (mean − min) / (max − min). */
const rewardShare: Signal = ({ count, sum }, { min, max }) =>
  count === 0 ? undefined : max > min ? Math.min(1, Math.max(0, (sum / count - min) / (max - min))) : 0;

/** Mean quality of the answers. If only rewards are known (reported advantages), the mean reward. */
const quality: Signal = (outcome, range) => {
  const total = outcome.quality ?? outcome.solved;
  const { count } = outcome;
  if (count === 0) return undefined;
  return total === null ? rewardShare(outcome, range) : total / count;
};

/** Position of the answers between the trivial answer and the optimum. If it is not known, the mean quality. */
const improvement: Signal = (outcome, range) => outcome.facts?.[IMPROVEMENT] ?? quality(outcome, range);

/** Name of the fact that the measure IMPROVEMENT reads (envs/score.ts). */
export const IMPROVEMENT = "improvement";

/** Measures of a group's success, in [0, 1]. Names are those of the contract's enum SuccessMeasure. */
export const measures = {
  QUALITY: quality,
  SOLVED: solvedShare,
  REWARD: rewardShare,
  IMPROVEMENT: improvement,
} as const satisfies Readonly<Record<string, Signal>>;

export type MeasureName = keyof typeof measures;
export type SignalName = keyof typeof signals;

const byName: Readonly<Record<SignalName | MeasureName, Signal>> = { ...signals, ...measures };

export function signalNamed(name: SignalName | MeasureName): Signal {
  return byName[name];
}

/** Returns whether a signal compares the rewards of a group, so that a single reward gives none. */
export function needsTwo(name: SignalName | MeasureName): boolean {
  const one = outcomeOf([1], 1);
  return signalNamed(name)(one, { min: 0, max: 1 }) === undefined;
}
