/**
 * Clock for waits and timeouts. No task's content depends on it. Runs, stored completions and sessions expire by the
 * store's clock instead.
 */
export interface Clock {
  /**
   * Returns the time in milliseconds since the Unix epoch. The clock is set only once, at the start of the process, and
   * then counts on, so that it never jumps.
   */
  now(): number;
  /**
   * Calls `callback` once after a delay, which may exceed setTimeout's maximum. Returns a function that cancels the
   * call.
   */
  setTimer(delayMs: number, callback: () => void): () => void;
  /** Calls `callback` in the event loop's next turn, when all simultaneous input has been handled. */
  nextTurn(callback: () => void): void;
}
