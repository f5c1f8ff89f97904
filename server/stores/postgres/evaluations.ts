/** Stores evaluations in PostgreSQL. */
import { setTimeout as sleep } from "node:timers/promises";
import type {
  EvaluationStore,
  SamplePlace,
  StoredEvaluation,
  StoredFacts,
  StoredSample,
  StoredTask,
} from "../evaluation-store.ts";
import { columns, STATEMENT_BYTES, stretches } from "./appends.ts";
import type { Connections, Rows } from "./database.ts";

/** Maximum number of samples whose facts (the part that reports need) one statement reads. */
const FACTS_MAX = 4096;

/**
 * Maximum size of a completion together with its outcome, in bytes. The SQL statement that stores both then stays below
 * one mebibyte. STATEMENT_BYTES is only half as large, because it limits statements that send bytes in hex.
 */
export const SAMPLE_BYTES_MAX = 2 * STATEMENT_BYTES;

/** Decodes bytes into texts, because the database stores texts as bytes. */
function texts<T>(rows: Rows): readonly T[] {
  return rows.map((row) => {
    const entries = Object.entries(row).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? value.toString() : value,
    ]);
    return Object.fromEntries(entries) as T;
  });
}

function bytes(...parts: readonly string[]): readonly Buffer[] {
  const all = parts.map((part) => Buffer.from(part));
  const length = all.reduce((sum, part) => sum + part.length, 0);
  if (length <= SAMPLE_BYTES_MAX) return all;
  throw new RangeError(
    `the completion with its outcome has ${length} bytes, and at most ${SAMPLE_BYTES_MAX} fit in a database`,
  );
}

function isSame(one: StoredSample, other: StoredSample): boolean {
  return one.completion === other.completion && one.result === other.result && one.facts === other.facts;
}

/**
 * Deletes the samples of removed evaluations. Errors are ignored, because the next removal or the server's next start
 * tries again.
 */
async function tidy(calls: Connections): Promise<void> {
  try {
    for (;;) {
      const [next] = await calls.query("removedEvaluation");
      if (next === undefined) return;
      while ((await calls.query("dropSamples", [next["key"]])).length > 0) await sleep(1);
      await calls.query("dropEvaluation", [next["key"]]);
    }
  } catch {
    // The failure is ignored here. Callers that wait for the database get it as well.
  }
}

export function postgresEvaluations(calls: Connections): EvaluationStore {
  void tidy(calls);
  const find = async (id: string): Promise<StoredEvaluation | undefined> =>
    texts<StoredEvaluation>(await calls.query("findEvaluation", [id]))[0];
  const addSample: EvaluationStore["addSample"] = (key, sample) =>
    calls.work(async (connection, isDoubtful) => {
      const { ordinal, index, facts, result, completion } = sample;
      const added = await connection.query("addSample", [key, ordinal, index, ...bytes(facts, result, completion)]);
      if (added.length > 0) return { kind: "added" };
      const [there] = texts<StoredSample>(await connection.query("sample", [key, ordinal, index]));
      if (there === undefined) return { kind: "gone" };
      // If the first attempt's outcome is unknown, an identical sample is the one that it stored.
      return isDoubtful && isSame(there, sample) ? { kind: "added" } : { kind: "exists", sample: there };
    });
  return {
    create: (id, body) =>
      calls.work(async (connection, isDoubtful) => {
        const made = await connection.query("createEvaluation", [id, ...bytes(body)]);
        if (made.length > 0) return "created";
        const [there] = texts<StoredEvaluation>(await connection.query("findEvaluation", [id]));
        return isDoubtful && there?.body === body ? "created" : "exists";
      }),
    find,
    list: async (afterId, limit) => texts<StoredEvaluation>(await calls.query("listEvaluations", [afterId, limit])),
    remove: (key) =>
      calls.work(async (connection, isDoubtful) => {
        const removed = await connection.query("removeEvaluation", [key]);
        void tidy(calls);
        return removed.length > 0 || isDoubtful;
      }),
    saveTasks: async (suite, tasks) => {
      const rows = tasks.map(({ ordinal, body }) => [ordinal, ...bytes(body)]);
      for (const stretch of stretches(rows)) await calls.query("saveTasks", [suite, ...columns(stretch, 2)]);
    },
    tasks: async (suite, from, to) => texts<StoredTask>(await calls.query("tasks", [suite, from, to])),
    addSample,
    places: async (key, from, to) => (await calls.query("places", [key, from, to])) as unknown as SamplePlace[],
    count: async (key) => ((await calls.query("count", [key]))[0]?.["count"] as number | undefined) ?? 0,
    facts: async (key) => {
      const all: StoredFacts[] = [];
      for (let after: SamplePlace = { ordinal: -1, index: -1 }; ; after = all.at(-1) ?? after) {
        const rows = await calls.query("facts", [key, after.ordinal, after.index, FACTS_MAX]);
        all.push(...texts<StoredFacts>(rows));
        if (rows.length < FACTS_MAX) return all;
      }
    },
    samples: async (key, after, limit) =>
      texts<StoredSample>(await calls.query("samples", [key, after.ordinal, after.index, limit])),
    close: async () => undefined,
  };
}
