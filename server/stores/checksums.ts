/**
 * Checksums of stored rows, which detect damage: a flipped bit, a cut body, a row that stands in the place of another.
 * A checksum covers the row's kind, its position and its body. Journals are also checked for missing events. A body
 * that somebody changes together with its checksum is not detected.
 */
import { crc32 } from "node:zlib";
import {
  type Append,
  expectVersion,
  type NewRun,
  StoreDamaged,
  type StoredRecord,
  type StoredRun,
  type Summary,
} from "./store.ts";

/** Kind and position of a row: the run's key, then the row's version or number in that run. */
type Place = readonly [kind: "event" | "snapshot" | "record" | "head" | "summary", key: number, at: number];

/**
 * Length of the keyed hashes that earlier versions wrote. They cannot be checked without their key, so a row with one
 * counts as whole.
 */
const KEYED_HASH_BYTES = 16;

/** Returns the four bytes of the CRC-32 of a row. */
function checksumOf(place: Place, body: string | Uint8Array): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body, crc32(place.join(" "))));
  return sum;
}

/** Returns whether a row is as it was written. From a damaged page SQLite may return a number where a body was. */
function fits(hash: unknown, place: Place, body: unknown): boolean {
  if (!(hash instanceof Uint8Array && (typeof body === "string" || body instanceof Uint8Array))) return false;
  return hash.length === KEYED_HASH_BYTES || checksumOf(place, body).equals(hash);
}

// Rows of a run in any database: which rows are written, and which of them are trusted when they are read.

/** A body with its checksum, in the column that earlier versions had for hashes. */
export interface Hashed<Body = Uint8Array> {
  readonly hash: Uint8Array;
  readonly body: Body;
}

export interface EventRow extends Hashed {
  readonly version: number;
}

export interface RecordRow extends Hashed<string> {
  readonly seq: number;
}

/** Rows that an append writes. */
export type WrittenRows = ReturnType<typeof rowsToWrite>;

function hashed<Body extends string | Uint8Array>(place: Place, body: Body): Hashed<Body> {
  return { hash: checksumOf(place, body), body };
}

function changed(what: string): StoreDamaged {
  return new StoreDamaged(`${what} is not as it was written`);
}

/** Returns the rows of an append at a run's end. */
export function rowsToWrite(
  { key, version: end }: StoredRun,
  { events, records, summary }: Pick<Append | NewRun, "events" | "records" | "summary">,
) {
  return {
    version: end + events.length,
    events: events.map((body, i): EventRow => {
      const version = end + i + 1;
      return { version, ...hashed(["event", key, version], body) };
    }),
    records: records.map(({ seq, body }) => ({ seq, ...hashed(["record", key, seq], body) })),
    head: summary?.head === undefined ? undefined : hashed(["head", key, 0], summary.head),
    state: summary && hashed(["summary", key, 0], summary.state),
  };
}

/** Reads a journal on from a version. Throws StoreDamaged. */
export function journalReader(run: StoredRun, fromVersion: number) {
  expectVersion(run.version, fromVersion);
  let version = fromVersion;
  return {
    /** Returns the next event's body; checks that it is as it was written and follows its predecessor. */
    take: (event: EventRow): Uint8Array => {
      version++;
      if (event.version !== version) throw new StoreDamaged(`event ${version} of its journal is missing`);
      if (version > run.version)
        throw new StoreDamaged(`event ${version} of its journal follows the last one that was written`);
      if (!fits(event.hash, ["event", run.key, version], event.body)) throw changed(`event ${version} of its journal`);
      return event.body;
    },
    /** Ends the reading: the last event must be where the run ends. */
    end: (): void => expectVersion(version, run.version),
  };
}

export function snapshotHash(key: number, version: number, body: Uint8Array): Buffer {
  return checksumOf(["snapshot", key, version], body);
}

/**
 * Returns whether a snapshot is as it was written. A changed snapshot is ignored, because the journal holds everything.
 */
export function isWholeSnapshot(key: number, { version, hash, body }: EventRow): boolean {
  return fits(hash, ["snapshot", key, version], body);
}

export function recordsOf(key: number, rows: readonly RecordRow[]): readonly StoredRecord[] {
  return rows.map(({ seq, body, hash }, i) => {
    // From a damaged index SQLite may return a row twice.
    if (seq === rows[i - 1]?.seq) throw new StoreDamaged(`record ${seq} of its history stands there twice`);
    if (!fits(hash, ["record", key, seq], body)) throw changed(`record ${seq} of its history`);
    return { seq, body };
  });
}

/** Returns undefined if a part of the summary is not as it was written; a list then reads the run's journal. */
export function summaryOf(key: number, head: Hashed<string>, state: Hashed<string>): Summary | undefined {
  const isWhole = fits(head.hash, ["head", key, 0], head.body) && fits(state.hash, ["summary", key, 0], state.body);
  return isWhole ? { head: head.body, state: state.body } : undefined;
}
