/**
 * Advantages of one group. Rewards are in order of sample_index, so that sums do not depend on the order in which they
 * came. They are taken relative to the first reward: equal rewards then have advantages of exactly 0.
 */

function relative(rewards: readonly number[]): readonly number[] {
  const first = rewards[0] ?? 0;
  return rewards.map((reward) => reward - first);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** RLOO: each reward less the mean of the others (ADSC equation 3). Fewer than two rewards: all 0. */
export function rloo(rewards: readonly number[]): readonly number[] {
  if (rewards.length < 2) return rewards.map(() => 0);
  const shifted = relative(rewards);
  const total = sum(shifted);
  return shifted.map((reward) => reward - (total - reward) / (rewards.length - 1));
}

/** Mean and population standard deviation, as GRPO takes them; both 0 for no rewards. */
export function meanAndStd(rewards: readonly number[]): { readonly mean: number; readonly std: number } {
  if (rewards.length === 0) return { mean: 0, std: 0 };
  const shifted = relative(rewards);
  const mean = sum(shifted) / shifted.length;
  const squares = shifted.map((reward) => (reward - mean) ** 2);
  return { mean: mean + (rewards[0] as number), std: Math.sqrt(sum(squares) / squares.length) };
}

/** GRPO: (r − mean) / σ with the population's σ; all 0 where σ is 0. */
export function grpo(rewards: readonly number[]): readonly number[] {
  const { std } = meanAndStd(rewards);
  const shifted = relative(rewards);
  const mean = sum(shifted) / shifted.length;
  return shifted.map((reward) => (std > 0 ? (reward - mean) / std : 0));
}

/**
 * Mean absolute advantage over the span of the reward scheme: (1/K) Σ|A_k| / (max − min). (1/K) Σ|A_k| is ADSC's
 * equation 3, whose rewards lie in [0, 1]; the division makes other schemes alike. Undefined: no advantages, no signal. A scheme of one value only has no signal but 0.
 */
export function meanAbsolute(
  advantages: readonly number[],
  range: { readonly min: number; readonly max: number },
): number | undefined {
  if (advantages.length === 0) return undefined;
  const span = range.max - range.min;
  return span > 0 ? sum(advantages.map(Math.abs)) / advantages.length / span : 0;
}

/** The signal of a group with these rewards: meanAbsolute of its RLOO advantages. Needs two rewards. */
export function groupSignal(
  rewards: readonly number[],
  range: { readonly min: number; readonly max: number },
): number | undefined {
  return rewards.length < 2 ? undefined : meanAbsolute(rloo(rewards), range);
}
