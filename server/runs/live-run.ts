/** A run in memory: its state, one queue for its changes, and its journal, to which each change is written first. */
import type { Store, StoredRecord, StoredRun, Turn } from "../stores/store.ts";
import { formatWarning, malformedShare } from "../curriculum/malformed-samples.ts";
import { isDone, type RunState } from "../curriculum/state.ts";
import type { InstanceKey, Refusal } from "../curriculum/types.ts";
import { createFollowers } from "./followers.ts";
import { type Decided, encodeChange, readOn, snapshots } from "./journal.ts";
import type { Log } from "../base/log.ts";
import type { Ports } from "./dependencies.ts";

/**
 * Maximum number of decisions on one change. It is decided again if another process changed the run in between. If the
 * store has turns, the second attempt succeeds. Without turns, one of sixteen writers never loses so often in
 * succession.
 */
const ATTEMPTS_MAX = 512;

/** Events that a change writes, and its result. */
export interface Decision<T, Spec, Key extends InstanceKey> extends Decided<Spec, Key> {
  /** Further history records, before those of the events. */
  readonly records?: readonly StoredRecord[];
  readonly value: T;
}

/** The run was deleted. Another run may have its id by now. */
export interface Gone {
  readonly kind: "gone";
}

export const gone: Gone = Object.freeze({ kind: "gone" });

/** Outcome of updating a run from its store. "fresh": the run in memory equals the one in the store. */
export type RefreshOutcome = "fresh" | Gone | Refusal;

/** Outcome of one attempt to commit. "again": the state was outdated and has been updated. */
type Attempt<T> = { readonly kind: "answer"; readonly value: T | Refusal } | { readonly kind: "again" } | Gone;

/** A run in memory. */
export type LiveRun<Spec, Key extends InstanceKey> = ReturnType<typeof liveRun<Spec, Key>>;

/** Returns a holder of the state that notifies its observers of changes. */
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
    /** Calls `callback` after each change, and when the run is gone. Returns a function that ends the calls. */
    onChange: (callback: () => void) => {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
  };
}

/** Returns a queue that runs one job at a time, in order. A failed job does not affect the others. */
export function serial(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const turn = last.then(job);
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** Works while no other process writes to a run, if its store has turns. */
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

/** Logs a warning when nearly all samples of a run have become malformed. */
function warnOfFormat(log: Log | undefined, before: RunState, after: RunState): void {
  const [was, is] = [before, after].map((state) => formatWarning(malformedShare(state.malformed, isDone(state))));
  if (was === undefined && is !== undefined) log?.warn({ run: after.runId, ...is }, MALFORMED);
}

/**
 * Runs the work of calls one after the other. If a reading of the store began after other calls were made, it serves
 * them too: `isAnswered` returns true for them, and they read nothing.
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

/** Returns a run's state, which follows the journal in the store. */
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
    // Nothing is lost if this fails, because the journal holds everything.
    keepSnapshots(next, events)?.catch((err: unknown) =>
      log?.warn({ err, run: id }, "cannot save a snapshot of a run: loading it reads more of its journal"),
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
          // Other processes wrote events, and may have written another head.
          summarized = undefined;
          takeIn(next, events);
        });
      const isThere = (await read(reading)) !== undefined;
      if (!isThere) forget();
      return isThere;
    },
    /** Returns whether the change was written. False: another process wrote first. */
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
  /** Whether another process wrote at the same time. The next change then waits for its turn at once. */
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
    // Another process wrote first; or there is nothing to write, and so no write that would show an outdated state.
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
    /** Like `onChange`, and reads the store for changes of other processes, once for all followers. */
    follow,
    /** Applies what other processes have written, and the rows of this server's pools. */
    refresh,
    /**
     * Decides on the newest state, writes the events, and only then applies them and returns. Changes of a run are made
     * one at a time. `decide` must be pure, because it is called again if another process wrote first.
     */
    commit: <T>(decide: Decide<T>): Promise<T | Gone | Refusal> => call((isAnswered) => commit(decide, isAnswered)),
  };
}
