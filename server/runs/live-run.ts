/** One run in memory: its state, one queue for its changes, and the journal that each change is written to first. */
import type { Store, StoredRecord, StoredRun, Turn } from "../stores/store.ts";
import { formatWarning, malformedShare } from "../curriculum/malformed.ts";
import { isDone, type RunState } from "../curriculum/state.ts";
import type { InstanceKey, Refusal } from "../curriculum/types.ts";
import { createFollowers, type Follower } from "./followers.ts";
import { type Decided, encodeChange, readOn, snapshots } from "./journal.ts";
import type { Log } from "../base/log.ts";
import type { Ports } from "./dependencies.ts";

/**
 * How often a change is decided again because another process changed the run in between. Of a store that gives turns the second
 * attempt holds; where it gives none, one of sixteen writers is never quick enough so often in a row.
 */
const ATTEMPTS_MAX = 512;

/** What a change writes, and what it answers. */
export interface Decision<T, Spec, Key extends InstanceKey> extends Decided<Spec, Key> {
  /** What else goes to the history, before what the events write. */
  readonly records?: readonly StoredRecord[];
  readonly value: T;
}

/** The run was deleted; its id may by now be another run's. */
export interface Gone {
  readonly kind: "gone";
}

export const gone: Gone = Object.freeze({ kind: "gone" });

/** "fresh": the run in memory is as the store has it. */
export type Looked = "fresh" | Gone | Refusal;

/** What trying to commit once came to; "again": the state was an old one, and no longer is. */
type Attempt<T> = { readonly kind: "answer"; readonly value: T | Refusal } | { readonly kind: "again" } | Gone;

export interface LiveRun<Spec, Key extends InstanceKey> {
  readonly id: string;
  readonly key: number;
  state(): RunState<Spec, Key>;
  isGone(): boolean;
  /** Takes in what other processes have written, and the rows of this server's pools. */
  refresh(): Promise<Looked>;
  /**
   * Decides on the newest state, writes the events, and only then takes them in and answers. Changes of a run are made
   * one after the other. `decide` must be pure: it is called again when another process was quicker.
   */
  commit<T>(decide: (state: RunState<Spec, Key>) => Decision<T, Spec, Key>): Promise<T | Gone | Refusal>;
  /** Calls back after each change, and when the run is gone; what it returns ends that. */
  onChange(callback: () => void): () => void;
  /** As `onChange`, and meanwhile the store is read for changes of other processes, once for all who follow. */
  follow(follower: Follower<Looked>): () => void;
  /** Marks the run as deleted. */
  forget(): void;
}

/** The state, and who wants to hear of its changes. */
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
    forget: (): void => {
      deleted = true;
      notify();
    },
    onChange: (callback: () => void) => {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
  };
}

/** A queue that does one job at a time, in order. A job that fails fails alone. */
export function serial(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const turn = last.then(job);
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** Works while nobody else writes to a run, where its store has turns. */
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

/** Logs a warning when nearly all samples of a run begin to be malformed. */
function warnOfFormat(log: Log | undefined, before: RunState, after: RunState): void {
  const [was, is] = [before, after].map((state) => formatWarning(malformedShare(state.malformed, isDone(state))));
  if (was === undefined && is !== undefined) log?.warn({ run: after.runId, ...is }, MALFORMED);
}

/**
 * Works for one call after the other. A read of the store that began when other calls had been made already is also theirs:
 * `isAnswered` says so, and they read nothing themselves.
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

/** A run's state, which follows its journal in the store. */
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
    // Nothing is lost where this fails: the journal has it all.
    keepSnapshots(next, events)?.catch((err: unknown) => log?.warn({ err, run: id }, "a snapshot was not saved"));
    set(next);
  };

  return {
    ...observable,
    call,
    /** Whether the run is still there. */
    catchUp: async (): Promise<boolean> => {
      if (isGone()) return false;
      const reading = (): Promise<State | undefined> =>
        readOn(store, key, state(), source, clock, (next, events) => {
          // Others wrote, and maybe another head.
          summarized = undefined;
          takeIn(next, events);
        });
      const isThere = (await read(reading)) !== undefined;
      if (!isThere) forget();
      return isThere;
    },
    /** Whether it was written: nobody else had been quicker. */
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
): LiveRun<Spec, Key> {
  type Decide<T> = (state: RunState<Spec, Key>) => Decision<T, Spec, Key>;
  type IsAnswered = () => boolean;
  const { store, log, clock, rows, onStale } = ports;
  const { id, key } = row;
  const { call, catchUp, append, ...observable } = followed(ports, row, loaded);
  const { state, isGone } = observable;
  /** Others wrote when this process did: the next change waits for its turn at once. */
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
    // Another process wrote meanwhile; or there is nothing to write, and so nothing that would show the state to be old.
    if ((events.length > 0 || !isAnswered()) && !(await catchUp())) return gone;
    return events.length === 0 && state() === before ? { kind: "answer", value } : { kind: "again" };
  };

  const commit = <T>(decide: Decide<T>, isAnswered: IsAnswered): Promise<T | Gone | Refusal> =>
    untilAnswered((isFirst) =>
      isFirst && !isContended
        ? attempt(decide, isAnswered)
        : inStoresTurn(store, key, (turn) => attempt(decide, isAnswered, turn)),
    );

  const refresh = (): Promise<Looked> =>
    call(async (isAnswered) => {
      if (isGone() || (!isAnswered() && !(await catchUp()))) return gone;
      const isSame = (rows?.look(state()) ?? { kind: "same" }).kind === "same";
      return isSame ? "fresh" : commit(() => ({ events: [], value: "fresh" }), isAnswered);
    });

  const { follow, tell } = createFollowers<Looked>(clock, refresh, (onChange) => store.listen?.(key, onChange));
  observable.onChange(() => tell("fresh"));

  return {
    id,
    key,
    ...observable,
    follow,
    refresh,
    commit: (decide) => call((isAnswered) => commit(decide, isAnswered)),
  };
}
