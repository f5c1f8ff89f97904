/** Stores evaluations in an SQLite file. Runs in the storage thread. */
import type { DatabaseSync } from "node:sqlite";
import type { InThread } from "./commit-queue.ts";
import {
  evaluationAccess,
  type EvaluationStore,
  type SamplePlace,
  type StoredEvaluation,
  type StoredFacts,
  type StoredSample,
  type StoredTask,
} from "./evaluation-store.ts";
import type { Schema } from "./sqlite-file.ts";
import { inPortions, PORTION_ROWS } from "./sqlite-removals.ts";

/**
 * Tables for evaluations. The small facts of a sample are stored before its long texts, so that reading the facts for a
 * report is fast.
 */
const TABLES = `
  CREATE TABLE evaluations (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE tasks (
    suite TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (suite, ordinal)
  ) STRICT;
  CREATE TABLE samples (
    evaluation INTEGER NOT NULL REFERENCES evaluations (key) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    "index" INTEGER NOT NULL,
    facts TEXT NOT NULL,
    result TEXT NOT NULL,
    completion TEXT NOT NULL,
    PRIMARY KEY (evaluation, ordinal, "index")
  ) STRICT;
`;

export const evaluationSchema: Schema = {
  file: "evaluations.sqlite",
  version: 1,
  tables: TABLES,
  foreignKeys: true,
  named: "evaluations",
};

function prepare(db: DatabaseSync) {
  const [whole, order] = [`ordinal, "index", facts, result, completion`, `ORDER BY ordinal, "index"`];
  return {
    create: db.prepare("INSERT INTO evaluations (id, body) VALUES (?, ?) ON CONFLICT DO NOTHING"),
    find: db.prepare("SELECT id, key, body FROM evaluations WHERE id = ?"),
    list: db.prepare("SELECT id, key, body FROM evaluations WHERE id > ? AND id NOT LIKE '/%' ORDER BY id LIMIT ?"),
    remove: db.prepare("UPDATE evaluations SET id = '/' || key WHERE key = ? AND id NOT LIKE '/%'"),
    addTask: db.prepare("INSERT INTO tasks (suite, ordinal, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"),
    tasks: db.prepare(
      "SELECT ordinal, body FROM tasks WHERE suite = ? AND ordinal >= ? AND ordinal < ? ORDER BY ordinal",
    ),
    addSample: db.prepare(
      `INSERT INTO samples (evaluation, ${whole})
       SELECT key, ?, ?, ?, ?, ? FROM evaluations WHERE key = ? AND id NOT LIKE '/%'
       ON CONFLICT (evaluation, ordinal, "index") DO NOTHING`,
    ),
    sample: db.prepare(`SELECT ${whole} FROM samples WHERE evaluation = ? AND ordinal = ? AND "index" = ?`),
    places: db.prepare(
      `SELECT ordinal, "index" FROM samples WHERE evaluation = ? AND ordinal >= ? AND ordinal < ? ${order}`,
    ),
    count: db.prepare("SELECT COUNT(*) AS count FROM samples WHERE evaluation = ?"),
    facts: db.prepare(`SELECT ordinal, "index", facts FROM samples WHERE evaluation = ? ${order}`),
    samples: db.prepare(
      `SELECT ${whole} FROM samples WHERE evaluation = ? AND (ordinal, "index") > (?, ?) ${order} LIMIT ?`,
    ),
  };
}

/** Deletes the samples of removed evaluations. Until then, a removed evaluation has an id that no client can use. */
function removalsIn(db: DatabaseSync) {
  const next = db.prepare("SELECT key FROM evaluations WHERE id LIKE '/%' LIMIT 1");
  const portion = db.prepare(
    `DELETE FROM samples WHERE rowid IN (SELECT rowid FROM samples WHERE evaluation = ? LIMIT ${PORTION_ROWS})`,
  );
  return inPortions(next, [portion], db.prepare("DELETE FROM evaluations WHERE key = ?"));
}

export function evaluationsIn(db: DatabaseSync): InThread<EvaluationStore> {
  const sql = prepare(db);
  const removals = removalsIn(db);
  return {
    access: evaluationAccess,
    tidying: removals,
    methods: {
      create: (id, body) => (sql.create.run(id, body).changes > 0 ? "created" : "exists"),
      find: (id) => sql.find.get(id) as StoredEvaluation | undefined,
      list: (afterId, limit) => sql.list.all(afterId, limit) as unknown as StoredEvaluation[],
      remove: (key) => {
        const { changes } = sql.remove.run(key);
        if (changes > 0) removals.begin();
        return changes > 0;
      },
      saveTasks: (suite, tasks) => {
        for (const { ordinal, body } of tasks) sql.addTask.run(suite, ordinal, body);
      },
      tasks: (suite, from, to) => sql.tasks.all(suite, from, to) as unknown as StoredTask[],
      addSample: (key, { ordinal, index, facts, result, completion }) => {
        const { changes } = sql.addSample.run(ordinal, index, facts, result, completion, key);
        if (changes > 0) return { kind: "added" };
        const sample = sql.sample.get(key, ordinal, index) as unknown as StoredSample | undefined;
        return sample === undefined ? { kind: "gone" } : { kind: "exists", sample };
      },
      places: (key, from, to) => sql.places.all(key, from, to) as unknown as SamplePlace[],
      count: (key) => (sql.count.get(key) as { count: number }).count,
      facts: (key) => sql.facts.all(key) as unknown as StoredFacts[],
      samples: (key, after, limit) =>
        sql.samples.all(key, after.ordinal, after.index, limit) as unknown as StoredSample[],
    },
  };
}
