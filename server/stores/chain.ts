/**
 * Keyed hashes of stored rows, so that a change in the file, by a flipped bit or by hand, is detected. An event's hash
 * covers the event and its predecessor's hash, so that no event can be left out, doubled or moved. A run's version, and
 * rows that are read without the journal, have a hash over the event at which they were written.
 */
import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { makeFile } from "./folder.ts";
import {
  type Append,
  expectVersion,
  type NewRun,
  StoreDamaged,
  type StoredRecord,
  type StoredRun,
  type Summary,
} from "./store.ts";

export const KEY_BYTES = 32;
/** 128 bits of an HMAC-SHA256. */
const HASH_BYTES = 16;

/** Kind and position of a hashed row, so that a copied or moved row does not fit its hash. */
export type Place = readonly (string | number)[];

/** An event, a snapshot, or a text stored beside them. */
type Body = string | Uint8Array;

/** Hash before the first event. */
export const START = Buffer.alloc(0);

export interface Chain {
  hash(place: Place, before: Uint8Array, body: Body): Buffer;
  /** Returns whether a row is as it was written. From a damaged page SQLite may return a number where a body was. */
  fits(hash: unknown, place: Place, before: unknown, body: unknown): boolean;
}

export function chainOf(secret: Buffer): Chain {
  const key = createSecretKey(secret);
  const hash: Chain["hash"] = (place, before, body) => {
    const mac = createHmac("sha256", key)
      .update(`${JSON.stringify(place)}\n`)
      .update(before)
      .update(body);
    return mac.digest().subarray(0, HASH_BYTES);
  };
  return {
    hash,
    fits: (found, place, before, body) =>
      found instanceof Uint8Array &&
      before instanceof Uint8Array &&
      (typeof body === "string" || body instanceof Uint8Array) &&
      hash(place, before, body).equals(found),
  };
}

/**
 * Opens the chain of a folder, whose key is in a file beside the hashed files; the key is made with the first run.
 * Keeping the key out of the hashed file is what lets a change be told from Gradus's own writing.
 */
export function chainIn(path: string, isNew: () => boolean): Chain {
  if (!existsSync(path)) {
    if (!isNew())
      throw new Error(`${path} is missing, so the server cannot check that its runs are unchanged: put the file back`);
    const key = randomBytes(KEY_BYTES).toString("hex");
    makeFile(path, `# Gradus: what the events of runs.sqlite are hashed with, hex. Keep it with that file.\n${key}\n`);
  }
  const [key = ""] = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (!/^[0-9a-f]{64}$/.test(key))
    throw new Error(`${path} does not hold a key of 64 hex digits: put back the one it held`);
  return chainOf(Buffer.from(key, "hex"));
}

// Rows of a run in any database: which rows are written, and which of them are trusted when they are read.

/** A body with its hash. */
export interface Hashed<Body = Uint8Array> {
  readonly hash: Uint8Array;
  readonly body: Body;
}

export type RunRow = StoredRun & Pick<Hashed, "hash">;

export interface EventRow extends Hashed {
  readonly version: number;
}

export interface RecordRow extends Hashed<string> {
  readonly seq: number;
}

/** Rows that an append writes; the run's own hash covers its new version. */
export type WrittenRows = ReturnType<typeof rowsToWrite>;

// Kinds and positions that each hash covers.
const ofRun = ({ key, id, version }: StoredRun): Place => ["run", key, id, version];
const ofEvent = (key: number, version: number): Place => ["event", key, version];
const ofSnapshot = (key: number, version: number): Place => ["snapshot", key, version];
const ofRecord = (key: number, seq: number): Place => ["record", key, seq];
const ofHead = (key: number): Place => ["head", key];
const ofSummary = (key: number): Place => ["summary", key];

function changed(what: string): StoreDamaged {
  return new StoreDamaged(`${what} is not as it was written`);
}

/** Returns the rows of an append. `before` is the hash of the last event, START if there is none. */
export function rowsToWrite(
  chain: Chain,
  { key, id, version }: StoredRun,
  before: Uint8Array,
  { events, records, summary }: Pick<Append | NewRun, "events" | "records" | "summary">,
) {
  let last = before;
  const hashed = (place: Place, body: string): Hashed<string> => ({ hash: chain.hash(place, START, body), body });
  const eventRows = events.map((body, i): EventRow => {
    const at = version + i + 1;
    last = chain.hash(ofEvent(key, at), last, body);
    return { version: at, hash: last, body };
  });
  const now = { key, id, version: version + events.length };
  return {
    run: events.length > 0 ? { ...now, hash: chain.hash(ofRun(now), last, "") } : undefined,
    events: eventRows,
    records: records.map(({ seq, body }) => ({ seq, ...hashed(ofRecord(key, seq), body) })),
    head: summary?.head === undefined ? undefined : hashed(ofHead(key), summary.head),
    state: summary && hashed(ofSummary(key), summary.state),
  };
}

/** Returns whether the journal ends where the run's own row says; `last` is the hash of the last event. */
export function endsWell(chain: Chain, run: RunRow, last: unknown): boolean {
  return chain.fits(run.hash, ofRun(run), last, "");
}

/** Reads a journal on from a version; `before` is the hash of that version's event. Throws StoreDamaged. */
export function journalReader(chain: Chain, run: RunRow, fromVersion: number, before: unknown) {
  expectVersion(run.version, fromVersion);
  let [version, last] = [fromVersion, before];
  return {
    /** Returns the next event's body; checks that it is as it was written and follows its predecessor. */
    take: (event: EventRow): Uint8Array => {
      version++;
      if (event.version !== version) throw new StoreDamaged(`event ${version} of its journal is missing`);
      if (version > run.version)
        throw new StoreDamaged(`event ${version} of its journal follows the last one that was written`);
      if (!chain.fits(event.hash, ofEvent(run.key, version), last, event.body))
        throw changed(`event ${version} of its journal`);
      last = event.hash;
      return event.body;
    },
    /** Ends the reading: the last event must be where the run ends. */
    end: (): void => {
      expectVersion(version, run.version);
      if (!endsWell(chain, run, last))
        throw new StoreDamaged(`event ${version} of its journal is not the last one that was written`);
    },
  };
}

/**
 * Returns a snapshot's hash, which covers the event that the snapshot follows: the snapshot is valid only with that
 * journal.
 */
export function snapshotHash(chain: Chain, key: number, version: number, event: Uint8Array, body: Uint8Array): Buffer {
  return chain.hash(ofSnapshot(key, version), event, body);
}

/**
 * Returns whether a snapshot is as it was written. A changed snapshot is ignored, because the journal holds everything.
 */
export function isWholeSnapshot(chain: Chain, key: number, row: EventRow, event: unknown): boolean {
  return chain.fits(row.hash, ofSnapshot(key, row.version), event, row.body);
}

export function recordsOf(chain: Chain, key: number, rows: readonly RecordRow[]): readonly StoredRecord[] {
  return rows.map(({ seq, body, hash }, i) => {
    // From a damaged index SQLite may return a row twice.
    if (seq === rows[i - 1]?.seq) throw new StoreDamaged(`record ${seq} of its history stands there twice`);
    if (!chain.fits(hash, ofRecord(key, seq), START, body)) throw changed(`record ${seq} of its history`);
    return { seq, body };
  });
}

/** Returns undefined if a part of the summary is not as it was written; a list then reads the run's journal. */
export function summaryOf(chain: Chain, key: number, head: Hashed<string>, state: Hashed<string>): Summary | undefined {
  const isWhole =
    chain.fits(head.hash, ofHead(key), START, head.body) && chain.fits(state.hash, ofSummary(key), START, state.body);
  return isWhole ? { head: head.body, state: state.body } : undefined;
}
