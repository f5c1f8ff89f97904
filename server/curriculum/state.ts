/** The state of a run, and how to look things up in it. Never changed in place. */
import type { DrawnTask, SampleResult } from "./events.ts";
import type { IssuedHashes } from "./issued-hashes.ts";
import { activePolicy, type ActivePolicy, type PolicyState } from "./policies/index.ts";
import type { Policy, RunConfig } from "./types.ts";

export interface Sample {
  readonly digest: string;
  readonly result: SampleResult;
}

/** Rewards of some samples. */
export interface RewardSums {
  /** How many rewards. */
  readonly count: number;
  readonly sum: number;
  /** How many were solved; null: not known (reported advantages). */
  readonly solved: number | null;
}

interface GroupBase extends DrawnTask {
  /** When it was first given out; null: not yet. */
  readonly handedOutAtMs: number | null;
}

/** A group that waits for results. */
export interface OpenGroup extends GroupBase {
  readonly kind: "open";
  /** By sample_index. */
  readonly samples: readonly (Sample | null)[];
  /** How many are null. */
  readonly missing: number;
}

/** A group that takes no more results. Of its samples it keeps what tells a late retry. */
export interface ClosedGroup extends GroupBase {
  readonly kind: "closed";
  /** By sample_index; null: none was recorded. */
  readonly digests: readonly (string | null)[];
  /** What the policy learns from it; null: nothing. */
  readonly signal: number | null;
  readonly rewards: RewardSums;
  /** Whether a draw has folded it in; used under an unbounded lag. */
  readonly folded: boolean;
}

export type Group = OpenGroup | ClosedGroup;

export interface Batch {
  readonly index: number;
  /** Of its first task. */
  readonly cursor: number;
  /** Its place in the history. */
  readonly seq: number;
  readonly probabilities: readonly number[];
  readonly values: readonly number[];
  readonly groups: readonly Group[];
  /** How many groups are open. */
  readonly open: number;
}

export interface ArmCounters {
  readonly issued: number;
  readonly repeats: number;
  readonly nextOrdinal: number;
  /** Groups closed with a reward. */
  readonly groups: number;
  /** The last of those, oldest first. */
  readonly recent: readonly RewardSums[];
}

/** From which cursor on tasks were drawn in which epoch; by cursor, and of two at one cursor the later counts. */
export interface EpochStart {
  readonly epoch: number;
  readonly cursor: number;
}

export interface RunState {
  readonly runId: string;
  /** Events in the journal. */
  readonly version: number;
  readonly config: RunConfig;
  readonly createdAtMs: number;
  readonly policy: Policy;
  readonly weights: readonly number[];
  readonly policyState: PolicyState;
  readonly paused: boolean;
  readonly epochs: readonly EpochStart[];
  /** Tasks drawn. */
  readonly cursor: number;
  /** Tasks given out. */
  readonly handedOut: number;
  readonly batchesDrawn: number;
  /** Batches closed without a gap from the first. */
  readonly batchesClosed: number;
  /** Batches before this one are folded in, or passed by under a policy that takes no feedback. */
  readonly batchesFolded: number;
  readonly groupsOpen: number;
  readonly samplesRecorded: number;
  /** Of the last draw; undefined: none yet. */
  readonly probabilities: readonly number[] | undefined;
  readonly arms: readonly ArmCounters[];
  /** Those that are open or that something may still be asked of, by index. */
  readonly batches: readonly Batch[];
  readonly issued: IssuedHashes;
  /** Of the next entry of the history. */
  readonly nextSeq: number;
}

/** Closed and folded batches that are kept, beyond the lag, for tasks asked for again and for late retries. */
const BATCHES_KEPT = 8;

export function batchesKept(config: RunConfig): number {
  return BATCHES_KEPT + (config.lag.kind === "batches" ? config.lag.count : 0);
}

export function epochOf(state: RunState): number {
  return state.epochs.at(-1)?.epoch ?? 0;
}

/** The epoch that the task at a cursor was drawn in. */
export function epochAt(state: RunState, cursor: number): number {
  return state.epochs.findLast((start) => start.cursor <= cursor)?.epoch ?? 0;
}

/** Where a batch is in state.batches; −1: it is no longer, or not yet, kept. */
export function batchPosition(state: RunState, index: number): number {
  let low = 0;
  let high = state.batches.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((state.batches[middle] as Batch).index < index) low = middle + 1;
    else high = middle;
  }
  return state.batches[low]?.index === index ? low : -1;
}

export function batchAt(state: RunState, cursor: number): Batch | undefined {
  return state.batches[batchPosition(state, Math.floor(cursor / state.config.promptsPerUpdate))];
}

export function groupAt(state: RunState, cursor: number): Group | undefined {
  const batch = batchAt(state, cursor);
  return batch?.groups[cursor - batch.cursor];
}

export function currentPolicy(state: RunState): ActivePolicy {
  return activePolicy(state.policy, state.policyState, state.config.arms.length);
}

export function isDone({ config, cursor, groupsOpen }: RunState): boolean {
  return config.length > 0 && cursor >= config.length && groupsOpen === 0;
}

/** Cursors of the groups that are open, in order. */
export function openCursors(state: RunState): readonly number[] {
  return state.batches.flatMap((batch) =>
    batch.open === 0 ? [] : batch.groups.flatMap((group, i) => (group.kind === "open" ? [batch.cursor + i] : [])),
  );
}
