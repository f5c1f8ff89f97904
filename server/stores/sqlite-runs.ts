/** Runs in an SQLite file, as the storage thread reads and writes them. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Access, InThread } from "./commit-queue.ts";
import { isDamage, type Schema } from "./sqlite-file.ts";
import { removalsIn } from "./sqlite-removals.ts";
import { expectSum, fits, sumOf, sumsOfAll, withSums } from "./sums.ts";
import {
  type Append,
  type ExpiredRun,
  expectEvent,
  expectVersion,
  expectWritten,
  LIST_CHARACTERS_MAX,
  type ListedRun,
  type NewRun,
  type Snapshot,
  type Store,
  StoreDamaged,
  type StoredRecord,
  type StoredRun,
} from "./store.ts";

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
    body TEXT NOT NULL,
    PRIMARY KEY (run, version)
  ) STRICT;
  CREATE TABLE snapshots (
    run INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE records (
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
  ) STRICT;
`;

/** Summaries, their heads apart; and runs that are deleted, of which something may still be there. */
const SUMMARIES = `
  CREATE TABLE heads (run INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
  CREATE TABLE summaries (run INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
  CREATE TABLE removals (run INTEGER PRIMARY KEY) STRICT;
`;

/** Each table whose texts have sums, and what a sum says of a text's place. */
const SUMMED = { events: "version", snapshots: "version", records: "seq", heads: undefined, summaries: undefined };

/** Rows of a deleted run are deleted a few at a time, so that a row does not wait for those that it refers to. */
export const runSchema: Schema = {
  file: "runs.sqlite",
  steps: [TABLES, SUMMARIES, withSums(SUMMED), sumsOfAll(SUMMED)],
  named: "runs",
  foreignKeys: false,
  census: { of: "run", counted: "events", sql: "SELECT id AS name, version AS count FROM runs ORDER BY id" },
};

export const runAccess: Access<Store> = {
  create: "write",
  append: "write",
  saveSnapshot: "write",
  touch: "write",
  remove: "write",
  removeExpired: "write",
  expired: "read",
  find: "read",
  read: "read",
  list: "bulk",
  snapshot: "bulk",
  records: "bulk",
};

type Statements = ReturnType<typeof prepare>;

function prepare(db: DatabaseSync) {
  const statement = (sql: string): StatementSync => db.prepare(sql);
  return {
    insertRun: statement("INSERT INTO runs (id, version, expires_at_ms) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING"),
    find: statement("SELECT id, key, version FROM runs WHERE id = ?"),
    list: statement("SELECT id, key FROM runs WHERE id > ? ORDER BY id LIMIT ?"),
    listed: statement(
      `SELECT version, heads.body AS head, heads.sum AS headSum, summaries.body AS state, summaries.sum AS stateSum
       FROM runs LEFT JOIN heads ON heads.run = key LEFT JOIN summaries ON summaries.run = key WHERE key = ?`,
    ),
    version: statement("SELECT version FROM runs WHERE key = ?"),
    setVersion: statement("UPDATE runs SET version = ? WHERE key = ?"),
    insertEvent: statement("INSERT INTO events (run, version, body, sum) VALUES (?, ?, ?, ?)"),
    events: statement("SELECT version, body, sum FROM events WHERE run = ? AND version > ? ORDER BY version"),
    insertRecord: statement(
      `INSERT INTO records (run, seq, body, sum) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET body = excluded.body, sum = excluded.sum`,
    ),
    records: statement(
      `SELECT seq, body, sum FROM records
       WHERE run = ?1 AND seq >= ?2 AND EXISTS (SELECT 1 FROM runs WHERE key = ?1) ORDER BY seq LIMIT ?3`,
    ),
    insertSnapshot: statement(
      `INSERT INTO snapshots (run, version, body, sum) SELECT key, ?2, ?3, ?4 FROM runs WHERE key = ?1
       ON CONFLICT DO UPDATE SET version = excluded.version, body = excluded.body, sum = excluded.sum
       WHERE excluded.version > snapshots.version`,
    ),
    snapshot: statement("SELECT snapshots.version, body, sum FROM snapshots JOIN runs ON key = run WHERE run = ?"),
    setHead: statement("INSERT OR REPLACE INTO heads (run, body, sum) VALUES (?, ?, ?)"),
    setSummary: statement("INSERT OR REPLACE INTO summaries (run, body, sum) VALUES (?, ?, ?)"),
    touch: statement("UPDATE runs SET expires_at_ms = ?2 WHERE key = ?1 AND expires_at_ms < ?2"),
    remove: statement("DELETE FROM runs WHERE key = ? RETURNING key"),
    expired: statement("SELECT id, key, expires_at_ms AS expiresAtMs FROM runs WHERE expires_at_ms < ? ORDER BY key"),
    removeExpired: statement(
      "DELETE FROM runs WHERE expires_at_ms < ? RETURNING id, key, expires_at_ms AS expiresAtMs",
    ),
  };
}

/** Rows one by one. A statement that met a damaged page fails once more when it is used next, which harms another run's reader. */
function* rowsOf(statement: StatementSync, ...parameters: readonly (number | string)[]): Generator<unknown> {
  try {
    yield* statement.iterate(...parameters);
  } catch (damage) {
    try {
      statement.iterate(...parameters);
    } catch {
      // It was told already.
    }
    throw damage;
  }
}

/** Writes events after a version, records, and the summary. */
function write(
  sql: Statements,
  key: number,
  version: number,
  { events, records, summary }: Omit<Append, "expectedVersion">,
) {
  for (const [i, event] of events.entries()) {
    const at = version + i + 1;
    sql.insertEvent.run(key, at, event, sumOf([key, at], event));
  }
  for (const { seq, body } of records) sql.insertRecord.run(key, seq, body, sumOf([key, seq], body));
  if (summary?.head !== undefined) sql.setHead.run(key, summary.head, sumOf([key], summary.head));
  if (summary !== undefined) sql.setSummary.run(key, summary.state, sumOf([key], summary.state));
}

function create(sql: Statements, run: NewRun): "created" | "exists" {
  const { changes, lastInsertRowid } = sql.insertRun.run(run.id, run.events.length, run.expiresAtMs);
  if (changes === 0) return "exists";
  write(sql, Number(lastInsertRowid), 0, run);
  return "created";
}

function versionOf(sql: Statements, key: number): number | undefined {
  return (sql.version.get(key) as { version: number } | undefined)?.version;
}

function append(sql: Statements, key: number, append: Append): "appended" | "conflict" | "gone" {
  const version = versionOf(sql, key);
  if (version === undefined) return "gone";
  if (version !== append.expectedVersion) return "conflict";
  write(sql, key, version, append);
  sql.setVersion.run(version + append.events.length, key);
  return "appended";
}

function list(
  sql: Statements,
  afterId: string,
  limit: number,
): { readonly runs: readonly ListedRun[]; readonly more: boolean } {
  const runs: ListedRun[] = [];
  let characters = 0;
  // One more than asked for, to know whether there are more.
  for (const row of rowsOf(sql.list, afterId, limit + 1)) {
    if (runs.length === limit || characters >= LIST_CHARACTERS_MAX) return { runs, more: true };
    const run = listed(sql, row as Pick<StoredRun, "id" | "key">);
    runs.push(run);
    characters += (run.summary?.head.length ?? 0) + (run.summary?.state.length ?? 0);
  }
  return { runs, more: false };
}

/** One whose summary cannot be read has none, and whoever lists it reads its journal, so that the others are listed. */
function listed(sql: Statements, { id, key }: Pick<StoredRun, "id" | "key">): ListedRun {
  type Row = Readonly<Record<"version" | "headSum" | "stateSum", number> & Record<"head" | "state", string | null>>;
  try {
    const [row] = [...rowsOf(sql.listed, key)] as Row[];
    const { version = 0, head = null, headSum = 0, state = null, stateSum = 0 } = row ?? {};
    const whole = head !== null && state !== null && fits(headSum, [key], head) && fits(stateSum, [key], state);
    return { id, key, version, summary: whole ? { head, state } : undefined };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { id, key, version: 0, summary: undefined };
  }
}

function read(sql: Statements, key: number, fromVersion: number, charactersMax: number): readonly string[] | undefined {
  try {
    return eventsAfter(sql, key, fromVersion, charactersMax);
  } catch (error) {
    // Of a run that another process removed in between some events are gone already.
    if (error instanceof StoreDamaged && versionOf(sql, key) === undefined) return undefined;
    throw error;
  }
}

function eventsAfter(
  sql: Statements,
  key: number,
  fromVersion: number,
  charactersMax: number,
): readonly string[] | undefined {
  const version = versionOf(sql, key);
  if (version === undefined) return undefined;
  expectVersion(version, fromVersion);
  const events: string[] = [];
  let characters = 0;
  for (const row of rowsOf(sql.events, key, fromVersion)) {
    const event = row as Snapshot & Summed;
    expectEvent(event.version, fromVersion + events.length + 1);
    expectSum(`event ${event.version} of its journal`, event.sum, [key, event.version], event.body);
    events.push(event.body);
    if ((characters += event.body.length) >= charactersMax) return events;
  }
  expectVersion(fromVersion + events.length, version);
  // Events and the run's own version are written as one, so that what is read last is never behind.
  expectWritten(fromVersion + events.length, versionOf(sql, key));
  return events;
}

interface Summed {
  readonly sum: number;
}

/** One that is not as it was written is as good as none: the journal has it all. */
function snapshot(sql: Statements, key: number): Snapshot | undefined {
  const row = sql.snapshot.get(key) as (Snapshot & Summed) | undefined;
  if (row === undefined || !fits(row.sum, [key, row.version], row.body)) return undefined;
  return { version: row.version, body: row.body };
}

function records(sql: Statements, key: number, fromSeq: number, limit: number): readonly StoredRecord[] {
  const rows = sql.records.all(key, fromSeq, limit) as unknown as readonly (StoredRecord & Summed)[];
  return rows.map(({ seq, body, sum }, i) => {
    // Of a damaged index SQLite may give a row twice.
    if (seq === rows[i - 1]?.seq) throw new StoreDamaged(`record ${seq} of its history stands there twice`);
    expectSum(`record ${seq} of its history`, sum, [key, seq], body);
    return { seq, body };
  });
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
      read: (key, fromVersion, charactersMax = Infinity) => read(sql, key, fromVersion, charactersMax),
      saveSnapshot: (key, { version, body }) =>
        void sql.insertSnapshot.run(key, version, body, sumOf([key, version], body)),
      snapshot: (key) => snapshot(sql, key),
      records: (key, fromSeq, limit) => records(sql, key, fromSeq, limit),
      touch: (key, expiresAtMs) => void sql.touch.run(key, expiresAtMs),
      remove: (key) => removals.add(sql.remove.all(key) as unknown as { readonly key: number }[]).length > 0,
      expired: (nowMs) => sql.expired.all(nowMs) as unknown as ExpiredRun[],
      removeExpired: (nowMs) => removals.add(sql.removeExpired.all(nowMs) as unknown as ExpiredRun[]),
    },
  };
}
