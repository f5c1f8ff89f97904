/**
 * Removes runs that had no requests during their time to live. The store's clock decides this, and it may be wrong. So
 * no run is removed in the first minutes after a start, a jump of that clock, or a failure of the store. Removals are
 * logged beforehand and afterwards.
 */
import type { ExpiredRun } from "../stores/store.ts";
import type { InstanceKey } from "../curriculum/types.ts";
import type { Ports } from "./dependencies.ts";

/** Interval between searches for expired runs, in milliseconds. */
const SWEEP_MS = 30_000;
/**
 * Time after a start, a clock jump or a failure in which no run is removed, in milliseconds. An operator can then read
 * the log and act.
 */
const SETTLE_MS = 5 * 60_000;
/**
 * Minimum difference that counts as a jump of the store's clock, in milliseconds. It is the difference between the time
 * that passed by the store's clock and by this server's clock.
 */
const JUMP_MS = 60_000;
/** Maximum number of runs that are named in the log line about coming removals. */
const NAMED_MAX = 20;

/**
 * Returns how long, in milliseconds, the store keeps a run after a request. The store may learn of a request only at
 * the next sweep, so the time of two sweeps is added to the time to live.
 */
export function keptMs(timeToLiveMs: number): number {
  return timeToLiveMs + 2 * SWEEP_MS;
}

/**
 * Searches for expired runs every SWEEP_MS and removes them. It calls `onSweep` before each search and `forget` with
 * the key of each removed run. Returns a function that stops the searches.
 */
export function sweepExpired<Spec, Key extends InstanceKey>(
  { store, clock, onRemoved, log }: Pick<Ports<Spec, Key>, "store" | "clock" | "onRemoved" | "log">,
  onSweep: () => Promise<void>,
  forget: (key: number) => Promise<void>,
): () => void {
  let settledAtMs = clock.now() + SETTLE_MS;
  /** Difference between the store's clock and this server's, in milliseconds. Undefined: not measured yet. */
  let aheadMs: number | undefined;
  let announced = "";
  let cancel = (): void => undefined;
  let ended = false;

  const settle = (): void => void (settledAtMs = clock.now() + SETTLE_MS);
  const lookAtClock = (storeNowMs: number): void => {
    const ahead = storeNowMs - clock.now();
    const jumpMs = ahead - (aheadMs ?? ahead);
    aheadMs ??= ahead;
    if (Math.abs(jumpMs) < JUMP_MS) return;
    aheadMs = ahead;
    settle();
    log?.warn({ jumpMs }, "the store's clock jumped: no run is removed for the next minutes");
  };
  const announce = (due: readonly ExpiredRun[]): void => {
    const [runs, key] = [due.slice(0, NAMED_MAX).map(({ id }) => id), due.map((run) => run.key).join()];
    if (key === announced) return;
    announced = key;
    if (due.length === 0) return;
    const details = { runs, count: due.length, inSeconds: Math.round((settledAtMs - clock.now()) / 1000) };
    log?.warn(
      details,
      "runs are past their time to live and will be removed: if the clock is wrong, set it before that",
    );
  };
  const sweep = async (): Promise<void> => {
    await onSweep();
    const { nowMs, runs } = await store.expired();
    lookAtClock(nowMs);
    if (clock.now() < settledAtMs) return announce(runs);
    if (runs.length === 0) return;
    for (const { id, key, expiresAtMs } of await store.removeExpired(nowMs)) {
      log?.info({ run: id, expiresAtMs }, "a run past its time to live was removed");
      await forget(key);
      onRemoved?.(id);
    }
  };
  const schedule = (): void => {
    if (ended) return;
    cancel = clock.setTimer(SWEEP_MS, () => {
      const swept = sweep().catch((err: unknown) => {
        // While the store failed, requests could not extend the time to live of their runs. So no run is removed for
        // the next minutes.
        settle();
        log?.warn({ err }, "cannot find or remove expired runs: no run is removed for the next minutes");
      });
      void swept.then(schedule);
    });
  };
  schedule();
  return () => {
    ended = true;
    cancel();
  };
}
