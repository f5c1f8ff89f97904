/**
 * Where runs are kept: for each an append-only journal of events, its newest snapshot, and records of its history.
 * Bodies are text that only the caller reads. Asynchronous, so that a store may be elsewhere.
 *
 * What a promise of `create`, `append`, `remove` or `removeExpired` resolves to has been committed. Several processes
 * may use one store at a time: `append` takes effect only at the version that its caller has seen.
 */

/** A run as the store knows it. */
export interface StoredRun {
  readonly id: string;
  /** Never used again, so that a deleted run is not mistaken for a later one of the same id. */
  readonly key: number;
  /** Events in its journal. */
  readonly version: number;
}

/** An entry of a run's history. */
export interface StoredRecord {
  /** Its place, from 0; writing a place again replaces what was there. */
  readonly seq: number;
  readonly body: string;
}

export interface NewRun {
  readonly id: string;
  readonly expiresAtMs: number;
  readonly events: readonly string[];
  readonly records: readonly StoredRecord[];
}

export interface Append {
  /** The version that the caller has seen. */
  readonly expectedVersion: number;
  readonly events: readonly string[];
  readonly records: readonly StoredRecord[];
}

export interface Snapshot {
  /** Events that are in it. */
  readonly version: number;
  readonly body: string;
}

export interface Store {
  /** "exists": the id is taken, and nothing was written. */
  create(run: NewRun): Promise<"created" | "exists">;
  find(id: string): Promise<StoredRun | undefined>;
  /** Runs with ids after `afterId`, in the order of their ids' UTF-8 bytes. */
  list(afterId: string, limit: number): Promise<readonly StoredRun[]>;
  /** All of it or none. "conflict": the version is another one; "gone": the run was deleted. */
  append(key: number, append: Append): Promise<"appended" | "conflict" | "gone">;
  /** The events after the first `fromVersion`; undefined: the run was deleted. */
  read(key: number, fromVersion: number): Promise<readonly string[] | undefined>;
  /** Keeps a snapshot in place of an older one; that of a deleted run is ignored. */
  saveSnapshot(key: number, snapshot: Snapshot): Promise<void>;
  snapshot(key: number): Promise<Snapshot | undefined>;
  /** Records from a place on, in order. */
  records(key: number, fromSeq: number, limit: number): Promise<readonly StoredRecord[]>;
  /** Puts off a run's expiry; an earlier time than the one kept changes nothing. */
  touch(key: number, expiresAtMs: number): Promise<void>;
  /** Whether there was such a run. */
  remove(key: number): Promise<boolean>;
  /** Removes runs that expired before now; gives their keys. */
  removeExpired(nowMs: number): Promise<readonly number[]>;
  close(): Promise<void>;
}
