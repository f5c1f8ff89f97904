/** Deletes runs: the run's row goes at once, so nobody finds the run; the other rows follow, a few at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Connections } from "./database.ts";

const PORTIONS = ["dropEvents", "dropParts", "dropRecords"] as const;
/**
 * Time, in milliseconds, after which removals are checked again: by then a write in progress at the removal has ended,
 * and rows that another process left are found.
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
    // A failure is reported where somebody waits for the database, and the next attempt tidies.
    going ??= tidy()
      .catch(() => undefined)
      .finally(() => (going = undefined));
    again = setTimeout(start, AGAIN_MS).unref();
  };
  // Tidies what the last process left.
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
