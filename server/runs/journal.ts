/** How changes of a run are written, and how a run is read back. */
import type { ListedRun, Snapshot, Store, StoredRecord, StoredRun, Summary, WrittenSummary } from "../stores/store.ts";
import { apply, applyUntrimmed, trim } from "../curriculum/apply.ts";
import { isMany, isWhole } from "../curriculum/by-arm.ts";
import type { RunEvent } from "../curriculum/events.ts";
import { FormatError, parseJson, readNumber, readObject, readText } from "../curriculum/json.ts";
import { policyCodec } from "../curriculum/policies/registry.ts";
import type { RunState } from "../curriculum/state.ts";
import { type Codecs, encodeEvent, eventFrom, FORMAT, readEvent, stateIn } from "../curriculum/event-codec.ts";
import { decodeState, encodeState, piecesOf, stateReader } from "../curriculum/state-codec.ts";
import type { InstanceKey, RunConfig } from "../curriculum/types.ts";
import { type RunView, stateView, type StateView } from "../curriculum/run-view.ts";
import { historyWrites } from "../curriculum/history.ts";
import { encodeRecord } from "./history-records.ts";
import { packed, unpacked } from "./packing.ts";
import type { Clock } from "../base/clock.ts";
import { inTurns } from "../base/clock-turns.ts";

/** A snapshot is due when the journal since the last one is this many times as long, or as SNAPSHOT_MIN. */
const JOURNAL_PER_SNAPSHOT = 4;
/**
 * And of a long run sooner, so that loading it follows a few thousand events, which takes longer than to read the snapshot: as
 * long as that, or JOURNAL_LONG.
 */
const JOURNAL_PER_LONG_SNAPSHOT = 1;

/** Bytes; a run whose snapshots are shorter is as quick to read from its journal. */
const SNAPSHOT_MIN = 64 * 1024;
/** Bytes, some 0.2 s of following. */
const JOURNAL_LONG = 2 * 1024 * 1024;

/** What a change consists of: at least one event. */
export interface Decided<Spec, Key extends InstanceKey> {
  readonly events: readonly RunEvent<Spec, Key>[];
  /** What is written with them, on the state that they lead to; must be pure. */
  readonly following?: (after: RunState<Spec, Key>) => readonly RunEvent<Spec, Key>[];
  /** Who asked for it, for the history; empty or left out: nobody who has a name. */
  readonly by?: string | undefined;
}

/** Between the change after which a snapshot is due and its making: whoever made the change is answered meanwhile. */
const SNAPSHOT_AFTER_MS = 50;

/** Events as the store takes them, with the state that they lead to. */
export interface Change<Spec, Key extends InstanceKey> {
  readonly state: RunState<Spec, Key>;
  readonly events: readonly Uint8Array[];
  readonly records: readonly StoredRecord[];
  readonly summary?: WrittenSummary;
}

/** `summarized`: the state that the store has the head of a summary of, if any. */
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
  if (state === undefined) throw new Error("a change without an event has no state");
  const more = following?.(state) ?? [];
  more.forEach(write);
  const events = [...decided, ...more];
  const change = { state, events: encoded, records };
  return isTold(before, events, state) ? { ...change, summary: encodeSummary(state, summarized) } : change;
}

/** What is read and followed at once: a few milliseconds. */
const STRETCH_BYTES = 48 * 1024;

/** An event that cannot be read or followed is damaged, or of another format: the error says which event it is. */
function refuseEvent(before: RunState | undefined, cause: unknown): never {
  throw new FormatError(`event ${(before?.version ?? 0) + 1}: ${(cause as Error).message}`, { cause });
}

/** The state after events that were written. */
export function follow<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key> | undefined,
  events: readonly Uint8Array[],
  codecs: Codecs<Spec, Key>,
): RunState<Spec, Key> | undefined {
  return events.reduce((now, bytes) => {
    try {
      const message = readEvent(bytes);
      const written = stateIn(message);
      const imported = written && decodeState(written, codecs);
      return apply(now, eventFrom(message, now, codecs, imported));
    } catch (cause) {
      return refuseEvent(now, cause);
    }
  }, state);
}

/**
 * Reads a run from its newest snapshot and the events after it, or from the whole journal where the snapshot is of
 * another server's format; undefined: the run was deleted. A journal that this server does not read is a FormatError.
 */
export async function readState<Spec, Key extends InstanceKey>(
  store: Store,
  { id, key }: StoredRun,
  codecs: Codecs<Spec, Key>,
  clock: Clock,
): Promise<RunState<Spec, Key> | undefined> {
  const snapshot = await store.snapshot(key);
  const end = snapshot?.version ?? 0;
  const check = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to;) at = await store.check(key, at, to);
  };
  // What the snapshot stands for is not followed again, but a journal that was changed is believed nowhere: it is looked
  // through while the snapshot is read. In two halves at a time, so that a database reads for one while the other is looked
  // through here: each event's hash is over the one before it, so that where they meet nothing is left out.
  const middle = Math.floor(end / 2);
  const [from] = await Promise.all([
    snapshot && readSnapshot(snapshot, codecs, clock),
    check(0, middle),
    check(middle, end),
  ]);
  const state = await readOn(store, key, from, codecs, clock);
  if (state === undefined || state.runId === id) return state;
  throw new FormatError(`its journal is that of run "${state.runId}"`);
}

/** Follows the journal from a state on, a stretch at a time, so that others have their turn. */
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
    // Where it is not waited for any more, its failure is nobody's.
    asked.catch(() => undefined);
    return asked;
  };
  for (let coming = ask(state?.version ?? 0); ;) {
    const events = await coming;
    if (events === undefined) return undefined;
    const isLast = events.reduce((sum, event) => sum + event.length, 0) < STRETCH_BYTES;
    // On its way while these are followed.
    if (!isLast) coming = ask((state?.version ?? 0) + events.length);
    for (const bytes of events) {
      try {
        const message = readEvent(bytes);
        const written = stateIn(message);
        const imported = written && (await readStateInTurns(written, codecs, clock));
        state = apply(state, eventFrom(message, state, codecs, imported));
      } catch (cause) {
        refuseEvent(state, cause);
      }
    }
    if (state !== undefined && events.length > 0) onEvents(state, events);
    if (isLast) return state;
  }
}

async function readSnapshot<Spec, Key extends InstanceKey>(
  { version, body }: Snapshot,
  codecs: Codecs<Spec, Key>,
  clock: Clock,
): Promise<RunState<Spec, Key> | undefined> {
  try {
    const state = await readStateInTurns(body, codecs, clock);
    // One that is of other events than it says would have events followed twice, or passed over.
    return state.version === version ? state : undefined;
  } catch {
    // The journal has it all.
    return undefined;
  }
}

/** In turns with other work, for a state may be of a million samples. */
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
 * Takes the events of a run and the state after them, and saves a snapshot when one is due; what it gives resolves when it
 * is saved. By length, so that whatever a run's size, reading it back costs a few snapshots at most, and writing
 * snapshots costs a fraction of writing the journal. One at a time: a state that is large is written a little at a time,
 * while the run goes on.
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

// What a list tells of a run, kept beside it, so that a list reads no journal. It is written with the changes of a run, in the
// same transaction, in two parts: the head has what seldom changes. Samples that leave their update batch open are many, and
// write none: a list has the run from memory then, or reads the journal once.

/** A run as a list tells of it: its configuration in its creator's words only. */
export interface ListedView extends Omit<RunView, "config" | "configNow"> {
  readonly config: Pick<RunConfig, "given">;
}

/** What happens with each update batch, but its draw. */
const ofEachBatch: ReadonlySet<RunEvent["kind"]> = new Set([
  "handedOut",
  "feedback",
  "reported",
  "closed",
  "evaluated",
]);

/** Whether a change is told in the summary at once. */
export function isTold(before: RunState | undefined, events: readonly RunEvent[], after: RunState): boolean {
  // Of many arms it is longer than all that a draw writes: a list has the newest from memory, or reads the journal.
  if (isMany(after.config.arms.length))
    return events.some((event) => (event.kind === "drawn" ? isWhole(event.batch) : !ofEachBatch.has(event.kind)));
  const closes = before?.batchesClosed !== after.batchesClosed || openRounds(before) !== openRounds(after);
  return closes || events.some(({ kind }) => kind !== "feedback" && kind !== "evaluated");
}

/** How many rounds are not closed. */
function openRounds({ evaluations }: RunState): number {
  return evaluations.filter(({ missing }) => missing > 0).length;
}

/** `written`: the state whose head is in the store; undefined: none is known to be. */
export function encodeSummary(state: RunState, written: RunState | undefined): WrittenSummary {
  const { policy, runId, ...plain } = stateView(state);
  const body = packed(JSON.stringify(plain));
  const { config, createdAtMs } = state;
  if (written?.config === config && written.policy === policy) return { state: body };
  const head = { format: FORMAT, runId, createdAtMs, given: config.given, policy: policyCodec.encode(policy) };
  return { head: packed(JSON.stringify(head)), state: body };
}

/** Undefined: there is none that this server reads, or none of the run as it is now. */
export function decodeSummary({ summary, version }: ListedRun): ListedView | undefined {
  try {
    return summary && decode(summary, version);
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}

/** The store gives no text that was changed, so that one of this format is what was written. */
function decode(summary: Summary, version: number): ListedView | undefined {
  const state = parseJson(unpacked(summary.state)) as unknown as Omit<StateView, "runId" | "policy">;
  const { format, ...head } = readObject(parseJson(unpacked(summary.head)));
  // A server that writes no summaries may have written events beside this one; an older one wrote none of the shape.
  const isWhole = (state as Partial<StateView>).shape !== undefined;
  if (format !== FORMAT || state.version !== version - 1 || !isWhole) return undefined;
  const [runId, policy] = [readText(head["runId"]), policyCodec.decode(head["policy"] ?? null)];
  const config = { given: readText(head["given"]) };
  return { runId, config, state: { ...state, runId, policy }, createdAtMs: readNumber(head["createdAtMs"]) };
}
