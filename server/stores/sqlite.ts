/** The embedded store: one SQLite file in a directory, shared by the processes of one machine. */
import { closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import {
  type Append,
  type NewRun,
  type Snapshot,
  type Store,
  type StoredRecord,
  type StoredRun,
  tellingUnavailable,
} from "./store.ts";

// Folders that are made where they are missing.

/**
 * Makes a folder and those above it, all of one mode. Throws why it cannot be. Node's own `recursive` goes on for ever
 * where the folder above is there and can hold none, as in /proc.
 */
export function makeFolder(path: string, mode: number): void {
  const above = dirname(path);
  if (above !== path && !existsSync(above)) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // It was there, or another process was first.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

// SQLite files as the stores open them: one writer at a time, readers beside it, a version of the schema.

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

/** What a file holds. */
export interface Schema {
  /** The file's name in its directory. */
  readonly file: string;
  /** In user_version; a file with another one is refused. At least 1. */
  readonly version: number;
  /** Makes the tables. */
  readonly sql: string;
}

/** The file cannot be opened, is damaged, or is of another version: for the operator to mend. The message names it. */
export class CannotOpen extends Error {}

/** Opens a file, and makes its tables if it is new. Throws CannotOpen. */
export function openSqlite({ directory, ...options }: SqliteOptions, schema: Schema): DatabaseSync {
  const file = join(directory, schema.file);
  try {
    makeFolder(directory, 0o700);
    if (!existsSync(file)) makePrivate(file);
    return open(file, options, schema);
  } catch (cause) {
    throw new CannotOpen(`cannot open ${file}: ${(cause as Error).message}`, { cause });
  }
}

/** SQLite would make it readable by all; the files that it puts beside it have the mode of this one. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "a", 0o600));
  } catch {
    // SQLite says why.
  }
}

function open(file: string, options: Omit<SqliteOptions, "directory">, schema: Schema): DatabaseSync {
  const { synchronous = "normal", busyTimeoutMs = 5000 } = options;
  const db = new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous.toUpperCase()};`);
  transaction(db, () => migrate(db, schema));
  return db;
}

function migrate(db: DatabaseSync, schema: Schema): void {
  const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version === schema.version) return;
  if (version !== 0) {
    throw new Error(`it has schema version ${version}; this server reads version ${schema.version}`);
  }
  db.exec(`${schema.sql} PRAGMA user_version = ${schema.version};`);
}

/** Runs a function that reads and writes as one; other writers wait from its beginning. */
export function transaction<T>(db: DatabaseSync, body: () => T): T {
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
