/** Estimates the store's clock from the times that the store reports, so that all servers of the store use one time. */
import type { Clock } from "../base/clock.ts";

/**
 * Difference, in milliseconds, from which a new estimate counts as a change of the store's clock. This clock does not
 * follow such a jump.
 */
const JUMP_MS = 60_000;

/**
 * Returns a clock that follows the store's. Each reported time limits the store's lead to a range, since the store read
 * its clock between request and answer. The estimate moves into that range; a slow answer gives a wide range and moves
 * it little.
 */
export function storeClock(local: Clock) {
  let aheadMs: number | undefined;
  return {
    clock: { ...local, now: () => local.now() + (aheadMs ?? 0) },
    /** Corrects the estimate by a time that the store reported between two times of the local clock. */
    heard: (storeMs: number, sentAtMs: number, gotAtMs: number): void => {
      const [least, most] = [storeMs - gotAtMs, storeMs - sentAtMs];
      const found = Math.round(Math.min(most, Math.max(least, aheadMs ?? (least + most) / 2)));
      if (aheadMs === undefined || Math.abs(found - aheadMs) < JUMP_MS) aheadMs = found;
    },
  };
}
