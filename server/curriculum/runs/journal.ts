/** How changes of a run are written, and how a run is read back. */
import type { Store, StoredRecord, StoredRun } from "../../stores/store.ts";
import { afterEvent, apply, applyUntrimmed } from "../apply.ts";
import { decodeEvent, decodeState, encodeEvent, encodeState, parseState } from "../codec.ts";
import type { RunEvent } from "../events.ts";
import { historyWrites } from "../history.ts";
import type { RunState } from "../state.ts";

/** Characters of journal after which a snapshot is worth its cost, for a run whose snapshot is smaller. */
const SNAPSHOT_AFTER = 256 * 1024;

/** Events as the store takes them, with the state that they lead to. */
export interface Change {
  readonly state: RunState;
  readonly events: readonly string[];
  readonly records: readonly StoredRecord[];
}

/** At least one event. */
export function encodeChange(before: RunState | undefined, events: readonly RunEvent[]): Change {
  let state = before;
  const records: StoredRecord[] = [];
  for (const event of events) {
    const untrimmed = applyUntrimmed(state, event);
    for (const { seq, record } of historyWrites(state, event, untrimmed)) {
      records.push({ seq, body: JSON.stringify(record) });
    }
    state = afterEvent(untrimmed);
  }
  return { state: state as RunState, events: events.map(encodeEvent), records };
}

/**
 * Reads a run from its newest snapshot and the events after it, or from the whole journal where the snapshot is of
 * another server's format; undefined: the run was deleted.
 */
export async function readState(store: Store, { key }: StoredRun): Promise<RunState | undefined> {
  const snapshot = await store.snapshot(key);
  const document = snapshot && parseState(snapshot.body);
  const from = document && decodeState(document);
  const events = await store.read(key, from?.version ?? 0);
  return events?.map(decodeEvent).reduce<RunState | undefined>(apply, from);
}

/** The state after events that another process wrote. */
export function follow(state: RunState, events: readonly string[]): RunState {
  return events.map(decodeEvent).reduce(apply, state);
}

/**
 * Says when a snapshot is due: once the journal since the last one outweighs it. So loading costs at most about twice a
 * snapshot, and snapshots cost at most about as much as the journal.
 */
export function snapshotRule(): (state: RunState, events: readonly string[]) => string | undefined {
  let written = 0;
  let snapshotSize = 0;
  return (state, events) => {
    written += events.reduce((sum, event) => sum + event.length, 0);
    if (written < Math.max(SNAPSHOT_AFTER, snapshotSize)) return undefined;
    const body = JSON.stringify(encodeState(state));
    written = 0;
    snapshotSize = body.length;
    return body;
  };
}
