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

function relative(rewards: readonly number[]): readonly number[] {
  const first = rewards[0] ?? 0;
  return rewards.map((reward) => reward - first);
}

// A loop: `reduce` takes several times as long, and this is done for every group.
function sumOf(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** RLOO: each reward less the mean of the others (ADSC equation 3). Fewer than two rewards: all 0. */
export function rloo(rewards: readonly number[]): readonly number[] {
  if (rewards.length < 2) return rewards.map(() => 0);
  const shifted = relative(rewards);
  const total = sumOf(shifted);
  return shifted.map((reward) => reward - (total - reward) / (rewards.length - 1));
}

/** Mean and population standard deviation, as GRPO takes them; both 0 for no rewards. */
export function meanAndStd(rewards: readonly number[]): { readonly mean: number; readonly std: number } {
  if (rewards.length === 0) return { mean: 0, std: 0 };
  const shifted = relative(rewards);
  const mean = sumOf(shifted) / shifted.length;
  let squares = 0;
  for (const reward of shifted) squares += (reward - mean) ** 2;
  return { mean: mean + (rewards[0] as number), std: Math.sqrt(squares / shifted.length) };
}

/** GRPO: (r − mean) / σ with the population's σ; all 0 where σ is 0. */
export function grpo(rewards: readonly number[]): readonly number[] {
  const { std } = meanAndStd(rewards);
  const shifted = relative(rewards);
  const mean = sumOf(shifted) / shifted.length;
  return shifted.map((reward) => (std > 0 ? (reward - mean) / std : 0));
}

function meanAbsolute(advantages: readonly number[]): number {
  let sum = 0;
  for (const advantage of advantages) sum += Math.abs(advantage);
  return sum / advantages.length;
}

/** Rewards in order of sample_index, so that sums are the same to the bit however they came. */
export function outcomeOf(rewards: readonly number[], solved: number): GroupOutcome {
  return {
    ...{ count: rewards.length, sum: sumOf(rewards) },
    solved,
    deviation: meanAndStd(rewards).std,
    advantage: rewards.length < 2 ? null : meanAbsolute(rloo(rewards)),
  };
}

/** Of advantages that the trainer computed; none: the group gives no signal. A mean of null is not known. */
export function reportedOutcome(advantages: readonly number[], rewardMean: number | null): GroupOutcome {
  const count = rewardMean === null ? 0 : Math.max(1, advantages.length);
  return {
    ...{ count, sum: count * (rewardMean ?? 0), solved: null, deviation: null },
    advantage: advantages.length === 0 ? null : meanAbsolute(advantages),
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

export type SignalName = keyof typeof signals;
