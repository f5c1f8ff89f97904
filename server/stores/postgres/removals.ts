/** Deletion: the run's row goes at once, and with it the run for all who look; the rest follows a few rows at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Connections } from "./database.ts";

const PORTIONS = ["dropEvents", "dropParts", "dropRecords"] as const;
/** Until all that is being written for a run as it is removed has come, and what another process left is looked for again. */
const AGAIN_MS = 60_000;

export function createRemovals(calls: Connections) {
  const ended = new AbortController();
  let again: NodeJS.Timeout | undefined;
  let going: Promise<void> | undefined;

  const tidy = async (): Promise<void> => {
    for (let after = 0; !ended.signal.aborted;) {
      const [next] = await calls.query("nextRemoval", [after]);
      if (next === undefined) return;
      const { run, isOld } = next as { readonly run: number; readonly isOld: boolean };
      for (const name of PORTIONS)
        while (!ended.signal.aborted && (await calls.query(name, [run])).length > 0) await sleep(1);
      for (const name of ["dropHead", "dropSummary"] as const) await calls.query(name, [run]);
      if (isOld) await calls.query("removed", [run]);
      after = run;
    }
  };
  const start = (): void => {
    clearTimeout(again);
    if (ended.signal.aborted) return;
    // A failure is told where it matters, and the next time it works.
    going ??= tidy()
      .catch(() => undefined)
      .finally(() => (going = undefined));
    again = setTimeout(start, AGAIN_MS).unref();
  };
  // What the last process left.
  start();
  return {
    /** Tidies up after work that removes runs. */
    of: async <T>(work: () => Promise<T>): Promise<T> => {
      const removed = await work();
      start();
      return removed;
    },
    close: async () => {
      ended.abort();
      clearTimeout(again);
      await going;
    },
  };
}
