/** What reading and verifying an answer comes to: facts alone, which the reward module prices. */

/** A model's answer text, read. */
export type Parsed<Answer> =
  { readonly kind: "answer"; readonly answer: Answer } | { readonly kind: "malformed"; readonly reason: string };

/** What a verifier finds: facts only. The reward module prices them. */
export type Facts =
  | { readonly kind: "feasible"; readonly objective?: number; readonly info?: Readonly<Record<string, string>> }
  | { readonly kind: "infeasible"; readonly violation: string; readonly info?: Readonly<Record<string, string>> }
  | GradedFacts;

/** What a grader finds: the components that its environment declares, each with a value or without. */
export interface GradedFacts {
  readonly kind: "graded";
  readonly components: readonly GradedComponent[];
  /** Whether the goal is reached. */
  readonly solved: boolean;
  /** Of an answer that falls short: what is wrong with it, e.g. the first test that fails. */
  readonly violation?: string;
  readonly info?: Readonly<Record<string, string>>;
}

/** One part of what a grader finds. */
export type GradedComponent =
  | { readonly name: string; readonly value: number }
  | {
      readonly name: string;
      readonly value: undefined;
      /** Why it has no value: it is left out of the sum. */
      readonly reason: string;
      /** Set where it has none because of us, e.g. the judge is down. A primary one then leaves no reward at all. */
      readonly failure?: Failed;
    };

/** Why there is no telling, through a fault of ours: the contract's NoRewardReason has the same words. */
export type FailureReason = "judge_unavailable" | "sandbox_failed" | "timeout" | "overloaded" | "internal";

/** Verification failed, which says nothing about the answer. */
export interface Failed {
  readonly kind: "failed";
  readonly reason: FailureReason;
  readonly detail: string;
  /** Whether trying again may help. Where it cannot, the sample never has a reward, and its group does not wait. */
  readonly retryable: boolean;
  /** How long to wait before that, milliseconds; unset: the server chooses. */
  readonly retryDelayMs?: number;
}
