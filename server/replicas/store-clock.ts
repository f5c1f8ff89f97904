/**
 * Estimates the time of the store's clock from times that the store reports, so that all servers of a store agree on
 * the time.
 */
import type { Clock } from "../base/clock.ts";

/**
 * If a new estimate differs by this many milliseconds, the store's clock itself was changed. The estimate does not
 * follow such a jump.
 */
const JUMP_MS = 60_000;

/**
 * Returns a clock that follows the store's clock. The store reads its clock between a request and its response. So each
 * response gives a range for the difference to the local clock, and the estimate moves into that range. A slow response
 * gives a wide range, and hardly changes the estimate.
 */
export function storeClock(local: Clock) {
  let aheadMs: number | undefined;
  return {
    clock: { ...local, now: () => local.now() + (aheadMs ?? 0) },
    /**
     * Corrects the estimate by a time that the store reported. `sentAtMs` and `gotAtMs` are the local times of sending
     * the request and getting the response.
     */
    heard: (storeMs: number, sentAtMs: number, gotAtMs: number): void => {
      const [least, most] = [storeMs - gotAtMs, storeMs - sentAtMs];
      const found = Math.round(Math.min(most, Math.max(least, aheadMs ?? (least + most) / 2)));
      if (aheadMs === undefined || Math.abs(found - aheadMs) < JUMP_MS) aheadMs = found;
    },
  };
}
