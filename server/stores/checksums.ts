/**
 * Checksums of stored rows. They detect damage, e.g. a flipped bit, a cut body or swapped rows. A checksum covers the
 * row's kind, position and body. A body that was changed together with its checksum is not detected.
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

/**
 * Kind and position of a row in the tables of runs. `key` is the run's key; `at` is the row's number within the run.
 */
type Place = readonly [kind: "event" | "snapshot" | "record" | "head" | "summary", key: number, at: number];

/**
 * Length of the keyed hashes that earlier versions wrote in place of checksums. They cannot be checked without their
 * key, so such rows count as undamaged.
 */
const KEYED_HASH_BYTES = 16;

/** Returns the CRC-32 of a row, as four bytes. */
function checksumOf(place: Place, body: string | Uint8Array): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body, crc32(place.join(" "))));
  return sum;
}

/** Returns whether a row is undamaged. A damaged database page may even give a number in place of a body. */
function fits(hash: unknown, place: Place, body: unknown): boolean {
  if (!(hash instanceof Uint8Array && (typeof body === "string" || body instanceof Uint8Array))) return false;
  return hash.length === KEYED_HASH_BYTES || checksumOf(place, body).equals(hash);
}

// Functions that compute which rows a change of a run writes, in SQLite and in PostgreSQL, and that check rows when
// they are read.

/** Body of a row with its CRC-32. The column is called `hash`, because earlier versions stored hashes in it. */
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

/** Rows with checksums that an append to a run writes into the store's tables. */
export type WrittenRows = ReturnType<typeof rowsToWrite>;

function hashed<Body extends string | Uint8Array>(place: Place, body: Body): Hashed<Body> {
  return { hash: checksumOf(place, body), body };
}

function changed(what: string): StoreDamaged {
  return new StoreDamaged(`${what} differs from what was written`);
}

/**
 * Returns the rows that an append to a run writes, with their checksums. Events are numbered on from the run's last
 * event.
 */
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

/**
 * Returns a reader that checks the events of a run's journal after `fromVersion`. Throws StoreDamaged if one is missing
 * or damaged.
 */
export function journalReader(run: StoredRun, fromVersion: number) {
  expectVersion(run.version, fromVersion);
  let version = fromVersion;
  return {
    /**
     * Returns the body of the next event. Throws StoreDamaged if the event is damaged or does not follow the one
     * before.
     */
    take: (event: EventRow): Uint8Array => {
      version++;
      if (event.version !== version) throw new StoreDamaged(`event ${version} of its journal is missing`);
      if (version > run.version)
        throw new StoreDamaged(`event ${version} of its journal comes after the last event that was written`);
      if (!fits(event.hash, ["event", run.key, version], event.body)) throw changed(`event ${version} of its journal`);
      return event.body;
    },
    /** Ends the reading of the journal. Throws StoreDamaged if events are missing at its end. */
    end: (): void => expectVersion(version, run.version),
  };
}

export function snapshotHash(key: number, version: number, body: Uint8Array): Buffer {
  return checksumOf(["snapshot", key, version], body);
}

/**
 * Returns whether a snapshot is undamaged. A damaged one is ignored, because the run can be replayed from its journal.
 */
export function isWholeSnapshot(key: number, { version, hash, body }: EventRow): boolean {
  return fits(hash, ["snapshot", key, version], body);
}

export function recordsOf(key: number, rows: readonly RecordRow[]): readonly StoredRecord[] {
  return rows.map(({ seq, body, hash }, i) => {
    // A record that occurs twice is refused as damage. A damaged index of SQLite may return a row twice.
    if (seq === rows[i - 1]?.seq) throw new StoreDamaged(`record ${seq} of its history is there twice`);
    if (!fits(hash, ["record", key, seq], body)) throw changed(`record ${seq} of its history`);
    return { seq, body };
  });
}

/** Returns a run's summary. Undefined: the summary is damaged. A list of runs then reads the run's journal instead. */
export function summaryOf(key: number, head: Hashed<string>, state: Hashed<string>): Summary | undefined {
  const isWhole = fits(head.hash, ["head", key, 0], head.body) && fits(state.hash, ["summary", key, 0], state.body);
  return isWhole ? { head: head.body, state: state.body } : undefined;
}
