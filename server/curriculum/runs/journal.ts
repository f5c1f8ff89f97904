/** How changes of a run are written, and how a run is read back. */
import type { Store, StoredRecord, StoredRun } from "../../stores/store.ts";
import { afterEvent, apply, applyUntrimmed } from "../apply.ts";
import { decodeEvent, decodeState, encodeEvent, encodeState, parseState } from "../codec.ts";
import type { RunEvent } from "../events.ts";
import { historyWrites } from "../history.ts";
import type { RunState } from "../state.ts";

/** A snapshot is due when the journal since the last one is this many times as long, or as SNAPSHOT_MIN. */
const JOURNAL_PER_SNAPSHOT = 4;

/** Characters; a run whose snapshots are shorter is as quick to read from its journal. */
const SNAPSHOT_MIN = 64 * 1024;

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
 * Gives a snapshot when one is due. By length, so that whatever a run's size, reading it back costs a few snapshots at
 * most, and writing snapshots costs a fraction of writing the journal.
 */
export function snapshotRule(): (state: RunState, events: readonly string[]) => string | undefined {
  let written = 0;
  let snapshotSize = 0;
  return (state, events) => {
    written += events.reduce((sum, event) => sum + event.length, 0);
    if (written < JOURNAL_PER_SNAPSHOT * Math.max(SNAPSHOT_MIN, snapshotSize)) return undefined;
    const body = JSON.stringify(encodeState(state));
    written = 0;
    snapshotSize = body.length;
    return body;
  };
}
