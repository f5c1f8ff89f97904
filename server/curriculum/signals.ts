/** What a closed group came to: the advantages of its samples, and the signals that a policy may learn from it. */

/** Rewards of some samples. */
export interface RewardSums {
  /** How many rewards. */
  readonly count: number;
  readonly sum: number;
  /** How many were solved; null: not known (reported advantages). */
  readonly solved: number | null;
}

/** All that a signal may be made of. */
export interface GroupOutcome extends RewardSums {
  /** The sum of how good the answers are, each in [0, 1]; undefined: as many as are solved. */
  readonly quality: number | undefined;
  /** Means of what the policy reads beside, by name, each over the samples that have it; left out: none has any. */
  readonly facts?: Readonly<Record<string, number>> | undefined;
  /** The rewards' population standard deviation; null: not known. */
  readonly deviation: number | null;
  /** (1/K) Σ|A_k|, A_k the RLOO or the reported advantages; null: none, for which it takes two rewards. */
  readonly advantage: number | null;
}

/** Smallest and largest reward of a scheme. */
export interface RewardRange {
  readonly min: number;
  readonly max: number;
}

// Advantages of one group. Rewards are in order of sample_index, so that sums do not depend on the order in which they
// came. They are taken relative to the first reward: equal rewards then have advantages of exactly 0.

/** Rewards relative to the first; their sum, mean and population standard deviation, 0 for no rewards. */
type Moments = ReturnType<typeof momentsOf>;

/** Numbers that lie within this share of a scheme's range are equal: their difference is one of rounding. */
const SPREAD_MIN = 1e-9;

/** Whether numbers are equal but for rounding. Without a range only equal bits are equal. */
function areAlike(numbers: readonly number[], range: RewardRange | undefined): boolean {
  if (range === undefined) return false;
  const [least, greatest] = [Math.min(...numbers), Math.max(...numbers)];
  // The rewards of a scheme of one value have no range: rounding depends on how large they are.
  const span = range.max - range.min || Math.abs(range.max);
  return greatest - least < SPREAD_MIN * span;
}

function momentsOf(rewards: readonly number[], range: RewardRange | undefined) {
  const [first = 0] = rewards;
  const shifted = rewards.map((reward) => reward - first);
  const total = shifted.reduce((sum, reward) => sum + reward, 0);
  if (rewards.length === 0) return { shifted, total, mean: 0, std: 0 };
  const mean = total / rewards.length;
  if (areAlike(rewards, range)) return { shifted: shifted.fill(0), total: 0, mean, std: 0 };
  const squares = shifted.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  return { shifted, total, mean, std: Math.sqrt(squares / rewards.length) };
}

function rlooOf({ shifted, total }: Moments): readonly number[] {
  const others = shifted.length - 1;
  return shifted.map((reward) => (others < 1 ? 0 : reward - (total - reward) / others));
}

function grpoOf({ shifted, mean, std }: Moments): readonly number[] {
  return shifted.map((reward) => (std > 0 ? (reward - mean) / std : 0));
}

/** Rewards that are equal but for rounding, by the range of their scheme, have advantages and a deviation of 0. */
export function advantagesOf(rewards: readonly number[], range: RewardRange) {
  const moments = momentsOf(rewards, range);
  const { mean, std } = moments;
  return {
    /** Each reward less the mean of the others (ADSC equation 3). Fewer than two rewards: all 0. */
    rloo: rlooOf(moments),
    /** (r − mean) / std; all 0 where std is 0. */
    grpo: grpoOf(moments),
    /** Mean and population standard deviation of the rewards, as GRPO takes them; both 0 for no rewards. */
    mean: mean + (rewards[0] ?? 0),
    std,
  };
}

function meanAbsolute(advantages: readonly number[]): number {
  return advantages.reduce((sum, advantage) => sum + Math.abs(advantage), 0) / advantages.length;
}

/**
 * Rewards in order of sample_index, so that sums are the same to the bit however they came. Without a range, as in runs of
 * servers that did not know of it, rewards count as different even if only rounding tells them apart.
 */
export function outcomeOf(
  rewards: readonly number[],
  solved: number,
  quality = solved,
  range?: RewardRange,
): GroupOutcome {
  const moments = momentsOf(rewards, range);
  return {
    count: rewards.length,
    sum: rewards.reduce((sum, reward) => sum + reward, 0),
    solved,
    quality: quality === solved ? undefined : quality,
    deviation: moments.std,
    advantage: rewards.length < 2 ? null : meanAbsolute(rlooOf(moments)),
  };
}

/** Means by name, each over the samples that have it; undefined: none has any. */
export function meanFacts(
  samples: readonly (Readonly<Record<string, number>> | undefined)[],
): Readonly<Record<string, number>> | undefined {
  const sums = new Map<string, { count: number; sum: number }>();
  for (const facts of samples)
    for (const [name, value] of Object.entries(facts ?? {})) {
      const { count, sum } = sums.get(name) ?? { count: 0, sum: 0 };
      sums.set(name, { count: count + 1, sum: sum + value });
    }
  if (sums.size === 0) return undefined;
  return Object.fromEntries([...sums].map(([name, { count, sum }]) => [name, sum / count]));
}

/** The outcome by advantages that the trainer computed; none: the group gives no signal. A mean of null is not known. */
export function reportedOutcome(
  advantages: readonly number[],
  rewardMean: number | null,
  range?: RewardRange,
): GroupOutcome {
  const isNoise = areAlike([0, ...advantages], range);
  const count = rewardMean === null ? 0 : Math.max(1, advantages.length);
  return {
    count,
    sum: count * (rewardMean ?? 0),
    solved: null,
    quality: undefined,
    deviation: null,
    advantage: advantages.length === 0 ? null : isNoise ? 0 : meanAbsolute(advantages),
  };
}

/** A signal of a group; undefined: it gives none. Names are those of the contract's enum BanditSignal. */
type Signal = (outcome: GroupOutcome, range: RewardRange) => number | undefined;

/** (1/K) Σ|A_k| over the span of the rewards (ADSC equation 3). A scheme of one value only has no signal but 0. */
const absoluteAdvantage: Signal = ({ advantage }, { min, max }) => {
  if (advantage === null) return undefined;
  return max > min ? advantage / (max - min) : 0;
};

/** p (1 − p), p the share of solved samples: greatest where half of them are. One sample alone says nothing of it. */
const solvedVariance: Signal = ({ count, solved }) => {
  if (solved === null || count < 2) return undefined;
  return (solved / count) * (1 - solved / count);
};

/** p: what the bandit makes learning progress of, which is an arm's and not a group's (policies/bandit/progress.ts). */
const solvedShare: Signal = ({ count, solved }) => (solved === null || count === 0 ? undefined : solved / count);

/** Whether some samples are solved and some are not: GRPO learns nothing from a group of one kind. */
const mixedOutcomes: Signal = ({ count, solved }) => {
  if (solved === null || count < 2) return undefined;
  return Number(solved > 0 && solved < count);
};

/** The one place where signals are registered. */
export const signals = {
  ABSOLUTE_ADVANTAGE: absoluteAdvantage,
  SOLVED_VARIANCE: solvedVariance,
  LEARNING_PROGRESS: solvedShare,
  MIXED_OUTCOMES: mixedOutcomes,
} as const satisfies Readonly<Record<string, Signal>>;

/** (mean − min) / (max − min). */
const rewardShare: Signal = ({ count, sum }, { min, max }) =>
  count === 0 ? undefined : max > min ? Math.min(1, Math.max(0, (sum / count - min) / (max - min))) : 0;

/** How good the answers are; where only rewards are known (reported advantages), those. */
const quality: Signal = (outcome, range) => {
  const total = outcome.quality ?? outcome.solved;
  const { count } = outcome;
  if (count === 0) return undefined;
  return total === null ? rewardShare(outcome, range) : total / count;
};

/** How far the answers are from the trivial one to the optimum; where that is not known, how good they are. */
const improvement: Signal = (outcome, range) => outcome.facts?.[IMPROVEMENT] ?? quality(outcome, range);

/** The fact that the measure of that name reads (envs/score.ts). */
export const IMPROVEMENT = "improvement";

/** How well a group did, in [0, 1]. Names are those of the contract's enum SuccessMeasure. */
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

/** Whether a signal compares rewards of a group, so that one reward gives none. */
export function needsTwo(name: SignalName | MeasureName): boolean {
  const one = outcomeOf([1], 1);
  return signalNamed(name)(one, { min: 0, max: 1 }) === undefined;
}
