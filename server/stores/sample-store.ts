/**
 * The interface of stores for the newest completions of runs with their outcomes, which people look at. Only the caller
 * reads the texts. Losing them harms no run, and no backup has them. When a promise resolves, its write is committed;
 * several processes may use one store at a time, and all see the same samples.
 */
import type { Access } from "./store.ts";

export interface NewSample {
  /** The task and the outcome of the completion. */
  readonly about: string;
  readonly completion: string;
}

export interface StoredRunSample extends NewSample {
  /** The number is never used again; newer samples have larger numbers. */
  readonly number: number;
  /** Time at which the sample was stored, by the store's clock. */
  readonly atMs: number;
}

export interface SampleStore {
  /** Stores samples of the run with an id. */
  add(run: string, samples: readonly NewSample[]): Promise<void>;
  /**
   * Returns samples below a number (undefined: from the newest on), the newest first: up to `limit`, or until their
   * texts reach `lengthMax` in UTF-16 units. Returns at least one if there is one.
   */
  newest(run: string, below: number | undefined, limit: number, lengthMax: number): Promise<readonly StoredRunSample[]>;
  /** Deletes the oldest samples of a run until the rest have at most this many bytes of UTF-8. */
  trim(run: string, bytesMax: number): Promise<void>;
  /** Deletes samples of any run that are older than `olderThanMs`, at most `limit`; returns how many. */
  expire(olderThanMs: number, limit: number): Promise<number>;
  /** Deletes the samples of all runs that have or had an id. */
  removeRun(run: string): Promise<void>;
  close(): Promise<void>;
}

export const sampleAccess: Access<SampleStore> = {
  add: "write",
  trim: "write",
  expire: "write",
  removeRun: "write",
  newest: "bulk",
};

/** Returns the UTF-8 bytes that a sample counts for. */
export function bytesOfSample({ about, completion }: NewSample): number {
  return Buffer.byteLength(about) + Buffer.byteLength(completion);
}

/** Returns the first samples, until their texts reach a length; at least one. */
export function reachingLength<Sample extends NewSample>(samples: Iterable<Sample>, lengthMax: number): Sample[] {
  const taken: Sample[] = [];
  let length = 0;
  for (const sample of samples) {
    taken.push(sample);
    length += sample.about.length + sample.completion.length;
    if (length >= lengthMax) break;
  }
  return taken;
}
