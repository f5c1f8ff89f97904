/**
 * The rows that a run consists of in a database, whichever it is, and the hash that stands beside each body (chain.ts): what
 * is written, and what of it is believed when it is read.
 */
import { type Chain, type Place, START } from "./chain.ts";
import {
  type Append,
  expectVersion,
  type NewRun,
  StoreDamaged,
  type StoredRecord,
  type StoredRun,
  type Summary,
} from "./store.ts";

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
export interface WrittenRows {
  readonly run: RunRow | undefined;
  readonly events: readonly EventRow[];
  readonly records: readonly RecordRow[];
  readonly head: Hashed<string> | undefined;
  readonly state: Hashed<string> | undefined;
}

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
): WrittenRows {
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
