/** Runs work of more than about 0.3 ms in threads, off the event loop, and schedules it. */
import { setFlagsFromString } from "node:v8";
import { Piscina } from "piscina";
import type { Config } from "../../runtime/config.ts";
import type { LevelCost, Slice, SliceDone } from "./make-slice.ts";
import { createScheduler, type Running, type Scheduler } from "./scheduler.ts";
import { createCosts, type SliceOutcome } from "./job-progress.ts";

export interface WorkerOptions {
  readonly threads: number;
  /** Maximum number of tasks that may wait for a thread, over all callers. */
  readonly queueMax: number;
  /** Maximum time of a task, in milliseconds, from its beginning. After that its worker is replaced. */
  readonly timeLimitMs: number;
  /** Modules of environments that are not Gradus's own. */
  readonly environmentFiles: readonly string[];
  /** Whether new workers make some tasks of each environment first. */
  readonly warmUp: boolean;
  /** Called with errors of a worker outside of an awaited slice, e.g. with a result after the time limit. */
  readonly onError: (error: Error) => void;
}

export interface WorkerPool extends Pick<Scheduler, "run" | "load"> {
  /** Resolves when every thread has started. Threads then warm up before they take work. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** Threads never stop when idle. Starting and warming up do not count towards a task's limit. */
const IDLE_TIMEOUT_NEVER = Number.POSITIVE_INFINITY;

/**
 * Nice value of the workers. On few cores it lets calls be answered before tasks are made: the event loop gets about
 * three times a worker's share of a contested core.
 */
const WORKERS_NICE = 5;

/** Opens the worker threads that a configuration asks for. */
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
  // A thread that is busy would take 64 MB of memory for its young objects. The main thread keeps the limit of its start,
  // which a thread's resourceLimits do not override.
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
  // The scheduler begins as many slices as there are threads, so each slice starts at once.
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
  // While a thread warms up, work waits in the queue, where no limit counts.
  const warm = options.warmUp ? each(warmUp) : [];
  for (const warming of warm) scheduler.occupy(warming);
  // Closing a pool before it has started or warmed up is not a failure.
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

/** Data with which a thread is started. */
export interface WorkerData {
  readonly environmentFiles: readonly string[];
}
