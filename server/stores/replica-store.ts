/**
 * Where the servers of one store tell each other that they are there: a row for each, and the store's time. A row's body is
 * read by the servers only.
 */
export interface StoredReplica {
  readonly id: string;
  readonly body: string;
  /** When it was first here, and last, by the store's time. */
  readonly sinceMs: number;
  readonly seenAtMs: number;
}

export interface Meeting {
  /** The store's time, milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** By when they were first here; whoever asked is one of them. */
  readonly replicas: readonly StoredReplica[];
}

/** Calls reject with StoreUnavailable where that may pass. */
export interface ReplicaStore {
  /** Writes one's own row, forgets those that were not here for longer than `forgetMs`, and gives the others. */
  meet(id: string, body: string, forgetMs: number): Promise<Meeting>;
  /** Takes back one's own row. */
  leave(id: string): Promise<void>;
  close(): Promise<void>;
}
