/**
 * Keyed hashes of what is kept, so that what was changed in the file, by a flipped bit or by hand, is told and not believed.
 * An event's is over itself and its predecessor's, so that none can be left out, doubled or moved. What is believed without
 * reading the journal, and the run's own version, have one over the event that they were written at.
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

/** What a hash is of: the kind of row, and where it stands, so that one that was copied or moved does not fit. */
export type Place = readonly (string | number)[];

/** An event or a snapshot, or a text that is kept beside them. */
type Body = string | Uint8Array;

/** Before the first event. */
export const START = Buffer.alloc(0);

export interface Chain {
  hash(place: Place, before: Uint8Array, body: Body): Buffer;
  /** Whether a row is as it was written. Of a damaged page SQLite may give a number where a body was. */
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
 * With the key of a folder, in a file beside those that it is for: it is made with the first of them. A file that was changed is
 * told from one that Gradus wrote only while the key is no part of it.
 */
export function chainIn(path: string, isNew: () => boolean): Chain {
  if (!existsSync(path)) {
    if (!isNew())
      throw new Error(`${path} is missing, without which no run can be told from one that was changed: put it back`);
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

// The rows that a run consists of in a database, whichever it is: what is written, and what of it is believed when it is read.

/** What stands beside each body. */
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

/** What an append writes; the run's own hash is over its new version. */
export type WrittenRows = ReturnType<typeof rowsToWrite>;

// What each hash is of.
const ofRun = ({ key, id, version }: StoredRun): Place => ["run", key, id, version];
const ofEvent = (key: number, version: number): Place => ["event", key, version];
const ofSnapshot = (key: number, version: number): Place => ["snapshot", key, version];
const ofRecord = (key: number, seq: number): Place => ["record", key, seq];
const ofHead = (key: number): Place => ["head", key];
const ofSummary = (key: number): Place => ["summary", key];

function changed(what: string): StoreDamaged {
  return new StoreDamaged(`${what} is not as it was written`);
}

/** `before`: the hash of the last event that there is, START where there is none. */
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

/** Whether the events end where the run's own row says: `last` is the hash of the last one. */
export function endsWell(chain: Chain, run: RunRow, last: unknown): boolean {
  return chain.fits(run.hash, ofRun(run), last, "");
}

/** Reads a journal on from a version, whose event has the hash `before`. Throws StoreDamaged. */
export function journalReader(chain: Chain, run: RunRow, fromVersion: number, before: unknown) {
  expectVersion(run.version, fromVersion);
  let [version, last] = [fromVersion, before];
  return {
    /** The next event: each as it was written and behind its predecessor. */
    take: (event: EventRow): Uint8Array => {
      version++;
      if (event.version !== version) throw new StoreDamaged(`event ${version} of its journal is missing`);
      if (version > run.version)
        throw new StoreDamaged(`event ${version} of its journal is behind the last one that was written`);
      if (!chain.fits(event.hash, ofEvent(run.key, version), last, event.body))
        throw changed(`event ${version} of its journal`);
      last = event.hash;
      return event.body;
    },
    /** There is no further event: the last one must be where the run ends. */
    end: (): void => {
      expectVersion(version, run.version);
      if (!endsWell(chain, run, last))
        throw new StoreDamaged(`event ${version} of its journal is not the last one that was written`);
    },
  };
}

/** A snapshot's hash is over the event that it follows, so that it is believed with that journal only. */
export function snapshotHash(chain: Chain, key: number, version: number, event: Uint8Array, body: Uint8Array): Buffer {
  return chain.hash(ofSnapshot(key, version), event, body);
}

/** One that is not as it was written is as good as none: the journal has it all. */
export function isWholeSnapshot(chain: Chain, key: number, row: EventRow, event: unknown): boolean {
  return chain.fits(row.hash, ofSnapshot(key, row.version), event, row.body);
}

export function recordsOf(chain: Chain, key: number, rows: readonly RecordRow[]): readonly StoredRecord[] {
  return rows.map(({ seq, body, hash }, i) => {
    // Of a damaged index SQLite may give a row twice.
    if (seq === rows[i - 1]?.seq) throw new StoreDamaged(`record ${seq} of its history stands there twice`);
    if (!chain.fits(hash, ofRecord(key, seq), START, body)) throw changed(`record ${seq} of its history`);
    return { seq, body };
  });
}

/** Undefined: one of its parts is not as it was written, and whoever lists the run reads its journal. */
export function summaryOf(chain: Chain, key: number, head: Hashed<string>, state: Hashed<string>): Summary | undefined {
  const isWhole =
    chain.fits(head.hash, ofHead(key), START, head.body) && chain.fits(state.hash, ofSummary(key), START, state.body);
  return isWhole ? { head: head.body, state: state.body } : undefined;
}
