/** A run's history as it is told: in pages, with where to read on later, and of long runs several update batches in one. */
import { create } from "@bufbuild/protobuf";
import type { HistoryEntry } from "../curriculum/core/history.ts";
import type { HistoryPart, Runs } from "../curriculum/runs/runs.ts";
import { GetHistoryResponseSchema } from "../gen/gradus/v1/curriculum_pb.js";
import { pageToken } from "./check.ts";
import { joining, type Merging, mergingOf } from "./merging.ts";
import { okOrThrow } from "./refusal.ts";
import { recordToWire } from "./wire-run.ts";

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

export async function historyResponse(
  runs: Pick<Runs<unknown, never>, "history">,
  runId: string,
  { from, size, merge, isByArm, armGroups }: HistoryQuery,
) {
  const told: Told[] = [];
  let at: number | undefined = from;
  let next: number | undefined;
  let last: Told | undefined;
  let end = from;
  const limit = merge === 1 ? size : READ_MAX;
  const isToldWhole = merge === 1 && isByArm && armGroups.length === 0;
  const asTold = !isByArm ? withoutArms : armGroups.length > 0 ? joining(armGroups) : undefined;
  let place: HistoryPart["place"];
  while (at !== undefined && next === undefined) {
    const page: HistoryPart = okOrThrow(await runs.history(runId, at, limit, { isToldWhole, isByArm, asTold, place }));
    place = page.place;
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
  const settled = told.findIndex(({ isSettled }) => !isSettled);
  const resumeRecords = settled < 0 ? 0 : told.length - settled;
  return create(GetHistoryResponseSchema, {
    records: told.map(({ first, merging }) => {
      const record = recordToWire(merging?.entry() ?? first);
      if (merging !== undefined && record.kind.case === "batch") record.kind.value.merged = merging.count();
      return record;
    }),
    nextPageToken: next === undefined ? "" : pageToken(String(next)),
    resumeToken: pageToken(String(told[settled]?.seq ?? end)),
    resumeRecords,
  });
}

/** Of those that are open the run knows it. */
function withoutArms(entry: HistoryEntry): HistoryEntry {
  return entry.kind === "batch" ? { ...entry, probabilities: [], values: [], counts: [] } : entry;
}

function isSameGroup(one: HistoryEntry, other: HistoryEntry, merge: number): boolean {
  if (merge === 1 || one.kind !== "batch" || other.kind !== "batch") return false;
  const isAlike = one.epoch === other.epoch && one.rolledBack === other.rolledBack;
  return isAlike && Math.floor(one.batch / merge) === Math.floor(other.batch / merge);
}
