/**
 * Opens stores in SQLite databases in memory, with the same tables as in files. Their data is lost when the process
 * ends. Tests and `--store memory` use them.
 */
import { DatabaseSync } from "node:sqlite";
import type { InThread } from "./commit-queue.ts";
import type { EvaluationStore } from "./evaluation-store.ts";
import type { SampleStore } from "./sample-store.ts";
import type { SessionStore } from "./session-store.ts";
import { evaluationSchema, evaluationsIn } from "./sqlite-evaluations.ts";
import { addClock, type Schema } from "./sqlite-file.ts";
import { runSchema, runsIn } from "./sqlite-runs.ts";
import { sampleSchema, samplesIn } from "./sqlite-samples.ts";
import { sessionSchema, sessionsIn } from "./sqlite-sessions.ts";
import type { Store } from "./store.ts";

function open<S>(schema: Schema, now: () => number, storeIn: (db: DatabaseSync) => InThread<S>): S {
  const db = new DatabaseSync(":memory:", { enableForeignKeyConstraints: schema.foreignKeys });
  addClock(db, now);
  db.exec(schema.tables);
  const { methods, tidying } = storeIn(db);
  const tidy = (): void => {
    if (!db.isOpen || !tidying.due()) return;
    tidying.portion();
    setImmediate(tidy);
  };
  type Method = (...args: readonly unknown[]) => unknown;
  const asked = Object.entries<Method>(methods).map(([name, method]) => {
    const call = async (...args: readonly unknown[]): Promise<unknown> => {
      const reply = method(...args);
      if (tidying.due()) setImmediate(tidy);
      return reply;
    };
    return [name, call];
  });
  const close = async (): Promise<void> => {
    if (db.isOpen) db.close();
  };
  return { ...Object.fromEntries(asked), close } as S;
}

/** Opens a store of runs in memory. `now` is the clock by which runs expire. */
export function memoryStore(now: () => number = Date.now): Store {
  return open(runSchema, now, runsIn);
}

export function memoryEvaluationStore(): EvaluationStore {
  return open(evaluationSchema, Date.now, evaluationsIn);
}

/** Opens a store of completions in memory. `now` is the clock by which they expire. */
export function memorySampleStore(now: () => number = Date.now): SampleStore {
  return open(sampleSchema, now, samplesIn);
}

/** Opens a store of sessions in memory. `now` is the clock by which they expire. */
export function memorySessionStore(now: () => number = Date.now): SessionStore {
  return open(sessionSchema, now, sessionsIn);
}
