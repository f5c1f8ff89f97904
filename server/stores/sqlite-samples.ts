/** Stores the completions of runs, and counts of them, in an SQLite file of their own. Runs in the storage thread. */
import type { DatabaseSync } from "node:sqlite";
import type { InThread } from "./commit-queue.ts";
import {
  bytesOfSample,
  reachingLength,
  sampleAccess,
  type SampleStore,
  type StoredRunCounts,
  type StoredRunSample,
} from "./sample-store.ts";
import { NOW_MS, type Schema } from "./sqlite-file.ts";

/**
 * Tables for completions of runs. The index includes the size of each sample in bytes, so that deleting the oldest
 * samples need not read texts.
 */
const TABLES = `
  CREATE TABLE samples (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    about TEXT NOT NULL,
    completion TEXT NOT NULL
  ) STRICT;
  CREATE INDEX samples_of_run ON samples (run, number, bytes);
  CREATE INDEX samples_by_time ON samples (at);
`;

/** Table of counts of runs' samples, which version 1 does not have. */
const COUNTS = `
  CREATE TABLE counts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX counts_of_run ON counts (run, number);
  CREATE INDEX counts_by_time ON counts (at);
`;

export const sampleSchema: Schema = {
  file: "samples.sqlite",
  version: 2,
  tables: TABLES + COUNTS,
  foreignKeys: false,
  upgrade: { from: 1, sql: COUNTS },
};

function prepare(db: DatabaseSync) {
  return {
    add: db.prepare(`INSERT INTO samples (run, at, bytes, about, completion) VALUES (?, ${NOW_MS}, ?, ?, ?)`),
    newest: db.prepare(
      `SELECT number, at AS atMs, about, completion FROM samples WHERE run = ? AND number < ?
       ORDER BY number DESC LIMIT ?`,
    ),
    trim: db.prepare(
      `DELETE FROM samples WHERE run = ?1 AND number <= (
         SELECT MAX(number) FROM (
           SELECT number, SUM(bytes) OVER (ORDER BY number DESC) AS newer FROM samples WHERE run = ?1
         ) WHERE newer > ?2
       )`,
    ),
    expire: db.prepare(
      `DELETE FROM samples WHERE number IN (SELECT number FROM samples WHERE at < ${NOW_MS} - ? ORDER BY at LIMIT ?)`,
    ),
    removeRun: db.prepare("DELETE FROM samples WHERE run = ?"),
    addCounts: db.prepare(`INSERT INTO counts (run, at, body) VALUES (?, ${NOW_MS}, ?)`),
    counts: db.prepare("SELECT number, body FROM counts WHERE run = ? ORDER BY number"),
    countsThere: db.prepare(
      "SELECT COUNT(*) AS there FROM counts WHERE run = ? AND number IN (SELECT value FROM json_each(?))",
    ),
    dropCounts: db.prepare("DELETE FROM counts WHERE run = ? AND number IN (SELECT value FROM json_each(?))"),
    expireCounts: db.prepare(
      `DELETE FROM counts WHERE number IN (SELECT number FROM counts WHERE at < ${NOW_MS} - ? ORDER BY at LIMIT ?)`,
    ),
    removeCounts: db.prepare("DELETE FROM counts WHERE run = ?"),
  };
}

export function samplesIn(db: DatabaseSync): InThread<SampleStore> {
  // Makes SQLite overwrite deleted texts, so that nobody can find deleted prompts and completions in the file.
  db.exec("PRAGMA secure_delete = ON");
  const sql = prepare(db);
  return {
    access: sampleAccess,
    tidying: { due: () => false, portion: () => undefined },
    methods: {
      add: (run, samples) => {
        for (const sample of samples) sql.add.run(run, bytesOfSample(sample), sample.about, sample.completion);
      },
      newest: (run, below = Number.MAX_SAFE_INTEGER, limit, lengthMax) =>
        reachingLength(sql.newest.iterate(run, below, limit) as unknown as Iterable<StoredRunSample>, lengthMax),
      trim: (run, bytesMax) => void sql.trim.run(run, bytesMax),
      addCounts: (run, body) => void sql.addCounts.run(run, body),
      counts: (run) => sql.counts.all(run) as unknown as readonly StoredRunCounts[],
      replaceCounts: (run, numbers, bodies) => {
        const list = JSON.stringify(numbers);
        if (sql.countsThere.get(run, list)?.["there"] !== numbers.length) return false;
        sql.dropCounts.run(run, list);
        for (const body of bodies) sql.addCounts.run(run, body);
        return true;
      },
      expire: (olderThanMs, limit) => {
        sql.expireCounts.run(olderThanMs, limit);
        return Number(sql.expire.run(olderThanMs, limit).changes);
      },
      removeRun: (run) => {
        sql.removeRun.run(run);
        sql.removeCounts.run(run);
      },
    },
  };
}
