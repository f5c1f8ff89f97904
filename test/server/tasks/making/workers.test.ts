/**
 * Tests of threads that make tasks: the tasks do not depend on how the work is cut, and none holds up another for good.
 */
import { afterEach, expect, test } from "vitest";
import { bisection } from "../../../../envs/np/bisection/index.ts";
import { countdown } from "../../../../envs/countdown/index.ts";
import { makeGenerated } from "../../../../envs/instances.ts";
import { createRegistry } from "../../../../envs/registry.ts";
import { tsp } from "../../../../envs/np/tsp/index.ts";
import { resolveParameters } from "../../../../envs/parameters.ts";
import type { Environment, Parameters } from "../../../../envs/environment.ts";
import type { MakeJob } from "../../../../server/tasks/making/job-progress.ts";
import { endless } from "../../../support/environments/endless.ts";
import { createWorkerPool, type WorkerOptions, type WorkerPool } from "../../../../server/tasks/making/workers.ts";

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

function levelOf(environment: Environment, name: string): Parameters {
  return environment.levels.find((level) => level.name === name)?.parameters ?? {};
}

function jobOf(environment: Environment, parameters: Parameters, count: number, firstSeed = 0, caller = "a"): MakeJob {
  const { id, version } = environment;
  const seeds = Array.from({ length: count }, (_, i) => BigInt(firstSeed + i));
  return {
    spec: { environment: id, version, parameters, split: "train", answerFormat: "boxed" },
    seeds,
    caller,
  };
}

function job(level: string, count: number, firstSeed = 0, caller = "a"): MakeJob {
  return jobOf(tsp, levelOf(tsp, level), count, firstSeed, caller);
}

/** A job of 6 numbers with exactly one solution: no instance is found in the budget. */
function barren(count: number, caller = "a"): MakeJob {
  const resolved = resolveParameters(countdown, { numbers_min: 6, numbers_max: 6, solutions_max: 1 });
  if (resolved.kind === "invalid") throw new Error(resolved.message);
  return jobOf(countdown, resolved.parameters, count, 0, caller);
}

test("a job gives one result for each seed, in order, those that the generator gives, in every pool", async () => {
  const registry = createRegistry([tsp, countdown, bisection]);
  const all = [
    job("easy", 40),
    jobOf(countdown, levelOf(countdown, "T2"), 600),
    jobOf(bisection, levelOf(bisection, "easy"), 3),
  ];
  const [one, two] = [open({ queueMax: 10_000 }), open({ threads: 2, queueMax: 10_000 })];
  for (const each of all) {
    const [first, second] = await Promise.all([one.run(each), two.run(each)]);
    expect(first).toEqual(second);
    const { environment: id, parameters, split } = each.spec;
    const found = registry.find(id);
    if (found.kind !== "found") throw new Error(found.message);
    const keys = each.seeds.map((seed) => {
      const made = makeGenerated(found.environment, { parameters, seed, split });
      return made.kind === "made" ? made.key : made;
    });
    expect(first.map((result) => (result.kind === "made" ? result.task.key : result))).toEqual(keys);
  }
});

test("a search that gives nothing ends by its budget, and says what it looked for, what it found and what helps", async () => {
  const [result] = await open().run(barren(1));
  if (result?.kind !== "exhausted") throw new Error(result?.kind);
  expect(result.message).toMatch(
    /^countdown with numbers_min 6, numbers_max 6, solutions_max 1: none of \d+ attempts and \d+ search nodes gave a task: \d+ gave an instance, \d+ of them in split train, and the generator accepted none of these; widen the ranges/,
  );
  // The shares are equal with one slice and with several.
  const { parameters, split } = barren(1).spec;
  expect(makeGenerated(countdown, { parameters, seed: 0n, split })).toEqual(result);
});

test("the queue is bounded, for each caller and in all: what does not fit is refused, what fits is done", async () => {
  const pool = open({ queueMax: 8 });
  await pool.ready;
  // A caller may have two jobs waiting. The free thread takes one more at once, because their cost is not known.
  const alone = await pool.run(job("easy", 5));
  expect(alone.map(({ kind }) => kind)).toEqual(["made", "made", "made", "overloaded", "overloaded"]);
  for (const result of alone) if (result.kind === "overloaded") expect(result.retryDelayMs).toBeGreaterThanOrEqual(100);
  const callers = ["a", "b", "c", "d", "e"].map((caller) => pool.run(job("medium", 2, 0, caller)));
  const kinds = (await Promise.all(callers)).flat().map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "overloaded")).toHaveLength(1);
});

test("a caller that is gone leaves the queue, keeps what was made, and its place is free", async () => {
  const pool = open({ queueMax: 4 });
  const gone = new AbortController();
  const running = pool.run(job("benchmark", 1));
  const waiting = pool.run(job("easy", 1), gone.signal);
  gone.abort();
  expect(await waiting).toEqual([{ kind: "cancelled" }]);
  expect(pool.load()).toEqual({ waiting: 0, running: 1 });
  const next = pool.run(job("easy", 1));
  expect([await running, await next].map(([result]) => result?.kind)).toEqual(["made", "made"]);
  expect(await pool.run(job("easy", 2), gone.signal)).toEqual([{ kind: "cancelled" }, { kind: "cancelled" }]);
});

test("a search is broken off where its caller has gone", async () => {
  const pool = open();
  await pool.ready;
  const gone = new AbortController();
  const searching = pool.run(barren(20), gone.signal);
  gone.abort();
  expect(new Set((await searching).map(({ kind }) => kind))).toEqual(new Set(["cancelled"]));
  expect((await pool.run(job("easy", 1)))[0]?.kind).toBe("made");
});

test("another caller's task is made between two slices of a long search", async () => {
  const pool = open();
  await pool.ready;
  const done: string[] = [];
  const long = pool.run(barren(3, "a")).then(() => done.push("long"));
  const short = pool.run(job("easy", 1, 0, "b")).then(() => done.push("short"));
  await Promise.all([long, short]);
  expect(done).toEqual(["short", "long"]);
});

test("a task over its limit fails alone: its worker is replaced, and those behind it are made", async () => {
  const file = new URL("../../../support/environments/endless.ts", import.meta.url).pathname;
  const pool = open({ timeLimitMs: 300, environmentFiles: [file] });
  await pool.ready;
  const timeout = { kind: "timeout", message: "making the task took longer than 300 ms" };
  const slow = pool.run(jobOf(endless, { max: 1e6 }, 2));
  const behind = pool.run(job("easy", 1));
  expect(await slow).toEqual([timeout, timeout]);
  expect((await behind)[0]?.kind).toBe("made");
});
