/** Threads that score large messages, so that the event loop only moves their bytes. */
import { Piscina } from "piscina";
import type { ScoreWorkerData, Scored } from "./score-worker.ts";

export interface ScorePoolOptions {
  readonly threads: number;
  /** How long one message may take, milliseconds. Its worker is then replaced. */
  readonly timeLimitMs: number;
  readonly data: ScoreWorkerData;
  /** Told what goes wrong in a worker outside of any message. */
  readonly onError: (error: Error) => void;
}

export interface ScorePool {
  readonly ready: Promise<void>;
  /** Whether a message would be begun soon. If not, the event loop had better score it itself. */
  hasRoom(): boolean;
  /** Moves the bytes to a worker. "timeout": it took longer than the limit. */
  score(request: Uint8Array): Promise<Scored | "timeout">;
  close(): Promise<void>;
}

/** Messages under way for each thread: one that is scored, one that is ready to be. */
const DEPTH = 2;

export function createScorePool({ threads, timeLimitMs, data, onError }: ScorePoolOptions): ScorePool {
  const pool = new Piscina<Uint8Array, Scored>({
    filename: new URL("./score-worker.ts", import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    idleTimeout: Number.POSITIVE_INFINITY,
    workerData: data,
  });
  pool.on("error", onError);
  const booted = Array.from({ length: threads }, () => pool.run(undefined as never, { name: "ready" }));
  const ready = Promise.all(booted).then(() => undefined);
  // A pool that is closed before it has booted is nobody's failure.
  ready.catch(() => undefined);
  let underWay = 0;
  return {
    ready,
    hasRoom: () => underWay < DEPTH * threads,
    async score(request) {
      underWay += 1;
      // Twice, for a message may wait for one other.
      const limit = AbortSignal.timeout(DEPTH * timeLimitMs);
      try {
        return await pool.run(request, { transferList: [request.buffer as ArrayBuffer], signal: limit });
      } catch (error) {
        if (limit.aborted) return "timeout";
        throw error;
      } finally {
        underWay -= 1;
      }
    },
    close: () => pool.destroy(),
  };
}
