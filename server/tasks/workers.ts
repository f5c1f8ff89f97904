/** Keeps work that takes longer than about 0.3 ms off the event loop: a bounded queue before a pool of threads. */
import PQueue from "p-queue";
import { Piscina } from "piscina";
import type { AnswerFormat, Parameters, Split } from "../../envs/environment.ts";
import type { MakeResult } from "./task.ts";

export interface WorkerOptions {
  readonly threads: number;
  /** Jobs waiting, beyond those running. */
  readonly queueMax: number;
  /** How long a job may run, milliseconds, counted from when it begins. Its worker is then replaced. */
  readonly timeLimitMs: number;
  /** Modules of environments beside Gradus's own. */
  readonly environmentFiles: readonly string[];
  /** Whether new workers make some tasks of each environment first. */
  readonly warmUp: boolean;
  /** Told what goes wrong in a worker outside of any job that waits for it, e.g. an answer that came after its limit. */
  readonly onError: (error: Error) => void;
}

export type JobResult =
  /** `ms`: how long it ran. */
  | { readonly kind: "done"; readonly results: readonly MakeResult[]; readonly ms: number }
  | { readonly kind: "overloaded"; readonly waiting: number }
  | { readonly kind: "timeout"; readonly limitMs: number }
  | { readonly kind: "cancelled" };

export interface WorkerPool {
  /** Resolves when every thread has booted. Warming up goes on behind it, before any job that comes meanwhile. */
  readonly ready: Promise<void>;
  /** Queues a job. A caller that is gone takes it out of the queue; once begun it runs to its end or its limit. */
  run(job: MakeJob, signal?: AbortSignal): Promise<JobResult>;
  /** Jobs waiting and running, for metrics. */
  load(): { readonly waiting: number; readonly running: number };
  close(): Promise<void>;
}

/** A worker that is being started may take its time: threads boot and warm up outside any job's limit. */
const IDLE_TIMEOUT_NEVER = Number.POSITIVE_INFINITY;

export function createWorkerPool(options: WorkerOptions): WorkerPool {
  const threads = new Piscina<MakeJob, readonly MakeResult[]>({
    filename: new URL("./worker.ts", import.meta.url).href,
    workerData: { environmentFiles: options.environmentFiles } satisfies WorkerData,
    minThreads: options.threads,
    maxThreads: options.threads,
    idleTimeout: IDLE_TIMEOUT_NEVER,
  });
  threads.on("error", options.onError);
  // The queue admits as many jobs as there are threads, so a job that leaves it begins at once.
  const queue = new PQueue({ concurrency: options.threads });

  const begin = async (job: MakeJob): Promise<JobResult> => {
    const limit = AbortSignal.timeout(options.timeLimitMs);
    const startedAt = performance.now();
    try {
      const results = await threads.run(job, { signal: limit });
      return { kind: "done", results, ms: performance.now() - startedAt };
    } catch (error) {
      if (limit.aborted) return { kind: "timeout", limitMs: options.timeLimitMs };
      throw error;
    }
  };

  const onThread = (name: "ready" | "warmUp"): Promise<unknown> => threads.run(undefined as never, { name });
  const each = (work: () => Promise<unknown>): readonly Promise<unknown>[] =>
    Array.from({ length: options.threads }, work);
  const ready = Promise.all(each(() => onThread("ready"))).then(() => undefined);
  // Jobs that come while a thread warms up wait in the queue, where no limit counts.
  const warm = options.warmUp ? each(() => queue.add(() => onThread("warmUp"))) : [];
  // A pool that is closed before it has booted or warmed up is nobody's failure.
  for (const starting of [ready, ...warm]) starting.catch(() => undefined);

  /** Answers as soon as there is an answer, and holds the place in the queue until the thread can take another job. */
  const hold = async (job: MakeJob, answer: (result: Promise<JobResult>) => void): Promise<void> => {
    const result = begin(job);
    answer(result);
    if ((await result).kind === "timeout") await onThread("ready");
  };

  return {
    ready,
    async run(job, signal) {
      if (signal?.aborted === true) return { kind: "cancelled" };
      if (queue.size >= options.queueMax) return { kind: "overloaded", waiting: queue.size };
      const { promise, resolve } = Promise.withResolvers<JobResult>();
      const waiting = new AbortController();
      const leave = (): void => {
        waiting.abort();
        resolve({ kind: "cancelled" });
      };
      signal?.addEventListener("abort", leave, { once: true });
      const start = (): Promise<void> => {
        // From here on the job holds its thread, so an abort must not free its place in the queue.
        signal?.removeEventListener("abort", leave);
        return hold(job, resolve);
      };
      // What fails reaches the caller by the promise; a wait that was left has been answered.
      queue.add(start, { signal: waiting.signal }).catch(() => undefined);
      return promise;
    },
    load: () => ({ waiting: queue.size, running: queue.pending }),
    async close() {
      queue.clear();
      await threads.destroy();
    },
  };
}

// What goes to a worker: small plain values, for they are cloned, as what comes back is.

/** What a thread is started with. */
export interface WorkerData {
  readonly environmentFiles: readonly string[];
}

/** Make the tasks of these seeds. */
export interface MakeJob {
  readonly environment: string;
  readonly version: number;
  readonly parameters: Parameters;
  readonly split: Split;
  /** That they are rendered for. */
  readonly answerFormat: AnswerFormat;
  readonly seeds: readonly bigint[];
}
