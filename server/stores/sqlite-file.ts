/** An SQLite file as the storage thread opens it: one writer at a time, readers beside it, a version of the schema. */
import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "./folder.ts";
import { type Census, census, findDamage, lossOf } from "./log-loss.ts";

/** What a file holds. */
export interface Schema {
  /** The file's name in its directory. */
  readonly file: string;
  /** A file of another one is another server's. */
  readonly version: number;
  /** What makes them in an empty file. */
  readonly tables: string;
  /** Whether a row goes with the one that it refers to. */
  readonly foreignKeys: boolean;
  /** The table whose rows are looked for by their names; left out: there is none. */
  readonly named?: string;
  /** What is told of the file where a part of it is lost. */
  readonly census: Census;
}

export interface FileOptions {
  /** Made if it is not there. */
  readonly directory: string;
  readonly synchronous: "normal" | "full";
  /** How long opening waits for another process's lock. */
  readonly busyTimeoutMs: number;
}

/**
 * Pages of the log, of 4 KiB, from which on SQLite itself copies them to the file, in the commit that finds them. Before that
 * it is done once a second (worker.ts), between commits: with its two syncs it takes some tens of milliseconds.
 */
const LOG_PAGES_MAX = 4096;

/** What is told of a table that is damaged in many places. */
const PROBLEMS_MAX = 3;

/** The time, in SQL: by the clock of the machine, which all processes that share a file are on. */
export const NOW_MS = "CAST(now_ms() AS INTEGER)";

/** Gives SQL the clock that NOW_MS reads. */
export function addClock(db: DatabaseSync, now: () => number): void {
  db.function("now_ms", now);
}

/** Opens a file, and makes its tables if it is new. Throws what the operator has to mend, with the file's name. `loss`: what was
 * committed and could not be read, in words; undefined: nothing.
 */
export function openFile({ directory, ...options }: FileOptions, schema: Schema) {
  const path = join(directory, schema.file);
  try {
    makeFolder(directory, 0o700);
    if (!existsSync(path)) makePrivate(path);
    const damage = findDamage(path, schema.census);
    const db = open(path, options, schema);
    const names = schema.named === undefined ? undefined : mendNames(db, schema.named);
    const lost = damage && lossOf(damage, census(db, schema.census), schema.census);
    // What is left of the log would be taken for a loss at the next start again.
    if (lost !== undefined) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const loss = [lost, names && `${path}: ${names}`].filter((each) => each !== undefined).join("; ");
    return { db, path, loss: loss === "" ? undefined : loss };
  } catch (cause) {
    throw new Error(`cannot open ${path}: ${(cause as Error).message}`, { cause });
  }
}

/** Makes a file that only its owner can read; SQLite gives the files that it puts beside it the same mode. */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "a", 0o600));
  } catch {
    // SQLite says why.
  }
}

function open(path: string, options: Omit<FileOptions, "directory">, schema: Schema): DatabaseSync {
  const { synchronous, busyTimeoutMs } = options;
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: schema.foreignKeys });
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous.toUpperCase()};`);
  db.exec(`PRAGMA wal_autocheckpoint = ${LOG_PAGES_MAX}`);
  addClock(db, Date.now);
  transaction(db, () => makeTables(db, schema));
  // From here on the commit queue waits, and answers what needs no lock meanwhile.
  db.exec("PRAGMA busy_timeout = 0");
  return db;
}

function makeTables(db: DatabaseSync, { version, tables }: Schema): void {
  const { user_version: found } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  if (found === version) return;
  if (found !== 0) {
    const others = `it has schema version ${found}, and this server reads version ${version}`;
    throw new Error(`${others}: use the server that wrote it, or move it away`);
  }
  db.exec(`${tables} PRAGMA user_version = ${version};`);
}

/**
 * What the index of names does not lead to is taken for what is not there, and its name is given to another. So the index is
 * checked, and made anew from the table where it is damaged. Gives what was found; undefined: nothing.
 */
function mendNames(db: DatabaseSync, table: string): string | undefined {
  const found = check(db, table);
  if (found === undefined) return undefined;
  try {
    transaction(db, () => db.exec(`REINDEX ${table}`));
  } catch {
    // What is wrong is found again.
  }
  const left = check(db, table);
  if (left === undefined) return `the names of its ${table} were damaged (${found}) and are mended: nothing is lost`;
  return `the list of its ${table} is damaged, and some cannot be found: ${left}`;
}

/** What is wrong with a table and its indexes; undefined: nothing. */
function check(db: DatabaseSync, table: string): string | undefined {
  try {
    const rows = db.prepare(`PRAGMA integrity_check(${table})`).all();
    const problems = rows.map((row) => String(row["integrity_check"])).filter((problem) => problem !== "ok");
    return problems.length === 0 ? undefined : problems.slice(0, PROBLEMS_MAX).join(", ").replaceAll("\n", " ");
  } catch (error) {
    return (error as Error).message;
  }
}

/** Runs a function that reads and writes as one; other writers wait from its beginning, unless it is DEFERRED and only reads. */
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
 * Looks whether an open file is still what its path leads to: SQLite goes on writing to a file that was deleted. The log
 * beside it holds what was committed last. Gives what is wrong; undefined: nothing.
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

/** Another process holds the lock. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === 5;
}

/** CORRUPT and NOTADB. https://sqlite.org/rescode.html */
export function isDamage(error: unknown): boolean {
  return [11, 26].includes(primaryCode(error));
}

/** What may pass without a change to the server: BUSY, LOCKED, READONLY, IOERR, FULL and CANTOPEN. */
export function mayPass(error: unknown): boolean {
  return [5, 6, 8, 10, 13, 14].includes(primaryCode(error));
}

/** The lowest byte of a result code; −1: the failure is not SQLite's. */
function primaryCode(error: unknown): number {
  const { errcode } = error as { readonly errcode?: number };
  return errcode === undefined ? -1 : errcode & 0xff;
}
