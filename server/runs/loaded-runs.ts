/**
 * Keeps runs in memory. They are loaded when requested, dropped when idle, and removed from the store when they expire.
 */
import { nextTimeoutAtMs, timedOut } from "../curriculum/feedback.ts";
import type { RunEvent } from "../curriculum/events.ts";
import type { RunState } from "../curriculum/state.ts";
import { type InstanceKey, notFound, ok, type Refusal, type Result } from "../curriculum/types.ts";
import { createDamages, type Damages } from "./damaged-runs.ts";
import { keptMs, sweepExpired } from "./expiry.ts";
import { drawing, type Drawing } from "./drawing.ts";
import { readState } from "./journal.ts";
import { liveRun, type Gone, type LiveRun } from "./live-run.ts";
import { createMasks, type Masks } from "./masks.ts";
import type { Ports } from "./dependencies.ts";

/** Delay before a retry after the store failed, in milliseconds. */
const RETRY_MS = 1000;

/** Closes groups of a run when they time out. Returns a function that stops this. */
function watchTimeouts<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  { clock, log }: Ports<Spec, Key>,
): () => void {
  let dueAtMs: number | undefined;
  let cancel = (): void => undefined;
  let ended = false;

  const schedule = (atMs: number | undefined): void => {
    // Closing groups changes the run, and each change calls this function again.
    if (ended || atMs === dueAtMs) return;
    cancel();
    cancel = (): void => undefined;
    dueAtMs = atMs;
    if (atMs !== undefined) cancel = clock.setTimer(Math.max(0, atMs - clock.now()), () => void close());
  };
  const look = (): void => schedule(run.isGone() ? undefined : nextTimeoutAtMs(run.state()));
  const close = async (): Promise<void> => {
    try {
      const refused = await run.commit((state) => {
        const cursors = timedOut(state, clock.now());
        const event = { kind: "closed", cursors, reason: "timeout", cause: "" } as const;
        return { events: cursors.length > 0 ? [event] : [], value: null };
      });
      dueAtMs = undefined;
      if (refused === null) look();
      else schedule(clock.now() + RETRY_MS);
    } catch (err) {
      log?.warn({ err, run: run.id }, "cannot close groups that timed out: trying again");
      schedule(clock.now() + RETRY_MS);
    }
  };

  const unsubscribe = run.onChange(look);
  look();
  return () => {
    ended = true;
    unsubscribe();
    cancel();
  };
}

/** Time without requests, in milliseconds, after which a run is dropped from memory. The store still has it. */
const IDLE_MS = 10 * 60_000;

/** Run in memory, with the functions that draw its update batches. */
export interface OpenRun<Spec, Key extends InstanceKey> {
  readonly run: LiveRun<Spec, Key>;
  readonly drawing: Drawing<Spec, Key>;
}

interface Entry<Spec, Key extends InstanceKey> extends OpenRun<Spec, Key> {
  askedAtMs: number;
  /** Whether the run had a request since its time to live was last extended in the store. */
  isAsked: boolean;
  /** Number of calls that use the run now. */
  users: number;
  readonly stop: () => void;
}

/** Facts that this server keeps in memory only: which external resources are down, and which runs are damaged. */
interface Marks {
  readonly masks: Masks;
  readonly damages: Damages;
}

/** All runs in memory, and operations on them. */
export type Registry<Spec, Key extends InstanceKey> = ReturnType<typeof createRegistry<Spec, Key>>;

async function load<Spec, Key extends InstanceKey>(
  ports: Ports<Spec, Key>,
  { masks, damages }: Marks,
  id: string,
): Promise<Entry<Spec, Key> | undefined> {
  const { store, source, clock } = ports;
  const row = await store.find(id);
  const state = row && (await readState(store, row, source, clock));
  damages.forget(id);
  if (row === undefined || state === undefined) return undefined;
  const run = liveRun(ports, row, state);
  await Promise.all([touch(ports, run), masks.bring(run)]);
  const endTimeouts = watchTimeouts(run, ports);
  const draws = drawing(run, ports);
  const stop = (): void => {
    endTimeouts();
    draws.stop();
  };
  return { run, drawing: draws, stop, askedAtMs: clock.now(), isAsked: false, users: 0 };
}

/** Extends a run's time to live in the store, because the run was requested. */
function touch<Spec, Key extends InstanceKey>({ store }: Ports<Spec, Key>, run: LiveRun<Spec, Key>): Promise<void> {
  return store.touch(run.key, keptMs(run.state().config.timeToLiveMs));
}

/** Returns a cache of loaded runs by id. */
function cache<Spec, Key extends InstanceKey>(ports: Ports<Spec, Key>, marks: Marks) {
  type Run = Entry<Spec, Key>;
  const entries = new Map<string, Promise<Run | undefined>>();
  const drop = (id: string, loading: Promise<Run | undefined>, entry?: Run): void => {
    entry?.stop();
    if (entries.get(id) === loading) entries.delete(id);
  };
  const loaded = async (): Promise<readonly Run[]> => {
    const all = await Promise.all([...entries.values()].map((loading) => loading.catch(() => undefined)));
    return all.filter((entry) => entry !== undefined);
  };
  return {
    /**
     * Returns a run, which is loaded if it is not in memory. If it is being loaded, waits for that. Undefined: the run
     * does not exist.
     */
    get: async (id: string): Promise<Run | undefined> => {
      for (;;) {
        const joined = entries.get(id);
        const loading = joined ?? load(ports, marks, id);
        entries.set(id, loading);
        const entry = await loading.catch((error: unknown) => {
          drop(id, loading);
          throw error;
        });
        if (entry !== undefined && !entry.run.isGone()) return entry;
        // The run was deleted. If another run has its id by now, the next iteration loads that run.
        drop(id, loading, entry);
        // A load that was already in progress may have begun before the run was created. A call that joined such a load
        // tries again.
        if (entry === undefined && joined === undefined) return undefined;
      }
    },
    peek: async (id: string): Promise<LiveRun<Spec, Key> | undefined> =>
      (await entries.get(id)?.catch(() => undefined))?.run,
    dropWhere: async (which: (entry: Run) => boolean): Promise<void> => {
      for (const [id, loading] of [...entries]) {
        const entry = await loading.catch(() => undefined);
        if (entry !== undefined && which(entry)) drop(id, loading, entry);
      }
    },
    loaded,
  };
}

export function createRegistry<Spec, Key extends InstanceKey>(ports: Ports<Spec, Key>) {
  const { clock, log, store } = ports;
  const masks = createMasks(ports);
  const damages = createDamages(store, log);
  const runs = cache(ports, { masks, damages });

  /** Drops a deleted run from memory. */
  const forget = (key: number): Promise<void> =>
    runs.dropWhere(({ run }) => {
      if (run.key === key) run.forget();
      return run.key === key;
    });
  /**
   * Extends the time to live of runs that had requests, tries again to mask arms for which that failed, and drops idle
   * runs from memory.
   */
  const onSweep = async (): Promise<void> => {
    const all = await runs.loaded();
    for (const entry of all.filter(({ isAsked, users }) => isAsked || users > 0)) {
      await touch(ports, entry.run);
      entry.isAsked = false;
    }
    await masks.retry(all.map(({ run }) => run));
    await damages.sweep();
    const nowMs = clock.now();
    await runs.dropWhere(({ users, askedAtMs }) => users === 0 && nowMs - askedAtMs >= IDLE_MS);
  };
  const work = async <T>(
    entry: Entry<Spec, Key>,
    task: (open: OpenRun<Spec, Key>) => Promise<T | Gone>,
  ): Promise<T | Gone> => {
    entry.users++;
    try {
      return await task(entry);
    } finally {
      entry.users--;
      entry.askedAtMs = clock.now();
      entry.isAsked = true;
    }
  };

  const endSweeps = sweepExpired(ports, onSweep, forget);
  return {
    /**
     * Calls `task` with a run. If the run turns out to be deleted, it calls `task` once more with the run that has the
     * id now.
     */
    withRun: async <T>(id: string, task: (open: OpenRun<Spec, Key>) => Promise<T | Gone>): Promise<T | Refusal> => {
      try {
        for (let tries = 0; tries < 2; tries++) {
          const entry = await runs.get(id);
          if (entry === undefined) break;
          const outcome = await work(entry, task);
          if (!isGone(outcome)) return outcome;
        }
      } catch (error) {
        return damages.refusal(id, error);
      }
      return notFound(id);
    },
    damages,
    /**
     * Returns the run with this id if it is in memory. This does not count as a request, so the run may still be
     * dropped as idle.
     */
    inMemory: runs.peek,
    /** Returns at most `limit` runs in memory, the most recently requested first. This does not count as a request. */
    recent: async (limit: number) => {
      const all = (await runs.loaded()).filter(({ run }) => !run.isGone());
      all.sort((a, b) => b.askedAtMs - a.askedAtMs || (a.run.id < b.run.id ? -1 : 1));
      return all.slice(0, limit).map(({ run }) => run);
    },
    /**
     * Masks the arms that depend on an external resource, e.g. a judge, so that they are not drawn. This applies to all
     * runs in memory and to those loaded later. If `reason` is undefined, the resource is up again and the arms are
     * unmasked.
     */
    maskArms: (resource: string, reason: string | undefined) =>
      masks.set(resource, reason, async () => (await runs.loaded()).map(({ run }) => run)),
    forget,
    /** Stops all timers. */
    close: () => {
      endSweeps();
      void runs.dropWhere(() => true);
    },
  };
}

function isGone<T>(outcome: T | Gone): outcome is Gone {
  return typeof outcome === "object" && outcome !== null && "kind" in outcome && outcome.kind === "gone";
}

/** Calls `work` with a run. Returns its value or refusal, or a refusal if there is no such run. */
export function within<T, Spec, Key extends InstanceKey>(
  registry: Registry<Spec, Key>,
  runId: string,
  work: (open: OpenRun<Spec, Key>) => Promise<Result<T> | Gone>,
): Promise<Result<T>> {
  return registry.withRun<Result<T>>(runId, work);
}

/**
 * Calls `look` with the current state of a run, which includes changes of other servers. Returns its value or a
 * refusal.
 */
export function read<T, Spec, Key extends InstanceKey>(
  registry: Registry<Spec, Key>,
  runId: string,
  look: (state: RunState<Spec, Key>, open: OpenRun<Spec, Key>) => T | Promise<T>,
): Promise<Result<T>> {
  return within(registry, runId, async (open) => {
    const here = await open.run.refresh();
    return here === "fresh" ? ok(await look(open.run.state(), open)) : here;
  });
}

/** Returns the events of a change and the caller's result, or a refusal. */
type Decide<T, Spec, Key extends InstanceKey> = (
  state: RunState<Spec, Key>,
) => { readonly events: readonly RunEvent<Spec, Key>[]; readonly value: T } | Refusal;

/**
 * Changes a run. `by` is the name of the caller's token. With `validateOnly`, nothing is written, and the result is the
 * same as if the change were made.
 */
export async function change<T, Spec, Key extends InstanceKey>(
  registry: Registry<Spec, Key>,
  runId: string,
  decide: Decide<T, Spec, Key>,
  by?: string,
  validateOnly = false,
): Promise<Result<T>> {
  if (validateOnly) {
    const decided = await read(registry, runId, decide);
    if (decided.kind !== "ok") return decided;
    return "kind" in decided.value ? decided.value : ok(decided.value.value);
  }
  return within(registry, runId, ({ run }) =>
    run.commit<Result<T>>((state) => {
      const decision = decide(state);
      return "kind" in decision ? { events: [], value: decision } : { ...decision, by, value: ok(decision.value) };
    }),
  );
}
