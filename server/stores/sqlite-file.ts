/**
 * Opens an SQLite file in the storage thread, with one writer and several readers at a time. Checks the version of its
 * tables.
 */
import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "./folder.ts";

/** Name, version and tables of a store's file. */
export interface Schema {
  /** Name of the file in its directory. */
  readonly file: string;
  /** Version of the tables. A file with another version cannot be used by this server, unless `upgrade` fits. */
  readonly version: number;
  /** SQL that makes the tables in an empty file. */
  readonly tables: string;
  /** Whether SQLite enforces foreign keys, so that deleting a row deletes the rows that refer to it. */
  readonly foreignKeys: boolean;
  /** Table whose rows are looked up by a unique name. Left out: there is none. */
  readonly named?: string;
  /**
   * Earlier version of the tables, and SQL that changes its tables into the present ones. Left out: no version can be
   * upgraded.
   */
  readonly upgrade?: { readonly from: number; readonly sql: string };
}

export interface FileOptions {
  /** Directory of the file, which is made if it does not exist. */
  readonly directory: string;
  readonly synchronous: "normal" | "full";
  /** Maximum time that opening waits for another process's lock, in milliseconds. */
  readonly busyTimeoutMs: number;
}

/**
 * Number of 4 KiB pages in SQLite's write-ahead log at which a commit copies the log into the file, which takes some
 * tens of milliseconds. The storage thread normally copies the log once a second, between commits.
 */
const LOG_PAGES_MAX = 4096;

/**
 * SQL for the present time in milliseconds, by the machine's clock. All processes that share a file are on the same
 * machine.
 */
export const NOW_MS = "CAST(now_ms() AS INTEGER)";

/** Defines the SQL function that NOW_MS calls. */
export function addClock(db: DatabaseSync, now: () => number): void {
  db.function("now_ms", now);
}

/**
 * Opens a store's file, and makes its tables if the file is new. Throws an error with the file's path if it cannot be
 * opened.
 */
export function openFile({ directory, ...options }: FileOptions, schema: Schema) {
  const path = join(directory, schema.file);
  try {
    makeFolder(directory, 0o700);
    if (!existsSync(path)) makePrivate(path);
    return { db: open(path, options, schema), path };
  } catch (cause) {
    throw new Error(`cannot open ${path}: ${(cause as Error).message}`, { cause });
  }
}

/** Makes a file that only its owner can read. SQLite gives the same mode to the files that it makes beside it. */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "a", 0o600));
  } catch {
    // The error is ignored, because SQLite reports it when it opens the file.
  }
}

function open(path: string, options: Omit<FileOptions, "directory">, schema: Schema): DatabaseSync {
  const { synchronous, busyTimeoutMs } = options;
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: schema.foreignKeys });
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous.toUpperCase()};`);
  db.exec(`PRAGMA wal_autocheckpoint = ${LOG_PAGES_MAX}`);
  addClock(db, Date.now);
  transaction(db, () => makeTables(db, schema));
  mendNames(db, schema);
  // From now on, SQLite does not wait for other processes' locks. The commit queue waits instead, and answers other
  // calls meanwhile.
  db.exec("PRAGMA busy_timeout = 0");
  return db;
}

function makeTables(db: DatabaseSync, { version, tables, upgrade }: Schema): void {
  const { user_version: found } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  if (found === version) return;
  if (found !== 0 && found !== upgrade?.from) {
    const others = `it has schema version ${found}, and this server reads version ${version}`;
    throw new Error(`${others}: use the version of Gradus that wrote it, or move it away`);
  }
  db.exec(`${found === 0 ? tables : upgrade?.sql} PRAGMA user_version = ${version};`);
}

/**
 * Rebuilds the index of unique names from its table. If a damaged index lacked a row, that row's name could be given to
 * a new row.
 */
function mendNames(db: DatabaseSync, { named }: Schema): void {
  try {
    if (named !== undefined) db.exec(`REINDEX ${named}`);
  } catch {
    // The error is ignored. If the table is damaged, later calls that read it fail and report the damage.
  }
}

/**
 * Runs a function in a transaction. IMMEDIATE takes the lock for writing at once, so that other writers wait; DEFERRED
 * is for reading only.
 */
export function transaction<T>(db: DatabaseSync, body: () => T, begin: "IMMEDIATE" | "DEFERRED" = "IMMEDIATE"): T {
  db.exec(`BEGIN ${begin}`);
  try {
    const result = body();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    // If the disk is full, SQLite may already have ended the transaction.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Returns a function that checks whether an open file and its log are still at their paths, because SQLite goes on
 * writing to a deleted file. The function returns the problem; undefined: there is none.
 */
export function watchFile(path: string): () => string | undefined {
  const opened = [path, `${path}-wal`, `${path}-shm`].map((each) => ({ path: each, identity: identityOf(each) }));
  return () => {
    const other = opened.find(({ path: each, identity }) => identityOf(each) !== identity);
    if (other === undefined) return undefined;
    const what = identityOf(other.path) === "none" ? "deleted or moved away" : "replaced";
    return `${other.path} was ${what} while the server had it open: put it back, or start the server again`;
  };
}

function identityOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? "none" : `${stats.dev} ${stats.ino}`;
  } catch (error) {
    return (error as Error).message;
  }
}

// The next functions classify errors of SQLite.

/** Returns whether the error means that another process holds the lock of the file. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === 5;
}

/** Returns whether the error means that the file is damaged: CORRUPT or NOTADB (https://sqlite.org/rescode.html). */
export function isDamage(error: unknown): boolean {
  return [11, 26].includes(primaryCode(error));
}

/** Returns whether the failure may be temporary: BUSY, LOCKED, READONLY, IOERR, FULL or CANTOPEN. */
export function mayPass(error: unknown): boolean {
  return [5, 6, 8, 10, 13, 14].includes(primaryCode(error));
}

/** Returns the primary result code of SQLite, which is the lowest byte. −1: the error is not SQLite's. */
function primaryCode(error: unknown): number {
  const { errcode } = error as { readonly errcode?: number };
  return errcode === undefined ? -1 : errcode & 0xff;
}
