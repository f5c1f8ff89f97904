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

// Failures of a store that may pass without a change to the server.

/** The disk is full, the file is locked or cannot be reached: nothing was written, and a later attempt may succeed. */
export class StoreUnavailable extends Error {}

/**
 * SQLite's primary result codes of this kind: BUSY, LOCKED, READONLY, IOERR, FULL and CANTOPEN. Others are bugs, or a
 * file that is damaged. https://sqlite.org/rescode.html
 */
const MAY_PASS: readonly number[] = [5, 6, 8, 10, 13, 14];

function failureOf(error: unknown): unknown {
  const { errcode, message } = error as { readonly errcode?: number; readonly message: string };
  // The primary code is the lowest byte.
  const passing = errcode !== undefined && MAY_PASS.includes(errcode & 0xff);
  return passing ? new StoreUnavailable(message, { cause: error }) : error;
}

type Methods<S> = { readonly [K in keyof S]: (...args: never[]) => Promise<unknown> };

/** The same store, whose failures of SQLite are StoreUnavailable where they may pass. */
export function tellingUnavailable<S extends Methods<S>>(store: S): S {
  const methods = Object.entries(store as Methods<Record<string, unknown>>).map(([name, method]) => {
    const told = (...args: never[]): Promise<unknown> =>
      method(...args).catch((error: unknown) => {
        throw failureOf(error);
      });
    return [name, told] as const;
  });
  return Object.fromEntries(methods) as unknown as S;
}
