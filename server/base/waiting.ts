/** Waits that end early when an abort signal fires. */
import type { Clock } from "./clock.ts";

/** Resolves after a delay, or when `signal` aborts. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return until(clock, delayMs, signal, () => () => undefined);
}

/** Returns the outcome of a promise, or undefined as soon as `signal` aborts. The work behind the promise continues. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

export function until(
  clock: Clock,
  delayMs: number,
  signal: AbortSignal,
  subscribe: (done: () => void) => () => void,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      unsubscribe();
      cancelTimer();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const unsubscribe = subscribe(done);
    const cancelTimer = clock.setTimer(delayMs, done);
    signal.addEventListener("abort", done);
  });
}
