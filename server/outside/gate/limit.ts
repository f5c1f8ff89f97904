/**
 * The time limit of attempts. Those that begin in the same millisecond for the same caller end together at the latest, and so
 * they have one timer and one signal: of its own for each, both cost more than many a verification.
 */
import type { Resource } from "../../../envs/environment.ts";
import type { Clock } from "../../base/clock.ts";

/** Of one attempt. */
export interface Limit {
  /** Aborted when the time is up, or the caller has left. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** The attempt has come to its end. */
  readonly leave: () => void;
}

export interface Limits {
  /** `onLate` is called with words where the time is up before the attempt has left. */
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
          // Its timer is gone: the next attempt has another.
          if (newest === shared) newest = undefined;
        },
      };
    },
  };
}
