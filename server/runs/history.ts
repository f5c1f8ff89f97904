/**
 * Reads a run's history: stored records, with the run's current knowledge in place of records that may still change.
 */
import { recordMissing, type Store } from "../stores/store.ts";
import { type HistoryEntry, isControlChange, unsettledRecords } from "../curriculum/history.ts";
import { type InstanceKey, notFound, ok, type Result } from "../curriculum/types.ts";
import { historyPage, missingRecord } from "./history-page.ts";
import { type HistoryPlace, leadingTo, recordReader } from "./history-records.ts";
import type { Page } from "./listing.ts";
import { gone, type LiveRun } from "./live-run.ts";

/** An entry of the history, and its position. */
type PlacedEntry = HistoryEntry & {
  readonly seq: number;
  /** Whether only an import can change the entry. */
  readonly isSettled: boolean;
};

/** Options for reading a history. */
export interface HistoryReading {
  /**
   * Whether a page is limited to the records that fit into an answer with all numbers by arm. Defaults to true. False:
   * a page has as many records as requested, if their stored form is small.
   */
  readonly isSentWhole?: boolean;
  /** Whether update batches have numbers by arm. False is faster. */
  readonly isByArm?: boolean;
  /** Converts each entry before it is returned. Unset: entries are returned whole. */
  readonly convert?: ((entry: HistoryEntry) => HistoryEntry) | undefined;
  /** Place at which the page before ended. It saves finding the records that this page's records depend on. */
  readonly place?: HistoryPlace | undefined;
}

export interface HistoryPart extends Page<PlacedEntry, number> {
  /** Key and epoch of the run. Settled records are equal in all parts with an equal value. */
  readonly of: string;
  /** Place at which the next page continues. Undefined: this is the last page. */
  readonly place: HistoryPlace | undefined;
}

/** Reads a page of the history from position `from` on. 0: from the start. */
export async function readHistory<Spec, Key extends InstanceKey>(
  store: Store,
  run: LiveRun<Spec, Key>,
  {
    from,
    limit,
    isSentWhole = true,
    isByArm = true,
    convert = (entry) => entry,
    place,
  }: HistoryReading & { readonly from: number; readonly limit: number },
): Promise<Result<HistoryPart> | typeof gone> {
  // If another run has the name by now, its records do not continue these.
  if (place !== undefined && place.key !== run.key) return notFound(run.state().runId);
  // A continued reading shows the run as it was when the reading began.
  const here = place === undefined ? await run.refresh() : "fresh";
  if (here !== "fresh") return here;
  const state = run.state();
  const armCount = isSentWhole ? state.config.arms.length : 0;
  const { placed, next } = await historyPage(store, run.key, { from, limit, armCount });
  const missing = missingRecord(state, placed, from, next);
  if (missing !== undefined) {
    // If the run was deleted meanwhile, its records are gone.
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
    // Records written after the state was read may not be settled.
    const isSettled = now === undefined && seq < state.nextSeq;
    // Entries are converted one by one, so that unused numbers of many arms do not accumulate.
    return { ...convert({ ...(now ?? written), rolledBack }), seq, isSettled };
  });
  const of = `${run.key}/${state.epoch}`;
  return ok({ of, items, next, place: next === undefined ? undefined : { key: run.key, next, isByArm, readRecord } });
}
