/** The state of a run, and how to look things up in it. Never changed in place. */
import {
  type Batch,
  batchEnd,
  type DrawnTask,
  type Group,
  type GroupResults,
  type IssuedTask,
  type OpenGroup,
  type TaskSamples,
} from "./batches.ts";
import type { IssuedHashes } from "./issued-hashes.ts";
import type { MalformedRecord } from "./malformed.ts";
import type { Progress } from "./policies/policy.ts";
import type { RowList } from "./row-lists.ts";
import type { RowTable } from "./row-table.ts";
import type { RewardSums } from "./signals.ts";
import type { TaskMemory } from "./task-memory.ts";
import { type InstanceKey, type Policy, type RunConfig, slotsFor } from "./types.ts";

/** A round of an evaluation arm: its whole set, once. The same ordinal has the same task in every round. */
export interface EvaluationRound {
  /** The arm's index among the run's evaluation arms. */
  readonly arm: number;
  /** As its client named it; an arm's rounds go up. */
  readonly round: number;
  /** Its place in the history. */
  readonly seq: number;
  /** The run's, when it was opened, as the next two. */
  readonly epoch: number;
  readonly openedAtMs: number;
  readonly cursor: number;
  /** Tasks of the set. */
  readonly size: number;
  /** By ordinal, so many in each page (evaluation-rounds.ts): of a set of 65,536 a sample changes a few hundred places. */
  readonly pages: readonly EvaluationPage[];
  /** Tasks whose rows are gone: they are not waited for. */
  readonly leftOut: ReadonlySet<number>;
  /** Samples of the other tasks that have not come. */
  readonly missing: number;
}

/** Null: no sample has come. */
export type EvaluationPage = readonly (TaskSamples | null)[];

/** Results of tasks of a round of evaluation; a task's cursor is its ordinal. */
export interface EvaluationResults {
  readonly kind: "evaluated";
  readonly arm: number;
  readonly round: number;
  readonly tasks: readonly GroupResults[];
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
  /** As it was before the run's shape was changed, if it was: what the run was created with. */
  readonly configCreated: RunConfig<Spec>;
  readonly createdAtMs: number;
  readonly policy: Policy;
  /** The policy's own; only its definition reads it. */
  readonly policyState: unknown;
  readonly weights: readonly number[];
  /** Why each arm is not drawn from, although its weight is above 0; null: it is. */
  readonly masks: readonly (string | null)[];
  readonly paused: boolean;
  /** Who paused the run; empty: it is not paused, or nobody knows. */
  readonly pausedBy: string;
  /** 0: the run is not paused, or nobody knows since when. */
  readonly pausedAtMs: number;
  /**
   * One for the creation and for each import, the last of which is in force: only feedback for tasks that were given out
   * under it counts. They are random, and nothing is drawn by them. Those before tell an export of this run, whose
   * history begins as this one does, from another's.
   */
  readonly incarnations: readonly string[];
  /** Imports so far. */
  readonly epoch: number;
  /** Places of the history that an import has undone, but for control changes. */
  readonly rolledBack: readonly Range[];
  /** Places of the history at which an import has undone control changes. */
  readonly controlRolledBack: readonly Range[];
  /** How far Advance moved the policy on (PolicyDefinition.place); 0: it did not. */
  readonly advancedTo: number;
  /** Tasks drawn, reserves included. */
  readonly cursor: number;
  /** Of those, tasks to train on: what a run's length counts. */
  readonly prompts: number;
  /** After the last task given out. */
  readonly handedOut: number;
  readonly batchesDrawn: number;
  /** Batches closed without a gap from the first. */
  readonly batchesClosed: number;
  /** Batches before this one are folded in, or passed by under a policy that takes no feedback. */
  readonly batchesFolded: number;
  readonly groupsOpen: number;
  readonly samplesRecorded: number;
  readonly malformed: MalformedRecord;
  /** Of the last draw; null: none yet. */
  readonly probabilities: readonly number[] | null;
  readonly arms: readonly ArmCounters[];
  /** Those that are open or that something may still be asked of, by index. */
  readonly batches: readonly Batch<Key>[];
  readonly issued: IssuedHashes;
  /** What instances came to, of groups that were folded in; null: the policy has no filter that asks. */
  readonly memory: TaskMemory | null;
  /** The rows of the pools that its arms draw from; none: no server with the pools has looked at the run yet. */
  readonly lists: readonly RowList[];
  /** By arm: what is known of its rows; null: it goes through its tasks in turn. */
  readonly rows: readonly (RowTable | null)[];
  /** The last rounds of each evaluation arm, as they were opened. */
  readonly evaluations: readonly EvaluationRound[];
  /** Of the next entry of the history. */
  readonly nextSeq: number;
}

// What of a run is kept in memory, in an export and in its snapshots. The contract says these limits (RunConfig).

/** Samples that may be awaited at a time: what a run can hold is bounded when it is created. */
export const OPEN_SAMPLES_MAX = 2 ** 20;

/** Samples of the sets of all evaluation arms together. */
export const EVALUATION_SAMPLES_MAX = 2 ** 18;

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

/** Where the batch that a cursor lies in is in state.batches; −1: it is no longer, or not yet, kept. */
export function positionAt(state: RunState, cursor: number): number {
  let low = 0;
  let high = state.batches.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((state.batches[middle] as Batch).cursor <= cursor) low = middle + 1;
    else high = middle;
  }
  const batch = state.batches[low - 1];
  return batch !== undefined && cursor < batchEnd(batch) ? low - 1 : -1;
}

export function batchAt<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  cursor: number,
): Batch<Key> | undefined {
  return state.batches[positionAt(state, cursor)];
}

export function groupAt<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  cursor: number,
): Group<Key> | undefined {
  const batch = batchAt(state, cursor);
  return batch?.groups[cursor - batch.cursor];
}

/** How far the run is: at the next update batch. */
export function progressOf({ batchesDrawn: batch, prompts, config }: RunState): Progress {
  const { length, promptsPerUpdate, dynamicSampling } = config;
  const left = length === 0 ? promptsPerUpdate : Math.min(promptsPerUpdate, length - prompts);
  return { batch, cursor: prompts, length, size: slotsFor(left, dynamicSampling), promptsPerUpdate };
}

/** Whether all of the run's length is drawn. */
export function isDrawn({ config, prompts }: RunState): boolean {
  return config.length > 0 && prompts >= config.length;
}

export function isDone(state: RunState): boolean {
  return isDrawn(state) && state.groupsOpen === 0;
}

/** A task of a batch as it is given out. */
export function issuedTask<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  { index, probabilities, numGenerations }: Pick<Batch<Key>, "index" | "probabilities" | "numGenerations">,
  task: DrawnTask<Key>,
): IssuedTask<Key> {
  const { epoch } = state;
  const place = { incarnation: incarnationOf(state), epoch, batch: index, numGenerations };
  return { ...task, ...place, probability: probabilities[task.arm] ?? 0 };
}

/** Groups that are open, in cursor order. */
export function openGroups<Spec, Key extends InstanceKey>({
  batches,
}: RunState<Spec, Key>): readonly { readonly batch: Batch<Key>; readonly group: OpenGroup<Key> }[] {
  return batches.flatMap((batch) =>
    batch.open === 0 ? [] : batch.groups.flatMap((group) => (group.kind === "open" ? [{ batch, group }] : [])),
  );
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
