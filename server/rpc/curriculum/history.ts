/** A run's history as it is told: in pages, with where to read on later, and of long runs several update batches in one. */
import { create } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import type { HistoryEntry } from "../../curriculum/history.ts";
import type { HistoryPart } from "../../runs/history.ts";
import type { Runs } from "../../runs/runs.ts";
import { GetHistoryResponseSchema, type HistoryRecord } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { pageToken } from "../request-checks.ts";
import { joining, type Merging, mergingOf } from "./history-merging.ts";
import { okOrThrow } from "../refusals.ts";
import { recordToWire } from "./write.ts";

export interface HistoryQuery {
  /** The place of the first record. */
  readonly from: number;
  /** Records of a page at most. */
  readonly size: number;
  /** Update batches that make one record; 1: each is one. */
  readonly merge: number;
  /** Whether update batches tell what they have by arm. */
  readonly isByArm: boolean;
  /** Each arm's group, by which they tell it then; empty: by arm. */
  readonly armGroups: readonly number[];
}

/** A record that is told, and what was added up for it; undefined: it is told as it is. */
interface Told {
  /** The place of its first record. */
  readonly seq: number;
  readonly first: HistoryEntry;
  readonly merging: Merging | undefined;
  isSettled: boolean;
}

/** Records of long histories that are read at a time, a few milliseconds: others get their turns in between. */
const READ_MAX = 256;

/** Numbers by arm that are remembered of merged histories, of all runs together: 16 MB. */
const REMEMBERED_NUMBERS = 2 ** 21;
/** What a record takes beside them, in such numbers. */
const RECORD_NUMBERS = 64;

/** The beginning of a merged history that stays as it is, and where it goes on. */
interface Beginning {
  /** As HistoryPart.of. */
  readonly of: string;
  readonly records: readonly HistoryRecord[];
  readonly next: number;
}

/** A page of a history, or what is behind the beginning of one. */
interface Reading {
  /** As HistoryPart.of; undefined: an import came in between. */
  readonly of: string | undefined;
  readonly records: readonly HistoryRecord[];
  /** How many of them are settled, from the first on, and the place of the record behind these. */
  readonly settled: number;
  readonly resume: number;
  /** Where the next page starts; undefined: this is the last. */
  readonly next: number | undefined;
}

/**
 * Answers GetHistory. Merged records of a long run are thousands of written ones, and everyone who opens its page asks for the
 * same: the beginning that stays as it is is remembered, and read on from.
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
    // One is always left to be read, with which the reading ends as it did.
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
  const told: Told[] = [];
  let at: number | undefined = from;
  let next: number | undefined;
  let last: Told | undefined;
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
      if (!joins && told.length === size) {
        next = seq;
        break;
      }
      const isMerged = merge > 1 && entry.kind === "batch";
      const one: Told = joins
        ? (last as Told)
        : { seq, first: entry, merging: isMerged ? mergingOf() : undefined, isSettled: true };
      if (!joins) told.push(one);
      one.isSettled &&= isSettled;
      end = seq + 1;
      if (entry.kind !== "batch") continue;
      one.merging?.add(entry);
      last = one;
    }
    // A page of its own ends where it is large; several that are merged are small.
    if (merge === 1) next ??= page.next;
    at = merge === 1 ? undefined : page.next;
  }
  // Batches to come may join the last of them.
  if (next === undefined && last?.merging !== undefined && last.merging.count() < merge) last.isSettled = false;
  const unsettled = told.findIndex(({ isSettled }) => !isSettled);
  return {
    of,
    records: told.map(({ first, merging }) => {
      const record = recordToWire(merging?.entry() ?? first);
      if (merging !== undefined && record.kind.case === "batch") record.kind.value.merged = merging.count();
      return record;
    }),
    settled: unsettled < 0 ? told.length : unsettled,
    resume: told[unsettled]?.seq ?? end,
    next,
  };
}

/** Of those that are open the run knows it. */
function withoutArms(entry: HistoryEntry): HistoryEntry {
  return entry.kind === "batch"
    ? { ...entry, probabilities: [], values: [], counts: [], rewardSums: [], rewardCounts: [] }
    : entry;
}

function isSameGroup(one: HistoryEntry, other: HistoryEntry, merge: number): boolean {
  if (merge === 1 || one.kind !== "batch" || other.kind !== "batch") return false;
  const isAlike = one.epoch === other.epoch && one.rolledBack === other.rolledBack;
  return isAlike && Math.floor(one.batch / merge) === Math.floor(other.batch / merge);
}
