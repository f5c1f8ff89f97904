/** What a run is: its arms, its policy, and what is fixed when it is created. */

/** What survives JSON.stringify and JSON.parse unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export type Source = "synthetic" | "real" | "teacher";

/** What a policy chooses between. */
export interface Arm {
  /** Unique within the run. */
  readonly id: string;
  /** The family of tasks; opaque here, for the TaskSource to read. */
  readonly spec: Json;
  readonly source: Source;
  /** At least 0; as it was at creation. Only the mixture policy uses weights. */
  readonly weight: number;
  /** Whether hardShareMin counts this arm. */
  readonly hard: boolean;
  /** Smallest and largest reward of the arm's scheme. The signal divides by the span. */
  readonly rewardRange: { readonly min: number; readonly max: number };
}

/** Hard limits on each update batch (ADSC 3.3). Shares are in [0, 1]; quotas round up. */
export interface Constraints {
  readonly realShareMin: number;
  /** Synthetic and teacher arms together. */
  readonly syntheticShareMax: number;
  readonly hardShareMin: number;
  /** Update batches before hardShareMin applies. */
  readonly hardWarmupBatches: number;
}

export const noConstraints: Constraints = Object.freeze({
  realShareMin: 0,
  syntheticShareMax: 1,
  hardShareMin: 0,
  hardWarmupBatches: 0,
});

/** Each arm's weight over the sum of weights. */
export interface MixturePolicy {
  readonly kind: "mixture";
  readonly constraints: Constraints;
}

/** A bandit over the arms (ADSC 3.3, equations 3 to 6). */
export interface BanditPolicy {
  readonly kind: "bandit";
  readonly rule: "ema_softmax";
  readonly signal: "absolute_advantage";
  /** The moving average's rate, in (0, 1]. */
  readonly alpha: number;
  /** The softmax's temperature, above 0. */
  readonly tau: number;
  /** The share spread evenly over the arms, in [0, 1]. */
  readonly epsilon: number;
  readonly constraints: Constraints;
}

export type Policy = MixturePolicy | BanditPolicy;

/** How far draws run ahead of feedback. Batch k needs every batch up to k − 1 − count closed. */
export type Lag = { readonly kind: "batches"; readonly count: number } | { readonly kind: "unbounded" };

/** Fixed at creation, but for the policy and the weights, which the state holds as they are now. */
export interface RunConfig {
  readonly arms: readonly Arm[];
  readonly policy: Policy;
  readonly seed: bigint;
  /** Completions of each prompt. */
  readonly numGenerations: number;
  /** Tasks in the whole run; 0: no end. */
  readonly length: number;
  /** Tasks in an update batch. */
  readonly promptsPerUpdate: number;
  readonly lag: Lag;
  readonly feedbackSource: "step" | "reported";
  /** Undefined: groups never time out. */
  readonly groupTimeoutMs: number | undefined;
  /** The run is deleted when nothing was asked of it for this long. */
  readonly timeToLiveMs: number;
  /** Kept for the caller; opaque here, and no part of what a run is. */
  readonly extra: Json;
}

/** A field that cannot be as it is, named as the contract names it, from the configuration down. */
export interface Invalid {
  readonly kind: "invalid";
  readonly field: string;
  readonly message: string;
}
