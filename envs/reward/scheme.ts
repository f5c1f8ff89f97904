/** What a reward scheme is. */
import type { Baseline, Goal, ParameterInfo, Parameters } from "../environment.ts";
import type { Findings } from "../facts.ts";

/** Whether an answer is right, of environments whose answers are right or wrong. */
export function isRight(findings: Findings): boolean {
  return findings.kind === "graded" ? findings.solved : findings.kind === "feasible";
}

/** How well a completion keeps to its format, whatever its answer (Omni-Thinker A.1). */
export interface Tidiness {
  /** Whether its marks are all there and nested as they should be. */
  readonly formatValid: boolean;
  /** The same, with each of the format's tags there once, and one answer. */
  readonly formatStrict: boolean;
  /** The share of the tags of thinking and answer that are there. */
  readonly tags: number;
}

/** What is to be priced. */
export interface ToPrice {
  readonly goal: Goal;
  readonly findings: Findings;
  /** Whether the completion keeps to its answer format: an answer without its closing mark may count, and breaks it. */
  readonly formatValid: boolean;
  readonly baseline: Baseline | undefined;
  /** Objective of the answer that takes no thought, where the scheme uses it. */
  readonly trivial: number | undefined;
  /** Where the scheme uses it. */
  readonly tidiness: Tidiness | undefined;
  /** Where the scheme scans for commits: the share of the completion up to the end of its first right answer, if it has one. */
  readonly commit?: number | undefined;
  /** The scheme's, complete. */
  readonly parameters: Parameters;
}

/** One part of a reward. */
export interface RewardComponent {
  readonly name: string;
  /** Undefined: this part has no value here, and is left out of the sum. */
  readonly value: number | undefined;
  readonly weight: number;
  /** Why it has no value, in words. */
  readonly reason?: string;
}

export interface Price {
  /** The weighted sum of the defined components. */
  readonly reward: number;
  readonly components: readonly RewardComponent[];
}

/** What a scheme that scans for commits asks for. */
export interface CommitScan {
  /** Answers that are verified, from the first on. */
  answersMax(parameters: Parameters): number;
  /** Contrast pairs that a group gives at most. */
  pairsMax(parameters: Parameters): number;
}

export interface RewardScheme {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly ParameterInfo[];
  /** Whether price needs the trivial answer's objective. */
  readonly usesTrivial: boolean;
  /** Whether price needs the completion's tidiness. */
  readonly usesTidiness?: boolean;
  /** Set: every answer of a completion is looked at, and the first right one is a commit (Curriculum RLOO 3.3). */
  readonly scan?: CommitScan;
  /** The smallest and the largest reward it can give. */
  range(parameters: Parameters): { readonly min: number; readonly max: number };
  price(toPrice: ToPrice): Price;
}

// How good an answer is, measured against a baseline (FORGE 3.1).

/**
 * Quality of a feasible answer, in [0, 1]: objective/baseline to maximise, baseline/objective to minimise. 0/0 is 1. Of
 * negative numbers the larger is the one of the smaller magnitude, so that the quotient is the other way round; where one
 * is negative and the other not, no quotient says how far apart they are, and the quality is 0. An answer better than the
 * best known counts as 1, but one beyond the certified bound cannot be: the verifier or the solver is wrong, so that throws.
 */
export function qualityRatio(goal: Exclude<Goal, "satisfy">, objective: number, baseline: Baseline): number {
  if (goal === "maximize" ? objective > baseline.bound : objective < baseline.bound) {
    throw new Error(`objective ${objective} to ${goal} beats the certified bound ${baseline.bound}`);
  }
  // To minimise is to maximise the negative.
  const sign = goal === "maximize" ? 1 : -1;
  const [own, best] = [sign * objective, sign * baseline.value];
  if (own >= best) return 1;
  if (own >= 0) return own / best;
  return best < 0 ? best / own : 0;
}

/**
 * How far an objective is from the trivial answer's (0) to the best known (1). Where nothing better than the trivial answer
 * is known, one at least as good as that has 1 (0/0), and any other 0. Undefined: one of the three is not known.
 */
export function improvementOf(
  { goal, baseline, trivial }: Pick<ToPrice, "goal" | "baseline" | "trivial">,
  objective: number | undefined,
): number | undefined {
  if (baseline === undefined || trivial === undefined || objective === undefined) return undefined;
  const sign = goal === "maximize" ? 1 : -1;
  const [own, best] = [sign * (objective - trivial), sign * (baseline.value - trivial)];
  if (best <= 0) return Number(own >= 0);
  return Math.min(1, Math.max(0, own / best));
}

/** Whether no answer can be better than one of this objective: it reaches the certified bound. */
export function isOptimal(objective: number, baseline: Baseline): boolean {
  return objective === baseline.bound;
}
