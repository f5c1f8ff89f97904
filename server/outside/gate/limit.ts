/**
 * Time limits of attempts to verify answers. Attempts that one caller begins in the same millisecond share a timer and
 * an abort signal, because creating these takes longer than many verifications.
 */
import type { Resource } from "../../../envs/resource.ts";
import type { Clock } from "../../base/clock.ts";

export interface Limit {
  /** Aborted when the time is up or the caller has left. */
  readonly signal: AbortSignal;
  /** When the attempt began, in milliseconds since the Unix epoch. */
  readonly startedAtMs: number;
  /** Must be called when the attempt has ended, so that the limit no longer applies. */
  readonly leave: () => void;
}

export interface Limits {
  /**
   * Starts the time limit of an attempt. If the attempt has not ended when the limit is reached, calls `onLate` with a
   * text that names the limit.
   */
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
          // The shared timer is cancelled, so the next attempt must create a new one.
          if (newest === shared) newest = undefined;
        },
      };
    },
  };
}
