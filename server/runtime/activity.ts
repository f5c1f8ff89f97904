/**
 * Summarizes the last minutes of this process: latencies and errors of calls, processor time and memory. Counts are
 * read at intervals, and the newest counts are compared with the oldest reading. So a call costs nothing more.
 */
import { availableParallelism, totalmem } from "node:os";
import { CALL_BOUNDS_S, type CallCounts } from "./metrics.ts";
import type { LoggedError } from "./last-errors.ts";
import { quantile } from "./sampled-metrics.ts";

/** Interval between two readings, in milliseconds. */
const EVERY_MS = 15_000;
/** Number of readings that are kept: those of the last five minutes. */
const READINGS = 20;

interface MethodReading {
  readonly buckets: readonly number[];
  readonly byCode: ReadonlyMap<string, number>;
}

function readMethod({ seconds, byCode }: CallCounts): MethodReading {
  return { buckets: seconds.counts(), byCode: new Map([...byCode].map(([code, { count }]) => [code, count])) };
}

interface ActivityOptions {
  readonly calls: () => readonly CallCounts[];
  readonly lastErrors: () => readonly LoggedError[];
  /** Returns the reason why the server takes no calls. Undefined: it takes calls. */
  readonly problem: () => string | undefined;
}

export type Activity = ReturnType<typeof createActivity>;

export function createActivity({ calls, lastErrors, problem }: ActivityOptions) {
  const read = () => ({
    atMs: performance.now(),
    loop: performance.eventLoopUtilization(),
    cpu: process.cpuUsage(),
    methods: new Map(calls().map((of) => [of.method, readMethod(of)])),
  });
  const readings = [read()];
  let startMemoryBytes = process.memoryUsage.rss();
  let timer: NodeJS.Timeout | undefined;
  return {
    /** Begins the readings. Called when the server has started, because its start is no load. */
    begin(): void {
      readings.splice(0, readings.length, read());
      startMemoryBytes = process.memoryUsage.rss();
      timer = setInterval(() => {
        readings.push(read());
        if (readings.length > READINGS) readings.shift();
      }, EVERY_MS).unref();
    },
    close: (): void => clearInterval(timer),
    now: () => {
      const [oldest = read()] = readings;
      const windowMs = performance.now() - oldest.atMs;
      const { user, system } = process.cpuUsage(oldest.cpu);
      const each = calls().map((of) => ({ of, now: readMethod(of), then: oldest.methods.get(of.method) }));
      return {
        problem: problem() ?? "",
        windowMs,
        eventLoopUtilization: performance.eventLoopUtilization(oldest.loop).utilization,
        coresUsed: (user + system) / 1000 / Math.max(1, windowMs),
        cores: availableParallelism(),
        memoryBytes: process.memoryUsage.rss(),
        startMemoryBytes,
        memoryMaxBytes: memoryMaxBytes(),
        methods: each
          .map(({ of, now, then }) => latencyOf(of, now, then))
          .filter(({ count, running }) => count + running > 0)
          .sort((a, b) => b.count - a.count),
        errors: each
          .flatMap(({ of, now, then }) => errorsOf(of.method, now, then))
          .sort((a, b) => b.recent - a.recent || b.count - a.count),
        lastErrors: lastErrors(),
      };
    },
  };
}

function latencyOf({ method, inflight: running }: CallCounts, now: MethodReading, then?: MethodReading) {
  const buckets = now.buckets.map((count, i) => count - (then?.buckets[i] ?? 0));
  const ms = (share: number) => 1000 * (quantile(CALL_BOUNDS_S, buckets, share) ?? 0);
  return { method, count: buckets.reduce((sum, count) => sum + count, 0), running, p50Ms: ms(0.5), p99Ms: ms(0.99) };
}

function errorsOf(method: string, now: MethodReading, then?: MethodReading) {
  // Callers leave streams at any time, e.g. when a reader closes a page of a run.
  const failed = [...now.byCode].filter(([code]) => code !== "OK" && code !== "CANCELLED");
  return failed.map(([code, count]) => ({ method, code, count, recent: count - (then?.byCode.get(code) ?? 0) }));
}

/** Returns the memory that this process may use: the limit of its container, or the machine's memory. */
function memoryMaxBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
