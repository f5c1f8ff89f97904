/**
 * The interface of stores for evaluations: each evaluation's description, its completions with scores, and the tasks of
 * suites, so that each task is solved only once. Bodies are text that only the caller reads. Methods are asynchronous,
 * so that a store may be on another machine. When a promise resolves, its write is committed; several processes may use
 * one store at a time.
 */
import type { Access } from "./store.ts";

/** A stored evaluation. */
export interface StoredEvaluation {
  readonly id: string;
  /** The key is never used again. */
  readonly key: number;
  readonly body: string;
}

/** Position of a sample: its task in the suite, and its completion of that task. */
export interface SamplePlace {
  readonly ordinal: number;
  readonly index: number;
}

/** The part of a sample that a report reads. */
export interface StoredFacts extends SamplePlace {
  readonly facts: string;
}

export interface StoredSample extends StoredFacts {
  readonly completion: string;
  /** The whole outcome. */
  readonly result: string;
}

/** A suite's task. */
export interface StoredTask {
  readonly ordinal: number;
  readonly body: string;
}

/** Releases a hold. A second call does nothing. */
export type Release = () => void;

/** Mutual exclusion by name: each name has one holder at a time. */
export interface Holds {
  /**
   * Returns undefined if another holds the name. Calls `onLost` if the holder loses the name without having released
   * it.
   */
  hold(name: string, onLost?: () => void): Promise<Release | undefined>;
}

/** "exists": the place already had a sample, which stays; "gone": the evaluation was deleted. */
export type AddedSample =
  { readonly kind: "added" } | { readonly kind: "exists"; readonly sample: StoredSample } | { readonly kind: "gone" };

export interface EvaluationStore {
  /** "exists": the id is taken, and nothing was written. */
  create(id: string, body: string): Promise<"created" | "exists">;
  find(id: string): Promise<StoredEvaluation | undefined>;
  /** Returns evaluations with ids after `afterId`, in the order of their ids' UTF-8 bytes. */
  list(afterId: string, limit: number): Promise<readonly StoredEvaluation[]>;
  /**
   * Removes an evaluation, and returns whether it existed. It is gone at once; its samples may be deleted later, a few
   * at a time.
   */
  remove(key: number): Promise<boolean>;
  /** Stores tasks of a suite; tasks that are already stored stay. */
  saveTasks(suite: string, tasks: readonly StoredTask[]): Promise<void>;
  /** Returns the stored tasks of a suite with ordinals in [from, to), in order. */
  tasks(suite: string, from: number, to: number): Promise<readonly StoredTask[]>;
  addSample(key: number, sample: StoredSample): Promise<AddedSample>;
  /** Returns the places of stored samples, for tasks with ordinals in [from, to), in order. */
  places(key: number, from: number, to: number): Promise<readonly SamplePlace[]>;
  /** Returns the number of samples of an evaluation. */
  count(key: number): Promise<number>;
  /** Returns the facts of all samples of an evaluation, in order. */
  facts(key: number): Promise<readonly StoredFacts[]>;
  /** Returns samples after a place, in order. */
  samples(key: number, after: SamplePlace, limit: number): Promise<readonly StoredSample[]>;
  close(): Promise<void>;
}

export const evaluationAccess: Access<EvaluationStore> = {
  create: "write",
  remove: "write",
  list: "read",
  saveTasks: "write",
  addSample: "write",
  find: "read",
  tasks: "read",
  count: "read",
  places: "read",
  facts: "bulk",
  samples: "bulk",
};
