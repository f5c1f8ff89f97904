/** Stores runs in PostgreSQL, with the same behaviour as in SQLite. Appends are in appends.ts. */
import {
  type EventRow,
  isWholeSnapshot,
  journalReader,
  type RecordRow,
  recordsOf,
  rowsToWrite,
  snapshotHash,
  summaryOf,
} from "../checksums.ts";
import {
  type ExpiredRun,
  LIST_CHARACTERS_MAX,
  type ListedRun,
  type NewRun,
  type RunPage,
  type Snapshot,
  type Store,
  StoreDamaged,
  type StoredRun,
} from "../store.ts";
import { type Appends, createAppends, isLarge, newWriter, NONE, partsOf, sizeOf, write } from "./appends.ts";
import type { Connection, Connections, Database, Rows } from "./database.ts";
import { createNotices } from "./notices.ts";
import { createRemovals } from "./removals.ts";

/** Maximum number of connections for all operations on runs except appends. */
const CONNECTIONS = 4;
/** Maximum number of runs to which this process may have exclusive access (Store.turn) at the same time. */
const TURNS = 4;
/** Maximum number of events that one statement reads. Fewer are read if the caller wants few bytes. */
const EVENTS_MAX = 512;
/** Minimum number of events that one statement reads, even if the caller wants few bytes. */
const EVENTS_MIN = 64;
/**
 * Assumed size of an event in bytes, for computing how many events to read for the bytes that the caller wants. Most
 * events are larger.
 */
const EVENT_BYTES = 512;
/** Maximum number of runs that one statement lists. */
const LISTED_MAX = 64;

interface Parts {
  readonly calls: Connections;
  readonly appends: Appends;
}

/** Returns a Uint8Array in place of Node's Buffer, whose `slice` would share memory instead of copying. */
const bytesOf = ({ buffer, byteOffset, length }: Uint8Array): Uint8Array => new Uint8Array(buffer, byteOffset, length);

const textOf = (body: unknown): string => (body as Buffer).toString();

async function create({ calls }: Parts, run: NewRun): Promise<"created" | "exists"> {
  const writer = newWriter();
  return calls.work((connection, isDoubtful) =>
    connection.transaction(async () => {
      const [made] = await connection.query("createRun", [run.id, run.timeToLiveMs]);
      if (made === undefined) return isDoubtful && (await isCreator(connection, run.id, writer)) ? "created" : "exists";
      const end = { key: made["key"] as number, id: run.id, version: 0, hash: NONE };
      const rows = rowsToWrite(end, run);
      await write(connection, [{ end, rows, writer }], isLarge([{ bytes: sizeOf(run) }]));
      return "created";
    }),
  );
}

async function isCreator(connection: Connection, id: string, writer: Buffer): Promise<boolean> {
  const [row] = await connection.query("creatorOf", [id]);
  return row !== undefined && writer.equals(row["writer"] as Buffer);
}

interface Stretch {
  readonly events: readonly Uint8Array[];
  /** Whether `events` reach the end of the run's journal. */
  readonly isEnd: boolean;
}

/** Reads a run's row and some events after a version, in one statement. */
async function readStretch(
  { calls, appends }: Parts,
  key: number,
  fromVersion: number,
  bytesMax: number,
): Promise<Stretch | undefined> {
  const eventsMax = Math.min(EVENTS_MAX, Math.max(EVENTS_MIN, Math.ceil(bytesMax / EVENT_BYTES)));
  const values = [key, fromVersion, fromVersion + eventsMax, Math.min(bytesMax, Number.MAX_SAFE_INTEGER)];
  const rows = await calls.query("read", values);
  const found = rows.find(({ part }) => part === null);
  if (found === undefined) return undefined;
  const run = { key, id: found["id"] as string, version: found["version"] as number };
  const all = eventsIn(rows);
  const before = all.find(({ version }) => version === fromVersion)?.hash;
  const following = all.filter(({ version }) => version > fromVersion);
  const reader = journalReader(run, fromVersion);
  const events = following.map((row) => reader.take(row));
  const reached = fromVersion + events.length;
  const isWhole = events.reduce((sum, event) => sum + event.length, 0) < bytesMax;
  const isEnd = events.length === 0 || (isWhole && reached < fromVersion + eventsMax);
  if (isEnd) reader.end();
  if (before !== undefined && appends.isOther(key, fromVersion, before)) throw setBack(fromVersion);
  const last = following.at(-1)?.hash ?? before;
  if (reached === run.version && last !== undefined) appends.learn({ ...run, hash: last });
  return { events, isEnd };
}

/**
 * Returns the error for a database that was set back to an earlier state, e.g. from a backup: the journal lacks an
 * event that this server has seen.
 */
function setBack(version: number): StoreDamaged {
  const other = `event ${version} of its journal differs from the one that this server has read`;
  return new StoreDamaged(`${other}: the database was restored to an earlier state, so restart the server`);
}

/** Joins the parts of large events, and orders events by version. */
function eventsIn(rows: Rows): readonly EventRow[] {
  const parts = (rows as unknown as readonly (EventRow & { readonly part: number | null })[])
    .filter(({ part }) => part !== null)
    .sort((a, b) => a.version - b.version || (a.part ?? 0) - (b.part ?? 0));
  const byVersion = Map.groupBy(parts, ({ version }) => version);
  return [...byVersion].map(([version, [first, ...others]]) => {
    const body = first?.body ?? NONE;
    const whole = others.length === 0 ? body : Buffer.concat([body, ...others.map((part) => part.body)]);
    return { version, hash: first?.hash ?? NONE, body: bytesOf(whole) };
  });
}

async function read(parts: Parts, key: number, fromVersion: number, bytesMax: number) {
  const events: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const stretch = await readStretch(parts, key, fromVersion + events.length, bytesMax - bytes);
    if (stretch === undefined) return undefined;
    events.push(...stretch.events);
    bytes = events.reduce((sum, event) => sum + event.length, 0);
    if (stretch.isEnd || bytes >= bytesMax) return events;
  }
}

async function list({ calls }: Parts, afterId: string, limit: number): Promise<RunPage> {
  const runs: ListedRun[] = [];
  let characters = 0;
  for (let after = afterId; ; after = runs.at(-1)?.id ?? after) {
    // One run more than requested is read, to know whether there are more.
    const wanted = Math.min(limit + 1 - runs.length, LISTED_MAX);
    const rows = await calls.query("list", [after, wanted]);
    for (const row of rows) {
      if (runs.length === limit || characters >= LIST_CHARACTERS_MAX) return { runs, more: true };
      const run = listed(row);
      runs.push(run);
      characters += (run.summary?.head.length ?? 0) + (run.summary?.state.length ?? 0);
    }
    if (rows.length < wanted) return { runs, more: false };
  }
}

function listed(row: Rows[number]): ListedRun {
  const { id, key, version, head, headHash, state, stateHash } = row as Record<string, Buffer | null> & StoredRun;
  if (head === null || state === null || headHash === null || stateHash === null)
    return { id, key, version, summary: undefined };
  const texts = [
    { hash: headHash as Buffer, body: textOf(head) },
    { hash: stateHash as Buffer, body: textOf(state) },
  ] as const;
  return { id, key, version, summary: summaryOf(key, ...texts) };
}

/** Stores the parts of a snapshot. The first part comes last, so that a snapshot with a first part is complete. */
async function saveSnapshot({ calls }: Parts, key: number, { version, body }: Snapshot): Promise<void> {
  const hash = snapshotHash(key, version, body);
  for (const [part, bytes] of [...partsOf(body).entries()].reverse())
    await calls.query("savePart", [key, version, part, part === 0 ? hash : null, bytes]);
  await calls.query("dropSnapshots", [key, version]);
}

async function snapshot({ calls }: Parts, key: number): Promise<Snapshot | undefined> {
  const [newest] = await calls.query("newestSnapshot", [key]);
  if (newest === undefined) return undefined;
  const version = newest["version"] as number;
  const parts = [newest["body"] as Buffer];
  for (;;) {
    const [next] = await calls.query("snapshotPart", [key, version, parts.length]);
    if (next === undefined) break;
    parts.push(next["body"] as Buffer);
  }
  const row = { version, hash: newest["hash"] as Buffer, body: bytesOf(Buffer.concat(parts)) };
  return isWholeSnapshot(key, row) ? { version, body: row.body } : undefined;
}

async function records({ calls }: Parts, key: number, fromSeq: number, limit: number) {
  const rows = await calls.query("records", [key, fromSeq, limit]);
  const texts = rows.map((row) => ({ ...(row as unknown as RecordRow), body: textOf(row["body"]) }));
  return recordsOf(key, texts);
}

/** Opens the store of runs. `url` is the database's address, for the connection that listens for notices. */
export function postgresRuns(database: Database, url: string): Store {
  const calls = database.connections(CONNECTIONS);
  const { tell, listen, close } = createNotices(url, calls);
  const appends = createAppends(database.connections(1), database.connections(TURNS), tell);
  const removals = createRemovals(calls);
  const parts = { calls, appends };
  return {
    create: (run) => create(parts, run),
    find: async (id) => (await calls.query("find", [id]))[0] as StoredRun | undefined,
    list: (afterId, limit) => list(parts, afterId, limit),
    append: (key, append) => appends.append(key, append),
    turn: (key) => appends.turn(key),
    listen,
    read: (key, fromVersion, bytesMax = Infinity) => read(parts, key, fromVersion, bytesMax),
    checksum: async (key, version) => {
      const [row] = await calls.query("hash", [key, version]);
      return row && (row["hash"] as Buffer).toString("hex");
    },
    saveSnapshot: (key, taken) => saveSnapshot(parts, key, taken),
    snapshot: (key) => snapshot(parts, key),
    records: (key, fromSeq, limit) => records(parts, key, fromSeq, limit),
    touch: async (key, timeToLiveMs) => void (await calls.query("touch", [key, timeToLiveMs])),
    remove: (key) =>
      removals.of(() =>
        calls.work(async (connection, isDoubtful) => {
          const removed = await connection.query("remove", [key]);
          tell(key);
          // If an earlier attempt's outcome is unknown, the run is gone now, as requested.
          return removed.length > 0 || isDoubtful;
        }),
      ),
    expired: async () => {
      const [now] = await calls.query("now");
      if (now === undefined) throw new StoreDamaged("bug: the database did not return its time");
      const nowMs = now["nowMs"] as number;
      return { nowMs, runs: (await calls.query("expired", [nowMs])) as unknown as readonly ExpiredRun[] };
    },
    removeExpired: (beforeMs) =>
      removals.of(async () => (await calls.query("removeExpired", [beforeMs])) as unknown as readonly ExpiredRun[]),
    close: async () => {
      await appends.close();
      await removals.close();
      close();
    },
  };
}
