/** Tests of both clients against the real server: equal calls have equal results over gRPC and over Connect. */
import { environments as registered } from "../../../envs/registry.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, GradusError, rewardOf, Source } from "../../../clients/ts/src/index.ts";
import type {
  GradusClient,
  GroupChoice,
  HistoryOptions,
  RunChoice,
  StepResult,
} from "../../../clients/ts/src/index.ts";
import { createClient as createWebClient } from "../../../clients/ts/src/web.ts";
import { openServer } from "../../support/in-process.ts";
import type { TestServer } from "../../support/in-process.ts";

let server: TestServer;
let web: GradusClient;
beforeAll(async () => {
  server = await openServer();
  web = createWebClient(server.http);
});
afterAll(() => server[Symbol.asyncDispose]());

const clients = [
  ["gRPC", () => server.client],
  ["Connect", () => web],
] as const;

const mixture = (overrides: Partial<RunChoice> = {}): RunChoice => ({
  arms: [
    { id: "t0", environment: "countdown", level: "T0" },
    { id: "t1", environment: "countdown", level: "T1" },
  ],
  policy: { kind: "mixture" },
  numGenerations: 2,
  promptsPerUpdate: 4,
  ...overrides,
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe.each(clients)("over %s", (protocol, client) => {
  const name = (run: string): string => `${run}-${protocol}`;

  test("environments are listed and described", async () => {
    const environments = await client().listEnvironments();
    const ids = environments.map(({ id }) => id);
    expect(ids).toEqual(registered.map(({ id }) => id).sort());
    const np = await client().listEnvironments({ category: "np" });
    expect(np.map(({ id }) => id)).toEqual(ids.filter((id) => id.startsWith("np/")));
    expect(await client().getEnvironment("np/tsp")).toEqual(environments.find(({ id }) => id === "np/tsp"));
  });

  test("a choice needs its environment only", async () => {
    const task = await client().reset({ environment: "countdown" });
    expect(task).toEqual(await client().reset({ environment: "countdown", seed: 0 }));
    expect((await client().reset({ environment: "qa" })).source).toBe(Source.REAL);
  });

  test("tasks are made and scored, alone and in batches", async () => {
    const choice = { environment: "countdown", level: "T0" };
    const results = await client().batchReset({ ...choice, seeds: [7, "8", 9n] });
    const task = await client().reset({ ...choice, seed: 7 });
    expect(results[0]?.result).toEqual({ case: "task", value: task });
    const numbers = task.hints?.metadata["numbers"]?.split(" ") ?? [];
    const completion = `<think>…</think><answer>${numbers.join(" + ")}</answer>`;
    const outcome = await client().step(task, completion, { sampleIndex: 3 });
    expect(outcome).toMatchObject({ sampleIndex: 3, kind: "scored", verdict: "infeasible" });
    expect(rewardOf(outcome)).toBeGreaterThanOrEqual(0);
    const [group] = await client().batchStep([{ task, completions: [completion, "no answer"] }]);
    expect(group?.outcomes.map(rewardOf)).toEqual([rewardOf(outcome), 0]);
    expect(group?.statistics?.count).toBe(2);
  });

  test("mistakes come back with their code and what was meant", async () => {
    const call = client().reset({ environment: "np/tps", seed: 1 });
    await expect(call).rejects.toBeInstanceOf(GradusError);
    await expect(call).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "spec.environment: unknown environment 'np/tps'; did you mean 'np/tsp'?",
    });
    const bad = await client().step({ taskId: "AAAA", groupId: "" }, "");
    expect(bad).toMatchObject({ kind: "unscored", reason: "invalid_task_id" });
    expect(rewardOf(bad)).toBeUndefined();
    await expect(client().run("none").get()).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(client().run("none").advance()).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("a stream scores each group once, and refuses one without harm to the others", async () => {
    const made = await client().batchReset({
      environment: "countdown",
      seeds: Array.from({ length: 60 }, (_, i) => i),
    });
    const tasks = made.flatMap(({ result }) => (result.case === "task" ? [result.value] : []));
    async function* groups(): AsyncGenerator<GroupChoice> {
      for (const [i, task] of tasks.entries()) {
        yield { task, completions: i === 30 ? [] : Array.from({ length: 4 }, (_, k) => `<answer>${k}</answer>`) };
      }
    }
    const results: StepResult[] = await collect(client().streamSteps(groups(), { window: 8 }));
    expect(results.map(({ index }) => index).sort((a, b) => a - b)).toEqual(tasks.map((_, i) => i));
    for (const result of results) {
      if (result.index === 30) expect(result).toMatchObject({ kind: "failed", error: { code: "INVALID_ARGUMENT" } });
      else expect(result).toMatchObject({ kind: "scored", outcome: { groupId: tasks[result.index]?.groupId } });
    }
  });

  test("a run goes from its first batch to its last, and its handle shows it", async () => {
    const run = client().run(name("whole"));
    const created = await run.create(mixture({ length: 12, seed: 5n }));
    expect(await run.create(mixture({ length: 12, seed: 5n }))).toEqual(created);
    await expect(run.create(mixture({ length: 13, seed: 5n }))).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    const taskIds: string[] = [];
    for await (const { tasks } of run.batches()) {
      taskIds.push(...tasks.map(({ taskId }) => taskId));
      const groups = tasks.map((task) => ({ task, completions: ["<answer>1</answer>", "no"] }));
      for await (const result of client().streamSteps(groups)) {
        const statuses = result.kind === "scored" ? result.outcome.outcomes.map((each) => each.feedback?.status) : [];
        expect(statuses).toEqual(["recorded", "recorded"]);
      }
    }
    expect(new Set(taskIds).size).toBe(12);
    const { state } = await run.get();
    expect(state).toMatchObject({ cursor: 12n, batchesClosed: 3n, done: true, samplesRecorded: 24n });
    const history = await run.history();
    expect(history.filter(({ kind }) => kind.case === "batch")).toHaveLength(3);
    expect((await client().listRuns()).map(({ runId }) => runId)).toContain(name("whole"));
  });

  test("a history is told in fewer records, without arms, and by kinds of them", async () => {
    const run = client().run(name("told"));
    await run.create(mixture({ feedbackLag: 0 }));
    for (let batch = 0; batch < 2; batch++) {
      const { tasks } = await run.nextBatch();
      await client().batchStep(tasks.map((task) => ({ task, completions: ["a", "b"] })));
    }
    const batches = async (options?: HistoryOptions) =>
      (await run.history(options)).flatMap(({ kind }) => (kind.case === "batch" ? [kind.value] : []));
    const [first, second] = await batches();
    const [merged, ...others] = await batches({ mergeBatches: 2 });
    expect(others).toEqual([]);
    expect(merged?.counts).toEqual(first?.counts.map((count, arm) => count + (second?.counts[arm] ?? 0)));
    const [joined] = await batches({ armGroups: [0, 0] });
    expect(joined?.counts).toEqual([4]);
    expect(joined?.probabilities).toEqual([1]);
    const [brief] = await batches({ withoutArms: true });
    expect(brief).toMatchObject({ counts: [], probabilities: [], values: [], prompts: first?.prompts });
    await expect(batches({ armGroups: [0, 2] })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("what rating rows would do is said, and done when it is meant", async () => {
    const run = client().run(name("rated"));
    await run.create(mixture({ arms: [{ id: "a", environment: "countdown", level: "T0", rows: { count: 4 } }] }));
    const rates = new Map([[1, 1]]);
    const known = async () => (await run.rows("a")).rows.map(({ samples }) => Math.round(samples));
    expect(await run.rateRows("a", rates, 5, { validateOnly: true })).toBe(0n);
    expect(await known()).toEqual([0, 0, 0, 0]);
    await expect(run.rateRows("a", new Map([[4, 1]]), 5, { validateOnly: true })).rejects.toThrow("4 is no row");
    expect(await run.rateRows("a", rates, 5)).toBe(0n);
    expect(await known()).toEqual([0, 5, 0, 0]);
  });

  test("a trainer that died goes on at the first batch that is not closed", async () => {
    const run = client().run(name("resumed"));
    await run.create(mixture({ feedbackLag: 0 }));
    const first = (await run.batches().next()).value?.tasks ?? [];
    expect(first).toHaveLength(4);
    const again = (await client().run(run.runId).batches().next()).value?.tasks ?? [];
    expect(again).toEqual(first);
    const groups = first.map((task) => ({ task, completions: ["a", "b"] }));
    await client().batchStep(groups);
    expect((await run.batches().next()).value?.tasks[0]?.cursor).toBe(4n);
  });

  test("a run is paused, resumed and steered", async () => {
    const run = client().run(name("steered"));
    await run.create(mixture());
    expect(await run.pause()).toBe(0n);
    expect((await run.get()).state?.paused).toBe(true);
    expect(await run.resume()).toBe(0n);
    expect(await run.setWeights({ t0: 0 })).toBe(0n);
    const { tasks } = await run.nextBatch({ cursor: 0n });
    expect(tasks.map(({ armId }) => armId)).toEqual(["t1", "t1", "t1", "t1"]);
    expect(await run.updatePolicy({ kind: "bandit", epsilon: 0.2 })).toBe(4n);
    const closed = await run.closeGroups(
      tasks.map(({ groupId }) => groupId),
      "prompts dropped",
    );
    expect(closed.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => "recorded"));
    const kinds = (await run.history()).flatMap(({ kind }) => (kind.case === "control" ? [kind.value.kind] : []));
    expect(kinds).toEqual(expect.arrayContaining(["pause", "resume", "weights", "policy", "close_groups"]));
  });

  test("a run is evaluated beside training", async () => {
    const run = client().run(name("evaluated"));
    const held = { id: "held-out", environment: "countdown", tasks: 3 } as const;
    await run.create(mixture({ evaluationArms: [held, { ...held, id: "bench", split: "bench", numGenerations: 4 }] }));
    const { tasks, nextCursor, done } = await run.nextEvaluation({ armId: "held-out", round: 10 });
    expect({ count: tasks.length, nextCursor, done }).toEqual({ count: 3, nextCursor: 3n, done: true });
    const [group] = await client().batchStep(tasks.map((task) => ({ task, completions: ["a", "b"] })));
    expect(group?.outcomes.map(({ feedback }) => feedback?.status)).toEqual(
      Array.from({ length: 2 }, () => "recorded"),
    );
    const rest = await run.nextEvaluation({ armId: "bench", round: 10n, cursor: 1n, count: 1 });
    expect(rest.tasks.map(({ cursor, evaluationRound }) => [cursor, evaluationRound])).toEqual([[1n, 10n]]);
    expect((await run.get()).state).toMatchObject({
      cursor: 0n,
      samplesRecorded: 0n,
      evaluations: [
        { armId: "held-out", round: 10n, samples: 6, rewardMean: 0, closed: true },
        { armId: "bench", round: 10n, samples: 0, closed: false },
      ],
    });
  });

  test("a trainer's own advantages feed a run", async () => {
    const run = client().run(name("reported"));
    await run.create(mixture({ feedbackSource: "reported", policy: { kind: "bandit" } }));
    const { tasks } = await run.nextBatch({ cursor: 0n });
    const groups = tasks.map(({ groupId }) => ({ groupId, advantages: [1, -1] }));
    const once = await run.reportAdvantages(groups);
    expect(once.map(({ status }) => status)).toEqual(groups.map(() => "recorded"));
    const twice = await run.reportAdvantages(groups);
    expect(twice.map(({ status }) => status)).toEqual(groups.map(() => "duplicate"));
  });

  test("a run is exported, imported under another id, watched and deleted", async () => {
    const run = client().run(name("origin"));
    await run.create(mixture());
    await run.nextBatch({ cursor: 0n });
    const copy = client().run(name("copy"));
    const { state } = await run.export();
    const { outstanding } = await copy.import(state);
    expect(outstanding.map(({ runId }) => runId)).toEqual(Array.from({ length: 4 }, () => name("copy")));
    const watched = copy.watch();
    expect((await watched.next()).value).toMatchObject({ runId: name("copy"), cursor: 4n, groupsOutstanding: 4 });
    const [first] = outstanding;
    if (first === undefined) throw new Error("nothing is outstanding");
    await client().batchStep([{ task: first, completions: ["a", "b"] }]);
    expect((await watched.next()).value).toMatchObject({ groupsOutstanding: 3 });
    await copy.delete();
    expect((await collect(watched)).length).toBeLessThanOrEqual(1);
    await expect(copy.get()).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("groups are given when their wait is over, though the call's time was no longer", async () => {
    const run = client().run(name("waited"));
    await run.create(mixture());
    await run.nextBatch();
    const found = await run.groups({ which: 0n, waitMs: 1_000 }, { deadlineMs: 1_000 });
    expect(found.map(({ closed }) => closed)).toEqual([false, false, false, false]);
  });

  test("a handle goes back with an import, and to the beginning of a run that is made anew", async () => {
    const run = client().run(name("back"));
    await run.create(mixture());
    const { state } = await run.export();
    expect((await run.nextBatch()).tasks[0]?.cursor).toBe(0n);
    await run.import(state);
    expect((await run.nextBatch()).tasks[0]?.cursor).toBe(0n);
    await run.delete();
    await run.create(mixture());
    expect((await run.nextBatch()).tasks[0]?.cursor).toBe(0n);
    await client().run(run.runId).delete();
    await expect(run.delete()).rejects.toMatchObject({ code: "NOT_FOUND" });
    await run.create(mixture());
    expect((await run.nextBatch()).tasks[0]?.cursor).toBe(0n);
  });

  test("a watch that is aborted ends with CANCELLED", async () => {
    const run = client().run(name("watched"));
    await run.create(mixture());
    const controller = new AbortController();
    const watched = run.watch({ signal: controller.signal });
    await watched.next();
    controller.abort();
    await expect(watched.next()).rejects.toMatchObject({ code: "CANCELLED" });
  });
});

test("both protocols give the same tasks and the same outcomes", async () => {
  const seeds = Array.from({ length: 20 }, (_, i) => i);
  const [one, other] = await Promise.all(
    [server.client, web].map(async (client) => {
      const results = await client.batchReset({ environment: "np/tsp", seeds });
      const tasks = results.flatMap(({ result }) => (result.case === "task" ? [result.value] : []));
      const groups = tasks.map((task) => ({ task, completions: ["<think></think><answer>[0]</answer>", "…"] }));
      return { tasks, outcomes: await client.batchStep(groups) };
    }),
  );
  expect(one?.tasks).toHaveLength(20);
  expect(one).toEqual(other);
});

test("a token is asked for and brought, with TLS on both sides", async () => {
  const folder = join(import.meta.dirname, "../../server/transport/tls");
  const pem = (name: string): string => readFileSync(join(folder, name), "utf8");
  const token = "0123456789abcdef";
  const files = { tlsCert: "server.crt", tlsKey: "server.key", tlsClientCa: "ca.crt" };
  const flags = Object.fromEntries(Object.entries(files).map(([flag, name]) => [flag, join(folder, name)]));
  await using secure = await openServer({ token, ...flags });
  const tls = { ca: pem("ca.crt"), cert: pem("client.crt"), key: pem("client.key") };
  const address = secure.address.replace("127.0.0.1", "localhost");
  const codeOf = async (options: Parameters<typeof createClient>[1]): Promise<string> => {
    const client = createClient(address, { retry: false, ...options });
    const code = await client.listEnvironments().then(
      () => "OK",
      (error: GradusError) => error.code,
    );
    client.close();
    return code;
  };
  expect(await codeOf({ tls, token })).toBe("OK");
  expect(await codeOf({ tls })).toBe("UNAUTHENTICATED");
  expect(await codeOf({ tls, token: "fedcba9876543210" })).toBe("UNAUTHENTICATED");
  expect(await codeOf({ tls: { ca: tls.ca }, token })).toBe("UNAVAILABLE");
  expect(await codeOf({ token })).toBe("UNAVAILABLE");
});
