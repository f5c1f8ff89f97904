/**
 * The interface of stores for the newest completions of runs with their outcomes, which people look at, and for counts
 * of samples. The store does not interpret the texts. Runs do not need these data, so backups leave them out. When a
 * promise resolves, its write is committed. Several processes may use one store at a time, and all see the same
 * samples.
 */
import type { Access } from "./store.ts";

export interface NewSample {
  /** Description of the completion's task and outcome, as text. */
  readonly about: string;
  readonly completion: string;
}

export interface StoredRunSample extends NewSample {
  /** Number of the sample, which is never used again. Newer samples have larger numbers. */
  readonly number: number;
  /** Time at which the sample was stored, by the store's clock, in milliseconds since the Unix epoch. */
  readonly atMs: number;
}

/** Row with counts of some of a run's samples, as text. The run's total counts are the sums over all its rows. */
export interface StoredRunCounts {
  /** Number of the row, which is never used again. Newer rows have larger numbers. */
  readonly number: number;
  readonly body: string;
}

export interface SampleStore {
  /** Stores samples of a run, given by its id. */
  add(run: string, samples: readonly NewSample[]): Promise<void>;
  /**
   * Returns samples with numbers below `below` (undefined: all), the newest first. Stops at `limit` samples, or when
   * their texts reach `lengthMax` characters; returns at least one if there is one.
   */
  newest(run: string, below: number | undefined, limit: number, lengthMax: number): Promise<readonly StoredRunSample[]>;
  /** Deletes a run's oldest samples until the rest have at most `bytesMax` bytes in UTF-8. */
  trim(run: string, bytesMax: number): Promise<void>;
  /** Stores a row with counts of a run's samples. */
  addCounts(run: string, body: string): Promise<void>;
  /** Returns the rows of a run's counts, the oldest first. */
  counts(run: string): Promise<readonly StoredRunCounts[]>;
  /** Replaces rows of a run's counts. Changes nothing and returns false if one of them does not exist any more. */
  replaceCounts(run: string, numbers: readonly number[], bodies: readonly string[]): Promise<boolean>;
  /**
   * Deletes data of all runs that are older than `olderThanMs`: at most `limit` samples and at most `limit` rows of
   * counts. Returns how many samples were deleted.
   */
  expire(olderThanMs: number, limit: number): Promise<number>;
  /** Deletes the samples and counts of the run with this id, and of earlier runs that had the same id. */
  removeRun(run: string): Promise<void>;
  close(): Promise<void>;
}

export const sampleAccess: Access<SampleStore> = {
  add: "write",
  trim: "write",
  addCounts: "write",
  replaceCounts: "write",
  expire: "write",
  removeRun: "write",
  newest: "bulk",
  counts: "bulk",
};

/** Returns the number of UTF-8 bytes that a sample counts towards a run's limit. */
export function bytesOfSample({ about, completion }: NewSample): number {
  return Buffer.byteLength(about) + Buffer.byteLength(completion);
}

/** Returns samples from the first on, until their texts reach `lengthMax` characters, but at least one sample. */
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
