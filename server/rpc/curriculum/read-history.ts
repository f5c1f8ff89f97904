/** Serves a run's history in pages, each with a token for the next page. For long runs it can merge update batches. */
import { create } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import type { HistoryEntry } from "../../curriculum/history.ts";
import type { HistoryPart } from "../../runs/history.ts";
import type { Runs } from "../../runs/runs.ts";
import { GetHistoryResponseSchema, type HistoryRecord } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { pageToken } from "../request-checks.ts";
import { joining, type Merging, mergingOf } from "./merge-history.ts";
import { okOrThrow } from "../to-rpc-error.ts";
import { recordToWire } from "./write.ts";

export interface HistoryQuery {
  /** Position of the first record, counted from the run's start. */
  readonly from: number;
  /** Maximum number of records in a page. */
  readonly size: number;
  /** Number of update batches that are merged into one record. 1: batches are not merged. */
  readonly merge: number;
  /** Whether records of update batches include the lists with one number for each arm. */
  readonly isByArm: boolean;
  /** Group number of each arm. Numbers of the arms of a group are combined into one number. Empty: no groups. */
  readonly armGroups: readonly number[];
}

/**
 * A record of the response. If it merges several update batches, `merging` computes its sums and means. Undefined: the
 * record is sent unchanged.
 */
interface SentRecord {
  /** Position of the first stored record that is merged into this one. */
  readonly seq: number;
  readonly first: HistoryEntry;
  readonly merging: Merging | undefined;
  isSettled: boolean;
}

/** Number of stored records that are read at a time, which takes a few milliseconds. Other work can run in between. */
const READ_MAX = 256;

/** Maximum size of the cache of merged histories of all runs, in numbers. 2^21 numbers take 16 MB. */
const REMEMBERED_NUMBERS = 2 ** 21;
/** Size of a record without its lists by arm, in the cache's unit (numbers). */
const RECORD_NUMBERS = 64;

/**
 * The start of a history in which update batches are merged. It no longer changes, so it is cached. `next` is the
 * position from which the rest is read.
 */
interface Beginning {
  /**
   * Key and epoch of the run at the time of reading (HistoryPart.of). If they differ now, the history has changed: the
   * run was imported or created anew.
   */
  readonly of: string;
  readonly records: readonly HistoryRecord[];
  readonly next: number;
}

/** A page of a history, or the rest after a cached beginning. */
interface Reading {
  /**
   * Key and epoch of the run at the time of reading (HistoryPart.of), by which a later import is noticed. Undefined:
   * the run was imported during the reading.
   */
  readonly of: string | undefined;
  readonly records: readonly HistoryRecord[];
  /** Number of records, from the first on, that can no longer change. */
  readonly settled: number;
  /** Position of the first record that may still change, or else of the record after the last one. */
  readonly resume: number;
  /** Position at which the next page begins. Undefined: this is the last page. */
  readonly next: number | undefined;
}

/**
 * Returns a function that answers GetHistory. Merging a long history is slow, and every visitor of the run's web page
 * requests it. So the part of a merged history that can no longer change is cached.
 */
export function historiesOf(runs: Pick<Runs<unknown, never>, "history">) {
  const beginnings = new LRUCache<string, Beginning>({ maxSize: REMEMBERED_NUMBERS });

  const whole = async (runId: string, query: HistoryQuery): Promise<Reading> => {
    const key = JSON.stringify([runId, query]);
    const beginning = beginnings.get(key);
    const { records: before, next: from } = beginning ?? { records: [], next: 0 };
    const rest = await read(runs, runId, { ...query, from, size: query.size - before.length });
    if (beginning !== undefined && rest.of !== beginning.of) {
      beginnings.delete(key);
      return whole(runId, query);
    }
    const records = [...before, ...rest.records];
    const settled = before.length + rest.settled;
    // The beginning is cached only if the page also has records after it. Reading these decides where the page ends.
    if (rest.of !== undefined && rest.settled > 0 && settled < query.size) {
      const kept = records.slice(0, settled);
      beginnings.set(key, { of: rest.of, records: kept, next: rest.resume }, { size: numbersOf(kept) });
    }
    return { ...rest, records, settled };
  };

  return async (runId: string, query: HistoryQuery) => {
    const isRemembered = query.merge > 1 && query.from === 0;
    const { records, settled, resume, next } = await (isRemembered ? whole(runId, query) : read(runs, runId, query));
    return create(GetHistoryResponseSchema, {
      records: [...records],
      nextPageToken: pageToken(next),
      resumeToken: pageToken(resume),
      resumeRecords: records.length - settled,
    });
  };
}

function numbersOf(records: readonly HistoryRecord[]): number {
  const ofArms = ({ kind }: HistoryRecord): number => (kind.case === "batch" ? 5 * kind.value.counts.length : 0);
  return records.reduce((sum, record) => sum + RECORD_NUMBERS + ofArms(record), 0);
}

async function read(
  runs: Pick<Runs<unknown, never>, "history">,
  runId: string,
  { from, size, merge, isByArm, armGroups }: HistoryQuery,
): Promise<Reading> {
  const sent: SentRecord[] = [];
  let at: number | undefined = from;
  let next: number | undefined;
  let last: SentRecord | undefined;
  let end = from;
  const limit = merge === 1 ? size : READ_MAX;
  const isSentWhole = merge === 1 && isByArm && armGroups.length === 0;
  const convert = !isByArm ? withoutArms : armGroups.length > 0 ? joining(armGroups) : undefined;
  let place: HistoryPart["place"];
  let of: string | undefined;
  while (at !== undefined && next === undefined) {
    const page: HistoryPart = okOrThrow(await runs.history(runId, at, limit, { isSentWhole, isByArm, convert, place }));
    place = page.place;
    of = at === from || of === page.of ? page.of : undefined;
    for (const entry of page.items) {
      const { seq, isSettled } = entry;
      const joins = last !== undefined && isSameGroup(last.first, entry, merge);
      if (!joins && sent.length === size) {
        next = seq;
        break;
      }
      const isMerged = merge > 1 && entry.kind === "batch";
      const one: SentRecord = joins
        ? (last as SentRecord)
        : { seq, first: entry, merging: isMerged ? mergingOf() : undefined, isSettled: true };
      if (!joins) sent.push(one);
      one.isSettled &&= isSettled;
      end = seq + 1;
      if (entry.kind !== "batch") continue;
      one.merging?.add(entry);
      last = one;
    }
    // Without merging, a page ends where the part that was read ends. With merging, records are few, so further parts
    // are read.
    if (merge === 1) next ??= page.next;
    at = merge === 1 ? undefined : page.next;
  }
  // Later batches may still be merged into the last record.
  if (next === undefined && last?.merging !== undefined && last.merging.count() < merge) last.isSettled = false;
  const unsettled = sent.findIndex(({ isSettled }) => !isSettled);
  return {
    of,
    records: sent.map(({ first, merging }) => {
      const record = recordToWire(merging?.entry() ?? first);
      if (merging !== undefined && record.kind.case === "batch") record.kind.value.merged = merging.count();
      return record;
    }),
    settled: unsettled < 0 ? sent.length : unsettled,
    resume: sent[unsettled]?.seq ?? end,
    next,
  };
}

const nothingByArm = {
  probabilities: [],
  values: [],
  counts: [],
  rewardSums: [],
  rewardCounts: [],
  solvedCounts: [],
  frontiers: [],
} as const;

/**
 * Returns the entry without its lists that have a number for each arm. For open batches the run always fills in these
 * lists, so they are removed here.
 */
function withoutArms(entry: HistoryEntry): HistoryEntry {
  return entry.kind === "batch" ? { ...entry, ...nothingByArm } : entry;
}

function isSameGroup(one: HistoryEntry, other: HistoryEntry, merge: number): boolean {
  if (merge === 1 || one.kind !== "batch" || other.kind !== "batch") return false;
  const isAlike = one.epoch === other.epoch && one.rolledBack === other.rolledBack;
  return isAlike && Math.floor(one.batch / merge) === Math.floor(other.batch / merge);
}
