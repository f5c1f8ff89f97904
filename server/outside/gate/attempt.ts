/**
 * Runs one attempt to verify an answer, within the time limit of the resource (e.g. the sandbox). If the caller has
 * left, the outcome is "cancelled".
 */
import type { Resource, VerifyContext } from "../../../envs/environment.ts";
import type { Failed, Findings } from "../../../envs/facts.ts";
import { escaped } from "../../../envs/lib/escape.ts";
import type { Ports } from "../../../envs/ports.ts";
import type { Party } from "../../base/fair-turns.ts";
import type { Clock } from "../../base/clock.ts";
import { bug } from "../../../envs/facts.ts";
import type { Limits } from "./limit.ts";

/** A verification of one answer, which a gate runs in one or several attempts. */
export interface Job {
  /** Caller and connection for which the job counts, so that the resource is shared fairly. */
  readonly party: Party;
  /** Size of the completion in bytes. It stays in memory while the job waits. */
  readonly bytes: number;
  /** Aborts when nobody needs the result any more. Undefined: the job runs to its end. */
  readonly signal: AbortSignal | undefined;
  /** Deadline in milliseconds since the Unix epoch. Undefined: only the resource's own limit applies. */
  readonly deadlineMs: number | undefined;
  /** Verifies once. May be called several times, one after the other. */
  readonly verify: (context: VerifyContext) => Promise<Findings | Failed>;
}

/** A job of a caller, or a test of the resource by the server itself, which has no party. */
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
  /** Outside services (ports) that verifiers may ask. Defaults to none. */
  readonly ports?: Ports;
  /** Called for each verifier that threw an exception. */
  readonly onFailure: (error: unknown, resource: string) => void;
}

/** Resolves when the verifier has ended. Calls `answer` once, at the latest at the time limit. */
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
    // Escape the detail: it goes to logs and to clients whose arm is masked.
    once(outcome.kind === "failed" ? { ...outcome, detail: escaped(outcome.detail) } : outcome);
  } catch (error) {
    // An aborted verifier may reject, and nobody waits for it: its error is dropped.
    if (!signal.aborted) onFailure(error, name);
    once(bug);
  } finally {
    limit.leave();
  }
}
