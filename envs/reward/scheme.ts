/** What a reward scheme is. */
import type { Baseline, Facts, Goal, ParameterInfo, Parameters } from "../environment.ts";

/** What is to be priced. */
export interface Findings {
  readonly goal: Goal;
  /** Malformed: no answer was marked, or what was marked could not be read. */
  readonly facts: Facts | { readonly kind: "malformed" };
  readonly baseline: Baseline | undefined;
  /** Objective of the answer that takes no thought, where the scheme uses it. */
  readonly trivial: number | undefined;
  /** The scheme's, complete. */
  readonly parameters: Parameters;
}

/** One part of a reward. */
export interface RewardComponent {
  readonly name: string;
  /** Undefined: this part has no value here, and is left out of the sum. */
  readonly value: number | undefined;
  readonly weight: number;
}

export interface Price {
  /** The weighted sum of the defined components. */
  readonly reward: number;
  readonly components: readonly RewardComponent[];
}

export interface RewardScheme {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly ParameterInfo[];
  /** Whether price needs the trivial answer's objective. */
  readonly usesTrivial: boolean;
  /** The smallest and the largest reward it can give. */
  range(parameters: Parameters): { readonly min: number; readonly max: number };
  price(findings: Findings): Price;
}
