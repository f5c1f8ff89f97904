/** The machine's clock. Everything else is handed a clock, so that tests can replace it. */
import type { Clock } from "./clock.ts";

/** The longest delay that setTimeout takes; with a longer one it fires at once. */
const DELAY_MAX_MS = 2 ** 31 - 1;

/** Its timers keep no process alive. */
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
