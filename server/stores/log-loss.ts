/**
 * Detects commits that SQLite drops silently when it opens a file. SQLite treats everything after the first invalid
 * frame of the write-ahead log as left over from a crash. If commits of the same generation follow such a frame, they
 * are lost (by a flipped bit, or a write that never reached the disk), and the operator is told. The format is described
 * at https://sqlite.org/fileformat2.html#walformat.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A query that counts a file's rows, to compare the counts before and after a loss. */
export interface Census {
  /** Noun for a row, for a sentence: "run". */
  readonly of: string;
  /** Noun for the counted things: "events". */
  readonly counted: string;
  /** SQL that returns rows of name and count. */
  readonly sql: string;
}

export interface Damage {
  /** Where the log is damaged and where a copy is, in words. */
  readonly where: string;
  /** Contents of the file with the readable rest of the log; undefined: it cannot be read. */
  readonly held: ReadonlyMap<string, number> | undefined;
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;
/** If the lowest bit of the magic number is set, checksums read words in big-endian order. */
const BIG_ENDIAN = 1;
/** A log that another process is writing may look damaged for a moment, so the check is repeated. */
const LOOK_AGAIN_MS = 100;

type Sum = readonly [number, number];

function checksum(bytes: DataView, from: number, to: number, littleEndian: boolean, [one, two]: Sum): Sum {
  for (let at = from; at < to; at += 8) {
    one = (one + bytes.getUint32(at, littleEndian) + two) >>> 0;
    two = (two + bytes.getUint32(at + 4, littleEndian) + one) >>> 0;
  }
  return [one, two];
}

/** Returns accessors for a log's frames and their expected checksums. */
function framesOf(bytes: DataView, pageSize: number, littleEndian: boolean) {
  const size = FRAME_HEADER_BYTES + pageSize;
  const saltsAt = (at: number): string => `${bytes.getUint32(at)} ${bytes.getUint32(at + 4)}`;
  return {
    count: Math.max(0, Math.floor((bytes.byteLength - HEADER_BYTES) / size)),
    start: (frame: number): number => HEADER_BYTES + frame * size,
    salts: (frame: number): string => saltsAt(HEADER_BYTES + frame * size + 8),
    headerSalts: (): string => saltsAt(16),
    isCommit: (frame: number): boolean => bytes.getUint32(HEADER_BYTES + frame * size + 4) !== 0,
    sum: (frame: number, before: Sum): Sum => {
      const at = HEADER_BYTES + frame * size;
      const head = checksum(bytes, at, at + 8, littleEndian, before);
      return checksum(bytes, at + FRAME_HEADER_BYTES, at + size, littleEndian, head);
    },
  };
}

/** Writes a checksum; returns whether the same checksum was there already. */
function put(bytes: DataView, at: number, [one, two]: Sum): boolean {
  const stood = bytes.getUint32(at) === one && bytes.getUint32(at + 4) === two;
  bytes.setUint32(at, one);
  bytes.setUint32(at + 4, two);
  return stood;
}

/**
 * Returns the page size from a file's header, where 1 stands for 65,536; Gradus's own page size if the file has no
 * header yet.
 */
function pageSizeOf(path: string): number {
  const header = Buffer.alloc(18);
  const file = openSync(path, "r");
  const read = readSync(file, header, 0, header.length, 0);
  closeSync(file);
  const size = read < header.length ? 4096 : header.readUInt16BE(16);
  return size === 1 ? 65_536 : size;
}

interface Mended {
  /** Byte position of the first invalid frame. */
  readonly damagedAt: number;
  readonly lostCommits: number;
  /** The log up to its last commit, with valid checksums. */
  readonly log: Buffer;
}

/** Mends a copy of the log; undefined: no commit is lost. */
function mend(original: Buffer, pageSize: number): Mended | undefined {
  const log = Buffer.from(original);
  const bytes = new DataView(log.buffer, log.byteOffset, log.byteLength);
  if (log.length < HEADER_BYTES + FRAME_HEADER_BYTES + pageSize) return undefined;
  const littleEndian = (bytes.getUint32(0) & BIG_ENDIAN) === 0;
  const frames = framesOf(bytes, pageSize, littleEndian);
  const headerSum = checksum(bytes, 0, 24, littleEndian, [0, 0]);
  const headerIsWhole = headerSum[0] === bytes.getUint32(24) && headerSum[1] === bytes.getUint32(28);
  // The salts name this generation of the log; frames with other salts are left from an earlier generation.
  const salts = headerIsWhole ? frames.headerSalts() : frames.salts(0);
  const ours = Array.from({ length: frames.count }, (_, i) => frames.salts(i) === salts);
  const last = ours.findLastIndex((own, i) => own && frames.isCommit(i));
  if (last < 0) return undefined;
  const head = headerIsWhole ? headerSum : newHeader(bytes, pageSize, littleEndian);
  let sum = head;
  let damagedAt = headerIsWhole ? undefined : 0;
  let lostCommits = 0;
  for (let frame = 0; frame <= last; frame++) {
    const at = frames.start(frame);
    bytes.setUint32(at + 8, bytes.getUint32(16));
    bytes.setUint32(at + 12, bytes.getUint32(20));
    sum = frames.sum(frame, sum);
    if (!put(bytes, at + 16, sum) || !ours[frame]) damagedAt ??= at;
    if (damagedAt !== undefined && frames.isCommit(frame)) lostCommits++;
  }
  return damagedAt === undefined || lostCommits === 0
    ? undefined
    : { damagedAt, lostCommits, log: log.subarray(0, frames.start(last + 1)) };
}

/** Writes a new header in place of a damaged one, with the salts of the first frame. */
function newHeader(bytes: DataView, pageSize: number, littleEndian: boolean): Sum {
  bytes.setUint32(0, MAGIC | (littleEndian ? 0 : BIG_ENDIAN));
  bytes.setUint32(4, 3_007_000);
  bytes.setUint32(8, pageSize);
  bytes.setUint32(16, bytes.getUint32(HEADER_BYTES + 8));
  bytes.setUint32(20, bytes.getUint32(HEADER_BYTES + 12));
  const sum = checksum(bytes, 0, 24, littleEndian, [0, 0]);
  put(bytes, 24, sum);
  return sum;
}

export function census(db: DatabaseSync, { sql }: Census): ReadonlyMap<string, number> {
  const rows = db.prepare(sql).all() as unknown as readonly { readonly name: string; readonly count: number }[];
  return new Map(rows.map(({ name, count }) => [name, count]));
}

/** Returns the contents of the file with the mended log, read from a copy; undefined: it cannot be read. */
function heldWith(path: string, log: Buffer, asked: Census): ReadonlyMap<string, number> | undefined {
  const folder = mkdtempSync(`${path}-salvage-`);
  const copy = join(folder, basename(path));
  try {
    linkSync(path, copy);
    writeFileSync(`${copy}-wal`, log, { mode: 0o600 });
    const db = new DatabaseSync(copy, { readOnly: true });
    try {
      return census(db, asked);
    } finally {
      db.close();
    }
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Checks the log of a file before it is opened. If commits are lost, copies of the file and its log are kept beside
 * them.
 */
export function findDamage(path: string, asked: Census): Damage | undefined {
  const look = (): Mended | undefined =>
    existsSync(path) && existsSync(`${path}-wal`) ? mend(readFileSync(`${path}-wal`), pageSizeOf(path)) : undefined;
  if (look() === undefined) return undefined;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_AGAIN_MS);
  const mended = look();
  if (mended === undefined) return undefined;
  const { damagedAt, lostCommits, log } = mended;
  const kept = keep(path);
  const commits = `${lostCommits} ${lostCommits === 1 ? "commit" : "commits"}`;
  const where = `${path}-wal is damaged at byte ${damagedAt}: ${commits} from there on cannot be read; file and log are kept as ${kept}`;
  return { where, held: heldWith(path, log, asked) };
}

/** Copies the file with its log, as a pair that SQLite can open: SQLite's next step on the log changes both. */
function keep(path: string): string {
  let [kept, n] = [`${path}.damaged`, 1];
  while (existsSync(kept)) kept = `${path}.damaged-${++n}`;
  for (const log of ["", "-wal"]) copyFileSync(`${path}${log}`, `${kept}${log}`, constants.COPYFILE_FICLONE);
  return kept;
}

/** Returns in words which of the former contents are gone. */
export function lossOf(damage: Damage, has: ReadonlyMap<string, number>, { of, counted }: Census): string {
  const { where, held } = damage;
  if (held === undefined) return `${where}; what it held cannot be told`;
  const lost = [...held].flatMap(([name, count]) => {
    const now = has.get(name);
    if (now === undefined) return [`${of} "${name}" (all ${count} ${counted})`];
    return now < count ? [`of ${of} "${name}" the newest ${count - now} of ${count} ${counted}`] : [];
  });
  const back = [...has.keys()].filter((name) => !held.has(name)).map((name) => `that ${of} "${name}" was deleted`);
  const all = [...lost, ...back];
  return `${where}; lost: ${all.length === 0 ? `nothing that a ${of} is made of` : all.join(", ")}`;
}
