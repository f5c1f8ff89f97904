/**
 * Runs jobs that people start (e.g. pictures) in threads, so that they disturb neither the event loop nor the making of
 * tasks.
 *
 * One thread draws pictures, solves tasks and reads run files; another simulates runs. Each starts at its first job and
 * ends when idle.
 */
import { Piscina } from "piscina";
import { fairQueue } from "../base/fair-queue.ts";
import type { BackgroundJob, ValueOf } from "./background-jobs.ts";

export interface BackgroundOptions {
  /** Paths of files that define the operator's own environments. */
  readonly environmentFiles: readonly string[];
  /** Called with an error of a thread that belongs to no job. */
  readonly onError: (error: Error) => void;
  /**
   * Maximum duration of a job, in milliseconds, without its time in the queue. Defaults to LIMIT_MS. After that the job
   * fails and its thread is replaced.
   */
  readonly limitMs?: number;
}

/** The caller for whom a job runs, because callers take turns, and the signal that cancels the job. */
export interface Requester {
  readonly caller: string;
  readonly signal: AbortSignal;
}

export type BackgroundOutcome<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "timeout"; readonly limitMs: number }
  | { readonly kind: "overloaded"; readonly waitingMax: number; readonly retryDelayMs: number }
  | { readonly kind: "cancelled" };

/** Number of running and waiting jobs of one thread. */
export interface QueueLoad {
  readonly name: string;
  readonly running: number;
  readonly waiting: number;
  readonly waitingMax: number;
}

export interface Background {
  /** Runs a job in a thread. Rejects if the code of an environment or a picture throws, which is a bug. */
  run<Kind extends BackgroundJob["kind"]>(
    job: Extract<BackgroundJob, { readonly kind: Kind }>,
    requester: Requester,
  ): Promise<BackgroundOutcome<ValueOf[Kind]>>;
  load(): readonly QueueLoad[];
  close(): Promise<void>;
}

export interface BackgroundData {
  readonly environmentFiles: readonly string[];
}

export const LIMIT_MS = 20_000;
/** Maximum number of jobs that wait for a thread. One caller may have at most a quarter of them. */
const WAITING_MAX = 32;
const CALLER_MAX = WAITING_MAX / 4;
const RETRY_DELAY_MS = 1000;
/** Idle time in milliseconds after which a thread ends. That frees the tens of megabytes that its environments take. */
const IDLE_TIMEOUT_MS = 60_000;
/**
 * Increment of these threads' nice value, i.e. their lower priority. Threads that make tasks come first, because
 * trainers wait for them.
 */
const NICE = 10;
/** Maximum heap of a thread, in megabytes. Simulations and large pictures need a fraction of it. */
const HEAP_MB_MAX = 512;

const laneOf = { draw: "aside", solve: "aside", read: "aside", simulate: "simulations" } as const;

export function createBackground(options: BackgroundOptions): Background {
  const lanes = {
    aside: createLane("aside", options),
    simulations: createLane("simulations", options),
  };
  return {
    run: (job, asking) => lanes[laneOf[job.kind]].run(job, asking) as never,
    load: () => Object.values(lanes).map((lane) => lane.load()),
    close: async () => {
      for (const lane of Object.values(lanes)) await lane.close();
    },
  };
}

interface Entry {
  readonly caller: string;
  readonly begin: () => Promise<void>;
}

/** Creates a thread and the queue of its jobs. */
function createLane(name: string, { environmentFiles, onError, limitMs = LIMIT_MS }: BackgroundOptions) {
  let threads: Piscina<BackgroundJob, unknown> | undefined;
  let running = false;
  const queue = fairQueue<Entry>();
  const start = (): Piscina<BackgroundJob, unknown> => {
    const started = new Piscina<BackgroundJob, unknown>({
      filename: new URL("./worker.ts", import.meta.url).href,
      workerData: { environmentFiles } satisfies BackgroundData,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_TIMEOUT_MS,
      niceIncrement: NICE,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    started.on("error", onError);
    return started;
  };
  const within = async (job: BackgroundJob, signal: AbortSignal): Promise<BackgroundOutcome<unknown>> => {
    const limit = AbortSignal.timeout(limitMs);
    try {
      threads ??= start();
      return { kind: "done", value: await threads.run(job, { signal: AbortSignal.any([signal, limit]) }) };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled" };
      if (limit.aborted) return { kind: "timeout", limitMs };
      throw error;
    }
  };
  const next = (): void => {
    const entry = running ? undefined : queue.next();
    if (entry === undefined) return;
    running = true;
    const begunAtMs = performance.now();
    void entry.begin().finally(() => {
      queue.charge(entry.caller, performance.now() - begunAtMs);
      running = false;
      next();
    });
  };
  return {
    run: (job: BackgroundJob, { caller, signal }: Requester): Promise<BackgroundOutcome<unknown>> => {
      if (signal.aborted) return Promise.resolve({ kind: "cancelled" });
      if (queue.waiting() >= WAITING_MAX || queue.waiting(caller) >= CALLER_MAX)
        return Promise.resolve({ kind: "overloaded", waitingMax: WAITING_MAX, retryDelayMs: RETRY_DELAY_MS });
      const { promise, resolve, reject } = Promise.withResolvers<BackgroundOutcome<unknown>>();
      const begin = async (): Promise<void> => {
        signal.removeEventListener("abort", leave);
        await within(job, signal).then(resolve, reject);
      };
      const entry: Entry = { caller, begin };
      const leave = (): void => {
        queue.remove(caller, entry);
        resolve({ kind: "cancelled" });
      };
      signal.addEventListener("abort", leave, { once: true });
      queue.add(caller, entry, 1);
      next();
      return promise;
    },
    load: (): QueueLoad => ({ name, running: Number(running), waiting: queue.waiting(), waitingMax: WAITING_MAX }),
    close: async (): Promise<void> => {
      await threads?.destroy();
    },
  };
}
