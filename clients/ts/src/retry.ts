/**
 * Trying again. Calls are idempotent by design, so what failed in passing is sent again until the call's deadline.
 * grpc-js could retry by its service config, but it does not know the delay that the server asks for, stops after
 * five attempts, and keeps no request above 1 MB; and browsers need the same.
 */
import { DELAY_MS_FIRST, DELAY_MS_MAX } from "./defaults.ts";
import { abortedError, asGradusError, GradusError } from "./errors.ts";
import type { GradusCode } from "./errors.ts";
import { isPaused } from "./pauses.ts";
import type { PauseNotice } from "./pauses.ts";
import type { Attempt } from "./transport.ts";

/** Which failures are worth another attempt. */
export type Retryable = (error: GradusError) => boolean;

/** Passing failures: the server is away or restarting, a run changed under the call, or a queue is full. */
export const passing: Retryable = (error) => {
  if (error.mistake !== undefined) return false;
  const codes: readonly GradusCode[] = ["UNAVAILABLE", "ABORTED"];
  return codes.includes(error.code) || (error.code === "RESOURCE_EXHAUSTED" && error.retryDelayMs !== undefined);
};

/** Failures that the server asks to try again: nothing was done. */
export const asked: Retryable = (error) => passing(error) && error.retryDelayMs !== undefined;

/** No failure. */
export const never: Retryable = () => false;

/** Stands for the failures before a try during a pause where the server names no delay: 0.8 s. */
const PAUSE_FAILURES = 4;

/** How long to wait after a failure; jitter keeps the ranks of a job from coming back all at once. */
export function delayMsAfter(error: GradusError, failures: number): number {
  const base = error.retryDelayMs ?? Math.min(DELAY_MS_MAX, DELAY_MS_FIRST * 2 ** (failures - 1));
  return base * (1 + 0.2 * Math.random());
}

/** Waits; rejects with CANCELLED when aborted. */
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

/** The longest that setTimeout takes, some 25 days. */
const timeoutMsMax = 2 ** 31 - 1;

/** A timeout as timers and the wire take it: whole, and at least 1. */
function timeoutMsUntil(deadline: number): number {
  return Math.min(timeoutMsMax, Math.max(1, Math.ceil(deadline - performance.now())));
}

/**
 * Attempts until one succeeds, fails for good, or there is no time for another. Fails with the last GradusError; one
 * that ran out of time has the failure before it as its cause. With `throughPause` a paused run is waited for without limit,
 * and the attempts after the pause have the whole deadline again.
 */
export async function retrying<T>(
  attempt: (attempt: Attempt) => Promise<T>,
  options: {
    readonly deadlineMs: number;
    readonly signal?: AbortSignal | undefined;
    readonly retryable: Retryable;
    /** How often it is attempted again where the server names no delay. */
    readonly retriesMax?: () => number;
    /** Told of each answer that the run is paused; left out: such an answer is a failure. */
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
