/**
 * Registers the reward schemes that turn facts into rewards. Only the modules of this folder compute rewards; verifiers
 * find facts.
 */
import type { Environment, Parameters } from "../environment.ts";
import { assertNever } from "../lib/assert-never.ts";
import { didYouMean } from "../lib/text.ts";
import { fillParameters, type Invalid } from "../parameters.ts";
import {
  isOptimal,
  isRight,
  type Price,
  improvementOf,
  qualityRatio,
  type RewardComponent,
  type RewardScheme,
  type ToPrice,
} from "./scheme.ts";
import { ratioScheme, RETURNS, returnScheme } from "./returns.ts";
import { vcc } from "./vcc.ts";
import { WEIGHTED, weighted } from "./weighted.ts";

function gradedPrice(value: number): Price {
  return { reward: value, components: [{ name: "correctness", value, weight: 1 }] };
}

/**
 * Rewards a correct answer, and gives a little to one that can at least be read (Curriculum RLOO 3.1, ADSC section 4).
 */
const graded: RewardScheme = {
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
  price({ findings, parameters }) {
    if (findings.kind === "malformed") return gradedPrice(0);
    return gradedPrice(isRight(findings) ? 1 : (parameters["format_score"] as number));
  },
};

// R = R_format + R_feasibility (FORGE 3.1). R_format is 1 if the answer could be read and is marked as its format asks,
// else −1. A feasible answer without its closing mark has −1. R_feasibility is −1.5 for an infeasible answer. For a
// feasible answer it is a share in [0, 1], the only part in which the schemes differ. An unreadable answer cannot be
// verified: −1 − 1.5 = −2.5.

const INFEASIBLE = -1.5;

/** Returns a feasible answer's share of the reward, or undefined if the scheme cannot compute it. */
type Share = (toPrice: ToPrice, objective: number | undefined) => number | undefined;

function priceOf(format: 1 | -1, feasibility: number, quality: RewardComponent): Price {
  return {
    reward: format + feasibility + (quality.value ?? 0),
    components: [
      { name: "format", value: format, weight: 1 },
      { name: "feasibility", value: feasibility, weight: 1 },
      quality,
    ],
  };
}

function qualityOf(value: number | undefined): RewardComponent {
  if (value !== undefined) return { name: "quality", value, weight: 1 };
  return { name: "quality", value, weight: 1, reason: "the task has no baseline to compare the answer with" };
}

const NO_QUALITY: RewardComponent = {
  name: "quality",
  value: undefined,
  weight: 1,
  reason: "there is no feasible answer",
};
const MALFORMED_PRICE = priceOf(-1, INFEASIBLE, NO_QUALITY);
const INFEASIBLE_PRICE = priceOf(1, INFEASIBLE, NO_QUALITY);

function optimization(name: string, description: string, share: Share, usesTrivial = false): RewardScheme {
  return {
    name,
    description: `Unreadable answers get −2.5, infeasible ones −0.5, and feasible ones 1 (−1 without the closing mark) plus a share: ${description}`,
    parameters: [],
    usesTrivial,
    range: () => ({ min: -2.5, max: 2 }),
    price(toPrice) {
      const { findings, formatValid } = toPrice;
      switch (findings.kind) {
        case "malformed":
          return MALFORMED_PRICE;
        case "infeasible":
          return INFEASIBLE_PRICE;
        case "feasible":
          return priceOf(formatValid ? 1 : -1, 0, qualityOf(share(toPrice, findings.objective)));
        case "graded":
          throw new Error(`reward scheme '${name}' needs an objective, not graded facts: use '${WEIGHTED}'`);
        default:
          return assertNever(findings);
      }
    },
  };
}

const quality: Share = ({ goal, baseline }, objective) =>
  goal === "satisfy" || baseline === undefined || objective === undefined
    ? undefined
    : qualityRatio(goal, objective, baseline);

const optimalOnly: Share = ({ baseline }, objective) =>
  baseline === undefined || objective === undefined ? undefined : Number(isOptimal(objective, baseline));

/**
 * Returns v/(v + t) to maximise or t/(v + t) to minimise, for the objectives v of the answer and t of the trivial
 * answer. An answer as good as the trivial one has ½. If both are 0 the share is 1, as 0/0 is in the quality ratio.
 * Negative numbers count by their magnitudes, so that the smaller magnitude is the larger number. If one is negative
 * and one positive, the better has 1 and the other 0.
 */
const coarse: Share = ({ goal, trivial }, objective) => {
  if (trivial === undefined || objective === undefined) return undefined;
  if (Math.sign(objective) * Math.sign(trivial) < 0) return Number(objective > trivial === (goal === "maximize"));
  const sum = objective + trivial;
  const isLargerBetter = (goal === "maximize") === sum > 0;
  return sum === 0 ? 1 : (isLargerBetter ? objective : trivial) / sum;
};

const optimizationSchemes: readonly RewardScheme[] = [
  optimization("quality", "the ratio of the objective and the baseline (FORGE 3.1).", quality),
  optimization("binary", "1, whatever the objective (FORGE 4.2).", () => 1),
  optimization("optimal_only", "1 at the optimum, else 0.", optimalOnly),
  optimization(
    "coarse",
    "v/(v + t) to maximise, t/(v + t) to minimise, for the objective v and the objective t of an answer that takes no thought. 1 if both are 0. Needs no baseline.",
    coarse,
    true,
  ),
  optimization(
    "normalized",
    "(v − t)/(best − t), at least 0, for the objective v, the best known objective, and the objective t of an answer that takes no thought.",
    improvementOf,
    true,
  ),
];

/** Reward scheme with a value for each of its parameters. */
export interface ResolvedScheme {
  readonly name: string;
  readonly parameters: Parameters;
  readonly scheme: RewardScheme;
}

/** Reward schemes that are the same for every environment, by name. */
export const rewardSchemes: Readonly<Record<string, RewardScheme>> = Object.freeze(
  Object.fromEntries([...optimizationSchemes, graded, vcc].map((scheme) => [scheme.name, scheme])),
);

/**
 * Returns the reward scheme of this name, which the environment must list. Returns undefined if no such scheme exists.
 */
export function schemeNamed({ grading, turns }: Environment, name: string): RewardScheme | undefined {
  const returned = turns && returnScheme(name, ratioScheme(grading?.primary), turns.callsMax);
  if (returned !== undefined) return returned;
  return name === WEIGHTED ? grading && weighted(grading) : rewardSchemes[name];
}

/**
 * Finds a reward scheme of an environment by its name, and fills in the defaults of its parameters. The name "" means
 * the environment's default. An invalid result gives the wrong field: "name" or "parameters.…". `hasTurns` is true for
 * a task with several turns, whose scheme must be one of RETURNS.
 */
export function resolveScheme(
  environment: Environment,
  name: string,
  values: Readonly<Record<string, number>>,
  hasTurns = false,
): { readonly kind: "ok"; readonly scheme: ResolvedScheme } | Invalid {
  const names = hasTurns ? RETURNS : environment.rewardSchemes;
  const wanted = name === "" ? names[0] : names.find((candidate) => candidate === name);
  const scheme = wanted === undefined ? undefined : schemeNamed(environment, wanted);
  if (scheme === undefined) {
    const message = `${environment.id} has no reward scheme '${name.slice(0, 64)}'${didYouMean(name, names)}`;
    return { kind: "invalid", field: "name", message };
  }
  const filled = fillParameters(scheme.parameters, values);
  if (filled.kind === "invalid") return filled;
  return { kind: "ok", scheme: { name: scheme.name, parameters: filled.parameters, scheme } };
}

/** Returns those parameters that differ from the scheme's defaults. Task ids hold only these, so that ids stay short. */
export function changedParameters({ parameters: infos }: RewardScheme, parameters: Parameters): Parameters {
  const defaults = new Map(infos.map(({ name, defaultValue }) => [name, defaultValue]));
  return Object.fromEntries(Object.entries(parameters).filter(([name, value]) => defaults.get(name) !== value));
}
