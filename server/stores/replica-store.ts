/**
 * The interface of stores in which the servers of one store announce themselves: a row for each server, and the store's
 * time. Only servers read the bodies.
 */
export interface StoredReplica {
  readonly id: string;
  readonly body: string;
  /**
   * First and last time that the server announced itself, by the store's clock, in milliseconds since the Unix epoch.
   */
  readonly sinceMs: number;
  readonly seenAtMs: number;
}

export interface Meeting {
  /** The store's time, in milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** All servers in the order of their first announcement, with the caller. */
  readonly replicas: readonly StoredReplica[];
}

/** Calls reject with StoreUnavailable if the failure may pass. */
export interface ReplicaStore {
  /** Writes the caller's row, deletes rows not renewed for `forgetMs`, and returns all rows. */
  meet(id: string, body: string, forgetMs: number): Promise<Meeting>;
  /** Deletes the caller's row. */
  leave(id: string): Promise<void>;
  close(): Promise<void>;
}
