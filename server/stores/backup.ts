/**
 * Writes a server's data folder into one backup file, and restores it. The backup is an SQLite file that contains the
 * folder's files in pieces, and the SHA-256 of each. A server may run meanwhile: each of its SQLite files is copied as
 * it was at one moment.
 */
import { createHash } from "node:crypto";
import { chmodSync, closeSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, openSync, readSync } from "node:fs";
import { readdirSync, renameSync, rmdirSync, rmSync, statSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { makeFolder } from "./folder.ts";
import { evaluationSchema } from "./sqlite-evaluations.ts";
import { isBusy, isDamage, transaction } from "./sqlite-file.ts";
import { runSchema } from "./sqlite-runs.ts";
import { sampleSchema } from "./sqlite-samples.ts";
import { checkRuns } from "./sqlite-check.ts";
import { sqliteEvaluationStore, sqliteStore } from "./sqlite.ts";
import { StoreDamaged } from "./store.ts";
import { CannotOpen } from "./thread.ts";

/** Number of runs and events in a backup, and names of its files. */
export interface Held {
  readonly runs: number;
  /** Number of events of all runs. The checksum of each event was checked. */
  readonly events: number;
  readonly files: readonly string[];
}

/** Problem of a backup that the operator must fix. `missing`: the file or folder does not exist. */
export class BackupProblem extends Error {
  readonly missing: boolean;

  constructor(message: string, missing = false) {
    super(message);
    this.missing = missing;
  }
}

const databases = [runSchema.file, evaluationSchema.file] as const;
const TASK_KEYS = "task-keys";
/**
 * Names of all files that a backup may contain. Earlier versions also stored runs.key, which is no longer read. Caches
 * of pools are left out, because the server makes them again.
 */
const names: readonly string[] = [...databases, "runs.key", TASK_KEYS];
/**
 * Names of the files that a restore replaces. Backups contain no completions, but the completions in the folder belong
 * to the runs that are replaced, so their file is replaced too.
 */
const replacedNames: readonly string[] = [...names, sampleSchema.file];

/** SQLite application id that marks a file as a backup: "Grad" in ASCII. */
const APPLICATION_ID = 0x47726164;
const VERSION = 1;
const TABLES = `
  CREATE TABLE files (name TEXT PRIMARY KEY, sha256 BLOB NOT NULL) STRICT;
  CREATE TABLE pieces (name TEXT NOT NULL, place INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (name, place)) STRICT;
  PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${VERSION};
`;
const PIECE_BYTES = 1024 ** 2;

/** Backs up a folder into `file`, which must exist and be empty. `keyFile` contains the folder's task keys. */
export async function backUp(directory: string, keyFile: string, file: string): Promise<Held> {
  if (!existsSync(join(directory, runSchema.file)))
    throw new BackupProblem(`there is no ${runSchema.file} in ${directory}: give the --data-dir of a server`, true);
  if (!existsSync(keyFile))
    throw new BackupProblem(`there is no key file ${keyFile}: give the --key-file of the server`, true);
  // Only the owner may read the backup, because it contains keys.
  chmodSync(file, 0o600);
  const staged = mkdtempSync(`${file}-`);
  try {
    for (const name of databases) await copyDatabase(join(directory, name), join(staged, name));
    copyFileSync(keyFile, join(staged, TASK_KEYS));
    const held = await checked(staged);
    pack(staged, file);
    return held;
  } finally {
    rmSync(staged, { recursive: true });
  }
}

/**
 * Number of database pages that SQLite copies in one step: all. Between two steps, a write by another process would
 * restart the copy, possibly for ever.
 */
const ALL_PAGES = 2 ** 31 - 1;

async function copyDatabase(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return;
  // A read-only connection does not change the log and index files that a running or killed server keeps beside the
  // database.
  const db = new DatabaseSync(from, { readOnly: true, timeout: 5_000 });
  try {
    await backup(db, to, { rate: ALL_PAGES });
  } finally {
    db.close();
  }
}

function pack(directory: string, file: string): void {
  const db = new DatabaseSync(file);
  try {
    db.exec(TABLES);
    const [addFile, addPiece] = [
      db.prepare("INSERT INTO files VALUES (?, ?)"),
      db.prepare("INSERT INTO pieces VALUES (?, ?, ?)"),
    ];
    transaction(db, () => {
      for (const name of readdirSync(directory)) {
        const hash = createHash("sha256");
        let place = 0;
        for (const piece of piecesOf(join(directory, name))) {
          hash.update(piece);
          addPiece.run(name, place++, piece);
        }
        addFile.run(name, hash.digest());
      }
    });
  } finally {
    db.close();
  }
}

function* piecesOf(path: string): Generator<Uint8Array> {
  const descriptor = openSync(path, "r");
  try {
    for (;;) {
      const piece = new Uint8Array(PIECE_BYTES);
      const length = readSync(descriptor, piece);
      if (length === 0) return;
      yield piece.subarray(0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Result of a restore. `replaced`: folder to which the former files were moved; undefined: there were none. */
export interface Restored extends Held {
  readonly replaced: string | undefined;
}

/**
 * Restores a backup into a folder that no server has open. If the folder has files already, the restore is refused, or
 * with `replace` moves them into a new folder inside it. Nothing is moved before the backup is unpacked and checked.
 */
export async function restore(file: string, directory: string, replace: boolean): Promise<Restored> {
  if (!existsSync(file)) throw new BackupProblem(`there is no file ${file}`, true);
  const isNew = !existsSync(directory);
  makeFolder(directory, 0o700);
  const isReplaced = (name: string) => replacedNames.some((each) => name === each || isBeside(name, each));
  const before = readdirSync(directory).filter(isReplaced);
  if (before.length > 0 && !replace)
    throw new BackupProblem(
      `${directory} has ${before.join(", ")}: give an empty --data-dir, or --force to replace them`,
    );
  for (const name of databases) refuseOpen(join(directory, name));
  const staged = mkdtempSync(join(directory, "restoring-"));
  try {
    unpack(file, staged);
    const held = await checked(staged);
    const replaced = before.length === 0 ? undefined : join(directory, `replaced-${basename(staged).slice(-6)}`);
    if (replaced !== undefined) mkdirSync(replaced, { mode: 0o700 });
    for (const name of before) renameSync(join(directory, name), join(replaced ?? "", name));
    for (const name of readdirSync(staged)) renameSync(join(staged, name), join(directory, name));
    rmdirSync(staged);
    return { ...held, replaced };
  } finally {
    rmSync(staged, { recursive: true, force: true });
    // If this call created the folder and the restore failed, the folder is removed.
    if (isNew && readdirSync(directory).length === 0) rmdirSync(directory);
  }
}

/**
 * Returns whether a file is one of the two that SQLite keeps beside a database: its write-ahead log (-wal) or the log's
 * index (-shm).
 */
function isBeside(name: string, database: string): boolean {
  return name === `${database}-wal` || name === `${database}-shm`;
}

/** Throws if a server has this file open. A running server always holds a lock of its files. */
function refuseOpen(path: string): void {
  if (!existsSync(path)) return;
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK");
  } catch (error) {
    if (isBusy(error)) throw new BackupProblem(`a server has ${path} open: stop it first`);
    // A damaged file is not an error here, because the restore may replace it.
    if (!isDamage(error)) throw error;
  } finally {
    db.close();
  }
}

function unpack(file: string, directory: string): void {
  const db = openBackup(file);
  try {
    const pieces = db.prepare("SELECT body FROM pieces WHERE name = ? ORDER BY place");
    for (const { name, sha256 } of db.prepare("SELECT name, sha256 FROM files").all() as unknown as FileRow[]) {
      if (!names.includes(name)) throw new BackupProblem(`${file} holds '${name}', which does not belong to a backup`);
      const hash = createHash("sha256");
      const descriptor = openSync(join(directory, name), "wx", 0o600);
      for (const { body } of pieces.iterate(name) as unknown as Iterable<{ readonly body: Uint8Array }>) {
        hash.update(body);
        writeSync(descriptor, body);
      }
      closeSync(descriptor);
      if (!hash.digest().equals(sha256))
        throw new BackupProblem(`${file} is damaged: ${name} differs from what was backed up`);
    }
  } catch (error) {
    throw isDamage(error) ? new BackupProblem(`${file} is damaged: ${(error as Error).message}`) : error;
  } finally {
    db.close();
  }
}

interface FileRow {
  readonly name: string;
  readonly sha256: Uint8Array;
}

function openBackup(file: string): DatabaseSync {
  const other = new BackupProblem(`${file} was not made by gradus backup`);
  // This check comes first, because SQLite reports a misleading disk failure if the path is a folder or a device.
  if (!statSync(file).isFile()) throw other;
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const { application_id: application } = db.prepare("PRAGMA application_id").get() as { application_id: number };
    const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    if (application !== APPLICATION_ID) throw other;
    if (version !== VERSION)
      throw new BackupProblem(
        `${file} is a backup of format ${version}, and this is ${VERSION}: use the Gradus that made it`,
      );
    return db;
  } catch (error) {
    db.close();
    throw isDamage(error) ? other : error;
  }
}

/**
 * Checks the checksum of each event of each run, like a server that replays the runs. Throws BackupProblem for damage.
 */
async function checked(directory: string): Promise<Held> {
  const files = readdirSync(directory);
  try {
    for (const name of databases) integrity(join(directory, name));
    const store = await sqliteStore({ directory });
    const evaluations = await sqliteEvaluationStore({ directory });
    try {
      const found = checkRuns(directory, Infinity);
      if (found === undefined) throw new BackupProblem(`the backup contains no ${runSchema.file}`);
      const [first] = found.damaged;
      if (first !== undefined) throw new BackupProblem(`run "${first.id}": ${first.problem}`);
      return { runs: found.checked, events: found.events, files };
    } finally {
      await store.close();
      await evaluations.close();
    }
  } catch (error) {
    if (error instanceof CannotOpen || error instanceof StoreDamaged) throw new BackupProblem(error.message);
    throw error;
  }
}

function integrity(path: string): void {
  if (!existsSync(path)) return;
  const db = new DatabaseSync(path);
  try {
    const [found] = db
      .prepare("PRAGMA integrity_check(1)")
      .all()
      .map((row) => String(row["integrity_check"]));
    if (found !== "ok") throw new BackupProblem(`${basename(path)} is damaged: ${found}`);
  } finally {
    db.close();
  }
}
