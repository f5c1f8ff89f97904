import { afterEach, expect, test } from "vitest";
import { tsp } from "../../../envs/np/tsp/index.ts";
import { createWorkerPool, type MakeJob, type WorkerOptions, type WorkerPool } from "../../../server/tasks/workers.ts";

const pools: WorkerPool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

function open(options: Partial<WorkerOptions> = {}): WorkerPool {
  const pool = createWorkerPool({
    threads: 1,
    queueMax: 100,
    timeLimitMs: 60_000,
    environmentFiles: [],
    warmUp: false,
    onError: () => undefined,
    ...options,
  });
  pools.push(pool);
  return pool;
}

function job(level: string, count: number, firstSeed = 0): MakeJob {
  const parameters = tsp.levels.find(({ name }) => name === level)?.parameters ?? {};
  const seeds = Array.from({ length: count }, (_, i) => BigInt(firstSeed + i));
  return { environment: "np/tsp", version: 2, parameters, split: "train", answerFormat: "boxed", seeds };
}

test("a job gives one result for each seed, in order, the same in every worker", async () => {
  const [one, two] = [open(), open({ threads: 2 })];
  const results = await Promise.all([one.run(job("easy", 5)), two.run(job("easy", 5))]);
  const [first, second] = results;
  if (first.kind !== "done" || second.kind !== "done") throw new Error(first.kind);
  expect(first.results).toEqual(second.results);
  expect(first.results.map((result) => result.kind === "made" && result.task.key.origin)).toMatchObject(
    [0n, 1n, 2n, 3n, 4n].map((seed) => ({ kind: "generated", seed })),
  );
});

test("the queue is bounded: what does not fit is refused, what fits is done", async () => {
  const pool = open({ queueMax: 3 });
  await pool.ready;
  const results = await Promise.all(Array.from({ length: 10 }, (_, i) => pool.run(job("medium", 2, 10 * i))));
  const kinds = results.map(({ kind }) => kind);
  // One runs, three wait.
  expect(kinds.filter((kind) => kind === "done")).toHaveLength(4);
  expect(kinds.filter((kind) => kind === "overloaded")).toHaveLength(6);
});

test("a caller that is gone leaves the queue, and its place is free", async () => {
  const pool = open({ queueMax: 1 });
  const gone = new AbortController();
  const running = pool.run(job("benchmark", 4));
  const waiting = pool.run(job("easy", 1), gone.signal);
  gone.abort();
  expect(await waiting).toEqual({ kind: "cancelled" });
  expect(pool.load()).toEqual({ waiting: 0, running: 1 });
  const next = pool.run(job("easy", 1));
  expect([(await running).kind, (await next).kind]).toEqual(["done", "done"]);
  expect(await pool.run(job("easy", 1), gone.signal)).toEqual({ kind: "cancelled" });
});

test("a job over its limit is stopped, its worker replaced, and those behind it are served", async () => {
  // 100 of 200 cities take many seconds; waiting in the queue does not count.
  const pool = open({ timeLimitMs: 3000 });
  await pool.ready;
  const parameters = { cities_min: 200, cities_max: 200, distance_min: 1, distance_max: 1e6 };
  const endless: MakeJob = { ...job("easy", 100), parameters };
  const slow = [pool.run(endless), pool.run(endless)];
  const behind = pool.run(job("easy", 1));
  expect(await Promise.all(slow)).toEqual([
    { kind: "timeout", limitMs: 3000 },
    { kind: "timeout", limitMs: 3000 },
  ]);
  expect((await behind).kind).toBe("done");
});
