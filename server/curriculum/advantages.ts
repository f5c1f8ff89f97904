/** Advantages of a group's samples, and the outcome of a closed group from which signals are computed. */

/** Sums of the rewards of some samples. */
export interface RewardSums {
  /** Number of rewards. */
  readonly count: number;
  readonly sum: number;
  /** Number of solved samples. Null: not known (reported advantages). */
  readonly solved: number | null;
}

/** Values from which signals are computed. */
export interface GroupOutcome extends RewardSums {
  /** Sum of the qualities of the answers, each in [0, 1]. Undefined: equal to the number of solved samples. */
  readonly quality: number | undefined;
  /**
   * Means of the facts that the policy reads, by name, each over the samples that have the fact. Unset: no sample has
   * any.
   */
  readonly facts?: Readonly<Record<string, number>> | undefined;
  /** Population standard deviation of the rewards. Null: not known. */
  readonly deviation: number | null;
  /**
   * (1/K) Σ|A_k|, where A_k are the RLOO or the reported advantages. Null: there is none, because it takes two rewards.
   */
  readonly advantage: number | null;
}

/** Smallest and largest reward of a scheme. */
export interface RewardRange {
  readonly min: number;
  readonly max: number;
}

// Advantages of one group. Rewards are in order of sample_index, so sums do not depend on the order of arrival. Rewards
// are taken relative to the first one, so that equal rewards have advantages of exactly 0.

/**
 * Rewards relative to the first one, with their sum, mean and population standard deviation. All are 0 without rewards.
 */
type Moments = ReturnType<typeof momentsOf>;

/** Numbers that differ by less than this share of a scheme's range are equal: only rounding separates them. */
const SPREAD_MIN = 1e-9;

/**
 * Returns whether numbers are equal except for rounding. Without a range only identical numbers are equal, and it
 * returns false.
 */
function areAlike(numbers: readonly number[], range: RewardRange | undefined): boolean {
  if (range === undefined) return false;
  const [least, greatest] = [Math.min(...numbers), Math.max(...numbers)];
  // A scheme with a single reward has no range, so its size is the measure of rounding.
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

/**
 * Returns the advantages of rewards. Rewards that are equal except for rounding, by the range of their scheme, have
 * advantages and a deviation of 0.
 */
export function advantagesOf(rewards: readonly number[], range: RewardRange) {
  const moments = momentsOf(rewards, range);
  const { mean, std } = moments;
  return {
    /** Each reward minus the mean of the others (ADSC equation 3). All 0 for fewer than two rewards. */
    rloo: rlooOf(moments),
    /** (r − mean) / std. All 0 if std is 0. */
    grpo: grpoOf(moments),
    /** Mean and population standard deviation of the rewards, as in GRPO. Both are 0 without rewards. */
    mean: mean + (rewards[0] ?? 0),
    std,
  };
}

function meanAbsolute(advantages: readonly number[]): number {
  return advantages.reduce((sum, advantage) => sum + Math.abs(advantage), 0) / advantages.length;
}

/**
 * Returns the outcome of rewards. They are in order of sample_index, so that sums are identical however they arrived.
 * Without a range, as in runs of older servers, rewards that differ only by rounding count as different.
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

/** Returns means by name, each over the samples that have it. Undefined: no sample has any. */
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

/**
 * Returns the outcome from advantages that the trainer computed. Empty: the group gives no signal. `rewardMean` is null
 * if it is not known.
 */
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
