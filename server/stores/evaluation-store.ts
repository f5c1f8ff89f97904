/**
 * Where evaluations are kept: what each is of, the completions that came in with their scores, and the tasks of suites,
 * so that they are solved once. Bodies are text that only the caller reads. Asynchronous, so that a store may be
 * elsewhere. What a promise resolves to has been committed; several processes may use one store at a time.
 */
import type { Access } from "./store.ts";

/** An evaluation as the store knows it. */
export interface StoredEvaluation {
  readonly id: string;
  /** Never used again. */
  readonly key: number;
  readonly body: string;
}

/** Where a sample stands: which task of the suite, and which completion of it. */
export interface SamplePlace {
  readonly ordinal: number;
  readonly index: number;
}

/** What a report reads of a sample. */
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

/** Lets go of what was held. A second time does nothing. */
export type Release = () => void;

/** Who works on what: a name is held by one at a time. */
export interface Holds {
  /** Undefined: another holds it. Whoever loses what it held, and has not let go of it, is told by `onLost`. */
  hold(name: string, onLost?: () => void): Promise<Release | undefined>;
}

/** "exists": there was one in its place, and it stays; "gone": the evaluation was deleted. */
export type AddedSample =
  { readonly kind: "added" } | { readonly kind: "exists"; readonly sample: StoredSample } | { readonly kind: "gone" };

export interface EvaluationStore {
  /** "exists": the id is taken, and nothing was written. */
  create(id: string, body: string): Promise<"created" | "exists">;
  find(id: string): Promise<StoredEvaluation | undefined>;
  /** Evaluations with ids after `afterId`, in the order of their ids' UTF-8 bytes. */
  list(afterId: string, limit: number): Promise<readonly StoredEvaluation[]>;
  /** Whether there was such an evaluation. It is gone at once; its samples may be deleted after that, a few at a time. */
  remove(key: number): Promise<boolean>;
  /** Keeps tasks of a suite; what is there already stays. */
  saveTasks(suite: string, tasks: readonly StoredTask[]): Promise<void>;
  /** The tasks of a suite with ordinals in [from, to), as far as they are there, in order. */
  tasks(suite: string, from: number, to: number): Promise<readonly StoredTask[]>;
  addSample(key: number, sample: StoredSample): Promise<AddedSample>;
  /** Places of samples that are there, for tasks with ordinals in [from, to), in order. */
  places(key: number, from: number, to: number): Promise<readonly SamplePlace[]>;
  /** Samples of an evaluation. */
  count(key: number): Promise<number>;
  /** Facts of all samples of an evaluation, in order. */
  facts(key: number): Promise<readonly StoredFacts[]>;
  /** Samples after a place, in order. */
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
