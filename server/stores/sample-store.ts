/**
 * Where completions of runs are kept with what they came to: the newest ones, for people to look at. Texts that only the
 * caller reads. Losing them harms no run, and no backup has them. What a promise resolves to has been committed; several
 * processes may use one store at a time, and all of them see the same.
 */
import type { Access } from "./store.ts";

export interface NewSample {
  /** What it is a completion of, and what it came to. */
  readonly about: string;
  readonly completion: string;
}

export interface StoredRunSample extends NewSample {
  /** Never used again; newer ones have larger numbers. */
  readonly number: number;
  /** When it was kept, by the store's clock. */
  readonly atMs: number;
}

export interface SampleStore {
  /** Keeps samples of the run of an id. */
  add(run: string, samples: readonly NewSample[]): Promise<void>;
  /**
   * Samples below a number (undefined: from the newest on), the newest first: so many, or as many as reach a length of their
   * texts, in UTF-16 units; at least one, where there is one.
   */
  newest(run: string, below: number | undefined, limit: number, lengthMax: number): Promise<readonly StoredRunSample[]>;
  /** Deletes the oldest samples of a run, until those that are left have so many bytes of UTF-8 at most. */
  trim(run: string, bytesMax: number): Promise<void>;
  /** Deletes all samples that are older, of any run; `limit` of them at most, and gives how many it were. */
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

/** UTF-8 bytes that a sample counts for. */
export function bytesOfSample({ about, completion }: NewSample): number {
  return Buffer.byteLength(about) + Buffer.byteLength(completion);
}

/** As many of the first samples as reach a length; at least one. */
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
