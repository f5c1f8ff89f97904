/** Fixed weights over arms: joint training (FORGE, Omni-Thinker). */
import { create } from "@bufbuild/protobuf";
import { type MixturePolicy, MixturePolicySchema } from "../../gen/gradus/v1/curriculum_pb.js";
import type { PolicyDefinition } from "./policy.ts";

type Nothing = null;

export const mixture: PolicyDefinition<MixturePolicy, Nothing, Nothing> = {
  kind: "mixture",
  fromWire: () => null,
  toWire: () => ({ case: "mixture", value: create(MixturePolicySchema) }),
  check: () => undefined,
  takesFeedback: false,
  initial: () => null,
  state: { encode: () => null, decode: () => null },
  probabilities(_config, _state, { arms }) {
    const total = arms.reduce((sum, { weight }) => sum + weight, 0);
    return arms.map(({ weight }) => weight / total);
  },
};
