/** Stores sessions of other gyms' clients in an SQLite file of their own. Runs in the storage thread. */
import type { DatabaseSync } from "node:sqlite";
import type { InThread } from "./commit-queue.ts";
import { ENDED_MAX, sessionAccess, type SessionStore, type StoredSession } from "./session-store.ts";
import { NOW_MS, type Schema } from "./sqlite-file.ts";

const TABLES = `
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    caller TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    task TEXT NOT NULL,
    state TEXT NOT NULL
  ) STRICT;
  CREATE INDEX sessions_of_caller ON sessions (caller, used_at);
  CREATE INDEX sessions_by_time ON sessions (used_at);
`;

export const sessionSchema: Schema = { file: "sessions.sqlite", version: 1, tables: TABLES, foreignKeys: false };

function prepare(db: DatabaseSync) {
  return {
    expire: db.prepare(
      `DELETE FROM sessions WHERE id IN (
         SELECT id FROM sessions WHERE used_at < ${NOW_MS} - ? ORDER BY used_at LIMIT ${ENDED_MAX}
       )`,
    ),
    trim: db.prepare(
      `DELETE FROM sessions WHERE id IN (
         SELECT id FROM sessions WHERE caller = ? ORDER BY used_at DESC LIMIT ${ENDED_MAX} OFFSET ?
       )`,
    ),
    open: db.prepare(
      `INSERT INTO sessions (id, caller, used_at, version, task, state) VALUES (?, ?, ${NOW_MS}, 0, ?, ?)
       ON CONFLICT (id) DO NOTHING`,
    ),
    find: db.prepare(`SELECT caller, version, task, state, ${NOW_MS} - used_at AS idleMs FROM sessions WHERE id = ?`),
    save: db.prepare(
      `UPDATE sessions SET state = ?3, version = version + 1, used_at = ${NOW_MS} WHERE id = ?1 AND version = ?2`,
    ),
    touch: db.prepare(`UPDATE sessions SET used_at = ${NOW_MS} WHERE id = ?`),
    remove: db.prepare("DELETE FROM sessions WHERE id = ?"),
  };
}

export function sessionsIn(db: DatabaseSync): InThread<SessionStore> {
  const sql = prepare(db);
  return {
    access: sessionAccess,
    tidying: { due: () => false, portion: () => undefined },
    methods: {
      open: ({ id, caller, task, state }, { callerMax, idleMs }) => {
        sql.expire.run(idleMs);
        const { changes } = sql.open.run(id, caller, task, state);
        sql.trim.run(caller, callerMax);
        return Number(changes) === 0 ? "exists" : "opened";
      },
      find: (id) => sql.find.get(id) as unknown as StoredSession | undefined,
      save: (id, version, state) => Number(sql.save.run(id, version, state).changes) > 0,
      touch: (id) => void sql.touch.run(id),
      remove: (id) => void sql.remove.run(id),
    },
  };
}
