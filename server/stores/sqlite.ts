/** The embedded store: one SQLite file in a directory, shared by the processes of one machine. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Append, NewRun, Snapshot, Store, StoredRecord, StoredRun } from "./store.ts";

/** In user_version; a file with a newer one is refused. */
const SCHEMA_VERSION = 1;

const SCHEMA = `
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

export interface SqliteOptions {
  /** Made if it is not there. */
  readonly directory: string;
  /**
   * "normal": what was committed survives the death of the process, kill -9 included, but the last commits may be lost
   * when the machine loses power. "full": they survive that too, for a sync to disk in each commit.
   */
  readonly synchronous?: "normal" | "full";
  /** How long a commit waits for another process's. The event loop waits with it. */
  readonly busyTimeoutMs?: number;
}

function migrate(db: DatabaseSync, file: string): void {
  const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version === SCHEMA_VERSION) return;
  if (version !== 0) {
    throw new Error(`${file} has schema version ${version}; this server reads version ${SCHEMA_VERSION}`);
  }
  db.exec(`${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION};`);
}

function open({ directory, synchronous = "normal", busyTimeoutMs = 5000 }: SqliteOptions): DatabaseSync {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, "runs.sqlite");
  const db = new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous.toUpperCase()};`);
  transaction(db, () => migrate(db, file));
  return db;
}

/** Runs a function that reads and writes as one; other writers wait from its beginning. */
function transaction<T>(db: DatabaseSync, body: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = body();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    // A full disk may have ended the transaction already.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

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
  const db = open(options);
  const sql = prepare(db);
  return {
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
  };
}
