/**
 * Appends to runs in PostgreSQL. Waiting appends are committed together, in one statement. Each takes effect only if
 * its run is still at the version that the caller has seen, so a process that was paused cannot overwrite later events.
 * After a conflict a process waits for its turn, a lock that PostgreSQL grants in the order of the requests.
 *
 * Each append has an id, its writer, stored with its first event. If the connection breaks after a commit was sent, the
 * append is tried again with the run's row locked, so that no earlier request can take effect afterwards. The stored
 * writer shows whether the append took effect already. So an append is never written twice, and never reported as lost
 * although it is stored.
 */
import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { rowsToWrite, type WrittenRows } from "../checksums.ts";
import { type Append, type Appended, type StoredRun, StoreUnavailable, type Turn } from "../store.ts";
import { bytesOf, WAITING_BYTES_MAX } from "../thread.ts";
import { type Connection, type Connections, failureOf, isBroken, lostRace } from "./database.ts";

/** Maximum bytes of the bodies in one statement. They are sent in hex, so that a statement stays below one mebibyte. */
export const STATEMENT_BYTES = 384 * 1024;
/** Maximum size of a text such as a run's summary, in bytes. One statement may have two texts. */
const TEXT_BYTES_MAX = STATEMENT_BYTES / 2;
/** Bytes that a row counts towards the limit of a statement, in addition to its body. */
const ROW_BYTES = 64;
/** Maximum number of appends that are committed together. */
const GROUP_MAX = 512;
/** Maximum number of runs for which this process remembers the end of the journal. */
const ENDS_MAX = 4096;

/** End of a run's journal: the number of its events (`version`), and the checksum of the last one. */
export interface End extends StoredRun {
  readonly hash: Uint8Array;
}

/** Stands for the checksum of the last event of a run that has no events. */
export const NONE = Buffer.alloc(0);

/** Rows that are to be written after the end of a run's journal. `writer` is the append's id. */
export interface Writing {
  readonly end: End;
  readonly rows: WrittenRows;
  readonly writer: Buffer;
}

/** Append that waits to be sent to the database. `writer` is its id. */
interface QueuedAppend {
  readonly key: number;
  readonly append: Append;
  readonly writer: Buffer;
  readonly bytes: number;
}

interface Job extends QueuedAppend {
  /** Whether the append may be stored already, because a connection broke while it was committed. */
  readonly isDoubtful: boolean;
  readonly resolve: (outcome: Appended) => void;
  readonly reject: (error: unknown) => void;
}

export type Appends = ReturnType<typeof createAppends>;

/** Returns a random id for an append. It tells later whether that append is stored. */
export function newWriter(): Buffer {
  return randomBytes(8);
}

/** Splits an event or a snapshot into parts that each fit in a statement. */
export function partsOf(body: Uint8Array): readonly Uint8Array[] {
  const count = Math.max(1, Math.ceil(body.length / STATEMENT_BYTES));
  return Array.from({ length: count }, (_, i) => body.subarray(i * STATEMENT_BYTES, (i + 1) * STATEMENT_BYTES));
}

/** Returns the bytes of a text. Throws RangeError if there are more than TEXT_BYTES_MAX. */
export function textBytes(text: string, what: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length <= TEXT_BYTES_MAX) return bytes;
  throw new RangeError(`${what} has ${bytes.length} bytes, and at most ${TEXT_BYTES_MAX} fit in a database`);
}

export type Row = readonly unknown[];

/** Splits rows into groups, each of which fits in one SQL statement. */
export function* stretches(rows: readonly Row[]): Generator<readonly Row[]> {
  let [stretch, bytes]: [Row[], number] = [[], 0];
  for (const row of rows) {
    const more = ROW_BYTES + bytesOf(row);
    if (stretch.length > 0 && bytes + more > STATEMENT_BYTES) {
      yield stretch;
      [stretch, bytes] = [[], 0];
    }
    stretch.push(row);
    bytes += more;
  }
  if (stretch.length > 0) yield stretch;
}

/** Turns a list of rows into `count` columns, because SQL's unnest takes columns. */
export const columns = (rows: readonly Row[], count: number): readonly (readonly unknown[])[] =>
  Array.from({ length: count }, (_, column) => rows.map((row) => row[column]));

function eventRows({ end: { key }, rows, writer }: Writing): readonly Row[] {
  return rows.events.flatMap(({ version, hash, body }, i) =>
    partsOf(body).map((part, at): Row => {
      const isFirst = at === 0;
      return [key, version, at, isFirst && i === 0 ? writer : null, isFirst ? hash : null, part];
    }),
  );
}

function lastHash(end: End, { events }: WrittenRows): Uint8Array {
  return events.at(-1)?.hash ?? end.hash;
}

function recordRows({ end: { key }, rows }: Writing): readonly Row[] {
  // A statement may write a row only once, so of two records with the same number only the later one is written.
  const bySeq = new Map(rows.records.map((record) => [record.seq, record]));
  return [...bySeq.values()].map(({ seq, hash, body }) => [key, seq, hash, textBytes(body, "a record of the history")]);
}

function textRows(writings: readonly Writing[], part: "head" | "state"): readonly Row[] {
  return writings.flatMap(({ end: { key }, rows }) => {
    const text = rows[part];
    return text === undefined ? [] : [[key, text.hash, textBytes(text.body, "the summary of a run")]];
  });
}

/** Returns the number of bytes that an append takes in SQL statements. */
export function sizeOf(append: Pick<Append, "events" | "records" | "summary">): number {
  return bytesOf(append) + ROW_BYTES * (append.events.length + append.records.length);
}

export function isLarge(appends: readonly { readonly bytes: number }[]): boolean {
  return appends.reduce((sum, { bytes }) => sum + bytes, 0) > STATEMENT_BYTES;
}

/**
 * Writes rows to runs, and returns the keys of the runs that were written to, i.e. whose journals had the expected
 * ends. With `inSeveral` it sends several statements, and must run in a transaction.
 */
export async function write(
  connection: Connection,
  writings: readonly Writing[],
  inSeveral: boolean,
): Promise<ReadonlySet<number>> {
  const [events, records] = [writings.flatMap(eventRows), writings.flatMap(recordRows)];
  const runs = writings.map(({ end, rows }) => [end.key, end.version, rows.version, lastHash(end, rows), end.hash]);
  const moved = await connection.query("append", [
    ...columns(runs, 5),
    ...columns(inSeveral ? [] : events, 6),
    ...columns(inSeveral ? [] : records, 4),
    ...columns(textRows(writings, "head"), 3),
    ...columns(textRows(writings, "state"), 3),
  ]);
  const keys = new Set(moved.map(({ key }) => key as number));
  if (!inSeveral || keys.size === 0) return keys;
  for (const stretch of stretches(events)) await connection.query("appendEvents", columns(stretch, 6));
  for (const stretch of stretches(records)) await connection.query("appendRecords", columns(stretch, 4));
  return keys;
}

/** Returns functions that append to runs. Calls `onWritten` with the key of each run after its commit. */
export function createAppends(commits: Connections, turns: Connections, onWritten: (key: number) => void) {
  const ends = rememberedEnds();
  const tryAll = (connection: Connection, asked: readonly QueuedAppend[], isDoubtful: boolean) =>
    attempt({ connection, ends, isDoubtful }, asked);
  const learned = ({ outcomes, written }: Tried): readonly Appended[] => {
    for (const end of written) {
      ends.learn(end);
      onWritten(end.key);
    }
    return outcomes;
  };
  const commit = (jobs: readonly Job[]): Promise<readonly Appended[]> =>
    commits.work(async (connection, again) => {
      const isDoubtful = again || jobs.some((job) => job.isDoubtful);
      if (!isDoubtful && !isLarge(jobs)) return learned(await tryAll(connection, jobs, false));
      const tried = await connection.transaction(async () => {
        await connection.query("lockRuns", [jobs.map(({ key }) => key)]);
        return tryAll(connection, jobs, isDoubtful);
      });
      return learned(tried);
    });
  const queue = createQueue(commit);

  const turn = async (key: number): Promise<Turn> => {
    const connection = await begin(turns, key);
    let over = false;
    return {
      append: async (append) => {
        over = true;
        const asked = { key, append, writer: newWriter(), bytes: sizeOf(append) };
        try {
          const tried = await tryAll(connection, [asked], false);
          await connection.query("commit");
          connection.give();
          return learned(tried)[0] ?? "conflict";
        } catch (error) {
          await undo(connection, error);
          if (lostRace(error)) return "conflict";
          if (isBroken(error)) return queue.ask({ ...asked, isDoubtful: true });
          throw failureOf(error);
        }
      },
      release: async () => {
        if (!over) await undo(connection, undefined);
        over = true;
      },
    };
  };

  return {
    append: (key: number, append: Append) =>
      queue.ask({ key, append, writer: newWriter(), bytes: sizeOf(append), isDoubtful: false }),
    turn,
    /** Remembers the end of a run's journal as read from the database. */
    learn: ends.learn,
    /**
     * Returns whether an event in the database differs from the event with the same version that this process
     * remembers.
     */
    isOther: (key: number, version: number, hash: Uint8Array) => isOtherEnd(ends.of(key), { version, hash }),
    /** Waits until the appends in progress are done. */
    close: queue.close,
  };
}

/** Returns a queue that commits waiting appends together. */
function createQueue(commit: (jobs: readonly Job[]) => Promise<readonly Appended[]>) {
  const waiting: Job[] = [];
  let bytesWaiting = 0;
  let going: Promise<void> | undefined;

  const settle = async (jobs: readonly Job[]): Promise<void> => {
    try {
      const outcomes = await commit(jobs);
      jobs.forEach((job, i) => job.resolve(outcomes[i] ?? "conflict"));
    } catch (error) {
      if (jobs.length === 1 || error instanceof StoreUnavailable) for (const job of jobs) job.reject(error);
      // If one append fails, the whole statement is undone. Each append is then tried alone, so that only the failing
      // ones fail.
      else for (const job of jobs) await settle([job]);
    }
  };
  const work = async (): Promise<void> => {
    // Waits for further appends that are requested in the same turn of the event loop.
    await Promise.resolve();
    while (waiting.length > 0) {
      const jobs = takeGroup(waiting);
      bytesWaiting = waiting.reduce((sum, { bytes }) => sum + bytes, 0);
      await settle(jobs);
    }
    going = undefined;
  };
  return {
    ask: (asked: QueuedAppend & Pick<Job, "isDoubtful">): Promise<Appended> => {
      if (waiting.length > 0 && bytesWaiting + asked.bytes > WAITING_BYTES_MAX) {
        const message = `the database is too slow: ${bytesWaiting} bytes wait to be written, and the limit is ${WAITING_BYTES_MAX}; try again later`;
        return Promise.reject(new StoreUnavailable(message));
      }
      bytesWaiting += asked.bytes;
      const { promise, resolve, reject } = Promise.withResolvers<Appended>();
      waiting.push({ ...asked, resolve, reject });
      going ??= work();
      return promise;
    },
    close: async () => going,
  };
}

interface Attempt {
  readonly connection: Connection;
  readonly ends: ReturnType<typeof rememberedEnds>;
  readonly isDoubtful: boolean;
}

interface Tried {
  readonly outcomes: readonly Appended[];
  /** New ends of the journals that were appended to. They are valid once the transaction is committed. */
  readonly written: readonly End[];
}

/**
 * Appends to runs, without writing an append twice. Appends that may be stored already must be in a transaction that
 * has their runs' rows locked.
 */
async function attempt({ connection, ends, isDoubtful }: Attempt, jobs: readonly QueuedAppend[]): Promise<Tried> {
  await ends.look(connection, isDoubtful ? jobs : jobs.filter((job) => !ends.isExpected(job)));
  const writings = jobs.flatMap(({ key, append, writer }) => {
    const end = ends.of(key);
    if (end?.version !== append.expectedVersion) return [];
    return [{ end, writer, rows: rowsToWrite(end, append) }];
  });
  const moved = writings.length > 0 ? await write(connection, writings, isLarge(jobs)) : new Set<number>();
  const written = writings
    .filter(({ end, rows }) => moved.has(end.key) && rows.events.length > 0)
    .map(({ end, rows }): End => ({ ...end, version: rows.version, hash: lastHash(end, rows) }));
  const tried = new Set(writings.map(({ end }) => end.key));
  const passedOver = jobs.filter(({ key }) => tried.has(key) && !moved.has(key));
  await ends.look(connection, passedOver);
  const outcomes: Appended[] = [];
  for (const job of jobs) {
    if (moved.has(job.key)) outcomes.push("appended");
    else if (ends.of(job.key) === undefined) outcomes.push("gone");
    else outcomes.push(isDoubtful && (await isThere(connection, job)) ? "appended" : "conflict");
  }
  return { outcomes, written };
}

/**
 * Begins a process's turn, in which only that process appends to the run: takes a connection, begins a transaction and
 * locks the run's row.
 */
async function begin(turns: Connections, key: number): ReturnType<Connections["take"]> {
  const connection = await turns.take().catch((error: unknown) => {
    throw failureOf(error);
  });
  try {
    await connection.query("begin");
    await connection.query("takeTurn", [key]);
    return connection;
  } catch (error) {
    await undo(connection, error);
    throw failureOf(error);
  }
}

/** Rolls back a transaction, and returns its connection to the pool. */
async function undo(connection: Connection & { give: (failure?: unknown) => void }, failure: unknown): Promise<void> {
  if (failure !== undefined && isBroken(failure)) return connection.give(failure);
  try {
    await connection.query("rollback");
    connection.give();
  } catch (error) {
    connection.give(error);
  }
}

/** Returns whether an append is already stored. Used if a connection broke during the append's commit. */
async function isThere(connection: Connection, { key, append, writer }: QueuedAppend): Promise<boolean> {
  if (append.events.length === 0) return false;
  const [row] = await connection.query("writerOf", [key, append.expectedVersion + 1]);
  return row !== undefined && writer.equals((row["writer"] as Buffer | null) ?? Buffer.alloc(0));
}

/**
 * Takes a group of appends that are committed together: at most one of each run. An append that may be stored already
 * is taken alone.
 */
function takeGroup(waiting: Job[]): readonly Job[] {
  const group: Job[] = [];
  const keys = new Set<number>();
  let bytes = 0;
  for (const job of waiting) {
    if (group.length === GROUP_MAX || (group.length > 0 && (job.isDoubtful || bytes + job.bytes > STATEMENT_BYTES)))
      break;
    if (keys.has(job.key)) continue;
    keys.add(job.key);
    group.push(job);
    bytes += job.bytes;
    if (job.isDoubtful) break;
  }
  const taken = new Set(group);
  waiting.splice(0, waiting.length, ...waiting.filter((job) => !taken.has(job)));
  return group;
}

/**
 * Returns whether the database has another event in place of the remembered last one. A failover to a standby has then
 * lost that event.
 */
function isOtherEnd(known: End | undefined, { version, hash }: Pick<End, "version" | "hash">): boolean {
  return known?.version === version && Buffer.compare(known.hash, hash) !== 0;
}

/** Returns a cache of the ends of runs' journals. If an entry is out of date, the next append only gets a conflict. */
function rememberedEnds() {
  const ends = new LRUCache<number, End>({ max: ENDS_MAX });
  const learn = (end: End): void => void ends.set(end.key, end);
  return {
    of: (key: number) => ends.get(key),
    learn,
    isExpected: ({ key, append }: QueuedAppend): boolean => ends.get(key)?.version === append.expectedVersion,
    /**
     * Reads the ends of runs. If another event is in place of a remembered one, the remembered end is kept, so that the
     * next reader reports the loss.
     */
    look: async (connection: Connection, jobs: readonly QueuedAppend[]): Promise<void> => {
      if (jobs.length === 0) return;
      const known = new Map(jobs.map(({ key }) => [key, ends.get(key)]));
      for (const key of known.keys()) ends.delete(key);
      const rows = (await connection.query("ends", [[...known.keys()]])) as unknown as readonly End[];
      for (const end of rows) {
        const before = known.get(end.key);
        learn(before !== undefined && isOtherEnd(before, end) ? before : end);
      }
    },
  };
}
