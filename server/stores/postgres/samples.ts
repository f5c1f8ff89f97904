/** Stores the completions of runs, and counts of them, in PostgreSQL. */
import {
  bytesOfSample,
  reachingLength,
  type SampleStore,
  type StoredRunCounts,
  type StoredRunSample,
} from "../sample-store.ts";
import { columns, stretches } from "./appends.ts";
import type { Connections } from "./database.ts";

/** Maximum number of completions that one statement reads. With transcripts each has at most about 1 MiB. */
const ROWS_MAX = 16;

/** Decodes a row's bytes into texts, because the database stores texts as bytes. */
function sampleOf(row: Readonly<Record<string, unknown>>): StoredRunSample {
  const { number, atMs, about, completion } = row as Record<string, Buffer> & { number: number; atMs: number };
  return { number, atMs, about: String(about), completion: String(completion) };
}

export function postgresSamples(calls: Connections): SampleStore {
  const newest: SampleStore["newest"] = async (run, below = Number.MAX_SAFE_INTEGER, limit, lengthMax) => {
    const found: StoredRunSample[] = [];
    for (let before = below; found.length < limit; before = found.at(-1)?.number ?? 0) {
      const wanted = Math.min(ROWS_MAX, limit - found.length);
      const rows = await calls.query("newestSamples", [run, before, wanted]);
      found.push(...rows.map(sampleOf));
      const taken = reachingLength(found, lengthMax);
      if (taken.length < found.length || rows.length < wanted) return taken;
    }
    return found;
  };
  return {
    add: async (run, samples) => {
      const rows = samples.map((sample) => [
        bytesOfSample(sample),
        Buffer.from(sample.about),
        Buffer.from(sample.completion),
      ]);
      for (const stretch of stretches(rows)) await calls.query("keepSamples", [run, ...columns(stretch, 3)]);
    },
    newest,
    trim: async (run, bytesMax) => void (await calls.query("trimSamples", [run, bytesMax])),
    addCounts: async (run, body) => void (await calls.query("addCounts", [run, [Buffer.from(body)]])),
    // One statement reads all rows, because another server may replace rows between two statements.
    counts: async (run) =>
      (await calls.query("runCounts", [run])).map(({ number, body }): StoredRunCounts => {
        return { number: number as number, body: String(body) };
      }),
    replaceCounts: (run, numbers, bodies) =>
      calls.work((connection) =>
        connection.transaction(async () => {
          if ((await connection.query("lockCounts", [run, numbers])).length < numbers.length) return false;
          await connection.query("dropCounts", [run, numbers]);
          for (const stretch of stretches(bodies.map((body) => [Buffer.from(body)])))
            await connection.query("addCounts", [run, ...columns(stretch, 1)]);
          return true;
        }),
      ),
    expire: async (olderThanMs, limit) => {
      await calls.query("expireCounts", [olderThanMs, limit]);
      return (await calls.query("expireSamples", [olderThanMs, limit])).length;
    },
    removeRun: async (run) => {
      await calls.query("removeRunSamples", [run]);
      await calls.query("removeRunCounts", [run]);
    },
    close: async () => undefined,
  };
}
