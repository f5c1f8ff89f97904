/** The state of a run, and how to look things up in it. Never changed in place. */
import type { IssuedHashes } from "./issued-hashes.ts";
import type { Progress } from "./policies/policy.ts";
import type { GroupOutcome, RewardSums } from "./signals.ts";
import type { Remembered, TaskMemory } from "./task-memory.ts";
import type { InstanceKey, Policy, RunConfig } from "./types.ts";

/** What the scoring of one sample came to. */
export type SampleResult =
  | { readonly kind: "reward"; readonly reward: number; readonly solved: boolean }
  | { readonly kind: "terminal"; readonly reason: string };

/** First results of samples of one group, in lists of one length: there are too many for an object each. */
export interface GroupResults {
  readonly cursor: number;
  /** By sample_index. */
  readonly indices: readonly number[];
  /** Of the completions, to tell a retry from another completion. */
  readonly digests: readonly string[];
  readonly results: readonly SampleResult[];
}

/** One task as it was drawn. */
export interface DrawnTask<Key extends InstanceKey = InstanceKey> {
  /** With the run's incarnation it names the group. */
  readonly cursor: number;
  /** The arm's index in the configuration. */
  readonly arm: number;
  /** Which instance of the arm, counted from 0. */
  readonly ordinal: number;
  /** An instance that the run had issued before. */
  readonly repeat: boolean;
  /** What the TaskSource gave. */
  readonly key: Key;
}

/** A task as it is given out: its cursor and the incarnation name its group. */
export interface IssuedTask<Key extends InstanceKey = InstanceKey> extends DrawnTask<Key> {
  readonly incarnation: string;
}

interface GroupBase<Key extends InstanceKey> {
  readonly task: DrawnTask<Key>;
  /** When it was first given out; null: not yet. */
  readonly handedOutAtMs: number | null;
  /** Of the completions with a result, by sample_index: what tells a retry from another completion. */
  readonly digests: readonly (string | null)[];
}

/** The completions of a task, some of which have no result yet. */
export interface OpenGroup<Key extends InstanceKey = InstanceKey> extends GroupBase<Key> {
  readonly kind: "open";
  /** By sample_index. */
  readonly results: readonly (SampleResult | null)[];
  /** How many of them are null. */
  readonly missing: number;
}

/** A group that takes no more results. Of those it had, what they came to is kept. */
export interface ClosedGroup<Key extends InstanceKey = InstanceKey> extends GroupBase<Key> {
  readonly kind: "closed";
  readonly outcome: GroupOutcome;
  /** Whether a draw has folded it in; used under an unbounded lag. */
  readonly folded: boolean;
}

export type Group<Key extends InstanceKey = InstanceKey> = OpenGroup<Key> | ClosedGroup<Key>;

export interface Batch<Key extends InstanceKey = InstanceKey> {
  readonly index: number;
  /** Of its first task. */
  readonly cursor: number;
  /** Its place in the history. */
  readonly seq: number;
  /** The run's, when it was drawn. */
  readonly epoch: number;
  readonly drawnAtMs: number;
  readonly probabilities: readonly number[];
  readonly values: readonly number[];
  readonly groups: readonly Group<Key>[];
  /** How many groups are open. */
  readonly open: number;
}

/** Rewards of some groups. */
export interface Tally extends RewardSums {
  /** How many groups with a reward. */
  readonly groups: number;
}

export const nothingTallied: Tally = Object.freeze({ groups: 0, count: 0, sum: 0, solved: 0 });

export interface ArmCounters {
  readonly issued: number;
  readonly repeats: number;
  readonly nextOrdinal: number;
  /** Groups closed with a reward. */
  readonly groups: number;
  /** The last of those, oldest first. */
  readonly recent: readonly RewardSums[];
  /** Those that were folded in. */
  readonly folded: Tally;
}

/** The first and the last of numbers without a gap. */
export type Range = readonly [number, number];

export interface RunState<Spec = unknown, Key extends InstanceKey = InstanceKey> {
  readonly runId: string;
  /** Events in the journal. */
  readonly version: number;
  readonly config: RunConfig<Spec>;
  readonly createdAtMs: number;
  readonly policy: Policy;
  /** The policy's own; only its definition reads it. */
  readonly policyState: unknown;
  readonly weights: readonly number[];
  /** Why each arm is not drawn from, although its weight is above 0; null: it is. */
  readonly masks: readonly (string | null)[];
  readonly paused: boolean;
  /**
   * One for the creation and for each import, the last of which is in force: only feedback for tasks that were given out
   * under it counts. They are random, and nothing is drawn by them. Those before tell an export of this run, whose
   * history begins as this one does, from another's.
   */
  readonly incarnations: readonly string[];
  /** Imports so far. */
  readonly epoch: number;
  /** Places of the history that an import has undone. */
  readonly rolledBack: readonly Range[];
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
  /** Of the last draw; null: none yet. */
  readonly probabilities: readonly number[] | null;
  readonly arms: readonly ArmCounters[];
  /** Those that are open or that something may still be asked of, by index. */
  readonly batches: readonly Batch<Key>[];
  readonly issued: IssuedHashes;
  /** What instances came to, of groups that were folded in; null: the policy has no filter that asks. */
  readonly memory: TaskMemory | null;
  /** Of the next entry of the history. */
  readonly nextSeq: number;
}

/** What a draw folds into the policy's state before it. */
export type Fold =
  /** Every batch before this one. */
  | { readonly kind: "through"; readonly batches: number }
  /** The groups that were closed, as [first, last] cursors: an unbounded lag. */
  | { readonly kind: "groups"; readonly ranges: readonly Range[] };

// What of a run is kept in memory, in an export and in its snapshots. The contract says these limits (RunConfig).

/** Samples that may be awaited at a time: what a run can hold is bounded when it is created. */
export const OPEN_SAMPLES_MAX = 2 ** 20;

/** Groups that may be open at a time where draws do not wait for them. */
const OPEN_GROUPS_MAX = 32_768;

/** Tasks of closed groups that are kept, for tasks asked for again and for late retries. */
const TASKS_KEPT = 1024;

/** As many samples at most are kept for that. */
const SAMPLES_KEPT = 2 ** 18;

/** Open groups beyond which a draw that does not wait for them closes the oldest. */
export function openGroupsMax({ numGenerations }: RunConfig): number {
  return Math.min(OPEN_GROUPS_MAX, Math.floor(OPEN_SAMPLES_MAX / numGenerations));
}

/** Closed and folded tasks that are kept at least. */
export function tasksKept({ numGenerations }: RunConfig): number {
  return Math.min(TASKS_KEPT, Math.ceil(SAMPLES_KEPT / numGenerations));
}

export function incarnationOf({ incarnations }: RunState): string {
  return incarnations.at(-1) ?? "";
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

export function batchAt<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  cursor: number,
): Batch<Key> | undefined {
  return state.batches[batchPosition(state, Math.floor(cursor / state.config.promptsPerUpdate))];
}

export function groupAt<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  cursor: number,
): Group<Key> | undefined {
  const batch = batchAt(state, cursor);
  return batch?.groups[cursor - batch.cursor];
}

/** How far the run is: at the next update batch. */
export function progressOf({ batchesDrawn: batch, cursor, config }: RunState): Progress {
  const { length, promptsPerUpdate } = config;
  const size = length === 0 ? promptsPerUpdate : Math.min(promptsPerUpdate, length - cursor);
  return { batch, cursor, length, size };
}

export function isDone({ config, cursor, groupsOpen }: RunState): boolean {
  return config.length > 0 && cursor >= config.length && groupsOpen === 0;
}

/** Tasks of groups that are open, in cursor order. */
export function openTasks<Spec, Key extends InstanceKey>({ batches }: RunState<Spec, Key>): readonly DrawnTask<Key>[] {
  return batches.flatMap(({ open, groups }) =>
    open === 0 ? [] : groups.flatMap(({ kind, task }) => (kind === "open" ? [task] : [])),
  );
}

function closedOf(groups: readonly Group[]): readonly ClosedGroup[] {
  return groups.filter((group) => group.kind === "closed");
}

/** What a fold takes in: the closed groups of each update that it makes, in cursor order. */
export function updatesOf(state: RunState, fold: Fold): readonly (readonly ClosedGroup[])[] {
  if (fold.kind === "through") {
    const due = state.batches.filter(({ index }) => index >= state.batchesFolded && index < fold.batches);
    return due.map(({ groups }) => closedOf(groups));
  }
  const within = (cursor: number): boolean => fold.ranges.some(([from, to]) => from <= cursor && cursor <= to);
  return [state.batches.flatMap(({ groups }) => closedOf(groups).filter(({ task }) => within(task.cursor)))];
}

/** What the instances of a fold came to, in order. */
export function rememberedOf(updates: readonly (readonly ClosedGroup[])[]): readonly Remembered[] {
  return updates.flat().map(({ task, outcome }) => ({ hash: task.key.hash, outcome }));
}

/** The arms' counters with the groups of a fold taken in. */
export function withFolded(
  arms: readonly ArmCounters[],
  updates: readonly (readonly ClosedGroup[])[],
): readonly ArmCounters[] {
  const tallies = arms.map(({ folded }) => folded);
  for (const { task, outcome } of updates.flat()) {
    if (outcome.count === 0) continue;
    const { groups, count, sum, solved } = tallies[task.arm] ?? nothingTallied;
    tallies[task.arm] = {
      groups: groups + 1,
      count: count + outcome.count,
      sum: sum + outcome.sum,
      solved: solved === null || outcome.solved === null ? null : solved + outcome.solved,
    };
  }
  return arms.map((arm, i) => ({ ...arm, folded: tallies[i] ?? nothingTallied }));
}

/** Numbers in order as [first, last] ranges without gaps. */
export function toRanges(numbers: readonly number[]): readonly Range[] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}
