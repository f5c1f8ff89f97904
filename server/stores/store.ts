/**
 * The interface of stores for runs. Each run has an append-only journal of events, its newest snapshot, and records of
 * its history. Only the caller reads their bodies. Methods are asynchronous, so that a store may be on another machine.
 *
 * When a promise of `create`, `append`, `remove` or `removeExpired` resolves, its write is committed. Several processes
 * may use one store at a time: `append` takes effect only at the version that its caller has seen. The store's clock,
 * which all processes share, decides which runs expire.
 */

/** A stored run. */
export interface StoredRun {
  readonly id: string;
  /** The key is never used again, so a deleted run is not mistaken for a later one with the same id. */
  readonly key: number;
  /** Number of events in its journal. */
  readonly version: number;
}

/** A run whose time is over. */
export interface ExpiredRun {
  readonly id: string;
  readonly key: number;
  /** By the store's clock. */
  readonly expiresAtMs: number;
}

export interface Expired {
  /** The time by the store's clock, which may jump. */
  readonly nowMs: number;
  /** Runs that expired before `nowMs`. */
  readonly runs: readonly ExpiredRun[];
}

/** A run's summary for lists, in two parts, so that the part that seldom changes is not written with every event. */
export interface Summary {
  readonly head: string;
  readonly state: string;
}

export interface WrittenSummary {
  /** Undefined: the head stays. */
  readonly head?: string | undefined;
  readonly state: string;
}

/** A run in a list. */
export interface ListedRun extends StoredRun {
  /** The last written summary; undefined: the server that wrote the run wrote none. */
  readonly summary: Summary | undefined;
}

/** An entry of a run's history. */
export interface StoredRecord {
  /** Position, from 0; writing a position again replaces its record. */
  readonly seq: number;
  readonly body: string;
}

export interface NewRun {
  readonly id: string;
  /** Time from now to the run's expiry. */
  readonly timeToLiveMs: number;
  readonly events: readonly Uint8Array[];
  readonly records: readonly StoredRecord[];
  readonly summary: WrittenSummary;
}

export interface Append {
  /** The version that the caller has seen. */
  readonly expectedVersion: number;
  readonly events: readonly Uint8Array[];
  readonly records: readonly StoredRecord[];
  /** Summary after the events; undefined: the old summary stays, and describes an earlier version from now on. */
  readonly summary?: WrittenSummary | undefined;
}

/** "conflict": the run has another version, or another process is writing; "gone": the run was deleted. */
export type Appended = "appended" | "conflict" | "gone";

/** A turn at a run: no other process appends to that run until the turn has appended or is released. */
export interface Turn {
  /** Appends like the store's own method, and ends the turn. */
  append(append: Append): Promise<Appended>;
  /** Releases the turn; does nothing if the turn has appended. */
  release(): Promise<void>;
}

export interface Snapshot {
  /** Number of events that the snapshot includes. */
  readonly version: number;
  readonly body: Uint8Array;
}

/** Maximum number of characters of a page's summaries; a page of a list ends early at this limit. */
export const LIST_CHARACTERS_MAX = 256 * 1024;

export interface RunPage {
  readonly runs: readonly ListedRun[];
  /** Whether there are runs after these. */
  readonly more: boolean;
}

export interface Store {
  /** "exists": the id is taken, and nothing was written. */
  create(run: NewRun): Promise<"created" | "exists">;
  find(id: string): Promise<StoredRun | undefined>;
  /** Returns runs with ids after `afterId`, in the order of their ids' UTF-8 bytes, without reading their journals. */
  list(afterId: string, limit: number): Promise<RunPage>;
  /** Writes the whole append or nothing. */
  append(key: number, append: Append): Promise<Appended>;
  /**
   * Waits for a turn at a run, in the order in which processes ask; used after a conflict, so that none of many writers
   * starves. Left out: processes that write to one run at a time hinder each other only briefly.
   */
  turn?(key: number): Promise<Turn>;
  /**
   * Calls back soon after another process may have changed a run, until the returned function is called. A call is a
   * hint, which may not come. Left out: processes do not tell each other of changes.
   */
  listen?(key: number, onChange: () => void): () => void;
  /**
   * Returns the events after the first `fromVersion`, until they reach `bytesMax`; fewer mean the end of the journal;
   * undefined: the run was deleted. Rejects with StoreDamaged if an event is missing or not as it was written.
   */
  read(key: number, fromVersion: number, bytesMax?: number): Promise<readonly Uint8Array[] | undefined>;
  /** Returns the checksum of an event in hex; undefined: the event does not exist. */
  checksum(key: number, version: number): Promise<string | undefined>;
  /** Stores a snapshot in place of an older one; a snapshot of a deleted run, or of a later version than its run's, is ignored. */
  saveSnapshot(key: number, snapshot: Snapshot): Promise<void>;
  snapshot(key: number): Promise<Snapshot | undefined>;
  /** Returns records from a position on, in order. */
  records(key: number, fromSeq: number, limit: number): Promise<readonly StoredRecord[]>;
  /** Postpones a run's expiry to `timeToLiveMs` from now; a time earlier than the stored one changes nothing. */
  touch(key: number, timeToLiveMs: number): Promise<void>;
  /**
   * Removes a run, and returns whether it existed. It is gone at once; its rows may be deleted later, a few at a time.
   */
  remove(key: number): Promise<boolean>;
  expired(): Promise<Expired>;
  /** Removes the runs that expired before a time of the store's clock, and returns them. */
  removeExpired(beforeMs: number): Promise<readonly ExpiredRun[]>;
  close(): Promise<void>;
}

/** "write": committed before its answer. "read": small. "bulk": may be large, and lets the others go first. */
export type Kind = "write" | "read" | "bulk";

/** Methods that a storage thread serves. */
export type Names<S> = Exclude<keyof S, "close" | "turn" | "listen">;

/** Kind of each method, by which a thread orders waiting calls. */
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

// Failures of a store that may pass without a change to the server.

/**
 * The disk is full, the file is locked, missing or unreachable, or too many calls wait for it. The write is not
 * confirmed, and a later attempt may succeed.
 */
export class StoreUnavailable extends Error {}

/** A part of the stored data is missing or cannot be read, and no later attempt will succeed. */
export class StoreDamaged extends Error {}

/** Throws StoreDamaged if a journal has fewer events than were written. */
export function expectVersion(version: number, written: number): void {
  if (version < written) throw new StoreDamaged(`its journal ends at event ${version}, and ${written} were written`);
}

export function recordMissing(seq: number): StoreDamaged {
  return new StoreDamaged(`record ${seq} of its history is missing`);
}
