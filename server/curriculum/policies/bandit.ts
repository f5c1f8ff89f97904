/** ADSC's bandit: exponential moving averages of the signal, and a softmax with an exploration floor (ADSC 3.3). */
import type { BanditPolicy } from "../types.ts";
import type { ArmSignal, PolicyRule } from "./policy.ts";

export interface BanditState {
  readonly kind: "bandit";
  /** Q of each arm. */
  readonly values: readonly number[];
}

/** p(c) = (1 − ε) softmax(Q/τ)(c) + ε/n (equation 6). */
function probabilities(config: BanditPolicy, state: BanditState): readonly number[] {
  const { tau, epsilon } = config;
  const greatest = Math.max(...state.values);
  // Relative to the greatest, so that nothing overflows: the softmax does not change.
  const powers = state.values.map((value) => Math.exp((value - greatest) / tau));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => (1 - epsilon) * (power / total) + epsilon / powers.length);
}

/** Q(c) ← (1 − α) Q(c) + α · mean of s(x), for the arms that have signals in this batch (equations 4 and 5). */
function fold(config: BanditPolicy, state: BanditState, signals: readonly ArmSignal[]): BanditState {
  const sums = state.values.map(() => 0);
  const counts = state.values.map(() => 0);
  for (const { arm, signal } of signals) {
    sums[arm] = (sums[arm] ?? 0) + signal;
    counts[arm] = (counts[arm] ?? 0) + 1;
  }
  const values = state.values.map((value, arm) => {
    const count = counts[arm] ?? 0;
    return count === 0 ? value : (1 - config.alpha) * value + config.alpha * ((sums[arm] ?? 0) / count);
  });
  return { kind: "bandit", values };
}

export const bandit: PolicyRule<BanditPolicy, BanditState> = {
  takesFeedback: true,
  initial: (armCount) => ({ kind: "bandit", values: new Array<number>(armCount).fill(0) }),
  probabilities,
  fold,
  values: (state) => state.values,
  possible: (weights) => weights.map(() => true),
};
