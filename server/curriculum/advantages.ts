/** Advantages of a group's samples, and the outcome of a closed group from which signals are computed. */

/** Sums over some of the rewards, e.g. those of one group or of an arm's recent groups. */
export interface RewardSums {
  /** Number of rewards that are summed. */
  readonly count: number;
  readonly sum: number;
  /** Number of solved samples. Null: not known, because the trainer reported advantages instead of rewards. */
  readonly solved: number | null;
}

/**
 * Result of a closed group, i.e. of all scored completions of one task. The learning signals of the run's policy are
 * computed from it.
 */
export interface GroupOutcome extends RewardSums {
  /**
   * Sum of the quality of the group's answers, each in [0, 1]. Undefined: the sum equals the number of solved samples.
   */
  readonly quality: number | undefined;
  /**
   * Mean over the group of each extra score value that the run's policy reads, by name, e.g. "improvement". Samples
   * without the value do not count in its mean. Unset: no sample has such a value.
   */
  readonly facts?: Readonly<Record<string, number>> | undefined;
  /** Population standard deviation of the rewards. Null: not known, because the trainer reported advantages. */
  readonly deviation: number | null;
  /**
   * Mean of |A_k| over the K samples, where A_k is a sample's RLOO advantage or the reported one. Null: fewer than two
   * rewards, or no reported advantages.
   */
  readonly advantage: number | null;
}

/** Smallest and largest reward that a reward scheme can give. */
export interface RewardRange {
  readonly min: number;
  readonly max: number;
}

// Functions that compute the advantages of a group's rewards. The rewards have a fixed order, so that sums do not
// depend on the order of arrival. The first reward is subtracted from all, so that equal rewards have advantages of
// exactly 0.

/**
 * A group's rewards minus its first reward, and the sum, mean and population standard deviation of these differences.
 * Without rewards, the sum, mean and deviation are 0.
 */
type Moments = ReturnType<typeof momentsOf>;

/**
 * Maximum spread of a group's rewards that counts as rounding error, as a fraction of the reward scheme's range
 * (greatest minus smallest possible reward).
 */
const SPREAD_MIN = 1e-9;

/**
 * Returns whether the numbers, e.g. the rewards of a group, are equal apart from rounding errors. Without `range`,
 * returns false, and the caller then computes with the exact numbers.
 */
function areAlike(numbers: readonly number[], range: RewardRange | undefined): boolean {
  if (range === undefined) return false;
  const [least, greatest] = [Math.min(...numbers), Math.max(...numbers)];
  // If the scheme has only one possible reward, its range is 0, and the size of that reward is used instead.
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
 * Returns the advantages of one group's rewards. If the rewards differ only by rounding, all advantages and the
 * deviation are 0.
 */
export function advantagesOf(rewards: readonly number[], range: RewardRange) {
  const moments = momentsOf(rewards, range);
  const { mean, std } = moments;
  return {
    /**
     * RLOO advantages: each reward minus the mean of the group's other rewards (ADSC equation 3). All 0 for fewer than
     * two rewards.
     */
    rloo: rlooOf(moments),
    /** GRPO advantages: (reward − mean) / std. All 0 if std is 0. */
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
 * Returns the outcome of a group from its rewards. With `range`, rewards that differ only by rounding count as equal.
 * Without it, as in runs that older servers created, they count as different.
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

/** Returns the mean of each named value over the samples that have the value. Undefined: no sample has any value. */
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
 * Returns the outcome of a group whose advantages the trainer computed. An empty list means that the group gives no
 * learning signal. `rewardMean` is the group's mean reward, or null if it is not known.
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
