/** Opens an SQLite file in the storage thread: one writer at a time, concurrent readers, a version of the schema. */
import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "./folder.ts";

/** The name, version and tables of a store's file. */
export interface Schema {
  /** The file's name in its directory. */
  readonly file: string;
  /** Version of the tables; a file with another version belongs to another version of the server. */
  readonly version: number;
  /** SQL that makes the tables in an empty file. */
  readonly tables: string;
  /** Whether deleting a row deletes the rows that refer to it. */
  readonly foreignKeys: boolean;
  /** The table whose rows are looked up by name; left out: there is none. */
  readonly named?: string;
  /** An earlier version, and SQL that turns its tables into those of this version. Left out: no version is upgraded. */
  readonly upgrade?: { readonly from: number; readonly sql: string };
}

export interface FileOptions {
  /** Made if it does not exist. */
  readonly directory: string;
  readonly synchronous: "normal" | "full";
  /** How long opening waits for another process's lock, in milliseconds. */
  readonly busyTimeoutMs: number;
}

/**
 * Number of pages of the log, of 4 KiB each, from which on SQLite itself copies them to the file, within a commit.
 * Below that, worker.ts copies once a second, between commits: with its two syncs the copy takes some tens of
 * milliseconds.
 */
const LOG_PAGES_MAX = 4096;

/** The time in SQL, by the clock of the machine, which all processes that share a file are on. */
export const NOW_MS = "CAST(now_ms() AS INTEGER)";

/** Gives SQL the clock that NOW_MS reads. */
export function addClock(db: DatabaseSync, now: () => number): void {
  db.function("now_ms", now);
}

/**
 * Opens a file, and makes its tables if it is new. Throws, with the file's name, a problem that the operator has to
 * mend.
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

/** Makes a file that only its owner can read; SQLite gives the files that it puts beside it the same mode. */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "a", 0o600));
  } catch {
    // SQLite reports the problem when it opens the file.
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
  // From here on the commit queue waits, and answers calls that need no lock meanwhile.
  db.exec("PRAGMA busy_timeout = 0");
  return db;
}

function makeTables(db: DatabaseSync, { version, tables, upgrade }: Schema): void {
  const { user_version: found } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  if (found === version) return;
  if (found !== 0 && found !== upgrade?.from) {
    const others = `it has schema version ${found}, and this server reads version ${version}`;
    throw new Error(`${others}: use the server that wrote it, or move it away`);
  }
  db.exec(`${found === 0 ? tables : upgrade?.sql} PRAGMA user_version = ${version};`);
}

/**
 * Makes the index of names anew from its table: a row that a damaged index misses would be taken as missing, and its
 * name given to another.
 */
function mendNames(db: DatabaseSync, { named }: Schema): void {
  try {
    if (named !== undefined) db.exec(`REINDEX ${named}`);
  } catch {
    // A damaged table fails the calls that read it.
  }
}

/** Runs a function in a transaction; other writers wait from its beginning, unless it is DEFERRED and only reads. */
export function transaction<T>(db: DatabaseSync, body: () => T, begin: "IMMEDIATE" | "DEFERRED" = "IMMEDIATE"): T {
  db.exec(`BEGIN ${begin}`);
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

/**
 * Returns a function that checks whether an open file is still at its path: SQLite goes on writing to a deleted file.
 * The log beside the file holds the last commits, so it is checked too. The function returns the problem; undefined:
 * none.
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

// Failures of SQLite.

/** Returns whether another process holds the lock. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === 5;
}

/** Returns whether the error is CORRUPT or NOTADB (https://sqlite.org/rescode.html). */
export function isDamage(error: unknown): boolean {
  return [11, 26].includes(primaryCode(error));
}

/**
 * Returns whether the failure may pass without a change to the server: BUSY, LOCKED, READONLY, IOERR, FULL and
 * CANTOPEN.
 */
export function mayPass(error: unknown): boolean {
  return [5, 6, 8, 10, 13, 14].includes(primaryCode(error));
}

/** Returns the lowest byte of a result code; −1: the failure is not SQLite's. */
function primaryCode(error: unknown): number {
  const { errcode } = error as { readonly errcode?: number };
  return errcode === undefined ? -1 : errcode & 0xff;
}
