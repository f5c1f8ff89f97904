/**
 * Where runs are kept: for each an append-only journal of events, its newest snapshot, and records of its history.
 * Only the caller reads their bodies. Asynchronous, so that a store may be elsewhere.
 *
 * What a promise of `create`, `append`, `remove` or `removeExpired` resolves to has been committed. Several processes
 * may use one store at a time: `append` takes effect only at the version that its caller has seen, and what expires is
 * decided by the store's clock, which all of them share.
 */

/** A run as the store knows it. */
export interface StoredRun {
  readonly id: string;
  /** Never used again, so that a deleted run is not mistaken for a later one of the same id. */
  readonly key: number;
  /** Events in its journal. */
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
  /** Runs that expired before it. */
  readonly runs: readonly ExpiredRun[];
}

/** What a list tells of a run, in two parts: what seldom changes is then not written with every event. */
export interface Summary {
  readonly head: string;
  readonly state: string;
}

export interface WrittenSummary {
  /** Undefined: as it was. */
  readonly head?: string | undefined;
  readonly state: string;
}

/** A run as a list gives it. */
export interface ListedRun extends StoredRun {
  /** As it was written last; undefined: by a server that wrote none. */
  readonly summary: Summary | undefined;
}

/** An entry of a run's history. */
export interface StoredRecord {
  /** Its place, from 0; writing a place again replaces what was there. */
  readonly seq: number;
  readonly body: string;
}

export interface NewRun {
  readonly id: string;
  /** From now to its expiry. */
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
  /** After the events; undefined: it stays, and is of an earlier version from now on. */
  readonly summary?: WrittenSummary | undefined;
}

/** "conflict": the version is another one, or another process is writing; "gone": the run was deleted. */
export type Appended = "appended" | "conflict" | "gone";

/** A turn at a run: until it has appended or is let go of, no other process appends to that run. */
export interface Turn {
  /** As the store's own; it ends the turn. */
  append(append: Append): Promise<Appended>;
  /** Lets go of it; nothing, where it has appended. */
  release(): Promise<void>;
}

export interface Snapshot {
  /** Events that are in it. */
  readonly version: number;
  readonly body: Uint8Array;
}

/** Where a page of a list ends early, so that no page is large: its summaries have this many characters. */
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
  /** Runs with ids after `afterId`, in the order of their ids' UTF-8 bytes, without reading their journals. */
  list(afterId: string, limit: number): Promise<RunPage>;
  /** All of it or none. */
  append(key: number, append: Append): Promise<Appended>;
  /**
   * Waits for a turn at a run, in the order in which processes ask: after a conflict, so that none of many writers starves.
   * Left out: processes that write to one run at a time are not in each other's way for long.
   */
  turn?(key: number): Promise<Turn>;
  /**
   * Calls back soon after another process may have changed a run, until what it returns is called. It is a hint, which may
   * not come. Left out: no process tells another of its changes.
   */
  listen?(key: number, onChange: () => void): () => void;
  /**
   * The events after the first `fromVersion`, and at most those that reach `bytesMax`: fewer are the last; undefined:
   * the run was deleted. Rejects with StoreDamaged where an event is not as it was written, or not there.
   */
  read(key: number, fromVersion: number, bytesMax?: number): Promise<readonly Uint8Array[] | undefined>;
  /**
   * Looks through events after the first `fromVersion`, as `read` does, for what was changed, some of them at a time; gives
   * how far it came, at most `toVersion`, which is also where it ends if the run was deleted.
   */
  check(key: number, fromVersion: number, toVersion: number): Promise<number>;
  /** The hash of an event, in hex, which is one over all events up to it; undefined: there is no such event. */
  hash(key: number, version: number): Promise<string | undefined>;
  /** Keeps a snapshot in place of an older one; that of a deleted run is ignored. */
  saveSnapshot(key: number, snapshot: Snapshot): Promise<void>;
  snapshot(key: number): Promise<Snapshot | undefined>;
  /** Records from a place on, in order. */
  records(key: number, fromSeq: number, limit: number): Promise<readonly StoredRecord[]>;
  /** Puts off a run's expiry to so long from now; an earlier time than the one kept changes nothing. */
  touch(key: number, timeToLiveMs: number): Promise<void>;
  /** Whether there was such a run. It is gone at once; what is kept of it may be deleted after that, a bit at a time. */
  remove(key: number): Promise<boolean>;
  expired(): Promise<Expired>;
  /** Removes the runs that expired before a time of the store's clock, and gives them. */
  removeExpired(beforeMs: number): Promise<readonly ExpiredRun[]>;
  close(): Promise<void>;
}

/** "write": committed before its answer. "read": small. "bulk": may be large; it lets the others go first. */
export type Kind = "write" | "read" | "bulk";

/** What a thread is asked. */
export type Names<S> = Exclude<keyof S, "close" | "turn" | "listen">;

/** What a thread does first of what waits. */
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
  hash: "read",
  check: "bulk",
  list: "bulk",
  snapshot: "bulk",
  records: "bulk",
};

// Failures of a store that may pass without a change to the server.

/**
 * The disk is full, the file is locked, gone or cannot be reached, or too much waits for it: what was asked for is not
 * said to be kept, and a later attempt may succeed.
 */
export class StoreUnavailable extends Error {}

/** What was kept is no longer all there: a part of it is missing or cannot be read, and no later attempt will succeed. */
export class StoreDamaged extends Error {}

/** Throws StoreDamaged where a journal has fewer events than were written. */
export function expectVersion(version: number, written: number): void {
  if (version < written) throw new StoreDamaged(`its journal ends at event ${version}, and ${written} were written`);
}

export function recordMissing(seq: number): StoreDamaged {
  return new StoreDamaged(`record ${seq} of its history is missing`);
}
