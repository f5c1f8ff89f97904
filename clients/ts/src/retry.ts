/**
 * Retries calls. Calls are idempotent by design, so a call with a transient failure is sent again until its deadline.
 * `grpc-js` can retry by its service config. But it does not know the delay that the server asks for, stops after five
 * attempts, and keeps no request above 1 MB. Browsers need the same retries.
 */
import { DELAY_MS_FIRST, DELAY_MS_MAX } from "./defaults.ts";
import { abortedError, asGradusError, GradusError } from "./errors.ts";
import type { GradusCode } from "./errors.ts";
import { isPaused } from "./pauses.ts";
import type { PauseNotice } from "./pauses.ts";
import type { Attempt } from "./transport.ts";

/** Returns whether a failure is worth another attempt. */
export type Retryable = (error: GradusError) => boolean;

/** Accepts transient failures: the server is down, another call changed the run meanwhile, or a queue is full. */
export const passing: Retryable = (error) => {
  if (error.mistake !== undefined) return false;
  const codes: readonly GradusCode[] = ["UNAVAILABLE", "ABORTED"];
  return codes.includes(error.code) || (error.code === "RESOURCE_EXHAUSTED" && error.retryDelayMs !== undefined);
};

/** Accepts failures for which the server gives a retry delay, because it then did nothing. */
export const asked: Retryable = (error) => passing(error) && error.retryDelayMs !== undefined;

/** Accepts no failure. */
export const never: Retryable = () => false;

/** While a run is paused and the server gives no delay, retries wait as long as after this many failures: 0.8 s. */
const PAUSE_FAILURES = 4;

/**
 * Returns the delay after a failure, in milliseconds. Random jitter keeps the processes of a job from retrying all at
 * once.
 */
export function delayMsAfter(error: GradusError, failures: number): number {
  const base = error.retryDelayMs ?? Math.min(DELAY_MS_MAX, DELAY_MS_FIRST * 2 ** (failures - 1));
  return base * (1 + 0.2 * Math.random());
}

/** Waits for a time in milliseconds. Rejects with CANCELLED if the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(abortedError(signal as AbortSignal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Maximum timeout of setTimeout, in milliseconds (about 25 days). */
const timeoutMsMax = 2 ** 31 - 1;

/** Returns the time until a deadline as a whole number of milliseconds, at least 1. */
function timeoutMsUntil(deadline: number): number {
  return Math.min(timeoutMsMax, Math.max(1, Math.ceil(deadline - performance.now())));
}

/**
 * Repeats an attempt until it succeeds, fails for good, or no time is left for another. Throws the last GradusError. If
 * the last attempt ran out of time, the failure before it is the cause. With `throughPause`, waits for a paused run
 * without limit. Attempts after the pause have the whole deadline again.
 */
export async function retrying<T>(
  attempt: (attempt: Attempt) => Promise<T>,
  options: {
    readonly deadlineMs: number;
    readonly signal?: AbortSignal | undefined;
    readonly retryable: Retryable;
    /** Returns the maximum number of retries if the server gives no delay. */
    readonly retriesMax?: () => number;
    /** Callback for each error which says that the run is paused. Without a callback, such an error is a failure. */
    readonly throughPause?: PauseNotice | undefined;
  },
): Promise<T> {
  let deadline = performance.now() + options.deadlineMs;
  let last: GradusError | undefined;
  for (let failures = 1; ; failures++) {
    if (options.signal?.aborted) throw abortedError(options.signal);
    try {
      return await attempt({ timeoutMs: timeoutMsUntil(deadline), signal: options.signal });
    } catch (caught) {
      const error = asGradusError(caught);
      if (options.throughPause !== undefined && isPaused(error)) {
        options.throughPause(error);
        await sleep(delayMsAfter(error, PAUSE_FAILURES), options.signal);
        [deadline, last, failures] = [performance.now() + options.deadlineMs, undefined, 0];
        continue;
      }
      const delayMs = delayMsAfter(error, failures);
      if (error.code === "DEADLINE_EXCEEDED" && last !== undefined) {
        throw new GradusError(error.code, error.message, { mistake: error.mistake, cause: last });
      }
      const given = error.retryDelayMs !== undefined || failures <= (options.retriesMax?.() ?? Infinity);
      if (!given || !options.retryable(error) || performance.now() + delayMs >= deadline) throw error;
      last = error;
      await sleep(delayMs, options.signal);
    }
  }
}
