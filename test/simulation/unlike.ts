/**
 * Checks whether the runs that a server reads back equal those that the independent reader builds from their journals.
 */
import type { InstanceKey } from "../../server/curriculum/types.ts";
import { encodeState } from "../../server/curriculum/state-codec.ts";
import type { Clock } from "../../server/base/clock.ts";
import type { TaskSource } from "../../server/runs/dependencies.ts";
import { readState } from "../../server/runs/journal.ts";
import type { Store } from "../../server/stores/store.ts";
import { differences } from "./compare.ts";
import { readState as readSaved } from "./reader-state.ts";
import { readJournal } from "./reader.ts";
import type { HashOf } from "./reading.ts";

/** Returns the faults that were found, each in words. If there is a snapshot, it is checked too. */
export async function unlikeJournals<Spec, Key extends InstanceKey>(
  store: Store,
  source: TaskSource<Spec, Key>,
  clock: Clock,
  hashOf: HashOf,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const row of (await store.list("", 100)).runs) {
    const { run, faults } = readJournal((await store.read(row.key, 0)) ?? [], hashOf);
    found.push(...faults);
    for (const from of [store, { ...store, snapshot: () => Promise.resolve(undefined) }]) {
      const state = await readState<Spec, Key>(from, row, source, clock);
      const saved = state && readSaved(Buffer.concat([...encodeState(state, source)]));
      found.push(...(saved === undefined ? [`run ${row.id} is not there`] : differences(run, saved)));
    }
  }
  return found;
}
