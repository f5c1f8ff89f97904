/** Fixed weights over arms: joint training (FORGE, Omni-Thinker). */
import type { MixturePolicy } from "../types.ts";
import type { PolicyRule } from "./policy.ts";

export interface MixtureState {
  readonly kind: "mixture";
}

const onlyState: MixtureState = Object.freeze({ kind: "mixture" });

export const mixture: PolicyRule<MixturePolicy, MixtureState> = {
  takesFeedback: false,
  initial: () => onlyState,
  probabilities: (_config, _state, weights) => {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.map((weight) => weight / total);
  },
  fold: (_config, state) => state,
  values: (_state, armCount) => new Array<number>(armCount).fill(0),
  possible: (weights) => weights.map((weight) => weight > 0),
};
