/** Closes groups of a run in memory as they time out. */
import { nextTimeoutAtMs, timedOut } from "../feedback.ts";
import type { LiveRun } from "./live-run.ts";
import type { Ports } from "./ports.ts";

/** How long to wait after the store failed. */
const RETRY_MS = 1000;

/** What it returns ends it. */
export function watchTimeouts(run: LiveRun, { clock, log }: Ports): () => void {
  let dueAtMs: number | undefined;
  let cancel = (): void => undefined;

  const schedule = (atMs: number | undefined): void => {
    if (atMs === dueAtMs) return;
    cancel();
    cancel = (): void => undefined;
    dueAtMs = atMs;
    if (atMs !== undefined) cancel = clock.setTimer(Math.max(0, atMs - clock.now()), () => void close());
  };
  const look = (): void => schedule(run.isGone() ? undefined : nextTimeoutAtMs(run.state()));
  const close = async (): Promise<void> => {
    try {
      await run.commit((state) => {
        const cursors = timedOut(state, clock.now());
        const event = { kind: "groups_closed", cursors, reason: "timeout" } as const;
        return { events: cursors.length > 0 ? [event] : [], value: null };
      });
      dueAtMs = undefined;
      look();
    } catch (err) {
      log?.warn({ err, run: run.id }, "groups that timed out could not be closed");
      schedule(clock.now() + RETRY_MS);
    }
  };

  const unsubscribe = run.onChange(look);
  look();
  return () => {
    unsubscribe();
    cancel();
  };
}
