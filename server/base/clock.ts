/** The time, for waiting and time-outs only: no task depends on it. What expires is told by the store's clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch, by the machine's clock at the start and the time passed since: it never jumps. */
  now(): number;
  /** Calls back once after a delay (which may be longer than setTimeout takes); what it returns cancels it. */
  setTimer(delayMs: number, callback: () => void): () => void;
  /** Calls back when all that came in at the same time has been looked at: in the event loop's next turn. */
  nextTurn(callback: () => void): void;
}
