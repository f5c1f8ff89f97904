/** Journal of a run: writes the run's changes as events, and restores its state from snapshots and events. */
import type { ListedRun, Snapshot, Store, StoredRecord, StoredRun, Summary, WrittenSummary } from "../stores/store.ts";
import { apply, applyUntrimmed, trim } from "../curriculum/apply.ts";
import { isMany, isWhole } from "../curriculum/by-arm.ts";
import type { RunEvent } from "../curriculum/events.ts";
import { FormatError, parseJson, readNumber, readObject, readText } from "../curriculum/json.ts";
import { policyCodec } from "../curriculum/policies/registry.ts";
import type { RunState } from "../curriculum/state.ts";
import { type Codecs, encodeEvent, eventFrom, FORMAT, readEvent, stateIn } from "../curriculum/event-codec.ts";
import { encodeState, piecesOf, stateReader } from "../curriculum/state-codec.ts";
import type { InstanceKey, RunConfig } from "../curriculum/types.ts";
import { type RunView, stateView, type StateView } from "../curriculum/run-view.ts";
import { historyWrites } from "../curriculum/history.ts";
import { encodeRecord } from "./history-records.ts";
import { packed, unpacked } from "./packing.ts";
import type { Clock } from "../base/clock.ts";
import { inTurns } from "../base/clock-turns.ts";

/**
 * A snapshot of the run's state is saved when the journal since the last one is this many times as long as the
 * snapshot. A snapshot shorter than SNAPSHOT_MIN counts as SNAPSHOT_MIN bytes long.
 */
const JOURNAL_PER_SNAPSHOT = 4;
/**
 * In a long run, a snapshot is saved earlier: when the journal since the last one is as long as the snapshot, but at
 * least JOURNAL_LONG. Otherwise loading the run would apply thousands of events, which takes longer than reading the
 * snapshot.
 */
const JOURNAL_PER_LONG_SNAPSHOT = 1;

/**
 * Minimum length, in bytes, that is assumed for a snapshot when the next one is planned. Reading a journal of this
 * length is as fast as reading a snapshot.
 */
const SNAPSHOT_MIN = 64 * 1024;
/** Length of a journal, in bytes, that takes about 0.2 s to apply. */
const JOURNAL_LONG = 2 * 1024 * 1024;

/** Change of a run, with at least one event. */
export interface Decided<Spec, Key extends InstanceKey> {
  readonly events: readonly RunEvent<Spec, Key>[];
  /**
   * Returns further events to write together with `events`. It gets the state after `events`, and must be a pure
   * function.
   */
  readonly following?: (after: RunState<Spec, Key>) => readonly RunEvent<Spec, Key>[];
  /** Name of the caller's token, for the history. Empty or unset: the caller has none. */
  readonly by?: string | undefined;
}

/**
 * Delay, in milliseconds, between the change that makes a snapshot due and the start of saving it. The caller of the
 * change is thus answered first.
 */
const SNAPSHOT_AFTER_MS = 50;

/** Encoded events of a change and the history records to write, with the state after them. */
export interface Change<Spec, Key extends InstanceKey> {
  readonly state: RunState<Spec, Key>;
  readonly events: readonly Uint8Array[];
  readonly records: readonly StoredRecord[];
  readonly summary?: WrittenSummary;
}

/**
 * Encodes a change for the store. `summarized` is the state from which the head of the stored summary (the part that
 * seldom changes) was made, if known.
 */
export function encodeChange<Spec, Key extends InstanceKey>(
  before: RunState<Spec, Key> | undefined,
  { events: decided, following, by }: Decided<Spec, Key>,
  codecs: Codecs<Spec, Key>,
  atMs: number,
  summarized?: RunState<Spec, Key>,
): Change<Spec, Key> {
  let state = before;
  const encoded: Uint8Array[] = [];
  const records: StoredRecord[] = [];
  const write = (event: RunEvent<Spec, Key>): void => {
    encoded.push(encodeEvent(event, state, codecs));
    const untrimmed = applyUntrimmed(state, event);
    for (const { seq, ...placed } of historyWrites(state, event, untrimmed, { atMs, by }))
      records.push({ seq, body: encodeRecord(placed) });
    state = trim(untrimmed);
  };
  decided.forEach(write);
  if (state === undefined) throw new Error("bug: the change that creates a run has no event");
  const more = following?.(state) ?? [];
  more.forEach(write);
  const events = [...decided, ...more];
  const change = { state, events: encoded, records };
  return writesSummary(before, events, state) ? { ...change, summary: encodeSummary(state, summarized) } : change;
}

/**
 * Number of bytes of events that are read and applied at a time, before other work can run. They take a few
 * milliseconds.
 */
const STRETCH_BYTES = 48 * 1024;

/**
 * Throws a FormatError with the number of the event that cannot be read or applied. The event is damaged or has another
 * format.
 */
function refuseEvent(before: RunState | undefined, cause: unknown): never {
  throw new FormatError(`event ${(before?.version ?? 0) + 1}: ${(cause as Error).message}`, { cause });
}

/**
 * Reads a run from its newest snapshot and the events after it. If the snapshot cannot be read, it reads the whole
 * journal. Undefined: the run was deleted. Throws a FormatError if this server cannot read the journal.
 */
export async function readState<Spec, Key extends InstanceKey>(
  store: Store,
  { id, key }: StoredRun,
  codecs: Codecs<Spec, Key>,
  clock: Clock,
): Promise<RunState<Spec, Key> | undefined> {
  const snapshot = await store.snapshot(key);
  const end = snapshot?.version ?? 0;
  // While the snapshot is decoded, the store also reads the events before the snapshot, but only to detect damage.
  // These events are not applied again.
  const check = async (): Promise<void> => {
    for (let [at, more] = [0, 1]; at < end && more > 0; at += more)
      more = (await store.read(key, at, STRETCH_BYTES))?.length ?? 0;
  };
  const [from] = await Promise.all([snapshot && readSnapshot(snapshot, codecs, clock), check()]);
  const state = await readOn(store, key, from, codecs, clock);
  if (state === undefined || state.runId === id) return state;
  throw new FormatError(`the stored journal belongs to another run, "${state.runId}"`);
}

/** Applies the journal's events after a state, a few at a time, so that other work can run in between. */
export async function readOn<Spec, Key extends InstanceKey>(
  store: Store,
  key: number,
  from: RunState<Spec, Key> | undefined,
  codecs: Codecs<Spec, Key>,
  clock: Clock,
  onEvents: (state: RunState<Spec, Key>, events: readonly Uint8Array[]) => void = () => undefined,
): Promise<RunState<Spec, Key> | undefined> {
  let state = from;
  const ask = (version: number): ReturnType<Store["read"]> => {
    const asked = store.read(key, version, STRETCH_BYTES);
    // If this function ends early by an error, nobody awaits this promise. So a failure of the promise is handled here.
    asked.catch(() => undefined);
    return asked;
  };
  for (let coming = ask(state?.version ?? 0); ;) {
    const events = await coming;
    if (events === undefined) return undefined;
    const isLast = events.reduce((sum, event) => sum + event.length, 0) < STRETCH_BYTES;
    // The next events are read while these are applied.
    if (!isLast) coming = ask((state?.version ?? 0) + events.length);
    for (const bytes of events) {
      try {
        state = apply(state, await decodeEvent(bytes, state, codecs, clock));
      } catch (cause) {
        refuseEvent(state, cause);
      }
    }
    if (state !== undefined && events.length > 0) onEvents(state, events);
    if (isLast) return state;
  }
}

/** Decodes an event that follows on a state of its run. */
async function decodeEvent<Spec, Key extends InstanceKey>(
  bytes: Uint8Array,
  before: RunState<Spec, Key> | undefined,
  codecs: Codecs<Spec, Key>,
  clock: Clock,
): Promise<RunEvent<Spec, Key>> {
  const message = readEvent(bytes);
  const written = stateIn(message);
  const imported = written && (await readStateInTurns(written, codecs, clock));
  return eventFrom(message, before, codecs, imported);
}

/** Event of a journal, with the states before and after it. */
export interface Step<Spec, Key extends InstanceKey> {
  readonly event: RunEvent<Spec, Key>;
  readonly before: RunState<Spec, Key> | undefined;
  readonly after: RunState<Spec, Key>;
}

/** Reads a journal from its first event until there is no further one. Ends early if the run is deleted. */
export async function* readSteps<Spec, Key extends InstanceKey>(
  store: Store,
  key: number,
  codecs: Codecs<Spec, Key>,
  clock: Clock,
): AsyncGenerator<Step<Spec, Key>> {
  let before: RunState<Spec, Key> | undefined;
  for (let events; events === undefined || events.length > 0;) {
    events = (await store.read(key, before?.version ?? 0, STRETCH_BYTES)) ?? [];
    for (const bytes of events) {
      try {
        const event = await decodeEvent(bytes, before, codecs, clock);
        const after: RunState<Spec, Key> = apply(before, event);
        yield { event, before, after };
        before = after;
      } catch (cause) {
        refuseEvent(before, cause);
      }
    }
  }
}

async function readSnapshot<Spec, Key extends InstanceKey>(
  { version, body }: Snapshot,
  codecs: Codecs<Spec, Key>,
  clock: Clock,
): Promise<RunState<Spec, Key> | undefined> {
  try {
    const state = await readStateInTurns(body, codecs, clock);
    // A snapshot whose state has another version than its entry in the store is not used. Events would be applied twice
    // or skipped.
    return state.version === version ? state : undefined;
  } catch {
    // A snapshot that cannot be read is not needed, because the journal holds everything.
    return undefined;
  }
}

/** Decodes a state in small steps with other work in between, because it may hold a million samples. */
async function readStateInTurns<Spec, Key extends InstanceKey>(
  bytes: Uint8Array,
  codecs: Codecs<Spec, Key>,
  clock: Clock,
): Promise<RunState<Spec, Key>> {
  const reader = stateReader(codecs);
  await inTurns(clock, piecesOf(bytes), (piece) => reader.take(piece.bytes));
  return reader.end();
}

/**
 * Returns a function that is called with a run's new events and the state after them. If a snapshot is due, it saves
 * one, and its promise resolves when that is saved. A snapshot is due when the journal since the last one is long
 * enough. So loading a run takes at most as long as reading a few snapshots, and all snapshots together are hardly
 * longer than the journal. One snapshot is written at a time, in small pieces while the run continues.
 */
export function snapshots<Spec, Key extends InstanceKey>(
  store: Store,
  key: number,
  codecs: Codecs<Spec, Key>,
  clock: Clock,
  inTurn: <T>(job: () => Promise<T>) => Promise<T>,
): (state: RunState<Spec, Key>, events: readonly Uint8Array[]) => Promise<void> | undefined {
  let written = 0;
  let snapshotSize = 0;
  let going = false;
  const save = async (state: RunState<Spec, Key>): Promise<void> => {
    going = true;
    written = 0;
    try {
      await new Promise<void>((resolve) => clock.setTimer(SNAPSHOT_AFTER_MS, resolve));
      const pieces: Uint8Array[] = [];
      await inTurns(clock, encodeState(state, codecs), (piece) => pieces.push(piece));
      const body = Buffer.concat(pieces);
      snapshotSize = body.length;
      await inTurn(() => store.saveSnapshot(key, { version: state.version, body }));
    } finally {
      going = false;
    }
  };
  return (state, events) => {
    written += events.reduce((sum, event) => sum + event.length, 0);
    const due = Math.min(
      JOURNAL_PER_SNAPSHOT * Math.max(SNAPSHOT_MIN, snapshotSize),
      Math.max(JOURNAL_LONG, JOURNAL_PER_LONG_SNAPSHOT * snapshotSize),
    );
    return written >= due && !going ? save(state) : undefined;
  };
}

// Types and functions for the summary of a run. It is stored beside the journal, so that listing runs reads no
// journals. A change writes the summary in the same transaction as its events, in two parts; the part called head holds
// what seldom changes. Frequent feedback that closes no batch writes no summary. The stored summary is then outdated,
// and lists use the run in memory or read its journal once.

/** Run in a list. It has no configuration except the text that the client gave. */
export interface ListedView extends Omit<RunView, "config" | "configNow"> {
  readonly config: Pick<RunConfig, "given">;
}

/** Kinds of events that occur in each update batch, apart from the draw. */
const ofEachBatch: ReadonlySet<RunEvent["kind"]> = new Set([
  "handedOut",
  "feedback",
  "reported",
  "closed",
  "evaluated",
]);

/** Returns whether a change writes a new summary of the run, from which runs are listed. */
export function writesSummary(before: RunState | undefined, events: readonly RunEvent[], after: RunState): boolean {
  // In a run of many arms, the summary is longer than everything else that a draw writes. Only few changes write a
  // summary, therefore, and lists of runs read the newest state from memory or from the journal.
  if (isMany(after.config.arms.length))
    return events.some((event) => (event.kind === "drawn" ? isWhole(event.batch) : !ofEachBatch.has(event.kind)));
  const closes = before?.batchesClosed !== after.batchesClosed || openRounds(before) !== openRounds(after);
  return closes || events.some(({ kind }) => kind !== "feedback" && kind !== "evaluated");
}

/** Returns the number of evaluation rounds that still wait for samples. */
function openRounds({ evaluations }: RunState): number {
  return evaluations.filter(({ missing }) => missing > 0).length;
}

/**
 * Encodes the summary of a run, which has a head with what seldom changes. `written` is the state from which the stored
 * head was made; an unchanged head is not written again. Undefined: not known.
 */
export function encodeSummary(state: RunState, written: RunState | undefined): WrittenSummary {
  const { policy, runId, arms, ...plain } = stateView(state);
  // Lists of runs leave out the levels of growing arms, which would be most of the summary.
  const brief = arms.map((arm) => (arm.growth === undefined ? arm : { ...arm, growth: { ...arm.growth, levels: [] } }));
  const body = packed(JSON.stringify({ ...plain, arms: brief }));
  const { config, createdAtMs } = state;
  if (written?.config === config && written.policy === policy) return { state: body };
  const head = { format: FORMAT, runId, createdAtMs, given: config.given, policy: policyCodec.encode(policy) };
  return { head: packed(JSON.stringify(head)), state: body };
}

/** Decodes a summary. Undefined: this server cannot read it, or it is older than the run's last change. */
export function decodeSummary({ summary, version }: ListedRun): ListedView | undefined {
  try {
    return summary && decode(summary, version);
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}

/** Decodes a summary of this server's format. Its values need no checks, because the store detects damage. */
function decode(summary: Summary, version: number): ListedView | undefined {
  const state = parseJson(unpacked(summary.state)) as unknown as Omit<StateView, "runId" | "policy">;
  const { format, ...head } = readObject(parseJson(unpacked(summary.head)));
  // A server that writes no summaries may have added events to the journal since. A summary by an older server has no
  // `shape`.
  const isWhole = (state as Partial<StateView>).shape !== undefined;
  if (format !== FORMAT || state.version !== version - 1 || !isWhole) return undefined;
  const [runId, policy] = [readText(head["runId"]), policyCodec.decode(head["policy"] ?? null)];
  const config = { given: readText(head["given"]) };
  return { runId, config, state: { ...state, runId, policy }, createdAtMs: readNumber(head["createdAtMs"]) };
}
