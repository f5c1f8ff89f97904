/** Computes the learning signals of a closed group, which policies read, and measures of the group's success. */
import { type GroupOutcome, outcomeOf, type RewardRange } from "./advantages.ts";

/**
 * Computes a signal from a group's outcome. Undefined: the group gives none. Signals have the names of the contract's
 * enum BanditSignal.
 */
type Signal = (outcome: GroupOutcome, range: RewardRange) => number | undefined;

/**
 * Returns the mean absolute advantage (1/K) Σ|A_k| divided by the reward range (ADSC equation 3). 0 if the scheme has
 * only one possible reward. Undefined if the advantages are not known.
 */
const absoluteAdvantage: Signal = ({ advantage }, { min, max }) => {
  if (advantage === null) return undefined;
  return max > min ? advantage / (max - min) : 0;
};

/**
 * Returns p (1 − p), which is greatest at p = 1/2, where p is the share of solved samples. Undefined for fewer than two
 * samples, and if it is not known which are solved.
 */
const solvedVariance: Signal = ({ count, solved }) => {
  if (solved === null || count < 2) return undefined;
  return (solved / count) * (1 - solved / count);
};

/**
 * Returns the share of solved samples. For the signal LEARNING_PROGRESS, the bandit then turns the shares of an arm's
 * groups into one signal of the arm (policies/bandit/progress.ts).
 */
const solvedShare: Signal = ({ count, solved }) => (solved === null || count === 0 ? undefined : solved / count);

/**
 * Returns 1 if some samples are solved and others are not, else 0. GRPO learns nothing from a group in which all
 * samples are solved, or none.
 */
const mixedOutcomes: Signal = ({ count, solved }) => {
  if (solved === null || count < 2) return undefined;
  return Number(solved > 0 && solved < count);
};

export const signals = {
  ABSOLUTE_ADVANTAGE: absoluteAdvantage,
  SOLVED_VARIANCE: solvedVariance,
  LEARNING_PROGRESS: solvedShare,
  MIXED_OUTCOMES: mixedOutcomes,
} as const satisfies Readonly<Record<string, Signal>>;

/**
 * Returns (mean reward − min) / (max − min), where `min` and `max` are the reward scheme's limits. 0 if both are equal.
 */
const rewardShare: Signal = ({ count, sum }, { min, max }) =>
  count === 0 ? undefined : max > min ? Math.min(1, Math.max(0, (sum / count - min) / (max - min))) : 0;

/**
 * Returns the mean quality of the answers. If only rewards are known (reported advantages), it returns the mean reward,
 * scaled to [0, 1].
 */
const quality: Signal = (outcome, range) => {
  const total = outcome.quality ?? outcome.solved;
  const { count } = outcome;
  if (count === 0) return undefined;
  return total === null ? rewardShare(outcome, range) : total / count;
};

/**
 * Returns how far the answers are on the way from a trivial answer, which takes no thought (0), to the optimum (1). If
 * that is not known, returns the mean quality.
 */
const improvement: Signal = (outcome, range) => outcome.facts?.[IMPROVEMENT] ?? quality(outcome, range);

/** Name of the extra score value that the measure IMPROVEMENT reads (envs/score.ts). */
export const IMPROVEMENT = "improvement";

/** Measures of a group's success by name, in [0, 1]. Their names are those of the contract's enum SuccessMeasure. */
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

/** Returns whether a signal compares the samples of a group. If so, a group of one sample gives no signal. */
export function needsTwo(name: SignalName | MeasureName): boolean {
  const one = outcomeOf([1], 1);
  return signalNamed(name)(one, { min: 0, max: 1 }) === undefined;
}
