/** SQLite files as the stores open them: one writer at a time, readers beside it, a version of the schema. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "./make-folder.ts";

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
    return open(file, options, schema);
  } catch (cause) {
    throw new CannotOpen(`cannot open ${file}: ${(cause as Error).message}`, { cause });
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
