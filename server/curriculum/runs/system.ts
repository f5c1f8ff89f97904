/* eslint-disable no-restricted-syntax -- the one place here that reads the time and takes random bits: handed in from
   outside, to wait by and to name incarnations by. */
import { randomBytes } from "node:crypto";
import type { Clock } from "./ports.ts";

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

export function newIncarnation(): string {
  return randomBytes(9).toString("base64url");
}
