/** Update batches: tasks as they were drawn, and what came of the samples of their groups. Never changed in place. */
import type { Told } from "./by-arm.ts";
import type { GroupOutcome } from "./signals.ts";
import type { DynamicSampling, InstanceKey, RunConfig } from "./types.ts";

/** What the scoring of one sample came to. */
export type SampleResult =
  | {
      readonly kind: "reward";
      readonly reward: number;
      readonly solved: boolean;
      /** How good the answer is, in [0, 1]; left out: 1 where it is solved, else 0. */
      readonly quality?: number;
      /** What the run's policy reads beside (PolicyDefinition.reads), by name; left out: nothing. */
      readonly facts?: Readonly<Record<string, number>>;
      /** Of the policy that wrote the completion; left out: not known. */
      readonly policyVersion?: number;
      /**
       * The violation of a malformed answer: as the scorer says it, then as a run records it (malformed.ts). Left out: the
       * answer was read.
       */
      readonly malformed?: string | number;
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

/** By sample_index: what came of the samples of a task. */
export interface TaskSamples {
  readonly digests: readonly (string | null)[];
  readonly results: readonly (SampleResult | null)[];
}

/** One task as it was drawn. */
export interface DrawnTask<Key extends InstanceKey = InstanceKey> {
  /** With the run's incarnation it names the group. */
  readonly cursor: number;
  /** The arm's index in the configuration. */
  readonly arm: number;
  /** Which instance of the arm, counted from 0. */
  readonly ordinal: number;
  /** Which of the arm's rows was chosen; left out: the arm goes through its tasks in turn. */
  readonly row?: number;
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
  /** What the history told with the draw before; null: it tells this one whole. */
  readonly toldBefore: Told | null;
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

/** The cursor after a batch's tasks, its reserve included. */
export function batchEnd({ cursor, groups, reserve }: Batch): number {
  return cursor + groups.length + reserve.length;
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

// Samples of a task: those that have come in lists of one length, and all of them by their index.

const blanks = new Map<number, TaskSamples>();

/** Nothing has come. One for all of a length, for a run may have a million samples open. */
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
  // As nearly always: a whole group at once.
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

/** Whether they are 0, 1, 2 and so on. */
function isInOrder(indices: readonly number[]): boolean {
  for (let i = 0; i < indices.length; i++) if (indices[i] !== i) return false;
  return true;
}

export function recordedOf({ results, digests }: TaskSamples): Omit<GroupResults, "cursor"> {
  const columns = { indices: [] as number[], digests: [] as string[], results: [] as SampleResult[] };
  if (digests === blanks.get(digests.length)?.digests) return columns;
  // A loop: a state may hold a million samples.
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
