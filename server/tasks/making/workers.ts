/** Runs work that takes more than about 0.3 ms in worker threads, so that the event loop stays free. */
import { setFlagsFromString } from "node:v8";
import { Piscina } from "piscina";
import type { Config } from "../../runtime/config.ts";
import type { LevelCost, Slice, SliceDone } from "./make-slice.ts";
import { createScheduler, type Running, type Scheduler } from "./scheduler.ts";
import { createCosts, type SliceOutcome } from "./job-progress.ts";

export interface WorkerOptions {
  readonly threads: number;
  /** Maximum number of tasks that may wait for a thread, of all callers together. */
  readonly queueMax: number;
  /** Maximum time of a task in milliseconds, after which its worker is replaced. */
  readonly timeLimitMs: number;
  /** Paths of modules with the operator's own environments. */
  readonly environmentFiles: readonly string[];
  /** Whether each new worker first makes some tasks of each environment, so that its code is compiled. */
  readonly warmUp: boolean;
  /** Called with a worker's error that no call waits for, e.g. one after the time limit. */
  readonly onError: (error: Error) => void;
}

export interface WorkerPool extends Pick<Scheduler, "run" | "load"> {
  /** Resolves when every thread has started. Threads then still warm up before they take work. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/**
 * Idle time after which a worker thread stops: never. The time to start it again would count towards a task's time
 * limit.
 */
const IDLE_TIMEOUT_NEVER = Number.POSITIVE_INFINITY;

/**
 * Nice value of the worker threads. It lets the server answer calls before it makes tasks: on a busy core the event
 * loop gets about three times as much time as a worker.
 */
const WORKERS_NICE = 5;

/** Starts the worker threads that the server's configuration asks for. */
export const openWorkers = (
  { workers, limits, workerTimeLimitMs, environmentFiles }: WorkerConfig,
  rest: Pick<WorkerOptions, "warmUp" | "onError">,
): WorkerPool =>
  createWorkerPool({
    threads: workers,
    queueMax: limits.maxQueue,
    timeLimitMs: workerTimeLimitMs,
    environmentFiles,
    ...rest,
  });

type WorkerConfig = Pick<Config, "workers" | "workerTimeLimitMs" | "environmentFiles"> & {
  readonly limits: Pick<Config["limits"], "maxQueue">;
};

export function createWorkerPool(options: WorkerOptions): WorkerPool {
  const { threads: count, timeLimitMs, environmentFiles } = options;
  // Without this flag, a busy thread would take 64 MB for young objects. A thread's resourceLimits do not override this
  // limit of V8, and the main thread keeps the limit with which it started.
  setFlagsFromString("--max-semi-space-size=8");
  const threads = new Piscina<Slice, SliceDone>({
    filename: new URL("./worker.ts", import.meta.url).href,
    workerData: { environmentFiles } satisfies WorkerData,
    minThreads: count,
    maxThreads: count,
    idleTimeout: IDLE_TIMEOUT_NEVER,
    niceIncrement: WORKERS_NICE,
  });
  threads.on("error", options.onError);
  const onThread = (name: "ready" | "warmUp"): Promise<unknown> => threads.run(undefined as never, { name });
  const each = (work: () => Promise<unknown>): readonly Promise<unknown>[] => Array.from({ length: count }, work);

  const within = async (slice: Slice): Promise<SliceOutcome> => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeLimitMs);
    try {
      return { kind: "done", ...(await threads.run(slice, { signal: limit.signal })) };
    } catch (error) {
      if (limit.signal.aborted) return { kind: "timeout", limitMs: timeLimitMs };
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
  // The scheduler never begins more slices than there are threads, so each slice starts at once.
  const begin = (slice: Slice): Running => {
    const outcome = within(slice);
    const replaced = async (): Promise<void> => {
      if ((await outcome).kind === "timeout") await onThread("ready");
    };
    return { outcome, free: replaced().catch(() => undefined) };
  };

  const costs = createCosts();
  const scheduler = createScheduler({ threads: count, queueMax: options.queueMax, costs, begin });
  const ready = Promise.all(each(() => onThread("ready"))).then(() => undefined);
  const warmUp = async (): Promise<void> => {
    for (const level of (await onThread("warmUp")) as readonly LevelCost[]) costs.took(costs.of(level), level.cpuMs, 1);
  };
  // While threads warm up, they get no work. The waiting time does not count towards a task's time limit.
  const warm = options.warmUp ? each(warmUp) : [];
  for (const warming of warm) scheduler.occupy(warming);
  // If the pool is closed before its threads have started or warmed up, that is not an error.
  for (const starting of [ready, ...warm]) starting.catch(() => undefined);

  return {
    ready,
    run: (job, signal) => scheduler.run(job, signal),
    load: () => scheduler.load(),
    async close() {
      scheduler.clear();
      await threads.destroy();
    },
  };
}

export interface WorkerData {
  readonly environmentFiles: readonly string[];
}
