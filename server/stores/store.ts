/**
 * The interface of stores for runs. Each run has an append-only journal of events, its newest snapshot, and records of
 * its history. The store does not interpret their bodies. Methods are asynchronous, so that a store may be on another
 * machine.
 *
 * When a promise of `create`, `append`, `remove` or `removeExpired` resolves, its write is committed. Several processes
 * may use one store at a time: `append` takes effect only at the version that its caller has seen. The store's clock,
 * which all processes share, decides which runs expire.
 */

export interface StoredRun {
  readonly id: string;
  /**
   * Number of the run in the database. The number is never used again, so a deleted run is not mistaken for a later run
   * with the same id.
   */
  readonly key: number;
  /** Number of events in the run's journal. */
  readonly version: number;
}

/** A run whose lifetime is over. */
export interface ExpiredRun {
  readonly id: string;
  readonly key: number;
  /** Time of its expiry by the store's clock, in milliseconds since the Unix epoch. */
  readonly expiresAtMs: number;
}

export interface Expired {
  /** Present time by the store's clock, which may jump, in milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** Runs that expired before `nowMs`. */
  readonly runs: readonly ExpiredRun[];
}

/**
 * Summary of a run for lists of runs. `head` seldom changes, so it is stored apart from `state`, which most changes of
 * a run write again.
 */
export interface Summary {
  readonly head: string;
  readonly state: string;
}

export interface WrittenSummary {
  /** Part of the summary that seldom changes. Undefined: the stored one stays as it is. */
  readonly head?: string | undefined;
  readonly state: string;
}

export interface ListedRun extends StoredRun {
  /** Last summary that was written. Undefined: there is none, or it is damaged. */
  readonly summary: Summary | undefined;
}

/** A record of a run's history, which people look at. */
export interface StoredRecord {
  /** Position of the record, from 0. Writing the same position again replaces the record. */
  readonly seq: number;
  readonly body: string;
}

export interface NewRun {
  readonly id: string;
  /** Time until the run expires, in milliseconds. */
  readonly timeToLiveMs: number;
  readonly events: readonly Uint8Array[];
  readonly records: readonly StoredRecord[];
  readonly summary: WrittenSummary;
}

export interface Append {
  /** Version of the run that the caller has seen. The append takes effect only at this version. */
  readonly expectedVersion: number;
  readonly events: readonly Uint8Array[];
  readonly records: readonly StoredRecord[];
  /** Summary after these events. Undefined: the old summary stays, and is then out of date. */
  readonly summary?: WrittenSummary | undefined;
}

/**
 * Result of an append. "conflict": the run has another version, or another process is writing. "gone": the run was
 * deleted.
 */
export type Appended = "appended" | "conflict" | "gone";

/** A process's turn at a run. No other process appends to the run until the turn has appended or is released. */
export interface Turn {
  /** Appends like Store.append, and ends the turn. */
  append(append: Append): Promise<Appended>;
  /** Ends the turn. Does nothing if the turn has appended. */
  release(): Promise<void>;
}

export interface Snapshot {
  /** Number of events that the snapshot covers. */
  readonly version: number;
  readonly body: Uint8Array;
}

/**
 * Number of characters of summaries at which a page of a list of runs ends. The last summary of the page may exceed it.
 */
export const LIST_CHARACTERS_MAX = 256 * 1024;

export interface RunPage {
  readonly runs: readonly ListedRun[];
  /** Whether there are more runs after those of this page. */
  readonly more: boolean;
}

export interface Store {
  /** Stores a new run. "exists": the id is taken, and nothing was written. */
  create(run: NewRun): Promise<"created" | "exists">;
  find(id: string): Promise<StoredRun | undefined>;
  /** Returns runs with ids after `afterId`, ordered by the UTF-8 bytes of their ids. Does not read their journals. */
  list(afterId: string, limit: number): Promise<RunPage>;
  /** Appends to a run. Either everything is written or nothing. */
  append(key: number, append: Append): Promise<Appended>;
  /**
   * Waits for a turn (exclusive access to append to a run); turns are given in the order of the requests. Used after a
   * conflict, so that each of many writers gets its turn. Left out: the store needs no turns, because its conflicts are
   * short.
   */
  turn?(key: number): Promise<Turn>;
  /**
   * Calls `onChange` soon after another process may have changed a run. A change may also go unreported. The returned
   * function ends the calls. Left out: the store cannot report changes by other processes.
   */
  listen?(key: number, onChange: () => void): () => void;
  /**
   * Returns the events of a run after the first `fromVersion`, up to about `bytesMax`. If they have fewer bytes, the
   * journal ends there. Undefined: the run was deleted. Rejects with StoreDamaged if an event is missing or damaged.
   */
  read(key: number, fromVersion: number, bytesMax?: number): Promise<readonly Uint8Array[] | undefined>;
  /** Returns the checksum of an event in hex. Undefined: there is no such event. */
  checksum(key: number, version: number): Promise<string | undefined>;
  /**
   * Stores a snapshot in place of an older one. Ignores a snapshot of a deleted run, or of a version that the run has
   * not reached.
   */
  saveSnapshot(key: number, snapshot: Snapshot): Promise<void>;
  snapshot(key: number): Promise<Snapshot | undefined>;
  /** Returns records from position `fromSeq` on, in order. */
  records(key: number, fromSeq: number, limit: number): Promise<readonly StoredRecord[]>;
  /** Postpones a run's expiry to `timeToLiveMs` from now, unless it already expires later. */
  touch(key: number, timeToLiveMs: number): Promise<void>;
  /**
   * Removes a run, and returns whether it existed. Afterwards no call finds the run; its rows may be deleted later, a
   * few at a time.
   */
  remove(key: number): Promise<boolean>;
  expired(): Promise<Expired>;
  /** Removes and returns the runs that expired before a time by the store's clock. */
  removeExpired(beforeMs: number): Promise<readonly ExpiredRun[]>;
  close(): Promise<void>;
}

/**
 * Kind of a store's method. "write": committed before the call is answered. "read": a small read. "bulk": a read that
 * may be large, so other calls go first.
 */
export type Kind = "write" | "read" | "bulk";

/** Methods of a store that a storage thread runs. */
export type Names<S> = Exclude<keyof S, "close" | "turn" | "listen">;

/** Kind of each method of a store. A storage thread orders waiting calls by their kinds. */
export type Access<S> = Readonly<Record<Names<S>, Kind>>;

export const runAccess: Access<Store> = {
  create: "write",
  append: "write",
  saveSnapshot: "write",
  touch: "write",
  remove: "write",
  removeExpired: "write",
  expired: "read",
  find: "read",
  read: "read",
  checksum: "read",
  list: "bulk",
  snapshot: "bulk",
  records: "bulk",
};

// Errors that a store throws.

/**
 * Error of a failure that may be temporary: the disk is full, the file is locked or missing, or too many calls wait. A
 * write may not have been stored, and can be tried again.
 */
export class StoreUnavailable extends Error {}

/** Error if a part of the stored data is missing or damaged. Later attempts fail too. */
export class StoreDamaged extends Error {}

/** Throws StoreDamaged if a journal has fewer events than were written to it. */
export function expectVersion(version: number, written: number): void {
  if (version < written)
    throw new StoreDamaged(`its journal ends at event ${version}, but ${written} events were written`);
}

export function recordMissing(seq: number): StoreDamaged {
  return new StoreDamaged(`record ${seq} of its history is missing`);
}
