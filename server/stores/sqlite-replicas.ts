/**
 * Stores one row for each server that shares a data folder, in a file of its own. Writes are rare and small, so no
 * thread is used. If the file is locked, a call fails and its caller tries again.
 */
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "./folder.ts";
import type { ReplicaStore, StoredReplica } from "./replica-store.ts";
import { makePrivate, mayPass, transaction } from "./sqlite-file.ts";
import { StoreUnavailable } from "./store.ts";
import { CannotOpen } from "./thread.ts";

/**
 * Maximum time that a call waits for another process's lock, in milliseconds. A short time is enough, because the other
 * process writes only one row.
 */
const BUSY_TIMEOUT_MS = 100;

const TABLE = `
  CREATE TABLE IF NOT EXISTS replicas (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    seen_at_ms INTEGER NOT NULL
  ) STRICT`;

function open(path: string): DatabaseSync {
  makePrivate(path);
  try {
    // Earlier versions made these files readable for other users.
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
    const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    // Commits need no sync to disk: a power failure that loses rows also ends the servers that wrote them.
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; ${TABLE}`);
    return db;
  } catch (error) {
    throw new CannotOpen(
      `cannot open ${path}: ${(error as Error).message}; stop all servers of this folder and delete the file`,
    );
  }
}

/** Opens the file in a data folder. Throws CannotOpen. */
export function sqliteReplicas(directory: string): ReplicaStore {
  makeFolder(directory, 0o700);
  const db = open(join(directory, "replicas.sqlite"));
  const write = db.prepare(
    `INSERT INTO replicas (id, body, since_ms, seen_at_ms) VALUES (?1, ?2, ?3, ?3)
     ON CONFLICT (id) DO UPDATE SET body = excluded.body, seen_at_ms = excluded.seen_at_ms`,
  );
  const forget = db.prepare("DELETE FROM replicas WHERE seen_at_ms < ?");
  const all = db.prepare(
    "SELECT id, body, since_ms AS sinceMs, seen_at_ms AS seenAtMs FROM replicas ORDER BY since_ms, id",
  );
  const remove = db.prepare("DELETE FROM replicas WHERE id = ?");
  const inFile = async <T>(work: () => T): Promise<T> => {
    try {
      return transaction(db, work);
    } catch (error) {
      throw mayPass(error) ? new StoreUnavailable((error as Error).message) : error;
    }
  };
  return {
    meet: (id, body, forgetMs) =>
      inFile(() => {
        const nowMs = Date.now();
        write.run(id, body, nowMs);
        forget.run(nowMs - forgetMs);
        return { nowMs, replicas: all.all() as unknown as StoredReplica[] };
      }),
    leave: (id) => inFile(() => void remove.run(id)),
    close: async () => db.close(),
  };
}
