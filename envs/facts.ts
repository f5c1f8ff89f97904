/** Defines the results of reading and verifying an answer. They hold facts only; envs/reward computes the rewards. */

/** Result for a text that cannot be read, and why. */
export interface Malformed {
  readonly kind: "malformed";
  readonly reason: string;
}

export function malformed(reason: string): Malformed {
  return { kind: "malformed", reason };
}

/** Result of reading a model's answer text. */
export type Parsed<Answer> = { readonly kind: "answer"; readonly answer: Answer } | Malformed;

/** Result of verification: facts, or the reason why the answer could not be read. */
export type Findings = Facts | Malformed;

/** Facts that a verifier finds, from which envs/reward computes the reward. */
export type Facts =
  | { readonly kind: "feasible"; readonly objective?: number; readonly info?: Readonly<Record<string, string>> }
  | { readonly kind: "infeasible"; readonly violation: string; readonly info?: Readonly<Record<string, string>> }
  | GradedFacts;

export function infeasible(violation: string): Facts {
  return { kind: "infeasible", violation };
}

/**
 * Result of grading an answer: a value for each reward component that the environment declares, or a reason why there
 * is none.
 */
export interface GradedFacts {
  readonly kind: "graded";
  readonly components: readonly GradedComponent[];
  /** True if the answer reaches the goal of the task. */
  readonly solved: boolean;
  /** Text that says what is wrong with an answer that falls short, e.g. the first test that fails. */
  readonly violation?: string;
  readonly info?: Readonly<Record<string, string>>;
}

export type GradedComponent =
  | { readonly name: string; readonly value: number }
  | {
      readonly name: string;
      readonly value: undefined;
      /** Reason why the component has no value. The weighted sum then omits the component. */
      readonly reason: string;
      /**
       * Set if a fault of the server or of an external service is the reason, e.g. the judge is down. If the primary
       * component has a failure, the answer gets no reward.
       */
      readonly failure?: Failed;
    };

/** Verification failed through a fault of the server or of an external service. The answer may be correct or not. */
export type Failed = {
  readonly kind: "failed";
  readonly detail: string;
  /** True if a retry may help. If false, the sample never gets a reward, and its group does not wait for one. */
  readonly retryable: boolean;
  /** Delay before the retry, in milliseconds. If unset, the server chooses the delay. */
  readonly retryDelayMs?: number;
} & Reason;

/** Reason for the failure. The contract's NoRewardReason uses the same words. */
type Reason =
  | {
      readonly reason: "resource_unavailable";
      /** External resource that failed or is missing, e.g. "judge". Environments name their own resources. */
      readonly resource: string;
    }
  | { readonly reason: "timeout" | "overloaded" | "internal"; readonly resource?: undefined };

/**
 * Returns the failure of a verifier whose external resource does not answer. A retry helps unless `more` says
 * otherwise.
 */
export function unavailable(
  resource: string,
  detail: string,
  more: Partial<Pick<Failed, "retryable" | "retryDelayMs">> = {},
): Failed {
  return { kind: "failed", reason: "resource_unavailable", resource, detail, retryable: true, ...more };
}

/** Returns the reason of a failure as text, e.g. "timeout" or "resource_unavailable: judge". */
export function reasonWords({ reason, resource }: { readonly reason: string; readonly resource?: string | undefined }) {
  return resource === undefined ? reason : `${reason}: ${resource}`;
}

/** Failure that a bug of this server caused. The server's log has the details. */
export const bug: Failed = Object.freeze({
  ...({ kind: "failed", reason: "internal", retryable: true } as const),
  detail: "the server failed to score this completion; its log says why",
});
