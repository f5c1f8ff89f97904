/** Runs in memory: loaded when asked for, dropped when idle, removed from the store when they expire. */
import { notFound, type Refusal } from "../results.ts";
import { drawing, type Drawing } from "./drawing.ts";
import { feedbackQueue, type FeedbackQueue } from "./feedback-queue.ts";
import { readState } from "./journal.ts";
import { liveRun, type Gone, type LiveRun } from "./live-run.ts";
import type { Ports } from "./ports.ts";
import { watchTimeouts } from "./timeouts.ts";

/** How often expired runs are looked for. */
const SWEEP_MS = 30_000;
/** A run that nothing was asked of for this long leaves memory; the store has it all. */
const IDLE_MS = 10 * 60_000;
/** Expiry times in the store are put off at most this often, and are that much too late. */
const TOUCH_EVERY_MS = 60_000;

/** A run in memory with what works on it. */
export interface OpenRun {
  readonly run: LiveRun;
  readonly drawing: Drawing;
  readonly feedback: FeedbackQueue;
}

interface Entry extends OpenRun {
  askedAtMs: number;
  /** When its expiry was last put off in the store. */
  touchedAtMs: number;
  /** Calls that are working on it. */
  users: number;
  readonly stop: () => void;
}

type Loading = Promise<Entry | undefined>;

export interface Registry {
  /** Works on a run; where it turns out to be deleted, works once more on what its id is now. */
  withRun<T>(id: string, work: (open: OpenRun) => Promise<T | Gone>): Promise<T | Refusal>;
  /** Drops a run that was deleted. */
  forget(key: number): Promise<void>;
  /** Stops all timers. */
  close(): void;
}

function touchEveryMs(timeToLiveMs: number): number {
  return Math.min(TOUCH_EVERY_MS, timeToLiveMs / 4);
}

/** When a run that is asked for now expires in the store. */
export function expiryMs(nowMs: number, timeToLiveMs: number): number {
  return Math.ceil(nowMs + timeToLiveMs + touchEveryMs(timeToLiveMs));
}

async function load(ports: Ports, id: string): Loading {
  const { store, source, clock } = ports;
  const row = await store.find(id);
  const state = row && (await readState(store, row));
  if (row === undefined || state === undefined) return undefined;
  const run = liveRun(ports, row, state);
  const stop = watchTimeouts(run, ports);
  const parts = { run, drawing: drawing(run, source), feedback: feedbackQueue(run) };
  return { ...parts, stop, askedAtMs: clock.now(), touchedAtMs: -Infinity, users: 0 };
}

async function touch({ store, clock }: Ports, entry: Entry): Promise<void> {
  const { timeToLiveMs } = entry.run.state().config;
  const nowMs = clock.now();
  if (nowMs - entry.touchedAtMs < touchEveryMs(timeToLiveMs)) return;
  entry.touchedAtMs = nowMs;
  await store.touch(entry.run.key, expiryMs(nowMs, timeToLiveMs));
}

/** Loaded runs by id. */
function cache(ports: Ports) {
  const entries = new Map<string, Loading>();
  const drop = (id: string, loading: Loading, entry?: Entry): void => {
    entry?.stop();
    if (entries.get(id) === loading) entries.delete(id);
  };
  const loaded = async (): Promise<readonly { id: string; loading: Loading; entry: Entry }[]> => {
    const all = await Promise.all([...entries].map(async ([id, loading]) => ({ id, loading, entry: await loading })));
    return all.flatMap(({ id, loading, entry }) => (entry === undefined ? [] : [{ id, loading, entry }]));
  };
  return {
    /** Loads a run, or joins its loading; undefined: there is none. */
    get: async (id: string): Loading => {
      const loading = entries.get(id) ?? load(ports, id);
      entries.set(id, loading);
      const entry = await loading.catch((error: unknown) => {
        drop(id, loading);
        throw error;
      });
      // Of a deleted run nothing is kept, so that a later one of the same id is found.
      if (entry === undefined || entry.run.isGone()) drop(id, loading, entry);
      return entry;
    },
    dropWhere: async (which: (entry: Entry) => boolean): Promise<void> => {
      for (const { id, loading, entry } of await loaded()) if (which(entry)) drop(id, loading, entry);
    },
  };
}

export function createRegistry(ports: Ports): Registry {
  const { store, clock, log } = ports;
  const runs = cache(ports);
  let closed = false;
  let cancelSweep = (): void => undefined;

  const forget = (key: number): Promise<void> =>
    runs.dropWhere(({ run }) => {
      if (run.key === key) run.forget();
      return run.key === key;
    });
  const sweep = async (): Promise<void> => {
    const nowMs = clock.now();
    await runs.dropWhere(({ users, askedAtMs }) => users === 0 && nowMs - askedAtMs >= IDLE_MS);
    for (const key of await store.removeExpired(nowMs)) await forget(key);
  };
  const scheduleSweep = (): void => {
    if (closed) return;
    cancelSweep = clock.setTimer(SWEEP_MS, () => {
      const swept = sweep().catch((err: unknown) => log?.warn({ err }, "expired runs could not be looked for"));
      void swept.then(scheduleSweep);
    });
  };
  const work = async <T>(entry: Entry, task: (open: OpenRun) => Promise<T | Gone>): Promise<T | Gone> => {
    entry.users++;
    try {
      await touch(ports, entry);
      return await task(entry);
    } finally {
      entry.users--;
      entry.askedAtMs = clock.now();
    }
  };

  scheduleSweep();
  return {
    withRun: async (id, task) => {
      for (let tries = 0; tries < 2; tries++) {
        const entry = await runs.get(id);
        if (entry === undefined) break;
        const outcome = await work(entry, task);
        if (!isGone(outcome)) return outcome;
      }
      return notFound(id);
    },
    forget,
    close: () => {
      closed = true;
      cancelSweep();
      void runs.dropWhere(() => true);
    },
  };
}

function isGone<T>(outcome: T | Gone): outcome is Gone {
  return typeof outcome === "object" && outcome !== null && "kind" in outcome && outcome.kind === "gone";
}
