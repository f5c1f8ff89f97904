/**
 * Removes runs that nobody has asked for in their time to live. That is told by the machine's clock, which may be wrong: so
 * nothing is removed in the first minutes after a start or after a jump of the clock, what will be is announced, and each
 * removal is logged.
 */
import type { InstanceKey } from "../core/types.ts";
import type { Ports } from "./ports.ts";

/** How often expired runs are looked for. */
const SWEEP_MS = 30_000;
/** How long no run is removed after a start, and after a jump of the clock: time to see the announcement, and to act. */
const SETTLE_MS = 5 * 60_000;
/** The machine's clock jumped if it moved by this much more or less than time has passed. */
const JUMP_MS = 60_000;
/** Runs that an announcement names. */
const NAMED_MAX = 20;

/**
 * When a run that is asked for now expires in the store. That is put off with each sweep for the runs that were asked for
 * since the last one, so the time has two sweeps to spare.
 */
export function expiryMs(wallMs: number, timeToLiveMs: number): number {
  return Math.ceil(wallMs + timeToLiveMs + 2 * SWEEP_MS);
}

/** Calls `onSweep` each time, and `forget` with the key of each run that was removed. What it returns ends that. */
export function sweepExpired<Spec, Key extends InstanceKey>(
  { store, clock, log }: Pick<Ports<Spec, Key>, "store" | "clock" | "log">,
  onSweep: () => Promise<void>,
  forget: (key: number) => Promise<void>,
): () => void {
  let settledAtMs = clock.now() + SETTLE_MS;
  let aheadMs = clock.wallNow() - clock.now();
  let announced = "";
  let cancel = (): void => undefined;
  let ended = false;

  const lookAtClock = (): void => {
    const jumpMs = clock.wallNow() - clock.now() - aheadMs;
    if (Math.abs(jumpMs) < JUMP_MS) return;
    aheadMs += jumpMs;
    settledAtMs = clock.now() + SETTLE_MS;
    log?.warn({ jumpMs }, "the machine's clock jumped: no run is removed for the next minutes");
  };
  const announce = async (): Promise<void> => {
    const due = await store.expired(clock.wallNow());
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
    lookAtClock();
    if (clock.now() < settledAtMs) return announce();
    for (const { id, key, expiresAtMs } of await store.removeExpired(clock.wallNow())) {
      log?.info({ run: id, expiresAtMs }, "a run past its time to live was removed");
      await forget(key);
    }
  };
  const schedule = (): void => {
    if (ended) return;
    cancel = clock.setTimer(SWEEP_MS, () => {
      const swept = sweep().catch((err: unknown) => log?.warn({ err }, "expired runs could not be looked for"));
      void swept.then(schedule);
    });
  };
  schedule();
  return () => {
    ended = true;
    cancel();
  };
}
