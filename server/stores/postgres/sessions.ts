/** Stores sessions of other gyms' clients in PostgreSQL. */
import { ENDED_MAX, type SessionStore, type StoredSession } from "../session-store.ts";
import type { Connections } from "./database.ts";

type Row = Omit<StoredSession, "caller" | "task" | "state"> & Readonly<Record<"caller" | "task" | "state", Buffer>>;

export function postgresSessions(calls: Connections): SessionStore {
  return {
    open: async ({ id, caller, task, state }, { callerMax, idleMs }) => {
      await calls.query("expireSessions", [idleMs, ENDED_MAX]);
      const values = [id, Buffer.from(caller), Buffer.from(task), Buffer.from(state)];
      const opened = await calls.query("openSession", values);
      await calls.query("trimSessions", [Buffer.from(caller), ENDED_MAX, callerMax]);
      return opened.length === 0 ? "exists" : "opened";
    },
    find: async (id) => {
      const [row] = (await calls.query("findSession", [id])) as unknown as readonly Row[];
      return row && { ...row, caller: String(row.caller), task: String(row.task), state: String(row.state) };
    },
    save: async (id, version, state) =>
      (await calls.query("saveSession", [id, version, Buffer.from(state)])).length > 0,
    touch: async (id) => void (await calls.query("touchSession", [id])),
    remove: async (id) => void (await calls.query("removeSession", [id])),
    // This does nothing, because the database is closed with the other stores.
    close: async () => undefined,
  };
}
