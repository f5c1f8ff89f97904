/** Keeps work that takes longer than about 0.3 ms off the event loop: threads, and who may use them when. */
import { Piscina } from "piscina";
import type { LevelCost, Slice, SliceDone } from "./jobs.ts";
import { createScheduler, type Running, type Scheduler } from "./scheduler.ts";
import { createCosts, type SliceOutcome } from "./work.ts";

export interface WorkerOptions {
  readonly threads: number;
  /** Tasks that may wait for a thread, of all callers together. */
  readonly queueMax: number;
  /** How long a task may take, milliseconds, counted from when it begins. Its worker is then replaced. */
  readonly timeLimitMs: number;
  /** Modules of environments beside Gradus's own. */
  readonly environmentFiles: readonly string[];
  /** Whether new workers make some tasks of each environment first. */
  readonly warmUp: boolean;
  /** Told what goes wrong in a worker outside of any slice that is waited for, e.g. an answer that came after its limit. */
  readonly onError: (error: Error) => void;
}

export interface WorkerPool extends Pick<Scheduler, "run" | "load"> {
  /** Resolves when every thread has booted. Warming up goes on behind it, before any work that comes meanwhile. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** A worker that is being started may take its time: threads boot and warm up outside any task's limit. */
const IDLE_TIMEOUT_NEVER = Number.POSITIVE_INFINITY;

/**
 * Where cores are few, calls are answered before tasks are made: the event loop has some three times a worker's share of a
 * core that both want.
 */
const WORKERS_NICE = 5;

export function createWorkerPool(options: WorkerOptions): WorkerPool {
  const { threads: count, timeLimitMs, environmentFiles } = options;
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
  // The scheduler begins as many slices as there are threads, so each begins at once.
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
  // Work that comes while a thread warms up waits in the queue, where no limit counts.
  const warm = options.warmUp ? each(warmUp) : [];
  for (const warming of warm) scheduler.occupy(warming);
  // A pool that is closed before it has booted or warmed up is nobody's failure.
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

/** What a thread is started with. */
export interface WorkerData {
  readonly environmentFiles: readonly string[];
}
