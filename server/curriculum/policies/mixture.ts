/** Policy that draws arms by fixed weights: joint training (FORGE, Omni-Thinker). */
import { fieldsOf } from "./fields.ts";
import type { PolicyDefinition } from "./policy.ts";

type Nothing = null;

export const mixture: PolicyDefinition<Nothing, Nothing> = {
  kind: "mixture",
  read(parameters) {
    fieldsOf(parameters, []);
    return null;
  },
  write: () => ({}),
  check: () => undefined,
  takesFeedback: false,
  initial: () => null,
  state: { encode: () => null, decode: () => null },
  probabilities(_config, _state, { arms }) {
    const total = arms.reduce((sum, { weight }) => sum + weight, 0);
    return arms.map(({ weight }) => weight / total);
  },
};
