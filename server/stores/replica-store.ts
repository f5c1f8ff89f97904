/**
 * Interface of stores through which servers that share a database or data folder (replicas) find each other. Each
 * server writes one row. The store does not interpret the row's body.
 */

/** Row that one server writes. */
export interface StoredReplica {
  readonly id: string;
  readonly body: string;
  /** Time of the server's first announcement, by the store's clock, in milliseconds since the Unix epoch. */
  readonly sinceMs: number;
  /** Time of the server's last announcement, on the same clock. */
  readonly seenAtMs: number;
}

export interface Meeting {
  /** Present time by the store's clock, in milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** All servers including the caller, ordered by their first announcement. */
  readonly replicas: readonly StoredReplica[];
}

/** Store of the servers' rows. Calls reject with StoreUnavailable if the failure is temporary. */
export interface ReplicaStore {
  /** Writes the caller's row, deletes rows that were not renewed for `forgetMs`, and returns all rows with the time. */
  meet(id: string, body: string, forgetMs: number): Promise<Meeting>;
  /** Deletes the caller's row. */
  leave(id: string): Promise<void>;
  close(): Promise<void>;
}
