/** Clock of this machine. All other code gets a clock as a parameter, so that tests can pass another one. */
import type { Clock } from "./clock.ts";

/** Maximum delay of setTimeout, in milliseconds. With a longer delay, setTimeout fires at once. */
const DELAY_MAX_MS = 2 ** 31 - 1;

/** Clock of this machine. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()),
  setTimer: (delayMs, callback) => {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, DELAY_MAX_MS);
      timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : callback()), stepMs);
      timer.unref();
    };
    wait(delayMs);
    return () => clearTimeout(timer);
  },
  nextTurn: (callback) => void setImmediate(callback),
};
