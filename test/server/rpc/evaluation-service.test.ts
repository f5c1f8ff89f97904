/** EvaluationService as clients see it: the real server, over gRPC and over HTTP. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient as createConnectClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient as createWebClient } from "../../../clients/ts/src/web.ts";
import { GradusError, Split } from "../../../clients/ts/src/index.ts";
import type { EvaluationHandle, PendingTask, Task } from "../../../clients/ts/src/index.ts";
import { EvaluationService } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { type TestServer, openServer } from "../../support/in-process.ts";
import { temporaryFolder } from "../../support/server-process.ts";

const small = {
  id: "small",
  version: 3,
  description: "Five cities, and more.",
  parts: [
    {
      environment: "np/tsp",
      parameters: { cities_min: 5, cities_max: 5 },
      tasks: 4,
      category: "planning",
      name: "five",
    },
    { environment: "np/tsp", level: "easy", tasks: 3, category: "planning", name: "easy" },
    { environment: "countdown", level: "T0", tasks: 2, split: "eval" },
  ],
};
const WRONG = "<think>…</think><answer>1 + 1</answer>";

let folder: ReturnType<typeof temporaryFolder>;
let gradus: TestServer;
let number = 0;

beforeAll(async () => {
  folder = temporaryFolder();
  const path = join(folder.path, "small.json");
  writeFileSync(path, JSON.stringify(small));
  gradus = await openServer({ suiteFile: [path], maxCompletionBytes: "64KiB" });
});
afterAll(async () => {
  await gradus[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

function fresh(): EvaluationHandle {
  return gradus.client.evaluation(`evaluation-${number++}`);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

function taskOf({ task }: PendingTask): Task {
  if (task === undefined) throw new Error("no task");
  return task;
}

const tour = (task: Task): string => {
  const cities = Number(task.hints?.metadata["cities"]);
  return `<think>…</think><answer>[${[...Array(cities).keys(), 0].join(", ")}]</answer>`;
};

test("suites are listed, those of files too, with what they are made of", async () => {
  const suites = await gradus.client.listSuites();
  expect(suites.map(({ id }) => id)).toEqual(suites.map(({ id }) => id).toSorted());
  const found = suites.find(({ id }) => id === "small");
  expect(found).toMatchObject({ version: 3, tasks: 9 });
  expect(found?.parts).toMatchObject([
    { name: "five", tasks: 4, environment: "np/tsp", level: "", parameters: { values: { cities_min: 5 } } },
    { name: "easy", tasks: 3, level: "easy", parameters: { values: { cities_max: 20 } }, split: Split.BENCH },
    { name: "countdown parts[2]", tasks: 2, environment: "countdown", split: Split.EVAL },
  ]);
});

describe("an evaluation", () => {
  test("is made once, and given as it stands to whoever asks again with the same choices", async () => {
    const evaluation = fresh();
    const choice = { suite: "small", samplesPerTask: 2, model: "m" };
    const made = await evaluation.create(choice);
    expect(made).toMatchObject({ suiteVersion: 3, samplesTotal: 18n, samplesScored: 0n, model: "m" });
    expect(await evaluation.create({ ...choice, suiteVersion: 3 })).toEqual(made);
    expect(await evaluation.get()).toEqual(made);
    const other = { ...choice, samplesPerTask: 3 };
    await expect(evaluation.create(other)).rejects.toMatchObject({
      code: "ALREADY_EXISTS",
      message: expect.stringContaining("has 2, and the request has 3") as string,
    });
    await expect(evaluation.create({ ...choice, answerFormat: "boxed" })).rejects.toMatchObject({
      code: "ALREADY_EXISTS",
    });
  });

  test("gives each missing sample in the suite's order, the same tasks each time", async () => {
    const evaluation = fresh();
    await evaluation.create({ suite: "small", samplesPerTask: 2 });
    const tasks = await all(evaluation.pending({ pageSize: 4 }));
    expect(tasks.map(({ sampleIndices }) => sampleIndices)).toEqual(Array.from({ length: 9 }, () => [0, 1]));
    expect(tasks.map((pending) => taskOf(pending).environment)).toEqual([
      ...Array.from({ length: 7 }, () => "np/tsp"),
      ...Array.from({ length: 2 }, () => "countdown"),
    ]);
    expect(new Set(tasks.map((pending) => taskOf(pending).groupId)).size).toBe(9);
    expect(await all(evaluation.pending())).toEqual(tasks);
    const another = fresh();
    await another.create({ suite: "small", model: "another" });
    expect((await all(another.pending())).map(taskOf)).toEqual(tasks.map(taskOf));
  });

  test("takes the first completion of each sample, and goes on with what is missing", async () => {
    const evaluation = fresh();
    await evaluation.create({ suite: "small", samplesPerTask: 2 });
    const [first, second] = (await all(evaluation.pending())).map(taskOf) as [Task, Task];
    const submit = async (task: Task, sampleIndex: number, completion: string) =>
      (await evaluation.submit([{ task, sampleIndex, completion }]))[0];
    const recorded = await submit(first, 1, tour(first));
    expect(recorded?.feedback?.status).toBe("recorded");
    expect(recorded?.outcome).toMatchObject({ sampleIndex: 1, kind: "scored", verdict: "feasible" });
    expect(await submit(first, 1, tour(first))).toEqual({
      ...recorded,
      feedback: { ...recorded?.feedback, status: "duplicate" },
    });
    const late = await submit(first, 1, "another one");
    expect(late?.feedback?.status).toBe("conflicting_completion");
    expect(late?.outcome).toEqual(recorded?.outcome);
    await submit(second, 0, tour(second));
    await submit(second, 1, "no answer");
    const missing = await all(evaluation.pending({ pageSize: 1 }));
    expect(missing).toHaveLength(8);
    expect(missing[0]).toMatchObject({ task: first, sampleIndices: [0] });
    expect((await evaluation.get()).samplesScored).toBe(3n);
  });

  test("lists what came in as it came in", async () => {
    const evaluation = fresh();
    await evaluation.create({ suite: "small", samplesPerTask: 3 });
    const [first, second] = (await all(evaluation.pending())).map(taskOf) as [Task, Task];
    const text = 'naïve 😀 "quoted"\n\u0000';
    const completions = [2, 0, 1].map((sampleIndex) => ({ task: first, sampleIndex, completion: tour(first) }));
    const results = await evaluation.submit([...completions, { task: second, completion: text }]);
    const samples = await all(evaluation.samples({ pageSize: 2 }));
    expect(samples.map(({ sampleIndex, part, category }) => [sampleIndex, part, category])).toEqual([
      [0, "five", "planning"],
      [1, "five", "planning"],
      [2, "five", "planning"],
      [0, "five", "planning"],
    ]);
    expect(samples[3]).toMatchObject({ completion: text, task: second });
    expect(samples[3]?.outcome).toEqual(results[3]?.outcome);
    expect(samples[0]?.outcome).toEqual(results[1]?.outcome);
  });

  test("in an answer format of one's choice", async () => {
    const evaluation = fresh();
    await evaluation.create({ suite: "countdown", answerFormat: "boxed" });
    for await (const pending of evaluation.pending()) {
      const task = taskOf(pending);
      expect(task.prompt.at(-1)?.content).toContain("\\boxed{}");
      const [result] = await evaluation.submit([{ task, completion: "\\boxed{1 + 1}" }]);
      expect(result?.outcome).toMatchObject({ kind: "scored", verdict: "infeasible" });
      break;
    }
  });
});

describe("a report", () => {
  test("has figures by part, environment and category, and says what they are against", async () => {
    const evaluation = fresh();
    await evaluation.create({ suite: "small", model: "m" });
    const tasks = (await all(evaluation.pending())).map(taskOf);
    const completions = tasks.map((task) => {
      return { task, completion: task.environment === "np/tsp" ? tour(task) : WRONG };
    });
    await evaluation.submit(completions);
    const report = await evaluation.report();
    expect(report.parts.map(({ name, samples }) => [name, samples])).toEqual([
      ["five", 4n],
      ["easy", 3n],
      ["countdown parts[2]", 2n],
    ]);
    expect(report.environments.map(({ name, tasks: count }) => [name, count])).toEqual([
      ["np/tsp", 7n],
      ["countdown", 2n],
    ]);
    expect(report.categories.map(({ name }) => name)).toEqual(["planning", "countdown"]);
    const [five] = report.parts;
    expect(five?.figures).toMatchObject({ success_rate: 1, malformed_rate: 0 });
    expect(five?.figures["quality_ratio"]).toBeGreaterThan(0);
    expect(five?.figures["quality_ratio"]).toBeLessThanOrEqual(1);
    expect(report.parts[2]?.figures).toMatchObject({ exact_rate: 0, mean_score: 0.1, "pass@1": 0 });
    expect(report.overall).toMatchObject({ samples: 9n, samplesExpected: 9n });
    expect(report.baseline).toContain("proven optima of all 7 tasks: not comparable with the papers' tables");
    expect(report).toMatchObject({ evaluation: { model: "m", samplesScored: 9n }, suite: { id: "small" } });
  });

  test("of an evaluation that has nothing yet has no figures", async () => {
    const evaluation = fresh();
    await evaluation.create({ suite: "small" });
    const { overall, parts } = await evaluation.report();
    expect(overall).toMatchObject({ samples: 0n, samplesExpected: 9n, figures: {} });
    expect(parts).toHaveLength(3);
  });

  test("a completion that is too long is final, and is in no figure but no_reward_rate", async () => {
    const evaluation = fresh();
    await evaluation.create({ suite: "small" });
    const [task] = (await all(evaluation.pending())).map(taskOf) as [Task];
    const [result] = await evaluation.submit([{ task, completion: "x".repeat(70_000) }]);
    expect(result).toMatchObject({
      outcome: { kind: "unscored", reason: "too_large" },
      feedback: { status: "recorded" },
    });
    const { overall, warnings } = await evaluation.report();
    expect(overall).toMatchObject({ samples: 1n, samplesWithoutReward: 1n, figures: { no_reward_rate: 1 } });
    expect(Object.keys(overall?.figures ?? {})).toEqual(["no_reward_rate"]);
    expect(warnings).toEqual([expect.stringContaining("1 of 1 samples (100.0%) have no reward")]);
    expect((await all(evaluation.samples()))[0]?.outcome).toEqual(result?.outcome);
  });
});

describe("what is wrong", () => {
  test("with a completion harms no other", async () => {
    const evaluation = fresh();
    await evaluation.create({ suite: "small" });
    const [task] = (await all(evaluation.pending())).map(taskOf) as [Task];
    const spec = { environment: "np/tsp", level: "easy", split: "bench" as const };
    const stranger = await gradus.client.reset({ ...spec, seed: 1 });
    const boxed = fresh();
    await boxed.create({ suite: "small", answerFormat: "boxed" });
    const [asBoxed] = (await all(boxed.pending())).map(taskOf) as [Task];
    const results = await evaluation.submit([
      { task, sampleIndex: 1, completion: "a" },
      { task: stranger, completion: "a" },
      { task: asBoxed, completion: "a" },
      { task: { taskId: "AAAA" }, completion: "a" },
      { task, completion: "a" },
    ]);
    expect(results.map(({ failure }) => failure?.message ?? "taken")).toEqual([
      "sample_index: must be below 1, the number of samples of each task in this evaluation; got 1",
      "task_id: must be the id of a task of this evaluation, in its answer format",
      "task_id: must be the id of a task of this evaluation, in its answer format",
      "task_id: it is too short",
      "taken",
    ]);
    expect(results[0]?.failure?.code).toBe(3);
  });

  test.each([
    ["no such evaluation", () => gradus.client.evaluation("nobody").report(), "NOT_FOUND", 'no evaluation "nobody"'],
    ["no such suite", () => fresh().create({ suite: "countdwn" }), "NOT_FOUND", "did you mean 'countdown'"],
    ["no such version", () => fresh().create({ suite: "small", suiteVersion: 1 }), "NOT_FOUND", "it has: 3"],
    ["no suite", () => fresh().create({ suite: "" }), "INVALID_ARGUMENT", "suite: must be set"],
    [
      "an id",
      () => gradus.client.evaluation("a b").get(),
      "INVALID_ARGUMENT",
      "evaluation_id: must have no characters but",
    ],
    ["samples", () => fresh().create({ suite: "small", samplesPerTask: 2000 }), "INVALID_ARGUMENT", "from 1 to 1024"],
    [
      "nothing to submit",
      () => fresh().submit([]),
      "INVALID_ARGUMENT",
      "completions: must have at least 1 entry; got 0",
    ],
  ] as const)("with a request is said: %s", async (_, call, code, words) => {
    const error: unknown = await call().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(GradusError);
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) as string });
  });
});

test("a page token that no server gave is a mistake of the caller's", async () => {
  const evaluation = fresh();
  const { evaluationId } = evaluation;
  await evaluation.create({ suite: "small" });
  const transport = createGrpcTransport({ baseUrl: `http://${gradus.address}` });
  const client = createConnectClient(EvaluationService, transport);
  const pageToken = Buffer.from("-5").toString("base64url");
  await expect(client.listPendingTasks({ evaluationId, pageToken })).rejects.toThrow("page_token: ");
});

test("completions come in by stream, and replies as they are ready", async () => {
  const evaluation = fresh();
  await evaluation.create({ suite: "small", samplesPerTask: 8 });
  const tasks = (await all(evaluation.pending())).map(taskOf);
  const { evaluationId } = evaluation;
  const transport = createGrpcTransport({ baseUrl: `http://${gradus.address}` });
  const client = createConnectClient(EvaluationService, transport);
  async function* requests() {
    for (const { taskId } of tasks)
      for (let sampleIndex = 0; sampleIndex < 8; sampleIndex++)
        yield { evaluationId, taskId, sampleIndex, completion: WRONG };
    yield { evaluationId: "nobody", taskId: "x", sampleIndex: 0, completion: "" };
  }
  const replies = await all(client.submitCompletions(requests()));
  expect(replies).toHaveLength(9 * 8 + 1);
  expect(replies.filter(({ failure }) => failure !== undefined)).toMatchObject([{ taskId: "x", failure: { code: 5 } }]);
  expect(new Set(replies.map(({ taskId, sampleIndex }) => `${taskId}/${sampleIndex}`)).size).toBe(73);
  expect((await evaluation.get()).samplesScored).toBe(72n);
});

test("browsers can do all of it", async () => {
  const client = createWebClient(gradus.http);
  const evaluation = client.evaluation("from-the-web");
  await evaluation.create({ suite: "small" });
  const [task] = (await all(evaluation.pending())).map(taskOf) as [Task];
  expect(await evaluation.submit([{ task, completion: tour(task) }])).toMatchObject([{ outcome: { sampleIndex: 0 } }]);
  expect((await evaluation.report()).overall?.figures["success_rate"]).toBe(1);
});
