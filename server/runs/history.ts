/** A run's history as it is now: what was written of it, and of what is not settled what the run knows. */
import { recordMissing, type Store } from "../stores/store.ts";
import { type HistoryEntry, isControlChange, unsettledRecords } from "../curriculum/history.ts";
import { type InstanceKey, notFound, ok, type Result } from "../curriculum/types.ts";
import { historyPage, missingRecord } from "./history-page.ts";
import { type HistoryPlace, leadingTo, recordReader } from "./history-records.ts";
import type { Page } from "./listing.ts";
import { gone, type LiveRun } from "./live-run.ts";

/** An entry of the history, and where it stands. */
type PlacedEntry = HistoryEntry & {
  readonly seq: number;
  /** It stays as it is, but for an import. */
  readonly isSettled: boolean;
};

/** How a history is read. */
export interface HistoryReading {
  /**
   * Left out, or true: a page has no more records than an answer holds where all of them are told with what they have by
   * arm; false: as many as are asked for, if they are small as stored.
   */
  readonly isToldWhole?: boolean;
  /** False: update batches have nothing by arm, and are read sooner. */
  readonly isByArm?: boolean;
  /** What is told of each entry. Left out: all of it. */
  readonly asTold?: ((entry: HistoryEntry) => HistoryEntry) | undefined;
  /** Where the page before ended: what this one's records go on from is not looked for again. */
  readonly place?: HistoryPlace | undefined;
}

export interface HistoryPart extends Page<PlacedEntry, number> {
  /** Whose it is, and as of which import: settled records stay as they are in parts that have the same here. */
  readonly of: string;
  /** Undefined: this is the last page. */
  readonly place: HistoryPlace | undefined;
}

/** A page from place `from` on; 0: from the start. */
export async function readHistory<Spec, Key extends InstanceKey>(
  store: Store,
  run: LiveRun<Spec, Key>,
  {
    from,
    limit,
    isToldWhole = true,
    isByArm = true,
    asTold = (entry) => entry,
    place,
  }: HistoryReading & { readonly from: number; readonly limit: number },
): Promise<Result<HistoryPart> | typeof gone> {
  // Another has its name by now: its records are none of those that follow.
  if (place !== undefined && place.key !== run.key) return notFound(run.state().runId);
  // Where it goes on, it is told as the run was when it was begun.
  const here = place === undefined ? await run.refresh() : "fresh";
  if (here !== "fresh") return here;
  const state = run.state();
  const armCount = isToldWhole ? state.config.arms.length : 0;
  const { placed, next } = await historyPage(store, run.key, { from, limit, armCount });
  const missing = missingRecord(state, placed, from, next);
  if (missing !== undefined) {
    // Of a run that was deleted meanwhile they are gone.
    if ((await run.refresh()) !== "fresh") return gone;
    throw recordMissing(missing);
  }
  const unsettled = unsettledRecords(state);
  const goesOn = place !== undefined && place.next === from && place.isByArm === isByArm;
  const readRecord = goesOn ? place.readRecord : recordReader(isByArm);
  if (isByArm && !goesOn) for (const { body } of await leadingTo(placed, store, run.key)) readRecord(body);
  const items = placed.map(({ seq, body }) => {
    const written = readRecord(body);
    const now = unsettled(seq);
    const undone = isControlChange(written) ? state.controlRolledBack : state.rolledBack;
    const rolledBack = undone.some(([first, last]) => first <= seq && seq <= last);
    // What was written since the state was looked at is not known to be settled.
    const isSettled = now === undefined && seq < state.nextSeq;
    // At once, so that what is not told of many arms does not add up.
    return { ...asTold({ ...(now ?? written), rolledBack }), seq, isSettled };
  });
  const of = `${run.key}/${state.epoch}`;
  return ok({ of, items, next, place: next === undefined ? undefined : { key: run.key, next, isByArm, readRecord } });
}
