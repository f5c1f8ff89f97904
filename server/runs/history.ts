/**
 * Reads a run's history. Records that may still change are made from the run's current state. All others come from the
 * store.
 */
import { recordMissing, type Store } from "../stores/store.ts";
import { type HistoryEntry, isControlChange, unsettledRecords } from "../curriculum/history.ts";
import { type InstanceKey, notFound, ok, type Result } from "../curriculum/types.ts";
import { historyPage, missingRecord } from "./history-page.ts";
import { type HistoryPlace, leadingTo, recordReader } from "./history-records.ts";
import type { Page } from "./listing.ts";
import { gone, type LiveRun } from "./live-run.ts";

/** Entry of the history, with its position. */
type PlacedEntry = HistoryEntry & {
  readonly seq: number;
  /** Whether the entry is final. Only an import of the run can change a final entry, by marking it as undone. */
  readonly isSettled: boolean;
};

export interface HistoryReading {
  /**
   * Whether the limit of a page's size applies to the records as they are sent, with the numbers of all arms. Defaults
   * to true. If false, the limit applies to the stored records, which are shorter in runs of many arms.
   */
  readonly isSentWhole?: boolean;
  /**
   * Whether entries have their lists with a number for each arm, e.g. probabilities. Defaults to true; false is faster.
   */
  readonly isByArm?: boolean;
  /** Function that converts each entry before it is returned. Unset: entries are returned unchanged. */
  readonly convert?: ((entry: HistoryEntry) => HistoryEntry) | undefined;
  /**
   * Position where the previous page ended. With it, the reader need not search for the earlier records on which this
   * page's records depend.
   */
  readonly place?: HistoryPlace | undefined;
}

export interface HistoryPart extends Page<PlacedEntry, number> {
  /**
   * Text that changes only when the run is imported or replaced by another run. While it is the same, final entries of
   * the history do not change.
   */
  readonly of: string;
  /** Position where the next page continues. Undefined: this is the last page. */
  readonly place: HistoryPlace | undefined;
}

/** Reads a page of the history that begins at position `from`. */
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
  // Another run may have the same id by now. Its records are not a continuation of the previous page.
  if (place !== undefined && place.key !== run.key) return notFound(run.state().runId);
  // Only for the first page the newest state is read from the store. Further pages use the state in memory.
  const here = place === undefined ? await run.refresh() : "fresh";
  if (here !== "fresh") return here;
  const state = run.state();
  const armCount = isSentWhole ? state.config.arms.length : 0;
  const { placed, next } = await historyPage(store, run.key, { from, limit, armCount });
  const missing = missingRecord(state, placed, from, next);
  if (missing !== undefined) {
    // If the run was deleted meanwhile, that explains the missing records.
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
    // Records that were written after the state was read may still change.
    const isSettled = now === undefined && seq < state.nextSeq;
    // Entries are converted one by one. So the numbers of many arms are not in memory for all entries at once.
    return { ...convert({ ...(now ?? written), rolledBack }), seq, isSettled };
  });
  const of = `${run.key}/${state.epoch}`;
  return ok({ of, items, next, place: next === undefined ? undefined : { key: run.key, next, isByArm, readRecord } });
}
