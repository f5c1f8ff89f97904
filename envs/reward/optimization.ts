/**
 * R = R_format + R_feasibility (FORGE 3.1). R_format is 1 if the answer could be read, else −1. R_feasibility is −1.5
 * unless the answer is feasible; then it is the answer's share, in [0, 1], by which alone the schemes differ. An answer
 * that could not be read cannot be verified: −1 − 1.5 = −2.5.
 */
import { isOptimal, qualityRatio } from "./ratio.ts";
import type { Findings, Price, RewardScheme } from "./scheme.ts";

const INFEASIBLE = -1.5;

/** A feasible answer's share of the reward; undefined: this scheme cannot say. */
type Share = (findings: Findings, objective: number | undefined) => number | undefined;

function priceOf(format: 1 | -1, feasibility: number, quality: number | undefined): Price {
  return {
    reward: format + feasibility + (quality ?? 0),
    components: [
      { name: "format", value: format, weight: 1 },
      { name: "feasibility", value: feasibility, weight: 1 },
      { name: "quality", value: quality, weight: 1 },
    ],
  };
}

const MALFORMED_PRICE = priceOf(-1, INFEASIBLE, undefined);
const INFEASIBLE_PRICE = priceOf(1, INFEASIBLE, undefined);

function optimization(name: string, description: string, share: Share, usesTrivial = false): RewardScheme {
  return {
    name,
    description: `Unreadable −2.5, infeasible −0.5, feasible 1 and a share: ${description}`,
    parameters: [],
    usesTrivial,
    range: () => ({ min: -2.5, max: 2 }),
    price(findings) {
      const { facts } = findings;
      if (facts.kind === "malformed") return MALFORMED_PRICE;
      if (facts.kind === "infeasible") return INFEASIBLE_PRICE;
      return priceOf(1, 0, share(findings, facts.objective));
    },
  };
}

const quality: Share = ({ goal, baseline }, objective) =>
  goal === "satisfy" || baseline === undefined || objective === undefined
    ? undefined
    : qualityRatio(goal, objective, baseline);

const optimalOnly: Share = ({ baseline }, objective) =>
  baseline === undefined || objective === undefined ? undefined : Number(isOptimal(objective, baseline));

/** An answer as good as the trivial one has a half, also where both are 0. */
const coarse: Share = ({ goal, trivial }, objective) => {
  if (trivial === undefined || objective === undefined) return undefined;
  const sum = objective + trivial;
  return sum === 0 ? 0.5 : (goal === "maximize" ? objective : trivial) / sum;
};

/** Where the trivial answer is the best known, an answer as good has 1 (0/0), and any other 0. */
const normalized: Share = ({ baseline, trivial }, objective) => {
  if (baseline === undefined || trivial === undefined || objective === undefined) return undefined;
  const best = baseline.value - trivial;
  if (best === 0) return Number(objective === trivial);
  return Math.min(1, Math.max(0, (objective - trivial) / best));
};

export const optimizationSchemes: readonly RewardScheme[] = [
  optimization("quality", "the ratio of the objective and the baseline (FORGE 3.1).", quality),
  optimization("binary", "1, whatever the objective (FORGE 4.2).", () => 1),
  optimization("optimal_only", "1 at the optimum, else 0.", optimalOnly),
  optimization(
    "coarse",
    "without a baseline, by the objective v and that of an answer that takes no thought, t: v/(v + t) to maximise, t/(v + t) to minimise.",
    coarse,
    true,
  ),
  optimization(
    "normalized",
    "(v − t)/(best − t), at least 0, for the objective v and that of an answer that takes no thought, t.",
    normalized,
    true,
  ),
];
