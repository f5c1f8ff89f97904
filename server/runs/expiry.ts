/**
 * Removes runs that nobody has asked for in their time to live. That is told by the store's clock, which may be wrong: so
 * nothing is removed in the first minutes after a start, after a jump of that clock or after the store could not be asked,
 * what will be is announced, and each removal is logged.
 */
import type { ExpiredRun } from "../stores/store.ts";
import type { InstanceKey } from "../curriculum/types.ts";
import type { Ports } from "./dependencies.ts";

/** How often expired runs are looked for. */
const SWEEP_MS = 30_000;
/** How long no run is removed after a start, a jump of the clock or a failure: time to see the announcement, and to act. */
const SETTLE_MS = 5 * 60_000;
/** The store's clock jumped if it moved by this much more or less than time has passed. */
const JUMP_MS = 60_000;
/** Runs that an announcement names. */
const NAMED_MAX = 20;

/**
 * How long the store keeps a run that is asked for now. That is put off with each sweep for the runs that were asked for
 * since the last one, so the time has two sweeps to spare.
 */
export function keptMs(timeToLiveMs: number): number {
  return timeToLiveMs + 2 * SWEEP_MS;
}

/** Calls `onSweep` each time, and `forget` with the key of each run that was removed. What it returns ends that. */
export function sweepExpired<Spec, Key extends InstanceKey>(
  { store, clock, onRemoved, log }: Pick<Ports<Spec, Key>, "store" | "clock" | "onRemoved" | "log">,
  onSweep: () => Promise<void>,
  forget: (key: number) => Promise<void>,
): () => void {
  let settledAtMs = clock.now() + SETTLE_MS;
  /** Of the store's clock, before this one; undefined: it has not been asked yet. */
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
        // Who uses a run could not say so meanwhile.
        settle();
        log?.warn({ err }, "expired runs could not be looked for");
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
