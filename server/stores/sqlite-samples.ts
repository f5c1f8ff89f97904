/** Stores the completions of runs in an SQLite file of their own. Runs in the storage thread. */
import type { DatabaseSync } from "node:sqlite";
import type { InThread } from "./commit-queue.ts";
import { bytesOfSample, reachingLength, sampleAccess, type SampleStore, type StoredRunSample } from "./sample-store.ts";
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

export const sampleSchema: Schema = {
  file: "samples.sqlite",
  version: 1,
  tables: TABLES,
  foreignKeys: false,
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
      expire: (olderThanMs, limit) => Number(sql.expire.run(olderThanMs, limit).changes),
      removeRun: (run) => void sql.removeRun.run(run),
    },
  };
}
