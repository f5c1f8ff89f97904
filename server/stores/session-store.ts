/**
 * The interface of stores for sessions of other gyms' clients that cannot send state themselves: such a client sends
 * only the session id with each request, and any server of the store answers. The store does not interpret the texts.
 * When a promise resolves, its write is committed. Sessions expire by the store's clock.
 */
import { type Access, StoreUnavailable } from "./store.ts";

export interface NewSession {
  /** Id of the session, which nobody can guess. */
  readonly id: string;
  /** Name of the caller who owns the session. It counts towards this caller's maximum of sessions. */
  readonly caller: string;
  /** Part of the session that never changes, as text. */
  readonly task: string;
  /** Part of the session that each call replaces, as text. */
  readonly state: string;
}

export interface StoredSession extends Omit<NewSession, "id"> {
  /** Number of times that the session's state was replaced. */
  readonly version: number;
  /** Time since the session was last used, in milliseconds. */
  readonly idleMs: number;
}

export interface SessionLimits {
  /** Maximum number of sessions of one caller. A new one ends those that its caller has not used for longest. */
  readonly callerMax: number;
  /** Time without a use after which a session ends, in milliseconds. */
  readonly idleMs: number;
}

export interface SessionStore {
  /** Stores a session. "exists": the id is taken, and nothing was written. */
  open(session: NewSession, limits: SessionLimits): Promise<"opened" | "exists">;
  /** Returns a session, even one that has been idle for too long but is not deleted yet. */
  find(id: string): Promise<StoredSession | undefined>;
  /** Replaces the session's state if its version is still `version`. Returns whether the state was replaced. */
  save(id: string, version: number, state: string): Promise<boolean>;
  /** Marks the session as used now. */
  touch(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  close(): Promise<void>;
}

export const sessionAccess: Access<SessionStore> = {
  open: "write",
  save: "write",
  touch: "write",
  remove: "write",
  find: "read",
};

/** Maximum number of sessions that `open` deletes of each kind: expired ones, and the caller's oldest. */
export const ENDED_MAX = 64;

/**
 * Returns a store that is opened at its first call, because few servers have such sessions. If opening fails, the call
 * rejects with StoreUnavailable, and the next one tries again.
 */
export function openedLater(open: () => Promise<SessionStore>): SessionStore {
  let opened: Promise<SessionStore> | undefined;
  const store = (): Promise<SessionStore> =>
    (opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw new StoreUnavailable((error as Error).message);
    }));
  return {
    open: async (...of) => (await store()).open(...of),
    find: async (...of) => (await store()).find(...of),
    save: async (...of) => (await store()).save(...of),
    touch: async (...of) => (await store()).touch(...of),
    remove: async (...of) => (await store()).remove(...of),
    close: async () => (await opened)?.close(),
  };
}
