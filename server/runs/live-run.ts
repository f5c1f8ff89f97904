/**
 * Keeps a run in memory: its state and a queue for its changes. Each change is written to the journal before it takes
 * effect.
 */
import type { Store, StoredRecord, StoredRun, Turn } from "../stores/store.ts";
import { formatWarning, malformedShare } from "../curriculum/malformed-samples.ts";
import { isDone, type RunState } from "../curriculum/state.ts";
import type { InstanceKey, Refusal } from "../curriculum/types.ts";
import { createFollowers } from "./followers.ts";
import { type Decided, encodeChange, readOn, snapshots } from "./journal.ts";
import type { Log } from "../base/log.ts";
import type { Ports } from "./dependencies.ts";

/**
 * Maximum number of attempts to write one change. An attempt fails if another server changed the run meanwhile. If the
 * store lets servers write in turns, the second attempt succeeds. Otherwise, even with sixteen servers that write to
 * one run, none fails so often in a row.
 */
const ATTEMPTS_MAX = 512;

/** Events of a change, and the value that the caller gets. */
export interface Decision<T, Spec, Key extends InstanceKey> extends Decided<Spec, Key> {
  /** Further history records to write, before the records of the events. */
  readonly records?: readonly StoredRecord[];
  readonly value: T;
}

/** The run was deleted. Another run may have the same id by now. */
export interface Gone {
  readonly kind: "gone";
}

export const gone: Gone = Object.freeze({ kind: "gone" });

/** Result of updating a run in memory from the store. "fresh": the run in memory is now the same as in the store. */
export type RefreshOutcome = "fresh" | Gone | Refusal;

/**
 * Result of one attempt to write a change. "again": the state in memory was outdated and has been updated, so that the
 * caller should try again.
 */
type Attempt<T> = { readonly kind: "answer"; readonly value: T | Refusal } | { readonly kind: "again" } | Gone;

export type LiveRun<Spec, Key extends InstanceKey> = ReturnType<typeof liveRun<Spec, Key>>;

/** Returns an object that holds a state and calls observers when the state changes. */
function observed<State>(first: State) {
  const callbacks = new Set<() => void>();
  let state = first;
  let deleted = false;
  const notify = (): void => {
    for (const callback of [...callbacks]) callback();
  };
  return {
    state: () => state,
    isGone: () => deleted,
    set: (next: State): void => {
      state = next;
      notify();
    },
    /** Marks the run as deleted. */
    forget: (): void => {
      deleted = true;
      notify();
    },
    /** Calls `callback` after each change and when the run is deleted. Returns a function that ends these calls. */
    onChange: (callback: () => void) => {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
  };
}

/** Returns a function that runs jobs one at a time, in order. A failed job does not affect later ones. */
export function serial(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const turn = last.then(job);
    last = turn.catch(() => undefined);
    return turn;
  };
}

/**
 * Calls `work` while no other server may write to the run, if the store supports such turns. Otherwise `work` gets no
 * turn and other servers may write.
 */
async function inStoresTurn<T>(store: Store, key: number, work: (turn: Turn | undefined) => Promise<T>): Promise<T> {
  const turn = await store.turn?.(key);
  try {
    return await work(turn);
  } finally {
    await turn?.release();
  }
}

async function untilAnswered<T>(attempt: (isFirst: boolean) => Promise<Attempt<T>>): Promise<T | Gone | Refusal> {
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
    const outcome = await attempt(attempts === 0);
    if (outcome.kind === "answer") return outcome.value;
    if (outcome.kind === "gone") return outcome;
  }
  return { kind: "aborted", message: "other processes keep changing the run; try again" };
}

function refusedAsStale(message: string, onStale?: (message: string) => void): Attempt<never> {
  onStale?.(message);
  return { kind: "answer", value: { kind: "failed_precondition", message } };
}

const MALFORMED =
  "nearly all samples of the run are malformed: set answer_format and thinking of its arms to what the model writes";

/** Logs a warning when nearly all answers of a run have become malformed. */
function warnOfFormat(log: Log | undefined, before: RunState, after: RunState): void {
  const [was, is] = [before, after].map((state) => formatWarning(malformedShare(state.malformed, isDone(state))));
  if (was === undefined && is !== undefined) log?.warn({ run: after.runId, ...is }, MALFORMED);
}

/**
 * Returns a queue for calls on a run. One reading of the store serves all calls that were made before the reading
 * began. For these calls, `isAnswered` returns true, and they need no reading of their own.
 */
function ordered() {
  const inTurn = serial();
  let [calls, answered] = [0, 0];
  return {
    inTurn,
    call: <T>(work: (isAnswered: () => boolean) => Promise<T>): Promise<T> => {
      const call = ++calls;
      return inTurn(() => work(() => answered >= call));
    },
    read: async <T>(work: () => Promise<T>): Promise<T> => {
      const before = calls;
      const found = await work();
      answered = before;
      return found;
    },
  };
}

/** Keeps a run's state up to date with the journal in the store. */
function followed<Spec, Key extends InstanceKey>(
  { store, log, source, clock }: Ports<Spec, Key>,
  { id, key }: StoredRun,
  loaded: RunState<Spec, Key>,
) {
  type State = RunState<Spec, Key>;
  const { set, ...observable } = observed(loaded);
  const { state, isGone, forget } = observable;
  const { inTurn, call, read } = ordered();
  const keepSnapshots = snapshots(store, key, source, clock, inTurn);
  let summarized: State | undefined;

  const takeIn = (next: State, events: readonly Uint8Array[]): void => {
    // If saving a snapshot fails, nothing is lost, because the journal holds everything.
    keepSnapshots(next, events)?.catch((err: unknown) =>
      log?.warn({ err, run: id }, "cannot save a snapshot of a run; loading the run will take longer"),
    );
    set(next);
  };

  return {
    ...observable,
    call,
    /** Applies new events from the store. Returns whether the run still exists. */
    catchUp: async (): Promise<boolean> => {
      if (isGone()) return false;
      const reading = (): Promise<State | undefined> =>
        readOn(store, key, state(), source, clock, (next, events) => {
          // Other servers wrote these events. So the head of the stored summary may have been made from another state
          // than `summarized`.
          summarized = undefined;
          takeIn(next, events);
        });
      const isThere = (await read(reading)) !== undefined;
      if (!isThere) forget();
      return isThere;
    },
    /**
     * Writes a change and applies it. Returns false if another server changed the run first, and then nothing is
     * written.
     */
    append: async (before: State, decision: Decision<unknown, Spec, Key>, turn?: Turn): Promise<boolean> => {
      const { state: after, ...change } = encodeChange(before, decision, source, clock.now(), summarized);
      const records = [...(decision.records ?? []), ...change.records];
      const written = { expectedVersion: before.version, ...change, records };
      if ((await (turn?.append(written) ?? store.append(key, written))) !== "appended") return false;
      if (change.summary !== undefined) summarized = after;
      takeIn(after, change.events);
      warnOfFormat(log, before, after);
      return true;
    },
  };
}

export function liveRun<Spec, Key extends InstanceKey>(
  ports: Ports<Spec, Key>,
  row: StoredRun,
  loaded: RunState<Spec, Key>,
) {
  type Decide<T> = (state: RunState<Spec, Key>) => Decision<T, Spec, Key>;
  type IsAnswered = () => boolean;
  const { store, log, clock, rows, onStale } = ports;
  const { id, key } = row;
  const { call, catchUp, append, ...observable } = followed(ports, row, loaded);
  const { state, isGone } = observable;
  /**
   * Whether another server changed the run during the last change. If so, the next change waits for its turn to write
   * before its first attempt.
   */
  let isContended = false;

  const attempt = async <T>(decide: Decide<T>, isAnswered: IsAnswered, turn?: Turn): Promise<Attempt<T>> => {
    const known = state();
    if (isGone() || (turn !== undefined && !(await catchUp()))) return gone;
    const before = state();
    if (turn !== undefined) isContended = before !== known;
    const look = rows?.look(before);
    if (look?.kind === "stale") return refusedAsStale(look.message, onStale);
    if (look?.kind === "changed") {
      const isWritten = await append(before, { events: look.events, value: null }, turn);
      if (isWritten && look.message !== "") log?.warn({ run: id }, look.message);
      return isWritten || (await catchUp()) ? { kind: "again" } : gone;
    }
    const decision = decide(before);
    const { events, value } = decision;
    if (events.length > 0 && (await append(before, decision, turn))) return { kind: "answer", value };
    // Either another server changed the run first, or there is nothing to write. In both cases the store is read,
    // because the state in memory may be outdated.
    if ((events.length > 0 || !isAnswered()) && !(await catchUp())) return gone;
    return events.length === 0 && state() === before ? { kind: "answer", value } : { kind: "again" };
  };

  const commit = <T>(decide: Decide<T>, isAnswered: IsAnswered): Promise<T | Gone | Refusal> =>
    untilAnswered((isFirst) =>
      isFirst && !isContended
        ? attempt(decide, isAnswered)
        : inStoresTurn(store, key, (turn) => attempt(decide, isAnswered, turn)),
    );

  const refresh = (): Promise<RefreshOutcome> =>
    call(async (isAnswered) => {
      if (isGone() || (!isAnswered() && !(await catchUp()))) return gone;
      const isSame = (rows?.look(state()) ?? { kind: "same" }).kind === "same";
      return isSame ? "fresh" : commit(() => ({ events: [], value: "fresh" }), isAnswered);
    });

  const { follow, tell } = createFollowers<RefreshOutcome>(clock, refresh, (onChange) => store.listen?.(key, onChange));
  observable.onChange(() => tell("fresh"));

  return {
    id,
    key,
    ...observable,
    /**
     * Calls a function after each change, like `onChange`, and also reads the changes of other servers from the store.
     * All callers share these readings.
     */
    follow,
    /** Applies changes that other servers have written, and changes of the rows in this server's data pools. */
    refresh,
    /**
     * Calls `decide` with the newest state, writes its events, applies them, and returns its value. Changes of a run
     * are made one at a time. `decide` must be pure, because it is called again if another server changed the run
     * first.
     */
    commit: <T>(decide: Decide<T>): Promise<T | Gone | Refusal> => call((isAnswered) => commit(decide, isAnswered)),
  };
}
