/** The store's time, from what it said now and then: what is written in it is the same for all replicas. */
import type { Clock } from "../base/clock.ts";

/** The store's clock was set if it moved by this much more or less than time has passed; what goes by it does not jump then. */
const JUMP_MS = 60_000;

/**
 * The store looked at its clock between question and answer, so that its lead over the local one is between the two
 * differences: what is believed is moved into that. An answer that was long on its way, or a process that was stopped
 * meanwhile, moves nothing.
 */
export function storeClock(local: Clock) {
  let aheadMs: number | undefined;
  return {
    clock: { ...local, now: () => local.now() + (aheadMs ?? 0) },
    /** Takes in what the store said its time was, between two times of the local clock. */
    heard: (storeMs: number, sentAtMs: number, gotAtMs: number): void => {
      const [least, most] = [storeMs - gotAtMs, storeMs - sentAtMs];
      const found = Math.round(Math.min(most, Math.max(least, aheadMs ?? (least + most) / 2)));
      if (aheadMs === undefined || Math.abs(found - aheadMs) < JUMP_MS) aheadMs = found;
    },
  };
}
