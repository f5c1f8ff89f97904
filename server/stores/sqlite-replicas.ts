/**
 * Stores the rows by which the servers of one folder announce themselves, in a file of its own. Writes are small and
 * rare, so they need no thread; a call that finds the file locked fails, and its caller tries again. The store's time
 * is the machine's.
 */
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "./folder.ts";
import type { ReplicaStore, StoredReplica } from "./replica-store.ts";
import { makePrivate, mayPass, transaction } from "./sqlite-file.ts";
import { StoreUnavailable } from "./store.ts";
import { CannotOpen } from "./thread.ts";

/** How long a call waits for another process's lock, in milliseconds: the other one writes a single row. */
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
    // Servers of earlier versions let other users read these files.
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
    const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    // A power failure loses only rows of servers that are gone too.
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; ${TABLE}`);
    return db;
  } catch (error) {
    throw new CannotOpen(
      `cannot open ${path}: ${(error as Error).message}; stop all servers of this folder and delete the file`,
    );
  }
}

/** Opens the file. Throws CannotOpen. */
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
