/** Defines the interface of a reward scheme. */
import type { Baseline, Goal, ParameterInfo, Parameters } from "../environment.ts";
import type { Findings } from "../facts.ts";

/** Returns whether an answer is correct, for environments whose answers are right or wrong. */
export function isRight(findings: Findings): boolean {
  return findings.kind === "graded" ? findings.solved : findings.kind === "feasible";
}

/** How well a completion keeps to its format, regardless of its answer (Omni-Thinker A.1). */
export interface Tidiness {
  /** True if all marks of the answer format are present and correctly nested. */
  readonly formatValid: boolean;
  /** True if `formatValid` is true, each tag of the format occurs once, and the completion has exactly one answer. */
  readonly formatStrict: boolean;
  /** Share of the tags for thinking and answer that are present. */
  readonly tags: number;
}

/** Properties of an answer and its completion, from which a reward scheme computes the reward. */
export interface ToPrice {
  readonly goal: Goal;
  readonly findings: Findings;
  /**
   * True if the completion keeps to its answer format. An answer without its closing mark may count, but breaks the
   * format.
   */
  readonly formatValid: boolean;
  readonly baseline: Baseline | undefined;
  /** Objective of the trivial answer (one that takes no thought), if the scheme uses it. */
  readonly trivial: number | undefined;
  /** How well the completion keeps to its format. Set if the scheme uses it. */
  readonly tidiness: Tidiness | undefined;
  /**
   * Share of the completion up to the end of its first correct answer, if the scheme scans for commits. Undefined if
   * there is none.
   */
  readonly commit?: number | undefined;
  /** The scheme's parameters, with defaults filled in. */
  readonly parameters: Parameters;
}

export interface RewardComponent {
  readonly name: string;
  /** Value of the component. Undefined: it has none for this completion, and the sum omits it. */
  readonly value: number | undefined;
  readonly weight: number;
  /** Reason why the component has no value. */
  readonly reason?: string;
}

export interface Price {
  /** Weighted sum of the components that have a value. */
  readonly reward: number;
  readonly components: readonly RewardComponent[];
}

/** Limits of a scheme that scans completions for commits (first correct answers). */
export interface CommitScan {
  /** Maximum number of answers of a completion to verify, counted from the first. */
  answersMax(parameters: Parameters): number;
  /** Maximum number of contrast pairs (a preferred and a rejected text) of a group. */
  pairsMax(parameters: Parameters): number;
}

/**
 * Returns the return of an episode after one more call. `value` is the return before this call, undefined before the
 * first one. `isTaken` is true if this call now decides the return.
 */
export type Fold = (
  value: number | undefined,
  reward: number,
  call: number,
  parameters: Parameters,
) => { readonly value: number; readonly isTaken: boolean };

export interface RewardScheme {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly ParameterInfo[];
  /** True if `price` needs the objective of the trivial answer (one that takes no thought). */
  readonly usesTrivial: boolean;
  /** True if `price` needs the completion's tidiness. */
  readonly usesTidiness?: boolean;
  /** If set, every answer of a completion is examined, and the first correct one is a commit (Curriculum RLOO 3.3). */
  readonly scan?: CommitScan;
  /** Smallest and largest reward that the scheme can give. */
  range(parameters: Parameters): { readonly min: number; readonly max: number };
  price(toPrice: ToPrice): Price;
  /**
   * Set if the scheme defines the return of an episode. `price` then computes the reward of one call
   * (reward/returns.ts).
   */
  readonly fold?: Fold;
}

// Functions that measure the quality of an answer relative to a baseline (FORGE 3.1).

/**
 * Returns the quality of a feasible answer, in [0, 1]: objective/baseline to maximise, baseline/objective to minimise.
 * 0/0 is 1. Of two negative numbers, the larger one has the smaller magnitude, so the quotient is inverted. If only one
 * of them is negative, no quotient expresses the distance, and the quality is 0. An answer better than the best known
 * counts as 1. Throws for an answer beyond the certified bound, because then the verifier or the solver is wrong.
 */
export function qualityRatio(goal: Exclude<Goal, "satisfy">, objective: number, baseline: Baseline): number {
  if (goal === "maximize" ? objective > baseline.bound : objective < baseline.bound) {
    throw new Error(
      `objective ${objective} to ${goal} beats the certified bound ${baseline.bound}: the verifier or the solver is wrong`,
    );
  }
  // Minimising equals maximising the negative.
  const sign = goal === "maximize" ? 1 : -1;
  const [own, best] = [sign * objective, sign * baseline.value];
  if (own >= best) return 1;
  if (own >= 0) return own / best;
  return best < 0 ? best / own : 0;
}

/**
 * Returns how far an objective lies between the trivial answer's (0) and the best known (1). If the best known is not
 * better than the trivial one, an objective at least as good gets 1 (0/0), any other 0. Returns undefined if one of the
 * three is unknown.
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

/** Returns whether the objective reaches the certified bound, so that no answer is better. */
export function isOptimal(objective: number, baseline: Baseline): boolean {
  return objective === baseline.bound;
}
