/** The history of a run: a record for each update batch and each control change, in the order they happened. */
import type { RunEvent } from "./events.ts";
import { rewardSums } from "./groups.ts";
import type { Batch, RunState } from "./state.ts";
import type { Policy } from "./types.ts";
import { means } from "./view.ts";

export interface BatchRecord {
  readonly kind: "batch";
  readonly batch: number;
  readonly cursor: number;
  /** By arm, as the next two. */
  readonly probabilities: readonly number[];
  readonly values: readonly number[];
  readonly counts: readonly number[];
  readonly closed: boolean;
  readonly rewardMean?: number | undefined;
  readonly solvedShare?: number | undefined;
}

export interface ControlRecord {
  readonly kind: "control";
  readonly control: "policy" | "weights" | "pause" | "resume" | "close_groups" | "import";
  /** Of the first task that it applies to. */
  readonly cursor: number;
  readonly policy?: Policy;
  /** By arm id. */
  readonly weights?: Readonly<Record<string, number>>;
  readonly reason: string;
}

export type HistoryRecord = BatchRecord | ControlRecord;

/** A record and its place in the history. */
export interface PlacedRecord {
  readonly seq: number;
  readonly record: HistoryRecord;
}

export function batchRecord(batch: Batch, armCount: number): BatchRecord {
  const counts = new Array<number>(armCount).fill(0);
  for (const { arm } of batch.groups) counts[arm] = (counts[arm] ?? 0) + 1;
  const { index, cursor, probabilities, values, open } = batch;
  return {
    kind: "batch",
    batch: index,
    cursor,
    probabilities,
    values,
    counts,
    closed: open === 0,
    ...means(batch.groups.map(rewardSums)),
  };
}

function control(event: RunEvent, state: RunState): ControlRecord | undefined {
  const base = { kind: "control", cursor: state.cursor, reason: "" } as const;
  switch (event.kind) {
    case "policy_updated":
      return { ...base, control: "policy", policy: event.policy };
    case "weights_set": {
      const weights = state.config.arms.map((arm, i) => [arm.id, event.weights[i] ?? 0] as const);
      return { ...base, control: "weights", weights: Object.fromEntries(weights) };
    }
    case "paused":
      return { ...base, control: "pause" };
    case "resumed":
      return { ...base, control: "resume" };
    case "groups_closed":
      return { ...base, control: "close_groups", reason: event.reason };
    case "imported":
      return { ...base, control: "import" };
    default:
      return undefined;
  }
}

/**
 * What an event writes: its own record; the batch that it draws; batches that it closes, in place of what was written
 * when they were drawn. `after` is the state before batches are dropped.
 */
export function historyWrites(before: RunState | undefined, event: RunEvent, after: RunState): readonly PlacedRecord[] {
  const own = control(event, after);
  const change = own === undefined ? [] : [{ seq: before?.nextSeq ?? 0, record: own }];
  const batches = after.batches.filter((batch, i) => {
    if (event.kind === "imported") return batch.open > 0;
    // No event but an import moves batches before trimming: they are at the same places, or new at the end.
    const was = before?.batches[i];
    return was === undefined || (was !== batch && was.open > 0 && batch.open === 0);
  });
  const armCount = after.config.arms.length;
  return [...change, ...batches.map((batch) => ({ seq: batch.seq, record: batchRecord(batch, armCount) }))];
}
