/** The state of a run, and how to look things up in it. Never changed in place. */
import type { IssuedHashes } from "./issued-hashes.ts";
import type { Progress } from "./policies/policy.ts";
import type { GroupOutcome, RewardSums } from "./signals.ts";
import type { Remembered, TaskMemory } from "./task-memory.ts";
import { slotsFor, type DynamicSampling, type InstanceKey, type Policy, type RunConfig } from "./types.ts";

/** What the scoring of one sample came to. */
export type SampleResult =
  | {
      readonly kind: "reward";
      readonly reward: number;
      readonly solved: boolean;
      /** Of the policy that wrote the completion; left out: not known. */
      readonly policyVersion?: number;
      /** What its group's contrast pairs are made of; left out: its scheme does not scan for commits, or nothing is known. */
      readonly scan?: SampleScan;
    }
  | { readonly kind: "terminal"; readonly reason: string };

/** A completion that was scanned for its first right answer; places are code points. */
export interface SampleScan {
  readonly length: number;
  /** Where the first right answer ends; null: there is none. */
  readonly commitEnd: number | null;
  /** The completion goes on after it. */
  readonly goesOn: boolean;
}

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
  /** The run's. */
  readonly epoch: number;
  /** The update batch's index. */
  readonly batch: number;
  /** Its arm's, in that draw. */
  readonly probability: number;
  /** Completions that its group waits for. */
  readonly numGenerations: number;
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

/** A group that takes no more results. */
export interface ClosedGroup<Key extends InstanceKey = InstanceKey> extends GroupBase<Key> {
  readonly kind: "closed";
  /** Those it had, by sample_index; of a group whose advantages were reported: none. */
  readonly results: readonly (SampleResult | null)[];
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
  /** Completions of each prompt. */
  readonly numGenerations: number;
  /** Of the tasks that may be given out, in cursor order from the batch's cursor on. */
  readonly groups: readonly Group<Key>[];
  /** Tasks to train on: of as many groups a trainer makes one update. */
  readonly prompts: number;
  /**
   * What was drawn beyond them, next in cursor order (dynamic sampling). As groups prove useless the first of these
   * become groups; those that are left when no group is open are passed over.
   */
  readonly reserve: readonly DrawnTask<Key>[];
  /** How many groups are open. */
  readonly open: number;
}

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
  /** Samples that have not come. */
  readonly missing: number;
}

/** Null: no sample has come. */
export type EvaluationPage = readonly (EvaluatedTask | null)[];

/** By sample_index: what came of the samples of a task, as in a group. */
export interface EvaluatedTask {
  readonly digests: readonly (string | null)[];
  readonly results: readonly (SampleResult | null)[];
}

/** Results of tasks of a round of evaluation; a task's cursor is its ordinal. */
export interface EvaluationResults {
  readonly kind: "evaluated";
  readonly arm: number;
  readonly round: number;
  readonly tasks: readonly GroupResults[];
}

/** The cursor after a batch's tasks, its reserve included. */
export function batchEnd({ cursor, groups, reserve }: Batch): number {
  return cursor + groups.length + reserve.length;
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
  /** Of the last draw; null: none yet. */
  readonly probabilities: readonly number[] | null;
  readonly arms: readonly ArmCounters[];
  /** Those that are open or that something may still be asked of, by index. */
  readonly batches: readonly Batch<Key>[];
  readonly issued: IssuedHashes;
  /** What instances came to, of groups that were folded in; null: the policy has no filter that asks. */
  readonly memory: TaskMemory | null;
  /** The last rounds of each evaluation arm, as they were opened. */
  readonly evaluations: readonly EvaluationRound[];
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
  return { batch, cursor: prompts, length, size: slotsFor(left, dynamicSampling) };
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

function closedOf(groups: readonly Group[]): readonly ClosedGroup[] {
  return groups.filter((group) => group.kind === "closed");
}

/** By what the groups of an update batch count in the next draw: less where their feedback is late. */
export function feedbackWeight({ config, batchesDrawn }: RunState, batch: number): number {
  const { lateFeedback } = config;
  return lateFeedback === undefined || batchesDrawn - 1 - batch <= lateFeedback.batchesMax ? 1 : lateFeedback.weight;
}

/** What a fold takes in: the closed groups of each update that it makes, in cursor order, but for those that count 0. */
export function updatesOf(state: RunState, fold: Fold): readonly (readonly ClosedGroup[])[] {
  const counted = state.batches.filter(({ index }) => feedbackWeight(state, index) > 0);
  if (fold.kind === "through") {
    const due = counted.filter(({ index }) => index >= state.batchesFolded && index < fold.batches);
    return due.map(({ groups }) => closedOf(groups));
  }
  const within = (cursor: number): boolean => fold.ranges.some(([from, to]) => from <= cursor && cursor <= to);
  return [counted.flatMap(({ groups }) => closedOf(groups).filter(({ task }) => within(task.cursor)))];
}

/**
 * Whether a closed group is of no use to an update (DAPO 3.2): its samples came out alike, or too few of them have a
 * reward.
 */
export function isUseless({ outcome }: Pick<ClosedGroup, "outcome">, alike: DynamicSampling["alike"]): boolean {
  const { count, solved, deviation, advantage } = outcome;
  if (alike === "solved") return count < 2 || solved === 0 || solved === count;
  // Of reported groups only the advantages are known.
  return deviation === null || count === 0 ? !advantage : count < 2 || deviation === 0;
}

/** How many closed groups of a batch are of use to an update; without dynamic sampling all with a signal. */
export function usefulGroups({ groups }: Batch, { dynamicSampling }: RunConfig): number {
  const alike = dynamicSampling?.alike ?? "rewards";
  return groups.filter((group) => group.kind === "closed" && !isUseless(group, alike)).length;
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
