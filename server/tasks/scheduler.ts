/**
 * Shares worker threads between callers. Work is done in slices of a few milliseconds, or of one task where that takes
 * longer; who has more to do waits for a turn again, behind others. Tasks that are dear never have all of the threads, so
 * that cheap ones do not wait for them. None of this changes which task a seed has.
 */
import type { SearchProgress } from "../../envs/instances.ts";
import { fromColumns } from "./columns.ts";
import type { Costs, Kind } from "./costs.ts";
import { type FairQueue, fairQueue } from "./fair-queue.ts";
import type { JobSpec, Slice, SliceDone } from "./jobs.ts";
import type { MakeResult } from "./task.ts";

export interface MakeJob {
  readonly spec: JobSpec;
  readonly seeds: readonly bigint[];
  /** Whose share of the workers it comes out of. */
  readonly caller: string;
}

/** What a thread made of a slice. "timeout": it ran into the thread's limit, and the thread was replaced. */
export type SliceOutcome =
  ({ readonly kind: "done" } & SliceDone) | { readonly kind: "timeout"; readonly limitMs: number };

/** A slice that a thread is on. */
export interface Running {
  readonly outcome: Promise<SliceOutcome>;
  /** Resolves, after the outcome, when the thread can take another slice. Never rejects. */
  readonly free: Promise<void>;
}

export interface SchedulerOptions {
  readonly threads: number;
  /** Tasks that may wait; of one caller a quarter of them, of the dear and of the cheap ones each. */
  readonly queueMax: number;
  readonly costs: Costs;
  readonly begin: (slice: Slice) => Running;
}

export interface Scheduler {
  /** One result for each seed, in order. Rejects for a bug of the environment. */
  run(job: MakeJob, signal?: AbortSignal): Promise<readonly MakeResult[]>;
  /** Keeps one thread from work until a promise has settled. */
  occupy(until: Promise<unknown>): void;
  /** Tasks that wait, and slices that run. */
  load(): { readonly waiting: number; readonly running: number };
  /** Forgets what waits. */
  clear(): void;
}

/** How long a slice should take, milliseconds: long beside its messages, short beside what others may wait. */
const SLICE_MS = 10;
/** A slice that takes longer, for its tasks were dearer than those before, ends after so long. */
const SLICE_MS_MAX = 20;
const SLICE_TASKS_MAX = 256;
/** A task is dear if one thread's turn with it makes others wait longer than this, milliseconds of CPU. */
const CHEAP_MS_MAX = 25;
/** The part of the queue that one caller may fill. */
const CALLER_SHARE = 1 / 4;
/** What a waiting task costs that none is known of, milliseconds. */
const UNKNOWN_MS = 20;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 30_000;

interface Work {
  readonly job: MakeJob;
  readonly kind: Kind;
  /** By seed; undefined: not yet made. */
  readonly results: (MakeResult | undefined)[];
  /** Places of seeds that no thread is on, the first to be made next. */
  readonly pending: number[];
  /** How far those of them have come that were broken off, by place. */
  readonly progress: Map<number, SearchProgress>;
  /** One of its slices ran into the limit: from then on each task has a slice, so that it is known which one does. */
  alone: boolean;
  left: number;
  isQueued: boolean;
  settled: boolean;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

type Lane = FairQueue<Work>;

/** One is dear until it is known to be cheap: a custom set of parameters may be anything. */
function isDear({ meanMs, worstMs }: Kind): boolean {
  return meanMs === undefined || worstMs > CHEAP_MS_MAX;
}

/** Tasks for a slice of the usual length. */
function sliceSize({ kind, alone }: Pick<Work, "kind" | "alone">): number {
  if (alone || kind.meanMs === undefined) return 1;
  return Math.max(1, Math.min(SLICE_TASKS_MAX, Math.floor(SLICE_MS / kind.meanMs)));
}

/** Takes out the places of the next slice, with the progress of the first: only the first one's can be gone on with. */
function takeSlice(work: Work): { readonly places: readonly number[]; readonly progress: SearchProgress | undefined } {
  const { pending } = work;
  const size = sliceSize(work);
  const begun = pending.findIndex((place, i) => i > 0 && i < size && work.progress.has(place));
  const places = pending.splice(0, begun < 0 ? size : begun);
  const progress = work.progress.get(places[0]!);
  work.progress.delete(places[0]!);
  return { places, progress };
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { threads, queueMax, costs, begin } = options;
  const cheap: Lane = fairQueue();
  const dear: Lane = fairQueue();
  const callerMax = Math.max(1, Math.ceil(queueMax * CALLER_SHARE));
  /** One thread is kept for cheap tasks, where there are several. */
  const dearMax = Math.max(1, threads - 1);
  let free = threads;
  let running = 0;
  let dearRunning = 0;
  let lastWasDear = false;

  const laneOf = (work: Work): Lane => (isDear(work.kind) ? dear : cheap);
  const enqueue = (work: Work): void => {
    if (work.isQueued || work.settled || work.pending.length === 0) return;
    work.isQueued = true;
    laneOf(work).add(work.job.caller, work, work.pending.length);
  };
  const leave = (work: Work): void => {
    for (const lane of [cheap, dear]) lane.remove(work.job.caller, work);
    work.isQueued = false;
  };

  /** With one thread, dear and cheap work take turns. */
  const pick = (): Work | undefined => {
    const dearMay =
      dear.waiting() > 0 && dearRunning < dearMax && !(threads === 1 && lastWasDear && cheap.waiting() > 0);
    return dearMay ? dear.next() : cheap.next();
  };

  const dispatch = (): void => {
    while (free > 0) {
      const work = pick();
      if (work === undefined) return;
      work.isQueued = false;
      start(work);
    }
  };

  const start = (work: Work): void => {
    const { job, kind } = work;
    const { places, progress } = takeSlice(work);
    const wasDear = isDear(kind);
    lastWasDear = wasDear;
    const lane = wasDear ? dear : cheap;
    const expectedMs = places.length * (kind.meanMs ?? UNKNOWN_MS);
    lane.charge(job.caller, expectedMs);
    enqueue(work);
    free--;
    running++;
    if (wasDear) dearRunning++;
    const seeds = places.map((place) => job.seeds[place]!);
    const going = begin({ spec: job.spec, seeds, progress, sliceMs: SLICE_MS_MAX });
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      free++;
      running--;
      if (wasDear) dearRunning--;
    };
    const finish = (outcome: SliceOutcome): void => {
      if (outcome.kind === "done") {
        release();
        lane.charge(job.caller, outcome.cpuMs - expectedMs);
      }
      takeIn(work, places, seeds, outcome);
    };
    const ended = going.outcome.then(finish).catch((error: unknown) => {
      leave(work);
      work.fail(error);
    });
    void ended.then(dispatch);
    void going.free.then(() => {
      release();
      dispatch();
    });
  };

  /** Puts down what a slice came to, and queues what is left of it before the rest. */
  const takeIn = (work: Work, places: readonly number[], seeds: readonly bigint[], outcome: SliceOutcome): void => {
    const wasDear = isDear(work.kind);
    let done = 0;
    if (outcome.kind === "timeout") {
      const { limitMs } = outcome;
      if (places.length === 1)
        work.results[places[done++]!] = { kind: "timeout", message: `making the task took longer than ${limitMs} ms` };
      else work.alone = true;
    } else {
      const { paused, cpuMs, results } = outcome;
      for (const result of fromColumns(work.job.spec, seeds, results)) work.results[places[done++]!] = result;
      // A search that was broken off is as dear as it was so far, at least.
      costs.took(work.kind, cpuMs, Math.max(1, done));
      if (paused !== undefined) {
        work.kind.worstMs = Math.max(work.kind.worstMs, 2 * CHEAP_MS_MAX);
        work.progress.set(places[done]!, paused);
        lastWasDear = true;
      }
    }
    work.left -= done;
    // It is queued anew at its size.
    leave(work);
    work.pending.unshift(...places.slice(done));
    if (work.left === 0) work.settle();
    else enqueue(work);
    if (isDear(work.kind) !== wasDear) changeLanes(work.kind);
  };

  const changeLanes = (kind: Kind): void => {
    for (const lane of [cheap, dear]) {
      for (const work of lane.removeWhere((each) => each.kind === kind)) {
        work.isQueued = false;
        enqueue(work);
      }
    }
  };

  /** How many more tasks of a caller may wait. */
  const roomFor = (work: Work): number => {
    const lane = laneOf(work);
    return Math.max(
      0,
      Math.min(callerMax - lane.waiting(work.job.caller), queueMax - cheap.waiting() - dear.waiting()),
    );
  };

  return {
    run(job, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly MakeResult[]>();
      const cancelled: MakeResult = { kind: "cancelled" };
      if (signal?.aborted === true) return Promise.resolve(job.seeds.map(() => cancelled));
      const close = (): boolean => {
        const wasOpen = !work.settled;
        work.settled = true;
        signal?.removeEventListener("abort", abandon);
        return wasOpen;
      };
      const settle = (): void => {
        if (close()) resolve(work.results.map((result) => result ?? cancelled));
      };
      const abandon = (): void => {
        leave(work);
        settle();
      };
      const fail = (error: unknown): void => {
        if (close()) reject(error instanceof Error ? error : new Error(String(error)));
      };
      const { seeds } = job;
      const kind = costs.of(job.spec);
      const work: Work = {
        ...{ job, kind, pending: [], progress: new Map(), alone: false, left: seeds.length, isQueued: false },
        ...{ results: seeds.map(() => undefined), settled: false, settle, fail },
      };
      // A thread that is free takes what waits for none.
      const room = roomFor(work) + (free > 0 ? sliceSize(work) : 0);
      for (let i = 0; i < seeds.length; i++) {
        if (i < room) work.pending.push(i);
        else work.results[i] = overloaded(kind, laneOf(work).waiting(job.caller));
      }
      work.left = work.pending.length;
      signal?.addEventListener("abort", abandon, { once: true });
      if (work.left === 0) settle();
      enqueue(work);
      dispatch();
      return promise;
    },
    occupy(until) {
      free--;
      const release = (): void => {
        free++;
        dispatch();
      };
      until.then(release, release);
    },
    load: () => ({ waiting: cheap.waiting() + dear.waiting(), running }),
    clear() {
      for (const lane of [cheap, dear])
        for (const work of lane.removeWhere(() => true)) {
          work.isQueued = false;
          work.settle();
        }
    },
  };
}

/** When there may be room again: when about what waits of the caller is made. */
function overloaded({ meanMs = UNKNOWN_MS }: Kind, waiting: number): MakeResult {
  const retryDelayMs = Math.ceil(Math.max(RETRY_MS_MIN, Math.min(RETRY_MS_MAX, waiting * meanMs)));
  return { kind: "overloaded", retryDelayMs };
}
