import type { Price, RewardScheme } from "./scheme.ts";

function priceOf(value: number): Price {
  return { reward: value, components: [{ name: "correctness", value, weight: 1 }] };
}

/** Exact or not, with a little for an answer that can at least be read (papers 003 and 004). */
export const graded: RewardScheme = {
  name: "graded",
  description: "1 for a right answer, format_score for one that can be read but is wrong, 0 for one that cannot.",
  parameters: [
    {
      name: "format_score",
      description: "Reward of an answer that can be read but is wrong.",
      min: 0,
      max: 1,
      defaultValue: 0.1,
      integer: false,
    },
  ],
  usesTrivial: false,
  range: () => ({ min: 0, max: 1 }),
  price({ facts, parameters }) {
    if (facts.kind === "malformed") return priceOf(0);
    return priceOf(facts.kind === "feasible" ? 1 : (parameters["format_score"] as number));
  },
};
