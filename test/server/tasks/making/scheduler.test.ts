/** Tests of the order in which callers are served, with the test's own threads: a slice ends when the test says so. */
import { expect, test } from "vitest";
import type { Slice } from "../../../../server/tasks/making/make-slice.ts";
import { createScheduler, type Running } from "../../../../server/tasks/making/scheduler.ts";
import { createCosts, type MakeJob, type SliceOutcome } from "../../../../server/tasks/making/job-progress.ts";
import type { MadeResult } from "../../../../server/tasks/task.ts";

interface Begun {
  readonly slice: Slice;
  /** The caller that waits for the slice, by the name of its parameters. */
  readonly name: string;
  end(outcome?: Partial<Extract<SliceOutcome, { kind: "done" }>>): Promise<void>;
  fail(outcome: SliceOutcome): Promise<void>;
  throws(error: Error): Promise<void>;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

function madeOf(slice: Slice, count = slice.seeds.length): readonly MadeResult[] {
  const { parameters } = slice.spec;
  return slice.seeds.slice(0, count).map((seed) => {
    const origin = { kind: "generated", parameters, seed, attempt: 0 } as const;
    return { kind: "made", task: { key: { origin, hash: String(seed) }, prompt: [], metadata: {} } };
  });
}

function bench(threads: number, queueMax = 1000) {
  const begun: Begun[] = [];
  const costs = createCosts();
  const begin = (slice: Slice): Running => {
    const { promise, resolve, reject } = Promise.withResolvers<SliceOutcome>();
    const ended = async (settle: () => void): Promise<void> => {
      begun.splice(begun.indexOf(each), 1);
      settle();
      await settled();
    };
    const fail = (outcome: SliceOutcome) => ended(() => resolve(outcome));
    const each: Begun = {
      slice,
      name: slice.spec.environment,
      end: (outcome) => fail({ kind: "done", results: madeOf(slice), paused: undefined, cpuMs: 1, ...outcome }),
      fail,
      throws: (error) => ended(() => reject(error)),
    };
    begun.push(each);
    const free = promise.then(
      () => undefined,
      () => undefined,
    );
    return { outcome: promise, free };
  };
  const scheduler = createScheduler({ threads, queueMax, costs, begin });
  const know = (environment: string, cpuMs: number): void => {
    costs.took(costs.of({ environment, version: 1, parameters: {} }), cpuMs, 1);
  };
  return { scheduler, begun, know };
}

function jobOf(environment: string, caller: string, count: number): MakeJob {
  const spec = { environment, version: 1, parameters: {}, split: "train", answerFormat: "boxed" } as const;
  return { spec, caller, seeds: Array.from({ length: count }, (_, i) => BigInt(i)) };
}

test("dear tasks leave a thread to cheap ones, whoever asks", async () => {
  const { scheduler, begun, know } = bench(2);
  know("dear", 5000);
  know("cheap", 0.1);
  void scheduler.run(jobOf("dear", "a", 100));
  expect(begun.map(({ name }) => name)).toEqual(["dear"]);
  void scheduler.run(jobOf("cheap", "a", 10));
  void scheduler.run(jobOf("cheap", "b", 10));
  expect(begun.map(({ name }) => name)).toEqual(["dear", "cheap"]);
  await begun[1]?.end();
  expect(begun.map(({ name, slice }) => [name, slice.seeds.length])).toEqual([
    ["dear", 1],
    ["cheap", 10],
  ]);
});

test("what is not known is dear until it is known to be cheap, and all of its kind with it", async () => {
  const { scheduler, begun } = bench(3);
  for (const caller of ["a", "b", "c"]) void scheduler.run(jobOf("new", caller, 2));
  expect(begun.map(({ slice }) => slice.seeds.length)).toEqual([1, 1]);
  await begun[0]?.end({ cpuMs: 0.01 });
  expect(begun).toHaveLength(3);
});

test("callers take turns by what their work costs, however many calls they make", async () => {
  const { scheduler, begun, know } = bench(1);
  know("costly", 10);
  know("light", 5);
  for (let i = 0; i < 50; i++) void scheduler.run(jobOf("costly", "greedy", 4));
  void scheduler.run(jobOf("light", "modest", 40));
  const tasks = { costly: 0, light: 0 };
  while (tasks.light < 40) {
    const [slice] = begun;
    const name = slice?.name === "costly" ? "costly" : "light";
    const count = slice?.slice.seeds.length ?? 0;
    tasks[name] += count;
    await slice?.end({ cpuMs: count * (name === "costly" ? 10 : 5) });
  }
  // 40 light tasks cost as much as 20 costly ones.
  expect(tasks.costly).toBeGreaterThanOrEqual(19);
  expect(tasks.costly).toBeLessThanOrEqual(22);
});

test("a task that runs into the limit costs its caller the whole of it", async () => {
  const { scheduler, begun, know } = bench(1);
  know("endless", 50);
  know("dear", 50);
  void scheduler.run(jobOf("endless", "greedy", 10));
  void scheduler.run(jobOf("dear", "modest", 10));
  const order: string[] = [];
  while (order.length < 12) {
    const [slice] = begun;
    order.push(slice?.name ?? "nothing");
    if (slice?.name === "endless") await slice.fail({ kind: "timeout", limitMs: 60_000 });
    else await slice?.end({ cpuMs: 50 });
  }
  expect(order).toEqual(["endless", ...Array.from({ length: 10 }, () => "dear"), "endless"]);
});

test("one thread is shared by dear and cheap tasks", async () => {
  const { scheduler, begun, know } = bench(1);
  know("dear", 500);
  know("cheap", 10);
  void scheduler.run(jobOf("dear", "a", 10));
  void scheduler.run(jobOf("cheap", "b", 10));
  const order: string[] = [];
  for (let i = 0; i < 6; i++) {
    order.push(begun[0]?.name ?? "none");
    await begun[0]?.end({ cpuMs: begun[0].name === "dear" ? 500 : 10 });
  }
  expect(order).toEqual(["dear", "cheap", "dear", "cheap", "dear", "cheap"]);
});

test("a search that was broken off goes on where it was, behind another's work", async () => {
  const { scheduler, begun, know } = bench(1);
  know("search", 1);
  know("other", 1);
  const results = scheduler.run(jobOf("search", "a", 2));
  void scheduler.run(jobOf("other", "b", 1));
  const progress = { attempts: 7, instances: 6, ofSplit: 5, nodes: 4 };
  await begun[0]?.end({ results: [], paused: progress, cpuMs: 20 });
  expect(begun[0]?.name).toBe("other");
  await begun[0]?.end();
  expect(begun[0]?.slice).toMatchObject({ seeds: [0n, 1n], progress });
  await begun[0]?.end();
  expect((await results).map(({ kind }) => kind)).toEqual(["made", "made"]);
});

test("of a slice that ran into the limit each task is tried alone", async () => {
  const { scheduler, begun, know } = bench(1);
  know("mixed", 1);
  const results = scheduler.run(jobOf("mixed", "a", 3));
  expect(begun[0]?.slice.seeds).toEqual([0n, 1n, 2n]);
  const timeout = { kind: "timeout", limitMs: 5 } as const;
  await begun[0]?.fail(timeout);
  await begun[0]?.end();
  expect(begun[0]?.slice.seeds).toEqual([1n]);
  await begun[0]?.fail(timeout);
  await begun[0]?.end();
  expect((await results).map(({ kind }) => kind)).toEqual(["made", "timeout", "made"]);
});

test("a caller that leaves keeps what was made, and takes its work along", async () => {
  const { scheduler, begun, know } = bench(1);
  know("dear", 100);
  const gone = new AbortController();
  const results = scheduler.run(jobOf("dear", "a", 3), gone.signal);
  await begun[0]?.end({ cpuMs: 100 });
  gone.abort();
  expect((await results).map(({ kind }) => kind)).toEqual(["made", "cancelled", "cancelled"]);
  await begun[0]?.end({ cpuMs: 100 });
  expect([begun.length, scheduler.load()]).toEqual([0, { waiting: 0, running: 0 }]);
});

test("a bug of an environment fails the call that met it, and no other", async () => {
  const { scheduler, begun, know } = bench(1);
  know("broken", 1);
  const results = scheduler.run(jobOf("broken", "a", 1));
  const next = scheduler.run(jobOf("sound", "a", 1));
  const bug = expect(results).rejects.toThrow("bug of an environment");
  await begun[0]?.throws(new Error("bug of an environment"));
  await bug;
  await begun[0]?.end();
  expect((await next)[0]?.kind).toBe("made");
});
