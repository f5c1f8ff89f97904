/** A run's history as it is told: in pages, with where to read on later, and of long runs several update batches in one. */
import { create } from "@bufbuild/protobuf";
import type { HistoryEntry } from "../curriculum/core/history.ts";
import type { Page, PlacedEntry, Runs } from "../curriculum/runs/runs.ts";
import { type BatchRecord, GetHistoryResponseSchema, type HistoryRecord } from "../gen/gradus/v1/curriculum_pb.js";
import { pageToken } from "./check.ts";
import { okOrThrow } from "./refusal.ts";
import { recordToWire } from "./wire-run.ts";

export interface HistoryQuery {
  /** The place of the first record. */
  readonly from: number;
  /** Records of a page at most. */
  readonly size: number;
  /** Update batches that make one record; 1: each is one. */
  readonly merge: number;
}

/** A record that is told, and what it was made of. */
interface Told {
  /** The place of its first record. */
  readonly seq: number;
  readonly first: HistoryEntry;
  readonly batches: BatchRecord[];
  isSettled: boolean;
}

export async function historyResponse(
  runs: Pick<Runs<unknown, never>, "history">,
  runId: string,
  { from, size, merge }: HistoryQuery,
) {
  const told: Told[] = [];
  let at: number | undefined = from;
  let next: number | undefined;
  let last: Told | undefined;
  let end = from;
  while (at !== undefined && next === undefined) {
    const page: Page<PlacedEntry, number> = okOrThrow(await runs.history(runId, at, Math.max(size, merge)));
    for (const entry of page.items) {
      const { seq, isSettled } = entry;
      const joins = last !== undefined && isSameGroup(last.first, entry, merge);
      if (!joins && told.length === size) {
        next = seq;
        break;
      }
      const one: Told = joins ? (last as Told) : { seq, first: entry, batches: [], isSettled: true };
      if (!joins) told.push(one);
      one.isSettled &&= isSettled;
      end = seq + 1;
      const { kind } = recordToWire(entry);
      if (kind.case !== "batch") continue;
      one.batches.push(kind.value);
      last = one;
    }
    // A page of its own ends where it is large; several that are merged are small.
    if (merge === 1) next ??= page.next;
    at = merge === 1 ? undefined : page.next;
  }
  // Batches to come may join the last of them.
  if (next === undefined && last !== undefined && last.batches.length < merge) last.isSettled = false;
  const settled = told.findIndex(({ isSettled }) => !isSettled);
  const resumeRecords = settled < 0 ? 0 : told.length - settled;
  return create(GetHistoryResponseSchema, {
    records: told.map((each) => toRecord(each, merge)),
    nextPageToken: next === undefined ? "" : pageToken(String(next)),
    resumeToken: pageToken(String(told[settled]?.seq ?? end)),
    resumeRecords,
  });
}

function isSameGroup(one: HistoryEntry, other: HistoryEntry, merge: number): boolean {
  if (merge === 1 || one.kind !== "batch" || other.kind !== "batch") return false;
  const isAlike = one.epoch === other.epoch && one.rolledBack === other.rolledBack;
  return isAlike && Math.floor(one.batch / merge) === Math.floor(other.batch / merge);
}

function toRecord({ first, batches }: Told, merge: number): HistoryRecord {
  const record = recordToWire(first);
  if (merge > 1 && record.kind.case === "batch") record.kind = { case: "batch", value: merged(batches) };
  return record;
}

/** Counts are added up, the others are means over those that have one. */
function merged(batches: readonly BatchRecord[]): BatchRecord {
  const [first] = batches as readonly [BatchRecord, ...BatchRecord[]];
  const arms = batches.reduce((most, { counts }) => Math.max(most, counts.length), 0);
  const byArm = (
    of: (batch: BatchRecord) => readonly number[],
    join: (values: readonly number[]) => number,
  ): number[] => Array.from({ length: arms }, (_, arm) => join(batches.flatMap((batch) => of(batch)[arm] ?? [])));
  const total = (of: (batch: BatchRecord) => number): number => sum(batches.map(of));
  const rewards = batches.flatMap(({ rewardMean }) => rewardMean ?? []);
  const solved = batches.flatMap(({ solvedShare }) => solvedShare ?? []);
  return {
    ...first,
    probabilities: byArm(({ probabilities }) => probabilities, mean),
    values: byArm(({ values }) => values, mean),
    counts: byArm(({ counts }) => counts, sum),
    prompts: total(({ prompts }) => prompts),
    released: total(({ released }) => released),
    useful: total(({ useful }) => useful),
    closed: batches.every(({ closed }) => closed),
    merged: batches.length,
    ...(rewards.length > 0 && { rewardMean: mean(rewards) }),
    ...(solved.length > 0 && { solvedShare: mean(solved) }),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}
