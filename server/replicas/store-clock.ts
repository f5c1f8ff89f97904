/** The store's clock, estimated from the times that the store reports, so that all replicas use one time. */
import type { Clock } from "../base/clock.ts";

/**
 * If the store's time differs by this much from the elapsed time, in milliseconds, its clock was set; our clock does
 * not follow such a jump.
 */
const JUMP_MS = 60_000;

/**
 * Returns a clock that follows the store's. The store read its clock between request and answer, so its lead over the
 * local clock is between two differences, and the estimate is moved into that range. A slow answer, or a pause of this
 * process meanwhile, gives a wide range and so moves nothing.
 */
export function storeClock(local: Clock) {
  let aheadMs: number | undefined;
  return {
    clock: { ...local, now: () => local.now() + (aheadMs ?? 0) },
    /** Takes the time that the store reported between two times of the local clock. */
    heard: (storeMs: number, sentAtMs: number, gotAtMs: number): void => {
      const [least, most] = [storeMs - gotAtMs, storeMs - sentAtMs];
      const found = Math.round(Math.min(most, Math.max(least, aheadMs ?? (least + most) / 2)));
      if (aheadMs === undefined || Math.abs(found - aheadMs) < JUMP_MS) aheadMs = found;
    },
  };
}
