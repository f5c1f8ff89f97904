/**
 * Time limits of attempts. Attempts that begin in the same millisecond for the same caller share
 * one timer and one signal, because creating both costs more than many a verification.
 */
import type { Resource } from "../../../envs/environment.ts";
import type { Clock } from "../../base/clock.ts";

/** Time limit of one attempt. */
export interface Limit {
  /** Aborted when the time is up or the caller has left. */
  readonly signal: AbortSignal;
  /** Start of the attempt, in milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** Ends the limit, because the attempt has ended. */
  readonly leave: () => void;
}

export interface Limits {
  /** Begins an attempt. `onLate` is called with the reason if the time is up before the attempt ends. */
  begin(caller: AbortSignal | undefined, onLate: (detail: string) => void): Limit;
}

interface Shared {
  readonly caller: AbortSignal | undefined;
  readonly signal: AbortSignal;
  readonly startedAtMs: number;
  readonly attempts: Set<(detail: string) => void>;
  readonly cancelTimer: () => void;
}

export function createLimits({ name, timeLimitMs }: Pick<Resource, "name" | "timeLimitMs">, clock: Clock): Limits {
  let newest: Shared | undefined;
  const open = (caller: AbortSignal | undefined, startedAtMs: number): Shared => {
    const limit = new AbortController();
    const attempts: Shared["attempts"] = new Set();
    const cancelTimer = clock.setTimer(timeLimitMs, () => {
      const detail = `'${name}' took longer than ${timeLimitMs} ms`;
      limit.abort(new Error(detail));
      for (const onLate of attempts) onLate(detail);
    });
    const signal = caller === undefined ? limit.signal : AbortSignal.any([caller, limit.signal]);
    return { caller, signal, startedAtMs, attempts, cancelTimer };
  };
  return {
    begin(caller, onLate) {
      const startedAtMs = clock.now();
      if (newest?.startedAtMs !== startedAtMs || newest.caller !== caller) newest = open(caller, startedAtMs);
      const shared = newest;
      shared.attempts.add(onLate);
      return {
        signal: shared.signal,
        startedAtMs,
        leave() {
          shared.attempts.delete(onLate);
          if (shared.attempts.size > 0) return;
          shared.cancelTimer();
          // The timer has been cancelled, so the next attempt needs a new one.
          if (newest === shared) newest = undefined;
        },
      };
    },
  };
}
