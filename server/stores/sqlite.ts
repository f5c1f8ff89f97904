/** The embedded store: one SQLite file in a directory, shared by the processes of one machine. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type SqliteOptions, openSqlite, transaction } from "./sqlite-file.ts";
import type { Append, NewRun, Snapshot, Store, StoredRecord, StoredRun } from "./store.ts";
import { tellingUnavailable } from "./unavailable.ts";

const TABLES = `
  CREATE TABLE runs (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE events (
    run INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, version)
  ) STRICT;
  CREATE TABLE snapshots (
    run INTEGER PRIMARY KEY REFERENCES runs (key) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE records (
    run INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
  ) STRICT;
`;

type Statements = ReturnType<typeof prepare>;

function prepare(db: DatabaseSync) {
  const statement = (sql: string): StatementSync => db.prepare(sql);
  return {
    insertRun: statement("INSERT INTO runs (id, version, expires_at_ms) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING"),
    find: statement("SELECT id, key, version FROM runs WHERE id = ?"),
    list: statement("SELECT id, key, version FROM runs WHERE id > ? ORDER BY id LIMIT ?"),
    version: statement("SELECT version FROM runs WHERE key = ?"),
    setVersion: statement("UPDATE runs SET version = ? WHERE key = ?"),
    insertEvent: statement("INSERT INTO events (run, version, body) VALUES (?, ?, ?)"),
    events: statement("SELECT body FROM events WHERE run = ? AND version > ? ORDER BY version"),
    insertRecord: statement(
      "INSERT INTO records (run, seq, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body",
    ),
    records: statement("SELECT seq, body FROM records WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?"),
    insertSnapshot: statement(
      `INSERT INTO snapshots (run, version, body) SELECT key, ?2, ?3 FROM runs WHERE key = ?1
       ON CONFLICT DO UPDATE SET version = excluded.version, body = excluded.body
       WHERE excluded.version > snapshots.version`,
    ),
    snapshot: statement("SELECT version, body FROM snapshots WHERE run = ?"),
    touch: statement("UPDATE runs SET expires_at_ms = ?2 WHERE key = ?1 AND expires_at_ms < ?2"),
    remove: statement("DELETE FROM runs WHERE key = ?"),
    removeExpired: statement("DELETE FROM runs WHERE expires_at_ms < ? RETURNING key"),
  };
}

/** Writes events after a version, and records. */
function write(
  sql: Statements,
  key: number,
  version: number,
  { events, records }: { readonly events: readonly string[]; readonly records: readonly StoredRecord[] },
): void {
  for (const [i, event] of events.entries()) sql.insertEvent.run(key, version + i + 1, event);
  for (const { seq, body } of records) sql.insertRecord.run(key, seq, body);
}

function create(sql: Statements, run: NewRun): "created" | "exists" {
  const { changes, lastInsertRowid } = sql.insertRun.run(run.id, run.events.length, run.expiresAtMs);
  if (changes === 0) return "exists";
  write(sql, Number(lastInsertRowid), 0, run);
  return "created";
}

function append(sql: Statements, key: number, append: Append): "appended" | "conflict" | "gone" {
  const row = sql.version.get(key) as { version: number } | undefined;
  if (row === undefined) return "gone";
  if (row.version !== append.expectedVersion) return "conflict";
  write(sql, key, row.version, append);
  sql.setVersion.run(row.version + append.events.length, key);
  return "appended";
}

export function sqliteStore(options: SqliteOptions): Store {
  const db = openSqlite(options, { file: "runs.sqlite", version: 1, sql: TABLES });
  const sql = prepare(db);
  return tellingUnavailable<Store>({
    create: async (run) => transaction(db, () => create(sql, run)),
    find: async (id) => sql.find.get(id) as StoredRun | undefined,
    list: async (afterId, limit) => sql.list.all(afterId, limit) as unknown as StoredRun[],
    append: async (key, what) => transaction(db, () => append(sql, key, what)),
    read: async (key, fromVersion) => {
      const row = sql.version.get(key) as { version: number } | undefined;
      if (row === undefined || row.version <= fromVersion) return row && [];
      return sql.events.all(key, fromVersion).map((event) => event["body"] as string);
    },
    saveSnapshot: async (key, { version, body }) => void sql.insertSnapshot.run(key, version, body),
    snapshot: async (key) => sql.snapshot.get(key) as Snapshot | undefined,
    records: async (key, fromSeq, limit) => sql.records.all(key, fromSeq, limit) as unknown as StoredRecord[],
    touch: async (key, expiresAtMs) => void sql.touch.run(key, expiresAtMs),
    remove: async (key) => sql.remove.run(key).changes > 0,
    removeExpired: async (nowMs) => sql.removeExpired.all(nowMs).map((row) => row["key"] as number),
    close: async () => db.close(),
  });
}
