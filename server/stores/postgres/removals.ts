/**
 * Deletes removed runs. The row of a removed run is gone at once, so that nobody finds the run. Its other rows are
 * deleted afterwards, a few at a time.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Connections } from "./database.ts";

const PORTIONS = ["dropEvents", "dropParts", "dropRecords"] as const;
/**
 * Delay, in milliseconds, before rows of removed runs are searched for again. By then, writes that were in progress
 * during a removal have ended, and rows that a dead process left are found.
 */
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
      for (const name of ["dropHead", "dropSummary", "dropTurn"] as const) await calls.query(name, [run]);
      if (isOld) await calls.query("removed", [run]);
      after = run;
    }
  };
  const start = (): void => {
    clearTimeout(again);
    if (ended.signal.aborted) return;
    // The failure is ignored here. Callers that wait for the database get it as well, and the next attempt deletes the
    // rows.
    going ??= tidy()
      .catch(() => undefined)
      .finally(() => (going = undefined));
    again = setTimeout(start, AGAIN_MS).unref();
  };
  // The first attempt deletes rows that an earlier process left.
  start();
  return {
    /** Runs work that removes runs, and then begins to delete their rows. */
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
