/** Stores runs in an SQLite file. Runs in the storage thread. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { InThread } from "./commit-queue.ts";
import { isDamage, NOW_MS, type Schema, transaction } from "./sqlite-file.ts";
import { removalsIn } from "./sqlite-removals.ts";
import {
  type EventRow,
  isWholeSnapshot,
  journalReader,
  type RecordRow,
  recordsOf,
  rowsToWrite,
  snapshotHash,
  summaryOf,
} from "./checksums.ts";
import {
  type Append,
  type Appended,
  type ExpiredRun,
  LIST_CHARACTERS_MAX,
  type ListedRun,
  type NewRun,
  runAccess,
  type RunPage,
  type Snapshot,
  type Store,
  type StoredRun,
} from "./store.ts";

/**
 * Tables of the file. `hash` is a checksum (checksums.ts). A run's summary is stored in `heads` and `summaries`.
 * `removals` has deleted runs whose rows are not all deleted yet.
 */
const TABLES = `
  CREATE TABLE runs (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE events (
    run INTEGER NOT NULL,
    version INTEGER NOT NULL,
    hash BLOB NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (run, version)
  ) STRICT;
  CREATE TABLE snapshots (
    run INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    hash BLOB NOT NULL,
    body BLOB NOT NULL
  ) STRICT;
  CREATE TABLE records (
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
  ) STRICT;
  CREATE TABLE heads (run INTEGER PRIMARY KEY, hash BLOB NOT NULL, body TEXT NOT NULL) STRICT;
  CREATE TABLE summaries (run INTEGER PRIMARY KEY, hash BLOB NOT NULL, body TEXT NOT NULL) STRICT;
  CREATE TABLE removals (run INTEGER PRIMARY KEY) STRICT;
`;

/** The tables have no foreign keys, because the rows of a deleted run are deleted later than the run's own row. */
export const runSchema: Schema = {
  file: "runs.sqlite",
  version: 7,
  tables: TABLES,
  // Tables of version 6 had a keyed hash for each run, which is no longer read.
  upgrade: { from: 6, sql: "ALTER TABLE runs DROP COLUMN hash;" },
  named: "runs",
  foreignKeys: false,
};

/** Prepared SQL statements for the tables of runs. */
type Parts = ReturnType<typeof prepare>;

function prepare(db: DatabaseSync) {
  const statement = (sql: string): StatementSync => db.prepare(sql);
  const keep = (table: string): StatementSync =>
    statement(`INSERT OR REPLACE INTO ${table} (run, hash, body) VALUES (?, ?, ?)`);
  return {
    db,
    insertRun: statement(
      `INSERT INTO runs (id, version, expires_at_ms) VALUES (?, 0, ${NOW_MS} + ?) ON CONFLICT (id) DO NOTHING`,
    ),
    find: statement("SELECT id, key, version FROM runs WHERE id = ?"),
    list: statement("SELECT id, key FROM runs WHERE id > ? ORDER BY id LIMIT ?"),
    listed: statement(
      `SELECT heads.body AS head, heads.hash AS headHash, summaries.body AS state, summaries.hash AS stateHash
       FROM heads JOIN summaries ON summaries.run = heads.run WHERE heads.run = ?`,
    ),
    run: statement("SELECT id, key, version FROM runs WHERE key = ?"),
    setVersion: statement("UPDATE runs SET version = ? WHERE key = ?"),
    insertEvent: statement("INSERT INTO events (run, version, hash, body) VALUES (?, ?, ?, ?)"),
    hash: statement("SELECT hash FROM events WHERE run = ? AND version = ?"),
    events: statement("SELECT version, hash, body FROM events WHERE run = ? AND version > ? ORDER BY version"),
    insertRecord: statement("INSERT OR REPLACE INTO records (run, seq, hash, body) VALUES (?, ?, ?, ?)"),
    records: statement(
      `SELECT seq, hash, body FROM records
       WHERE run = ?1 AND seq >= ?2 AND EXISTS (SELECT 1 FROM runs WHERE key = ?1) ORDER BY seq LIMIT ?3`,
    ),
    insertSnapshot: statement(
      `INSERT INTO snapshots (run, version, hash, body) SELECT key, ?2, ?3, ?4 FROM runs WHERE key = ?1 AND version >= ?2
       ON CONFLICT DO UPDATE SET version = excluded.version, hash = excluded.hash, body = excluded.body
       WHERE excluded.version > snapshots.version`,
    ),
    snapshot: statement(
      "SELECT snapshots.version, snapshots.hash, body FROM snapshots JOIN runs ON key = run WHERE run = ?",
    ),
    setHead: keep("heads"),
    setSummary: keep("summaries"),
    touch: statement(`UPDATE runs SET expires_at_ms = max(expires_at_ms, ${NOW_MS} + ?2) WHERE key = ?1`),
    now: statement(`SELECT ${NOW_MS} AS nowMs`),
    remove: statement("DELETE FROM runs WHERE key = ? RETURNING key"),
    expired: statement("SELECT id, key, expires_at_ms AS expiresAtMs FROM runs WHERE expires_at_ms < ? ORDER BY key"),
    removeExpired: statement(
      "DELETE FROM runs WHERE expires_at_ms < ? RETURNING id, key, expires_at_ms AS expiresAtMs",
    ),
  };
}

/**
 * Yields the rows of a statement. If a page is damaged, an SQLite statement would fail also at its next use, for
 * another run. So the statement is run once more here.
 */
function* rowsOf(statement: StatementSync, ...parameters: readonly (number | string)[]): Generator<unknown> {
  try {
    yield* statement.iterate(...parameters);
  } catch (damage) {
    try {
      statement.iterate(...parameters);
    } catch {
      // The second error is ignored, because the first one is thrown.
    }
    throw damage;
  }
}

function runOf(sql: Parts, key: number): StoredRun | undefined {
  return sql.run.get(key) as StoredRun | undefined;
}

/** Writes the events, the records and the summary of an append. */
function write(sql: Parts, run: StoredRun, what: Pick<Append, "events" | "records" | "summary">): void {
  const { key } = run;
  const rows = rowsToWrite(run, what);
  for (const { version, hash, body } of rows.events) sql.insertEvent.run(key, version, hash, body);
  for (const { seq, hash, body } of rows.records) sql.insertRecord.run(key, seq, hash, body);
  if (rows.head !== undefined) sql.setHead.run(key, rows.head.hash, rows.head.body);
  if (rows.state !== undefined) sql.setSummary.run(key, rows.state.hash, rows.state.body);
  if (rows.version > run.version) sql.setVersion.run(rows.version, key);
}

function create(sql: Parts, run: NewRun): "created" | "exists" {
  const { changes, lastInsertRowid } = sql.insertRun.run(run.id, Math.ceil(run.timeToLiveMs));
  if (changes === 0) return "exists";
  write(sql, { key: Number(lastInsertRowid), id: run.id, version: 0 }, run);
  return "created";
}

function append(sql: Parts, key: number, append: Append): Appended {
  const run = runOf(sql, key);
  if (run === undefined) return "gone";
  if (run.version !== append.expectedVersion) return "conflict";
  write(sql, run, append);
  return "appended";
}

function list(sql: Parts, afterId: string, limit: number): RunPage {
  const runs: ListedRun[] = [];
  let characters = 0;
  // One run more than requested is read, to know whether there are more.
  for (const row of rowsOf(sql.list, afterId, limit + 1)) {
    if (runs.length === limit || characters >= LIST_CHARACTERS_MAX) return { runs, more: true };
    const run = listed(sql, row as Pick<StoredRun, "id" | "key">);
    runs.push(run);
    characters += (run.summary?.head.length ?? 0) + (run.summary?.state.length ?? 0);
  }
  return { runs, more: false };
}

/**
 * Returns a run for a list of runs. A run with a damaged summary is listed without one, and the caller reads its
 * journal instead. So the other runs are still listed.
 */
function listed(sql: Parts, { id, key }: Pick<StoredRun, "id" | "key">): ListedRun {
  type Row = Readonly<Record<"headHash" | "stateHash", Uint8Array> & Record<"head" | "state", string>>;
  const none = { id, key, version: 0, summary: undefined };
  try {
    const run = runOf(sql, key);
    const [row] = [...rowsOf(sql.listed, key)] as Row[];
    if (run === undefined) return none;
    if (row === undefined) return { ...none, version: run.version };
    const [head, state] = [
      { hash: row.headHash, body: row.head },
      { hash: row.stateHash, body: row.state },
    ];
    return { id, key, version: run.version, summary: summaryOf(key, head, state) };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return none;
  }
}

/** Yields the events after a version, and checks them. */
function* eventsAfter(sql: Parts, run: StoredRun, fromVersion: number): Generator<Uint8Array> {
  const reader = journalReader(run, fromVersion);
  for (const row of rowsOf(sql.events, run.key, fromVersion)) yield reader.take(row as EventRow);
  reader.end();
}

/** Reads a run's events in one transaction, so that other processes' writes do not mix in. */
function read(sql: Parts, key: number, fromVersion: number, bytesMax: number): readonly Uint8Array[] | undefined {
  const body = (): readonly Uint8Array[] | undefined => {
    const run = runOf(sql, key);
    if (run === undefined) return undefined;
    const events: Uint8Array[] = [];
    let bytes = 0;
    for (const event of eventsAfter(sql, run, fromVersion)) {
      events.push(event);
      if ((bytes += event.length) >= bytesMax) break;
    }
    return events;
  };
  return transaction(sql.db, body, "DEFERRED");
}

function snapshot(sql: Parts, key: number): Snapshot | undefined {
  const row = sql.snapshot.get(key) as unknown as EventRow | undefined;
  if (row === undefined) return undefined;
  return isWholeSnapshot(key, row) ? { version: row.version, body: row.body } : undefined;
}

export function runsIn(db: DatabaseSync): InThread<Store> {
  const sql = prepare(db);
  const removals = removalsIn(db);
  return {
    access: runAccess,
    tidying: removals,
    methods: {
      create: (run) => create(sql, run),
      find: (id) => sql.find.get(id) as StoredRun | undefined,
      list: (afterId, limit) => list(sql, afterId, limit),
      append: (key, what) => append(sql, key, what),
      read: (key, fromVersion, bytesMax = Infinity) => read(sql, key, fromVersion, bytesMax),
      checksum: (key, version) => {
        const row = sql.hash.get(key, version) as Pick<EventRow, "hash"> | undefined;
        return row && Buffer.from(row.hash).toString("hex");
      },
      saveSnapshot: (key, { version, body }) =>
        void sql.insertSnapshot.run(key, version, snapshotHash(key, version, body), body),
      snapshot: (key) => snapshot(sql, key),
      records: (key, fromSeq, limit) => recordsOf(key, sql.records.all(key, fromSeq, limit) as unknown as RecordRow[]),
      touch: (key, timeToLiveMs) => void sql.touch.run(key, Math.ceil(timeToLiveMs)),
      remove: (key) => removals.add(sql.remove.all(key) as unknown as { readonly key: number }[]).length > 0,
      expired: () => {
        const { nowMs } = sql.now.get() as { nowMs: number };
        return { nowMs, runs: sql.expired.all(nowMs) as unknown as ExpiredRun[] };
      },
      removeExpired: (beforeMs) => removals.add(sql.removeExpired.all(beforeMs) as unknown as ExpiredRun[]),
    },
  };
}
