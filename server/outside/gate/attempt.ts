/** One attempt at one verification: within its resource's time limit, and given up when nobody needs it any more. */
import type { Resource, VerifyContext } from "../../../envs/environment.ts";
import type { Failed, Findings } from "../../../envs/facts.ts";
import { escaped } from "../../../envs/lib/words.ts";
import type { Ports } from "../../../envs/ports.ts";
import type { Party } from "../../base/fair-turns.ts";
import type { Clock } from "../../base/clock.ts";
import { bug } from "../../../envs/facts.ts";
import type { Limits } from "./limit.ts";

/** One verification. */
export interface Job {
  /** Whose share of the resource it comes out of. */
  readonly party: Party;
  /** Of the completion: what it holds while it waits. */
  readonly bytes: number;
  /** Aborted when nobody needs the result any more; undefined: it is needed whoever waits. */
  readonly signal: AbortSignal | undefined;
  /** Milliseconds since the epoch; undefined: only the resource's own limit counts. */
  readonly deadlineMs: number | undefined;
  /** May be called several times, one after the other. */
  readonly verify: (context: VerifyContext) => Promise<Findings | Failed>;
}

/** A job, or a probe: the server's own. */
export type AttemptedJob = Omit<Job, "bytes" | "party"> & Partial<Pick<Job, "party">>;

export interface Cancelled {
  readonly kind: "cancelled";
}

export type JobOutcome = Findings | Failed | Cancelled;

export const CANCELLED: Cancelled = Object.freeze({ kind: "cancelled" });

/** Attempts at one verification, unless its resource says otherwise; after that it is the client's to try again, later. */
export const ATTEMPTS_MAX = 3;

export interface AttemptOptions {
  readonly clock: Clock;
  /** What verifiers may ask; left out: nothing. */
  readonly ports?: Ports;
  /** Told of each verification that threw. */
  readonly onFailure: (error: unknown, resource: string) => void;
}

/** Resolves when the verifier has come to its end; `answer` is called once, at the latest at the time limit. */
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
    // It goes on to logs and to those who see that an arm is masked.
    once(outcome.kind === "failed" ? { ...outcome, detail: escaped(outcome.detail) } : outcome);
  } catch (error) {
    // What is aborted may reject, and nobody listens.
    if (!signal.aborted) onFailure(error, name);
    once(bug);
  } finally {
    limit.leave();
  }
}
