/** Checks runs for signs of reward hacking, from the counts of their samples, and counts the signs for monitoring. */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { mapInSlices } from "../base/time-slices.ts";
import { type HackingSign, SIGN_KINDS, signsOf } from "./hacking-signs.ts";
import type { ArmCounts } from "./sample-counts.ts";

/** Minimum time between two checks of a run, in milliseconds. A check of 1,024 arms may take a tenth of a second. */
const LOOK_MS = 60_000;
/** Time after the last check of a run during which its signs are reported, in milliseconds. */
const PRESENT_MS = 10 * 60_000;

/** Creates a watch for signs of reward hacking. `armsOf` returns the counts of each arm of a run. */
export function createSignWatch(armsOf: (run: string) => Promise<readonly ArmCounts[]>, clock: Clock, log: Log) {
  const due = new Set<string>();
  const found = new Map<string, { readonly atMs: number; readonly signs: readonly HackingSign[] }>();
  let cancel: (() => void) | undefined;
  const present = (): ReadonlyMap<string, number> => {
    for (const [run, { atMs }] of found) if (atMs < clock.now() - PRESENT_MS) found.delete(run);
    const signs = [...found.values()].flatMap((each) => each.signs);
    return new Map(SIGN_KINDS.map((kind) => [kind, signs.filter((sign) => sign.kind === kind).length]));
  };
  const look = async (): Promise<void> => {
    present();
    const runs = [...due];
    due.clear();
    cancel = undefined;
    for (const run of runs)
      try {
        found.set(run, { atMs: clock.now(), signs: (await mapInSlices(await armsOf(run), signsOf)).flat() });
      } catch (err) {
        log.warn(
          { err, run },
          "cannot check this run for signs of reward hacking; the check is repeated when it gets new samples",
        );
      }
  };
  return {
    /** Schedules a check of a run. Called when new samples of the run were counted. */
    note: (run: string): void => {
      due.add(run);
      cancel ??= clock.setTimer(LOOK_MS, () => void look());
    },
    /** Returns the number of signs in recently checked runs, by kind. Kinds without a sign have 0. */
    present,
    close: (): void => cancel?.(),
  };
}
