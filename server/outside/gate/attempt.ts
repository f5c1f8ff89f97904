/**
 * Runs one attempt to verify an answer, within the time limit of the resource that it uses (e.g. the sandbox). If the
 * caller has left, the outcome is "cancelled".
 */
import type { Resource, VerifyContext } from "../../../envs/resource.ts";
import type { Failed, Findings } from "../../../envs/facts.ts";
import { escaped } from "../../../envs/lib/escape.ts";
import type { Ports } from "../../../envs/ports.ts";
import type { Party } from "../../base/fair-turns.ts";
import type { Clock } from "../../base/clock.ts";
import { bug } from "../../../envs/facts.ts";
import type { Limits } from "./limit.ts";

/**
 * A request to verify one answer, or to carry out one call of an episode. The gate (queue) of a resource runs it in one
 * or several attempts.
 */
export interface Job {
  /**
   * Caller that asked for the job, and its connection. A queue serves callers, and each caller's connections, fairly by
   * the time that their jobs took.
   */
  readonly party: Party;
  /** Size of the completion in bytes. A gate limits the total of all waiting jobs, because they stay in memory. */
  readonly bytes: number;
  /** Aborted when the caller has left. Undefined: the job runs to its end in any case. */
  readonly signal: AbortSignal | undefined;
  /** Deadline in milliseconds since the Unix epoch. Undefined: only the resource's own limit applies. */
  readonly deadlineMs: number | undefined;
  /** Verifies the answer, or carries out the call. Called once for each attempt, never twice at the same time. */
  readonly verify: (context: VerifyContext) => Promise<Findings | Failed>;
}

/**
 * A job of a caller, or the server's own test of whether a resource works. Only the job has a `party` (caller and
 * connection).
 */
export type AttemptedJob = Omit<Job, "bytes" | "party"> & Partial<Pick<Job, "party">>;

export interface Cancelled {
  readonly kind: "cancelled";
}

export type JobOutcome = Findings | Failed | Cancelled;

export const CANCELLED: Cancelled = Object.freeze({ kind: "cancelled" });

/** Default maximum number of attempts at one verification. If all fail, the client may retry later. */
export const ATTEMPTS_MAX = 3;

export interface AttemptOptions {
  readonly clock: Clock;
  /** Services, such as a sandbox or a judge, that the verifier may use. Defaults to none. */
  readonly ports?: Ports;
  /** Called when a verifier threw an exception, which is a bug of the environment. */
  readonly onFailure: (error: unknown, resource: string) => void;
}

/**
 * Runs one attempt to verify an answer or to carry out a call. Calls `answer` exactly once, at the latest at the time
 * limit. Resolves when the verifier has ended, which may be later.
 */
export async function attemptJob(
  { name, timeLimitMs, attemptsMax = ATTEMPTS_MAX }: Resource,
  { party, signal: caller, deadlineMs = Infinity, verify }: AttemptedJob,
  attempt: number,
  { limits, onFailure, ports = {} }: Omit<AttemptOptions, "clock"> & { readonly limits: Limits },
  answer: (outcome: JobOutcome) => void,
): Promise<void> {
  let answered = false;
  const once = (outcome: JobOutcome): void => {
    if (!answered) answer(caller?.aborted === true ? CANCELLED : outcome);
    answered = true;
  };
  const limit = limits.begin(caller, (detail) => once({ kind: "failed", reason: "timeout", detail, retryable: true }));
  const { signal, startedAtMs } = limit;
  const untilMs = Math.min(deadlineMs, startedAtMs + timeLimitMs);
  try {
    const outcome = await verify({ party, signal, deadlineMs: untilMs, ports, attempt, attemptsMax });
    // The detail comes from another process and goes to logs and clients, so control characters are escaped.
    once(outcome.kind === "failed" ? { ...outcome, detail: escaped(outcome.detail) } : outcome);
  } catch (error) {
    // The error of an aborted verifier is dropped, because nobody waits for its result.
    if (!signal.aborted) onFailure(error, name);
    once(bug);
  } finally {
    limit.leave();
  }
}
