/** Looks for signs that policies exploit their reward, in runs whose samples this server counts, for monitoring. */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { mapInSlices } from "../base/time-slices.ts";
import { type HackingSign, SIGN_KINDS, signsOf } from "./hacking-signs.ts";
import type { ArmCounts } from "./sample-counts.ts";

/** Time between two looks at a run, in milliseconds. A look at 1,024 arms may take a tenth of a second. */
const LOOK_MS = 60_000;
/** Time after the last look at a run during which its signs are present, in milliseconds. */
const PRESENT_MS = 10 * 60_000;

/** `armsOf` returns the counts of a run's arms. */
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
          "cannot look for signs that this run's reward is exploited; its next samples start another look",
        );
      }
  };
  return {
    /** Notes that new samples of a run were counted. */
    note: (run: string): void => {
      due.add(run);
      cancel ??= clock.setTimer(LOOK_MS, () => void look());
    },
    /** Returns the number of present signs by kind, also of kinds without a sign. */
    present,
    close: (): void => cancel?.(),
  };
}
