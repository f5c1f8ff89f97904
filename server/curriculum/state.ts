/** State of a run, and functions that look things up in it. A state is never changed in place. */
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
import type { NextOrdinals } from "./growth.ts";
import type { IssuedHashes } from "./issued-hashes.ts";
import type { Lengths } from "./lengths.ts";
import type { MalformedRecord } from "./malformed-samples.ts";
import type { Progress } from "./policies/policy.ts";
import type { RowList } from "./row-lists.ts";
import type { RowTable } from "./row-table.ts";
import type { RewardSums } from "./advantages.ts";
import type { TaskMemory } from "./task-memory.ts";
import { type InstanceKey, type Policy, type RunConfig, slotsFor } from "./types.ts";

/**
 * Round of an evaluation arm: one scoring of num_generations completions for each task of the arm's fixed set. Every
 * round has the same tasks.
 */
export interface EvaluationRound {
  /** Index of the arm among the run's evaluation arms. */
  readonly arm: number;
  /** Number that the client gave the round. It increases within an arm. */
  readonly round: number;
  /** Position of the round in the run's history. */
  readonly seq: number;
  /** Epoch of the run when the round was opened: 0, or a greater number after each import. */
  readonly epoch: number;
  readonly openedAtMs: number;
  /** Number of tasks that the run had drawn when the round was opened. */
  readonly cursor: number;
  /** Number of tasks in the evaluation arm's set. */
  readonly size: number;
  /**
   * Samples by task number, in pages of a fixed size (evaluation-rounds.ts). A change copies only one page, because a
   * set may have 65,536 tasks.
   */
  readonly pages: readonly EvaluationPage[];
  /** Numbers of the tasks whose data rows were removed from their pool. The round does not wait for their samples. */
  readonly leftOut: ReadonlySet<number>;
  /** Number of samples whose results the round still waits for. */
  readonly missing: number;
}

/** One page of a round's tasks. Null: the task has no samples yet. */
export type EvaluationPage = readonly (TaskSamples | null)[];

/** New results of tasks in an evaluation round. The `cursor` of each is the task's number in the arm. */
export interface EvaluationResults {
  readonly kind: "evaluated";
  readonly arm: number;
  readonly round: number;
  readonly tasks: readonly GroupResults[];
}

/** Sums of the rewards of several groups. */
export interface Tally extends RewardSums {
  /** Number of groups with at least one reward. */
  readonly groups: number;
}

export const nothingTallied: Tally = Object.freeze({ groups: 0, count: 0, sum: 0, solved: 0 });

export interface ArmCounters extends NextOrdinals {
  readonly issued: number;
  readonly repeats: number;
  /** Number of the arm's closed groups with at least one reward. */
  readonly groups: number;
  /** Rewards of the arm's latest closed groups, at most 256, oldest first. */
  readonly recent: readonly RewardSums[];
  /** Sums over the arm's groups from which the policy has learned. */
  readonly folded: Tally;
  /** Total length of the completions in all closed groups of the arm, in tokens or characters. Unset: not known. */
  readonly lengths?: Lengths | undefined;
}

/** First and last of a range of successive numbers. */
export type Range = readonly [number, number];

export interface RunState<Spec = unknown, Key extends InstanceKey = InstanceKey> {
  readonly runId: string;
  /** Number of events in the run's journal. */
  readonly version: number;
  readonly config: RunConfig<Spec>;
  /** Configuration with which the run was created, before any change of its arms or sizes (e.g. num_generations). */
  readonly configCreated: RunConfig<Spec>;
  readonly createdAtMs: number;
  readonly policy: Policy;
  /** State of the policy. Only the policy's definition reads it. */
  readonly policyState: unknown;
  readonly weights: readonly number[];
  /**
   * Reason for which each arm is masked (not drawn), e.g. because its judge is down. Null: the arm is drawn if its
   * weight is above 0.
   */
  readonly masks: readonly (string | null)[];
  readonly paused: boolean;
  /** Name of the token that paused the run. Empty: the run is not paused, or the name is not known. */
  readonly pausedBy: string;
  /** Time of the pause. 0: the run is not paused, or the time is not known. */
  readonly pausedAtMs: number;
  /** Note in which people describe the run. Empty: there is none. No draw depends on notes and tags. */
  readonly note: string;
  /** Tags of the run, sorted. */
  readonly tags: readonly string[];
  /**
   * Random names of the run: one from its creation and one from each import. Only feedback for tasks handed out under
   * the last name counts. Earlier names show whether an export comes from this run. No draw depends on the names.
   */
  readonly incarnations: readonly string[];
  /** Epoch of the run: 0 at its creation, and greater after each import. */
  readonly epoch: number;
  /** Ranges of history positions whose entries an import has undone, except control changes. */
  readonly rolledBack: readonly Range[];
  /** Ranges of history positions in which an import has undone the control changes, e.g. new weights. */
  readonly controlRolledBack: readonly Range[];
  /** Value of PolicyDefinition.place after the RPC Advance last moved the policy. 0: it never did. */
  readonly advancedTo: number;
  /** Number of tasks drawn so far, the spare tasks of dynamic sampling included. */
  readonly cursor: number;
  /** Number of prompts drawn so far, without the spare tasks of dynamic sampling. A run's length counts prompts. */
  readonly prompts: number;
  /** Cursor after the last task that a client has got. Tasks from this cursor on were never handed out. */
  readonly handedOut: number;
  readonly batchesDrawn: number;
  /** Number of closed batches before the first open one. */
  readonly batchesClosed: number;
  /** Number of update batches that the policy has learned from, or passed over because it takes no feedback. */
  readonly batchesFolded: number;
  readonly groupsOpen: number;
  readonly samplesRecorded: number;
  readonly malformed: MalformedRecord;
  /** Probabilities of the last draw, by arm. Null: nothing was drawn yet. */
  readonly probabilities: readonly number[] | null;
  readonly arms: readonly ArmCounters[];
  /** Update batches that are open, or whose tasks a client may still ask for, in the order of their indices. */
  readonly batches: readonly Batch<Key>[];
  readonly issued: IssuedHashes;
  /**
   * Last outcomes of instances, for a filter that skips solved or failed instances. Null: the policy has no such
   * filter.
   */
  readonly memory: TaskMemory | null;
  /**
   * Lists of the data rows from which the arms draw. Empty: no arm draws from a data pool, or no server with the pool
   * has loaded the run yet.
   */
  readonly lists: readonly RowList[];
  /**
   * For each arm that chooses rows by pass rate: the table of what is known of its data rows. Null: the arm takes its
   * tasks in order.
   */
  readonly rows: readonly (RowTable | null)[];
  /** Latest rounds of each evaluation arm, in the order in which they were opened. */
  readonly evaluations: readonly EvaluationRound[];
  /** Position of the next entry in the run's history. */
  readonly nextSeq: number;
}

// Limits of a run's data in memory, exports and snapshots. The contract states them at RunConfig.

/** Maximum number of samples that a run may wait for at once. It is checked at creation and bounds a run's memory. */
export const OPEN_SAMPLES_MAX = 2 ** 20;

/** Maximum number of samples in the sets of all evaluation arms together. */
export const EVALUATION_SAMPLES_MAX = 2 ** 18;

/** Maximum number of open groups in a run whose draws do not wait for feedback. */
const OPEN_GROUPS_MAX = 32_768;

/** Number of tasks of closed groups that a run keeps. Clients may ask for them again or send late results. */
const TASKS_KEPT = 1024;

/**
 * Maximum number of samples in the kept tasks of closed groups. With many samples per task, a run keeps fewer tasks.
 */
const SAMPLES_KEPT = 2 ** 18;

/**
 * Returns the maximum number of open groups of a run whose draws do not wait for feedback. Before a draw would exceed
 * it, the oldest open groups are closed.
 */
export function openGroupsMax({ numGenerations }: RunConfig): number {
  return Math.min(OPEN_GROUPS_MAX, Math.floor(OPEN_SAMPLES_MAX / numGenerations));
}

/** Returns the number of tasks of closed groups that a run keeps. */
export function tasksKept({ numGenerations }: RunConfig): number {
  return Math.min(TASKS_KEPT, Math.ceil(SAMPLES_KEPT / numGenerations));
}

export function incarnationOf({ incarnations }: RunState): string {
  return incarnations.at(-1) ?? "";
}

/**
 * Returns the index in state.batches of the batch that contains a cursor. −1: the batch is dropped or not drawn yet.
 */
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

/** Returns the run's progress at the draw of the next update batch. */
export function progressOf({ batchesDrawn: batch, prompts, config }: RunState): Progress {
  const { length, promptsPerUpdate, dynamicSampling } = config;
  const left = length === 0 ? promptsPerUpdate : Math.min(promptsPerUpdate, length - prompts);
  return { batch, cursor: prompts, length, size: slotsFor(left, dynamicSampling), promptsPerUpdate };
}

/** Returns whether the run has drawn all its prompts. Always false for a run without an end. */
export function isDrawn({ config, prompts }: RunState): boolean {
  return config.length > 0 && prompts >= config.length;
}

export function isDone(state: RunState): boolean {
  return isDrawn(state) && state.groupsOpen === 0;
}

/** Returns a batch's task in the form that clients receive. */
export function issuedTask<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  { index, probabilities, numGenerations }: Pick<Batch<Key>, "index" | "probabilities" | "numGenerations">,
  task: DrawnTask<Key>,
): IssuedTask<Key> {
  const { epoch } = state;
  const place = { incarnation: incarnationOf(state), epoch, batch: index, numGenerations };
  return { ...task, ...place, probability: probabilities[task.arm] ?? 0 };
}

/** Returns the open groups, in cursor order. */
export function openGroups<Spec, Key extends InstanceKey>({
  batches,
}: RunState<Spec, Key>): readonly { readonly batch: Batch<Key>; readonly group: OpenGroup<Key> }[] {
  return batches.flatMap((batch) =>
    batch.open === 0 ? [] : batch.groups.flatMap((group) => (group.kind === "open" ? [{ batch, group }] : [])),
  );
}

/** Converts increasing numbers to [first, last] ranges of successive numbers. */
export function toRanges(numbers: readonly number[]): readonly Range[] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}
