/** What a closed group came to, and the signals that a policy may learn from it. */
import { meanAndStd, rloo } from "./advantages.ts";

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

function meanAbsolute(advantages: readonly number[]): number {
  return advantages.reduce((sum, advantage) => sum + Math.abs(advantage), 0) / advantages.length;
}

/** Rewards in order of sample_index, so that sums are the same to the bit however they came. */
export function outcomeOf(rewards: readonly number[], solved: number): GroupOutcome {
  return {
    count: rewards.length,
    sum: rewards.reduce((sum, reward) => sum + reward, 0),
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

/** The one place where signals are registered. */
export const signals = { ABSOLUTE_ADVANTAGE: absoluteAdvantage } as const satisfies Readonly<Record<string, Signal>>;

export type SignalName = keyof typeof signals;
