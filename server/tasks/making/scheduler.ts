/**
 * Shares worker threads between callers. Work runs in slices of a few milliseconds, or of one task if that takes
 * longer. After a slice, a caller with more work waits behind the other callers. Expensive tasks never get all threads,
 * so that cheap ones do not wait for them. Scheduling never changes which task a seed gives.
 */
import { type FairQueue, fairQueue } from "../../base/fair-queue.ts";
import type { Slice } from "./make-slice.ts";
import type { MakeResult } from "../task.ts";
import {
  type Costs,
  type Kind,
  type MakeJob,
  type SliceOutcome,
  sliceSize,
  takeIn,
  takeTurn,
  type Work,
} from "./job-progress.ts";

/** Slice, i.e. a few milliseconds of work, that a worker thread is running. */
export interface Running {
  readonly outcome: Promise<SliceOutcome>;
  /** Resolves when the thread can run another slice. It never rejects. */
  readonly free: Promise<void>;
}

export interface SchedulerOptions {
  readonly threads: number;
  /** Maximum number of waiting tasks. Expensive and cheap tasks of one caller may each take a quarter of it. */
  readonly queueMax: number;
  readonly costs: Costs;
  readonly begin: (slice: Slice) => Running;
}

export interface Scheduler {
  /** Makes a task for each seed and returns the results in order. Rejects if the environment has a bug. */
  run(job: MakeJob, signal?: AbortSignal): Promise<readonly MakeResult[]>;
  /** Gives one thread no work until the promise has settled. */
  occupy(until: Promise<unknown>): void;
  /** Returns the number of waiting tasks and of running slices. */
  load(): { readonly waiting: number; readonly running: number };
  /** Ends all calls with waiting tasks. Tasks that are not made yet count as cancelled. */
  clear(): void;
}

/** Maximum duration of a slice, in milliseconds. The worker stops there if tasks take longer than estimated. */
const SLICE_MS_MAX = 20;
/**
 * Maximum CPU time of a task, in milliseconds, that counts as cheap. More expensive ones would keep other callers
 * waiting too long.
 */
const CHEAP_MS_MAX = 25;
/** Share of the queue that one caller may fill. */
const CALLER_SHARE = 1 / 4;
/** Assumed cost, in milliseconds, of a waiting task whose cost is not known. */
const UNKNOWN_MS = 20;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 30_000;

/**
 * Returns whether tasks of this kind (environment and parameters) are expensive. A kind that was never made counts as
 * expensive.
 */
function isDear({ leastMs, recentMs }: Kind): boolean {
  return leastMs === undefined || recentMs > CHEAP_MS_MAX;
}

/** Returns two queues of waiting work: one for cheap tasks, and one for expensive tasks. */
function createLanes() {
  const cheap = fairQueue<Work>();
  const dear = fairQueue<Work>();
  const both = [cheap, dear];
  const of = ({ kind }: Work): FairQueue<Work> => (isDear(kind) ? dear : cheap);
  const add = (work: Work): void => {
    if (work.isQueued || work.settled || work.pending.length === 0) return;
    work.isQueued = true;
    of(work).add(work.job.caller, work, work.pending.length);
  };
  const takeWhere = (test: (work: Work) => boolean): readonly Work[] => {
    const taken = both.flatMap((lane) => lane.removeWhere(test));
    for (const work of taken) work.isQueued = false;
    return taken;
  };
  return {
    cheap,
    dear,
    of,
    add,
    takeWhere,
    waiting: () => cheap.waiting() + dear.waiting(),
    leave(work: Work): void {
      for (const lane of both) lane.remove(work.job.caller, work);
      work.isQueued = false;
    },
    /** Moves all work of a kind to the other queue, after the kind has become cheap or expensive. */
    move(kind: Kind): void {
      for (const work of takeWhere((each) => each.kind === kind)) add(work);
    },
  };
}

type Lanes = ReturnType<typeof createLanes>;

/**
 * Returns an object that counts free threads and chooses their work. If there are several threads, one is kept for
 * cheap tasks. If there is one, expensive and cheap tasks take turns.
 */
function createThreads(count: number, { cheap, dear }: Lanes) {
  const dearMax = Math.max(1, count - 1);
  let free = count;
  let running = 0;
  let dearRunning = 0;
  let lastWasDear = false;
  return {
    free: () => free,
    running: () => running,
    /** Returns the next work for a free thread. Undefined: no thread is free, or no work may start now. */
    next(): Work | undefined {
      if (free === 0) return undefined;
      const mustWait = dearRunning >= dearMax || (count === 1 && lastWasDear && cheap.waiting() > 0);
      return dear.waiting() > 0 && !mustWait ? dear.next() : cheap.next();
    },
    /**
     * Takes a thread, either for work or to keep it from work. Returns a function that gives the thread back; calling
     * it again has no effect.
     */
    take(work?: { readonly wasDear: boolean }): () => void {
      const isDearWork = work?.wasDear === true;
      const change = (by: 1 | -1): void => {
        free -= by;
        if (work !== undefined) running += by;
        if (isDearWork) dearRunning += by;
      };
      change(1);
      lastWasDear = isDearWork;
      let held = true;
      return () => {
        if (held) change(-1);
        held = false;
      };
    },
  };
}

export function createScheduler({ threads: count, queueMax, costs, begin }: SchedulerOptions): Scheduler {
  const lanes = createLanes();
  const threads = createThreads(count, lanes);
  const callerMax = Math.max(1, Math.ceil(queueMax * CALLER_SHARE));

  const dispatch = (): void => {
    for (let work = threads.next(); work !== undefined; work = threads.next()) start(work);
  };

  const start = (work: Work): void => {
    const { job, kind } = work;
    work.isQueued = false;
    const wasDear = isDear(kind);
    const lane = lanes.of(work);
    const turn = takeTurn(work);
    const { seeds } = turn;
    const expectedMs = seeds.length * (kind.leastMs ?? UNKNOWN_MS);
    lane.charge(job.caller, expectedMs);
    lanes.add(work);
    const release = threads.take({ wasDear });
    const going = begin({ spec: job.spec, seeds, progress: turn.begun?.progress, sliceMs: SLICE_MS_MAX });
    const finish = (outcome: SliceOutcome): void => {
      // After a timeout the thread is released only when a new worker has replaced the one that took too long.
      if (outcome.kind === "done") release();
      const tookMs = outcome.kind === "done" ? outcome.cpuMs : outcome.limitMs;
      lane.charge(job.caller, tookMs - expectedMs);
      takeIn(work, costs, turn, outcome);
      // The work leaves the queue and is added again, because its number of tasks has changed.
      lanes.leave(work);
      if (work.left === 0) work.settle();
      lanes.add(work);
      if (isDear(kind) !== wasDear) lanes.move(kind);
    };
    const failed = (error: unknown): void => {
      lanes.leave(work);
      work.fail(error);
    };
    void going.outcome.then(finish).catch(failed).then(dispatch);
    void going.free.then(release).then(dispatch);
  };

  /**
   * Returns how many tasks of a new call are accepted: as many as may wait for this caller and in total. If a thread is
   * free, as many tasks more are accepted as a thread makes in one slice, i.e. in a few milliseconds.
   */
  const roomFor = (work: Work): number => {
    const left = Math.min(callerMax - lanes.of(work).waiting(work.job.caller), queueMax - lanes.waiting());
    return Math.max(0, left) + (threads.free() > 0 ? sliceSize(work) : 0);
  };

  return {
    run(job, signal) {
      if (signal?.aborted === true) return Promise.resolve(job.seeds.map(() => CANCELLED));
      const leave = (left: Work): void => lanes.leave(left);
      const { work, promise } = createWork(job, costs.of(job.spec), signal, leave);
      admit(work, roomFor(work), lanes.of(work).waiting(job.caller));
      lanes.add(work);
      dispatch();
      return promise;
    },
    occupy(until) {
      const release = threads.take();
      const freed = (): void => {
        release();
        dispatch();
      };
      until.then(freed, freed);
    },
    load: () => ({ waiting: lanes.waiting(), running: threads.running() }),
    clear() {
      for (const work of lanes.takeWhere(() => true)) work.settle();
    },
  };
}

const CANCELLED: MakeResult = { kind: "cancelled" };

/** Returns the progress of a new call, which has no accepted tasks yet, and the promise of the call's results. */
function createWork(job: MakeJob, kind: Kind, signal: AbortSignal | undefined, leave: (work: Work) => void) {
  const { promise, resolve, reject } = Promise.withResolvers<readonly MakeResult[]>();
  const close = (): boolean => {
    const wasOpen = !work.settled;
    work.settled = true;
    signal?.removeEventListener("abort", abandon);
    return wasOpen;
  };
  const abandon = (): void => {
    leave(work);
    work.settle();
  };
  const work: Work = {
    job,
    kind,
    pending: [],
    begun: new Map(),
    alone: false,
    left: job.seeds.length,
    results: job.seeds.map(() => undefined),
    isQueued: false,
    settled: false,
    settle: () => {
      if (close()) resolve(work.results.map((result) => result ?? CANCELLED));
    },
    fail: (error) => {
      if (close()) reject(error instanceof Error ? error : new Error(String(error)));
    },
  };
  signal?.addEventListener("abort", abandon);
  return { work, promise };
}

/** Accepts as many tasks as there is room for. The others get the result "overloaded". */
function admit(work: Work, room: number, waiting: number): void {
  const retry = overloaded(work.kind, waiting);
  for (let i = 0; i < work.job.seeds.length; i++)
    if (i < room) work.pending.push(i);
    else work.results[i] = retry;
  work.left = work.pending.length;
  if (work.left === 0) work.settle();
}

/**
 * Returns the result of a task that was not accepted. Its retry delay is about the time in which the caller's waiting
 * tasks are made.
 */
function overloaded({ leastMs = UNKNOWN_MS }: Kind, waiting: number): MakeResult {
  const retryDelayMs = Math.ceil(Math.max(RETRY_MS_MIN, Math.min(RETRY_MS_MAX, waiting * leastMs)));
  return { kind: "overloaded", retryDelayMs };
}
