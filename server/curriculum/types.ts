/** What a run is: its arms, its policy, and what is fixed when it is created. */

export type Source = "synthetic" | "real" | "teacher";

/** What the curriculum reads of an instance's key. All else in it is the TaskSource's. */
export interface InstanceKey {
  /** Of the canonical instance: equal for equal instances of any arm. No spaces. */
  readonly hash: string;
  /** The share of its pool that is easier, in [0, 1]; left out: not known. */
  readonly rank?: number;
  /** Of a pool's row: how often its arm had gone through all rows. Left out: 0. */
  readonly epoch?: number;
}

/** What a policy chooses between. */
export interface Arm<Spec = unknown> {
  /** Unique within the run. */
  readonly id: string;
  /** What its tasks are; for the TaskSource to read. */
  readonly spec: Spec;
  readonly source: Source;
  /** At least 0; as it was at creation. */
  readonly weight: number;
  /** Whether hardShareMin counts this arm. */
  readonly hard: boolean;
  /** Smallest and largest reward of the arm's scheme. Signals are divided by the span. */
  readonly rewardRange: { readonly min: number; readonly max: number };
  /** What scoring its tasks asks outside of the server, e.g. a judge; undefined: nothing. */
  readonly resource: string | undefined;
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

/** How the next arm is chosen. `config` belongs to the policy that is registered under `kind`, which alone reads it. */
export interface Policy {
  readonly kind: string;
  readonly config: unknown;
  readonly constraints: Constraints;
}

/** How far draws run ahead of feedback. Batch k needs every batch up to k − 1 − count closed. */
export type Lag = { readonly kind: "batches"; readonly count: number } | { readonly kind: "unbounded" };

/** Fixed at creation, but for the policy and the weights, which the state holds as they are now. */
export interface RunConfig<Spec = unknown> {
  readonly arms: readonly Arm<Spec>[];
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
  /** The configuration in its creator's words: kept to be shown, and no part of what a run is. */
  readonly given: string;
}

/** A field that cannot be as it is, named as the contract names it, from the configuration down. */
export interface Invalid {
  readonly kind: "invalid";
  readonly field: string;
  readonly message: string;
}

export function invalid(field: string, message: string): Invalid {
  return { kind: "invalid", field, message };
}

export function isInvalid(value: unknown): value is Invalid {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "invalid";
}
