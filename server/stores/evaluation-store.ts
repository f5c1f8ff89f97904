/**
 * The interface of stores for evaluations: each evaluation's description, its completions with scores, and the tasks of
 * suites, so that each task is solved only once. The store does not interpret the bodies, which are text. Methods are
 * asynchronous, so that a store may be on another machine. When a promise resolves, its write is committed; several
 * processes may use one store at a time.
 */
import type { Access } from "./store.ts";

/** A stored evaluation, with its description as text. */
export interface StoredEvaluation {
  readonly id: string;
  /** Number of the evaluation in the database. It is never used again. */
  readonly key: number;
  readonly body: string;
}

/** Position of a sample in an evaluation: the number of the task in its suite, and of the completion of that task. */
export interface SamplePlace {
  readonly ordinal: number;
  readonly index: number;
}

/**
 * The part of an evaluation's sample from which the report is computed. The store keeps `facts` as text and does not
 * parse it.
 */
export interface StoredFacts extends SamplePlace {
  readonly facts: string;
}

export interface StoredSample extends StoredFacts {
  readonly completion: string;
  /** The whole outcome of the completion, as text. */
  readonly result: string;
}

/** A task of a suite, numbered from 0. */
export interface StoredTask {
  readonly ordinal: number;
  readonly body: string;
}

/** Releases a lock. A second call does nothing. */
export type Release = () => void;

/** Locks that are identified by names. At most one caller holds the lock of a name at a time. */
export interface Holds {
  /**
   * Takes the lock of a name. Undefined: another caller holds it. Calls `onLost` if the lock is lost without having
   * been released.
   */
  hold(name: string, onLost?: () => void): Promise<Release | undefined>;
}

/**
 * Result of adding a sample. "exists": its task already had a sample of this index, which stays. "gone": the evaluation
 * was deleted.
 */
export type AddedSample =
  { readonly kind: "added" } | { readonly kind: "exists"; readonly sample: StoredSample } | { readonly kind: "gone" };

export interface EvaluationStore {
  /** Stores a new evaluation. "exists": the id is taken, and nothing was written. */
  create(id: string, body: string): Promise<"created" | "exists">;
  find(id: string): Promise<StoredEvaluation | undefined>;
  /** Returns evaluations with ids after `afterId`, in the order of their ids' UTF-8 bytes. */
  list(afterId: string, limit: number): Promise<readonly StoredEvaluation[]>;
  /**
   * Removes an evaluation, and returns whether it existed. Afterwards no call finds the evaluation; its samples may be
   * deleted later, a few at a time.
   */
  remove(key: number): Promise<boolean>;
  /** Stores tasks of a suite. Tasks that are already stored stay unchanged. */
  saveTasks(suite: string, tasks: readonly StoredTask[]): Promise<void>;
  /** Returns the stored tasks of a suite whose numbers are in [from, to), in order. */
  tasks(suite: string, from: number, to: number): Promise<readonly StoredTask[]>;
  addSample(key: number, sample: StoredSample): Promise<AddedSample>;
  /**
   * Returns the positions (task and index) of the stored samples of an evaluation, for tasks numbered in [from, to), in
   * order.
   */
  places(key: number, from: number, to: number): Promise<readonly SamplePlace[]>;
  count(key: number): Promise<number>;
  facts(key: number): Promise<readonly StoredFacts[]>;
  /** Returns samples of an evaluation in the order of task and index, beginning after the position `after`. */
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
