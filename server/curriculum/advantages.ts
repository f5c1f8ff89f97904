/**
 * Advantages of one group. Rewards are in order of sample_index, so that sums do not depend on the order in which they
 * came. They are taken relative to the first reward: equal rewards then have advantages of exactly 0.
 */

function relative(rewards: readonly number[]): readonly number[] {
  const first = rewards[0] ?? 0;
  return rewards.map((reward) => reward - first);
}

// A loop: `reduce` takes several times as long, and this is done for every group.
function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
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
  let squares = 0;
  for (const reward of shifted) squares += (reward - mean) ** 2;
  return { mean: mean + (rewards[0] as number), std: Math.sqrt(squares / shifted.length) };
}

/** GRPO: (r − mean) / σ with the population's σ; all 0 where σ is 0. */
export function grpo(rewards: readonly number[]): readonly number[] {
  const { std } = meanAndStd(rewards);
  const shifted = relative(rewards);
  const mean = sum(shifted) / shifted.length;
  return shifted.map((reward) => (std > 0 ? (reward - mean) / std : 0));
}
