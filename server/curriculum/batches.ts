/** Update batches: their tasks, and the results of their groups' samples. Batches are never changed in place. */
import { isDeepStrictEqual } from "node:util";
import type { RecordedNumbers } from "./by-arm.ts";
import type { GroupOutcome } from "./advantages.ts";
import type { Lengths } from "./lengths.ts";
import type { DynamicSampling, InstanceKey, RunConfig } from "./types.ts";

/** Result of scoring one sample. */
export type SampleResult =
  | {
      readonly kind: "reward";
      readonly reward: number;
      readonly solved: boolean;
      /** Quality of the answer, in [0, 1]. Unset: 1 for a solved sample, else 0. */
      readonly quality?: number;
      /** Extra values of the score that the run's policy reads (PolicyDefinition.reads), by name. Unset: none. */
      readonly facts?: Readonly<Record<string, number>>;
      /** Version of the trained model that wrote the completion. Unset: not known. */
      readonly policyVersion?: number;
      /**
       * Format error of an answer that could not be parsed. Before recording it is the scorer's message. Afterwards it
       * is a shortened message, or its index in the run's list (malformed-samples.ts). Unset: the answer was parsed.
       */
      readonly malformed?: string | number;
      /**
       * Where the completion first gives a right answer. Clients make contrast pairs from it: completions that differ
       * after that position. Unset: the reward scheme does not search for it, or it is not known.
       */
      readonly scan?: SampleScan;
    }
  | { readonly kind: "terminal"; readonly reason: string };

/** Scan of a completion for its first right answer. Positions and lengths count code points. */
export interface SampleScan {
  readonly length: number;
  /** Position just after the first right answer. Null: no right answer was found. */
  readonly commitEnd: number | null;
  /** Whether the completion continues after its first right answer. */
  readonly goesOn: boolean;
}

/**
 * Results of samples of one group, as parallel lists: entry i of each list belongs to one sample. Objects for each
 * sample would take too much memory.
 */
export interface GroupResults {
  readonly cursor: number;
  /** Indices of the samples within the group, from 0. */
  readonly indices: readonly number[];
  /**
   * Hashes of the completions' texts. An equal digest means that a result was sent again; another digest means that it
   * is of another completion.
   */
  readonly digests: readonly string[];
  readonly results: readonly SampleResult[];
  /** Total length of these samples' completions, in tokens or characters. Unset: not known. */
  readonly lengths?: Lengths | undefined;
}

/** Results of all samples of one task. Position i holds sample i, or null if it has not arrived. */
export interface TaskSamples {
  readonly digests: readonly (string | null)[];
  readonly results: readonly (SampleResult | null)[];
}

const KEY_END = ".";

/**
 * Returns the digest to record for a sample that the client identifies by a key instead of an index. It consists of the
 * key's digest, a dot and the completion's digest.
 */
export function keyedDigest(key: string, digest: string): string {
  return key + KEY_END + digest;
}

/**
 * Returns whether a recorded digest belongs to a sample that its client identifies by a key instead of an index. If
 * `key` is given, it must be the digest of that key.
 */
export function isKeyed(digest: string, key?: string): boolean {
  return key === undefined ? digest.includes(KEY_END) : digest.startsWith(key + KEY_END);
}

/**
 * Returns whether the client identifies any of a task's samples by a key instead of an index. The function is a plain
 * loop for speed, because a run may have a million open samples.
 */
function hasKeyed(digests: TaskSamples["digests"]): boolean {
  for (let i = 0; i < digests.length; i++) {
    const digest = digests[i];
    if (typeof digest === "string" && isKeyed(digest)) return true;
  }
  return false;
}

/**
 * Returns the order in which a group's rewards are summed, as indices of its samples. Undefined: by index. If the
 * client identifies samples by keys, their indices follow the order of arrival. Their rewards are then summed in
 * ascending order, so that the sum does not depend on timing.
 */
export function placesInOrder({ digests, results }: TaskSamples): readonly number[] | undefined {
  if (!hasKeyed(digests)) return undefined;
  const rewardAt = (place: number): number => {
    const result = results[place];
    return result?.kind === "reward" ? result.reward : Infinity;
  };
  const digestAt = (place: number): string => digests[place] ?? "";
  const isBefore = (a: number, b: number): boolean =>
    rewardAt(a) === rewardAt(b) ? digestAt(a) < digestAt(b) : rewardAt(a) < rewardAt(b);
  return results.map((_, place) => place).sort((a, b) => (isBefore(a, b) ? -1 : 1));
}

/** Task drawn for an update batch, with its position in the run and the problem instance chosen for it. */
export interface DrawnTask<Key extends InstanceKey = InstanceKey> {
  /**
   * Position of the task in the run, from 0. The cursor and the run's incarnation (a random name that each import
   * replaces) together identify the task's group.
   */
  readonly cursor: number;
  /** Index of the task's arm in the configuration. */
  readonly arm: number;
  /**
   * Number of the task within its arm, counted from 0. With the run's seed it determines the instance, unless `row` is
   * set.
   */
  readonly ordinal: number;
  /**
   * Index of the data row that the arm chose by its pass rate. Unset: the arm takes its tasks in the order of
   * `ordinal`.
   */
  readonly row?: number;
  /** Whether the run had already issued an equal instance, e.g. because its arm has no new instances left. */
  readonly repeat: boolean;
  /** Key of the instance, from which the TaskSource can make the instance again. */
  readonly key: Key;
}

/** Task in the form that clients receive. Its cursor and incarnation identify its group. */
export interface IssuedTask<Key extends InstanceKey = InstanceKey> extends DrawnTask<Key> {
  readonly incarnation: string;
  /** Epoch of the run: 0 at its creation, and greater after each import. */
  readonly epoch: number;
  /** Index of the task's update batch, counted from 0. */
  readonly batch: number;
  /** Probability with which the draw chose the task's arm. */
  readonly probability: number;
  /** Number of completions to sample for the task. Its group closes when all have results. */
  readonly numGenerations: number;
}

interface GroupBase<Key extends InstanceKey> {
  readonly task: DrawnTask<Key>;
  /**
   * Time from which the group's timeout counts: when a client got the task, or when the group was reopened or imported.
   * Null: no client has got the task yet.
   */
  readonly handedOutAtMs: number | null;
  /**
   * Digests of the completions' texts, by sample index. Null: no result yet. A result that is sent again has the same
   * digest.
   */
  readonly digests: readonly (string | null)[];
  /** Total length of the completions that have results, in tokens or characters. Unset: not known. */
  readonly lengths?: Lengths | undefined;
}

/** Completions of one task, some of which still have no result. */
export interface OpenGroup<Key extends InstanceKey = InstanceKey> extends GroupBase<Key> {
  readonly kind: "open";
  /** Results by sample index. Null: none yet. */
  readonly results: readonly (SampleResult | null)[];
  /** Number of samples that have no result yet. */
  readonly missing: number;
}

/** A group that accepts no more results. */
export interface ClosedGroup<Key extends InstanceKey = InstanceKey> extends GroupBase<Key> {
  readonly kind: "closed";
  /** Results by sample index. Empty if the trainer reported the group's advantages instead of rewards. */
  readonly results: readonly (SampleResult | null)[];
  readonly outcome: GroupOutcome;
  /** Whether the policy has already learned from the group. Used only in runs with an unbounded feedback lag. */
  readonly folded: boolean;
}

export type Group<Key extends InstanceKey = InstanceKey> = OpenGroup<Key> | ClosedGroup<Key>;

export interface Batch<Key extends InstanceKey = InstanceKey> {
  readonly index: number;
  /** Cursor of the batch's first task: its position in the run, counted in tasks from 0. */
  readonly cursor: number;
  /** Position of the batch's record in the run's history. */
  readonly seq: number;
  /** Epoch of the run when the batch was drawn: 0, or a greater number after each import. */
  readonly epoch: number;
  readonly drawnAtMs: number;
  readonly probabilities: readonly number[];
  readonly values: readonly number[];
  /**
   * For each arm that grows (its levels open one by one): the value of its highest open level, e.g. a number of
   * vertices. 0: the arm does not grow. Empty: no arm grows.
   */
  readonly frontiers: readonly number[];
  /**
   * Probabilities and values by arm that the history recorded for the previous update batch. This batch's record stores
   * only the changes from them. Null: this batch's record stores all numbers.
   */
  readonly toldBefore: RecordedNumbers | null;
  /** Number of completions of each prompt. */
  readonly numGenerations: number;
  /** Groups whose tasks clients may get. They have successive cursors, beginning with the batch's cursor. */
  readonly groups: readonly Group<Key>[];
  /** Number of groups that the trainer uses for one update. */
  readonly prompts: number;
  /**
   * Spare tasks for dynamic sampling; their cursors follow those of `groups`. For each group from which an update
   * learns nothing, the first spare task becomes a new group. When no group is open, the remaining spare tasks are
   * skipped.
   */
  readonly reserve: readonly DrawnTask<Key>[];
  /** Number of the batch's groups that still accept results. */
  readonly open: number;
}

/** Returns the cursor after the batch's last task, spare (reserve) tasks included. */
export function batchEnd({ cursor, groups, reserve }: Batch): number {
  return cursor + groups.length + reserve.length;
}

/**
 * Returns whether an update learns nothing from a closed group (DAPO 3.2): all its samples have the same outcome, or
 * fewer than two have a reward.
 */
export function isUseless({ outcome }: Pick<ClosedGroup, "outcome">, alike: DynamicSampling["alike"]): boolean {
  const { count, solved, deviation, advantage } = outcome;
  if (alike === "solved") return count < 2 || solved === 0 || solved === count;
  // If the trainer reported advantages, rewards are not known, so the advantages decide.
  return deviation === null || count === 0 ? !advantage : count < 2 || deviation === 0;
}

/**
 * Returns the number of a batch's closed groups from which an update can learn. Without dynamic sampling these are the
 * groups whose rewards differ.
 */
export function usefulGroups({ groups }: Batch, { dynamicSampling }: RunConfig): number {
  const alike = dynamicSampling?.alike ?? "rewards";
  return groups.filter((group) => group.kind === "closed" && !isUseless(group, alike)).length;
}

// Functions that convert between two forms of a task's samples: lists of those that have arrived, and lists with a
// position for each sample.

const blanks = new Map<number, TaskSamples>();

/**
 * Returns the samples of a task when none has arrived. All tasks with the same number of samples share one object,
 * because a run may have a million open samples.
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
  // Usually all samples of a group arrive at once, and then the lists can be copied whole.
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

/**
 * Maximum number of different results of a group that are shared. Each result of the group is compared with these, and
 * replaced by an equal one.
 */
const DIFFERENT_MAX = 4;

/**
 * Returns the results with equal ones replaced by one shared object. Runs keep closed groups for long, and most samples
 * of a group have equal results, so this saves memory.
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
  // This is a plain loop for speed, because a state may hold a million samples.
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
