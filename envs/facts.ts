/** What reading and verifying an answer comes to: facts alone, which the reward module prices. */

/** A text that cannot be read, and why. */
export interface Malformed {
  readonly kind: "malformed";
  readonly reason: string;
}

export function malformed(reason: string): Malformed {
  return { kind: "malformed", reason };
}

/** A model's answer text, read. */
export type Parsed<Answer> = { readonly kind: "answer"; readonly answer: Answer } | Malformed;

/** A verifier's finding about an answer: facts, or that it could not be read. */
export type Findings = Facts | Malformed;

/** What a verifier finds: facts only. The reward module prices them. */
export type Facts =
  | { readonly kind: "feasible"; readonly objective?: number; readonly info?: Readonly<Record<string, string>> }
  | { readonly kind: "infeasible"; readonly violation: string; readonly info?: Readonly<Record<string, string>> }
  | GradedFacts;

export function infeasible(violation: string): Facts {
  return { kind: "infeasible", violation };
}

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

/** Verification failed, through a fault of ours, which says nothing about the answer. */
export type Failed = {
  readonly kind: "failed";
  readonly detail: string;
  /** Whether trying again may help. Where it cannot, the sample never has a reward, and its group does not wait. */
  readonly retryable: boolean;
  /** How long to wait before that, milliseconds; unset: the server chooses. */
  readonly retryDelayMs?: number;
} & Reason;

/** Why there is no telling: the contract's NoRewardReason has the same words. */
type Reason =
  | {
      readonly reason: "resource_unavailable";
      /** What of the outside failed or is not there, e.g. "judge": an environment names its own. */
      readonly resource: string;
    }
  | { readonly reason: "timeout" | "overloaded" | "internal"; readonly resource?: undefined };

/** What a verifier finds where the outside that it asks does not answer: again helps, unless `more` says otherwise. */
export function unavailable(
  resource: string,
  detail: string,
  more: Partial<Pick<Failed, "retryable" | "retryDelayMs">> = {},
): Failed {
  return { kind: "failed", reason: "resource_unavailable", resource, detail, retryable: true, ...more };
}

/** E.g. "timeout", or "resource_unavailable: judge". */
export function reasonWords({ reason, resource }: { readonly reason: string; readonly resource?: string | undefined }) {
  return resource === undefined ? reason : `${reason}: ${resource}`;
}
