/** Completions of runs that are forgotten with the process. */
import { bytesOfSample, reachingLength, type SampleStore, type StoredRunSample } from "./sample-store.ts";

/** `now`: the time, which decides what expires. */
export function memorySampleStore(now: () => number = Date.now): SampleStore {
  /** By run, the oldest first. */
  const runs = new Map<string, StoredRunSample[]>();
  let lastNumber = 0;
  return {
    add: async (run, samples) => {
      const kept = runs.get(run) ?? [];
      runs.set(run, kept);
      for (const { about, completion } of samples) kept.push({ about, completion, number: ++lastNumber, atMs: now() });
    },
    newest: async (run, below = Infinity, limit, lengthMax) => {
      const older = (runs.get(run) ?? []).filter(({ number }) => number < below);
      return reachingLength(older.slice(-limit).reverse(), lengthMax);
    },
    trim: async (run, bytesMax) => {
      const kept = runs.get(run) ?? [];
      let bytes = 0;
      const last = kept.findLastIndex((sample) => (bytes += bytesOfSample(sample)) > bytesMax);
      kept.splice(0, last + 1);
    },
    expire: async (olderThanMs, limit) => {
      let left = limit;
      for (const [run, kept] of runs) {
        const young = kept.findIndex(({ atMs }) => atMs >= now() - olderThanMs);
        left -= kept.splice(0, Math.min(left, young < 0 ? kept.length : young)).length;
        if (kept.length === 0) runs.delete(run);
      }
      return limit - left;
    },
    removeRun: async (run) => void runs.delete(run),
    close: async () => runs.clear(),
  };
}
