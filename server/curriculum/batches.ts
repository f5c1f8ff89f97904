/** Update batches: their tasks, and the results of their groups' samples. Batches are never changed in place. */
import { isDeepStrictEqual } from "node:util";
import type { RecordedNumbers } from "./by-arm.ts";
import type { GroupOutcome } from "./advantages.ts";
import type { DynamicSampling, InstanceKey, RunConfig } from "./types.ts";

/** Result of scoring one sample. */
export type SampleResult =
  | {
      readonly kind: "reward";
      readonly reward: number;
      readonly solved: boolean;
      /** Quality of the answer, in [0, 1]. Unset: 1 if it is solved, else 0. */
      readonly quality?: number;
      /** Values that the run's policy reads beside the reward (PolicyDefinition.reads), by name. Unset: none. */
      readonly facts?: Readonly<Record<string, number>>;
      /** Version of the policy that wrote the completion. Unset: not known. */
      readonly policyVersion?: number;
      /**
       * Violation of a malformed answer: first the scorer's text, then the form in which a run records it
       * (malformed-samples.ts). Unset: the answer was read.
       */
      readonly malformed?: string | number;
      /** Scan from which contrast pairs are made. Unset: the scheme does not scan, or nothing is known. */
      readonly scan?: SampleScan;
    }
  | { readonly kind: "terminal"; readonly reason: string };

/** Scan of a completion for its first right answer. Positions and lengths count code points. */
export interface SampleScan {
  readonly length: number;
  /** Position after the first right answer. Null: there is none. */
  readonly commitEnd: number | null;
  /** Whether the completion goes on after that answer. */
  readonly goesOn: boolean;
}

/**
 * First results of samples of one group, as lists of equal length. Objects for each sample would take too much memory.
 */
export interface GroupResults {
  readonly cursor: number;
  /** Sample indices. */
  readonly indices: readonly number[];
  /** Digests of the completions. They tell a retry from another completion. */
  readonly digests: readonly string[];
  readonly results: readonly SampleResult[];
}

/** Results of a task's samples, by sample index. */
export interface TaskSamples {
  readonly digests: readonly (string | null)[];
  readonly results: readonly (SampleResult | null)[];
}

/** Task of an update batch, with its position in the run and the choice of its instance. */
export interface DrawnTask<Key extends InstanceKey = InstanceKey> {
  /** Cursor. Together with the run's incarnation it names the group. */
  readonly cursor: number;
  /** Index of the arm in the configuration. */
  readonly arm: number;
  /** Number of the instance within its arm, counted from 0. */
  readonly ordinal: number;
  /** Row of the arm that was chosen. Unset: the arm goes through its tasks in turn. */
  readonly row?: number;
  /** Whether the run had issued the instance before. */
  readonly repeat: boolean;
  /** Key that the TaskSource gave. */
  readonly key: Key;
}

/** A task as it is handed out. Its cursor and the incarnation name its group. */
export interface IssuedTask<Key extends InstanceKey = InstanceKey> extends DrawnTask<Key> {
  readonly incarnation: string;
  /** Epoch of the run. */
  readonly epoch: number;
  /** Index of the update batch. */
  readonly batch: number;
  /** Probability of the task's arm in that draw. */
  readonly probability: number;
  /** Number of completions that its group waits for. */
  readonly numGenerations: number;
}

interface GroupBase<Key extends InstanceKey> {
  readonly task: DrawnTask<Key>;
  /** Time at which the task was first handed out. Null: not yet. */
  readonly handedOutAtMs: number | null;
  /** Digests of the completions with a result, by sample index. They tell a retry from another completion. */
  readonly digests: readonly (string | null)[];
}

/** The group of a task, while some of its completions have no result. */
export interface OpenGroup<Key extends InstanceKey = InstanceKey> extends GroupBase<Key> {
  readonly kind: "open";
  /** Results by sample index. Null: none yet. */
  readonly results: readonly (SampleResult | null)[];
  /** Number of results that are null. */
  readonly missing: number;
}

/** A group that accepts no more results. */
export interface ClosedGroup<Key extends InstanceKey = InstanceKey> extends GroupBase<Key> {
  readonly kind: "closed";
  /** Results by sample index. Empty if the group's advantages were reported. */
  readonly results: readonly (SampleResult | null)[];
  readonly outcome: GroupOutcome;
  /** Whether a draw has folded the group in. Used only under an unbounded lag. */
  readonly folded: boolean;
}

export type Group<Key extends InstanceKey = InstanceKey> = OpenGroup<Key> | ClosedGroup<Key>;

export interface Batch<Key extends InstanceKey = InstanceKey> {
  readonly index: number;
  /** Cursor of the batch's first task. */
  readonly cursor: number;
  /** Position of the batch in the history. */
  readonly seq: number;
  /** Epoch of the run at the time of the draw. */
  readonly epoch: number;
  readonly drawnAtMs: number;
  readonly probabilities: readonly number[];
  readonly values: readonly number[];
  /** Numbers that the history holds of the draw before. Null: the history holds this draw's numbers whole. */
  readonly toldBefore: RecordedNumbers | null;
  /** Completions of each prompt. */
  readonly numGenerations: number;
  /** Groups of the tasks that may be handed out, in cursor order from the batch's cursor on. */
  readonly groups: readonly Group<Key>[];
  /** Number of tasks to train on. A trainer makes one update from as many groups. */
  readonly prompts: number;
  /**
   * Reserve tasks, next in cursor order (dynamic sampling). For each useless group the first of them becomes a group.
   * Once no group is open, those that are left are skipped.
   */
  readonly reserve: readonly DrawnTask<Key>[];
  /** Number of groups that are open. */
  readonly open: number;
}

/** Returns the cursor after a batch's tasks, its reserve included. */
export function batchEnd({ cursor, groups, reserve }: Batch): number {
  return cursor + groups.length + reserve.length;
}

/**
 * Returns whether a closed group is useless to an update (DAPO 3.2): its samples are alike, or too few of them have a
 * reward.
 */
export function isUseless({ outcome }: Pick<ClosedGroup, "outcome">, alike: DynamicSampling["alike"]): boolean {
  const { count, solved, deviation, advantage } = outcome;
  if (alike === "solved") return count < 2 || solved === 0 || solved === count;
  // Reported groups have advantages only.
  return deviation === null || count === 0 ? !advantage : count < 2 || deviation === 0;
}

/**
 * Returns how many closed groups of a batch are useful to an update. Without dynamic sampling groups with different
 * rewards are useful.
 */
export function usefulGroups({ groups }: Batch, { dynamicSampling }: RunConfig): number {
  const alike = dynamicSampling?.alike ?? "rewards";
  return groups.filter((group) => group.kind === "closed" && !isUseless(group, alike)).length;
}

// Samples of a task, in two forms: lists of the samples that have arrived, and a list of all samples by index.

const blanks = new Map<number, TaskSamples>();

/**
 * Returns the samples of a task of which none has arrived. All tasks of one size share one value, because a run may
 * have a million open samples.
 */
export function blankSamples(numGenerations: number): TaskSamples {
  const known = blanks.get(numGenerations);
  if (known !== undefined) return known;
  const none = Object.freeze(new Array<null>(numGenerations).fill(null));
  const blank = Object.freeze({ digests: none, results: none });
  blanks.set(numGenerations, blank);
  return blank;
}

export function withSamples(
  before: TaskSamples,
  { indices, digests, results }: Omit<GroupResults, "cursor">,
): TaskSamples {
  if (indices.length === 0) return { digests: before.digests, results: before.results };
  // Almost always a whole group arrives at once.
  if (indices.length === before.results.length && isInOrder(indices))
    return { digests: [...digests], results: [...results] };
  const next = { digests: [...before.digests], results: [...before.results] };
  for (let i = 0; i < indices.length; i++) {
    const index = indices[i] as number;
    next.digests[index] = digests[i] ?? null;
    next.results[index] = results[i] ?? null;
  }
  return next;
}

/** Returns whether the indices are 0, 1, 2 and so on. */
function isInOrder(indices: readonly number[]): boolean {
  for (let i = 0; i < indices.length; i++) if (indices[i] !== i) return false;
  return true;
}

/** Maximum number of different results of a group that its other results are compared with. */
const DIFFERENT_MAX = 4;

/**
 * Returns results of which equal ones are one object. A run keeps those of closed groups for long, and most samples of a group
 * have the same result.
 */
export function shared(results: TaskSamples["results"]): TaskSamples["results"] {
  const different: SampleResult[] = [];
  return results.map((result) => {
    const equal = different.find((each) => isDeepStrictEqual(each, result));
    if (equal === undefined && result !== null && different.length < DIFFERENT_MAX) different.push(result);
    return equal ?? result;
  });
}

export function recordedOf({ results, digests }: TaskSamples): Omit<GroupResults, "cursor"> {
  const columns = { indices: [] as number[], digests: [] as string[], results: [] as SampleResult[] };
  if (digests === blanks.get(digests.length)?.digests) return columns;
  // A plain loop, because a state may hold a million samples.
  for (let index = 0; index < results.length; index++) {
    const result = results[index];
    const digest = digests[index];
    if (result === null || result === undefined || digest === null || digest === undefined) continue;
    columns.indices.push(index);
    columns.digests.push(digest);
    columns.results.push(result);
  }
  return columns;
}
