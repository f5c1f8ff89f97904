/** Rescore and ReissueTasks on a real server. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RescoredGroup, Task } from "../../../clients/ts/src/public.ts";
import { mixed } from "../../e2e/services/answers.ts";
import { openServer, type TestServer } from "../../support/in-process.ts";
import { eventually } from "../../support/patience.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer({ keepSamples: "1" });
});
afterAll(() => server[Symbol.asyncDispose]());

const rewards = ({ outcome }: RescoredGroup) =>
  outcome?.outcomes.map(({ result }) => result.case === "score" && result.value.reward);
const before = ({ before: stored }: RescoredGroup) =>
  stored.map(({ result }) => result.case === "score" && result.value.reward);
const advantages = ({ outcome }: RescoredGroup) => outcome?.outcomes.map(({ grpoAdvantage }) => grpoAdvantage);

const doubled = { rewardScheme: { name: "", parameters: { format_score: 0.2 } } };

test("a run's kept groups are scored under other parameters, and the run does not change", async () => {
  const run = server.client.run("r");
  await run.create({
    arms: [{ id: "a", environment: "countdown", level: "T0" }],
    policy: { kind: "mixture" },
    numGenerations: 4,
    promptsPerUpdate: 3,
  });
  const { tasks } = await run.nextBatch();
  // The first group lacks a completion, and so has no advantages.
  const of = (task: Task, i: number) => mixed(task).slice(i === 0 ? 1 : 0);
  await server.client.batchStep(tasks.map((task, i) => ({ task, completions: of(task, i) })));
  await eventually(async () => expect(await Array.fromAsync(run.samples())).toHaveLength(11));
  const state = (await run.get()).state;
  const groups = await Array.fromAsync(server.client.rescore({ runId: "r" }, doubled));
  const places = groups.map(({ armId, missing, instanceHash }) => [armId, missing, instanceHash]);
  expect(places).toEqual(new Array(3).fill(["a", "", ""]));
  const whole = groups.filter((group) => before(group).length === 4);
  expect(whole).toHaveLength(2);
  for (const group of whole) {
    expect([before(group), rewards(group)]).toEqual([
      [1, 0.1, 0, 0.1],
      [1, 0.2, 0, 0.2],
    ]);
    expect(advantages(group)?.every((each) => each !== undefined)).toBe(true);
  }
  const part = groups.find((group) => before(group).length === 3)!;
  expect([rewards(part), advantages(part)]).toEqual([
    [0.2, 0, 0.2],
    [undefined, undefined, undefined],
  ]);
  expect((await run.get()).state).toEqual(state);
});

test("an evaluation's groups come in the suite's order, with tasks that any caller can score", async () => {
  const evaluation = server.client.evaluation("e");
  await evaluation.create({ suite: "countdown", samplesPerTask: 4 });
  const hashes: string[] = [];
  for await (const { task } of evaluation.pending()) {
    if (task === undefined || hashes.push(task.instanceHash) === 3) break;
    await evaluation.submit(mixed(task).map((completion, sampleIndex) => ({ task, sampleIndex, completion })));
  }
  const groups = await Array.fromAsync(server.client.rescore({ evaluationId: "e" }, doubled));
  expect(groups.map(rewards)).toEqual(new Array(2).fill([1, 0.2, 0, 0.2]));
  expect(groups.map(({ instanceHash }) => instanceHash)).toEqual(hashes.slice(0, 2));
  const samples = await Array.fromAsync(evaluation.samples());
  expect(groups.map(({ taskId }) => taskId)).toEqual([samples[0]?.task?.taskId, samples[4]?.task?.taskId]);
  const { task } = groups[0]!;
  const [again] = await server.client.batchStep([
    { task: task!, completions: samples.slice(0, 4).map(({ completion }) => completion) },
  ]);
  expect(again?.outcomes.map(({ message }) => message)).toEqual(groups[0]?.outcome?.outcomes);
});

test("episodes of several calls are named and not scored", async () => {
  const run = server.client.run("turns");
  await run.create({
    arms: [{ id: "a", environment: "countdown", level: "T0", calls: 2 }],
    policy: { kind: "mixture" },
    numGenerations: 1,
    promptsPerUpdate: 1,
  });
  const { tasks } = await run.nextBatch();
  await server.client.batchStep([{ task: tasks[0]!, completions: mixed(tasks[0]!).slice(0, 1) }]);
  await eventually(async () => expect(await Array.fromAsync(run.samples())).toHaveLength(1));
  const [group] = await Array.fromAsync(server.client.rescore({ runId: "turns" }));
  expect(group).toMatchObject({
    missing: expect.stringContaining("episodes of several calls") as string,
    before: [{}],
  });
  expect(group?.outcome).toBeUndefined();
});

test("wrong requests are refused, with the field", async () => {
  const failure = async (...[source, settings]: Parameters<TestServer["client"]["rescore"]>): Promise<string> => {
    const error = await Array.fromAsync(server.client.rescore(source, settings)).catch((refused: unknown) => refused);
    return String((error as Error).message);
  };
  expect(await failure({ runId: "none" })).toContain("none");
  expect(await failure({ evaluationId: "none" })).toContain("none");
  expect(await failure({ evaluationId: "" })).toMatch(/^evaluation_id: must be set/);
  expect(await failure({ evaluationId: "e" }, { rewardScheme: "grade" })).toMatch(
    /^settings.reward_scheme.name: countdown has no/,
  );
  expect(await failure({ evaluationId: "e" }, { version: 9 })).toMatch(/^settings.version: countdown has no version 9/);
});

test("of several task ids, one that cannot be issued again does not affect the others", async () => {
  const { taskId } = await server.client.reset({ environment: "countdown", level: "T1", seed: 1 });
  const results = await server.client.reissueTasks([taskId, `${taskId.slice(0, -4)}AAAA`, taskId], {
    thinking: "stripped",
  });
  expect(results.map(({ result }) => result.case)).toEqual(["task", "failure", "task"]);
  const [first, second, third] = results.map(({ result }) => result.value);
  expect(first).toMatchObject({ environment: "countdown", version: 2, level: "T1", callsMax: 0, numGenerations: 0 });
  expect(third).toEqual(first);
  expect(second).toMatchObject({ code: 9, message: expect.stringMatching(/^task_id/) as string, retryDelayMs: 0 });
  // Equal settings give the id that Reset gives.
  const fresh = await server.client.reset({ environment: "countdown", level: "T1", seed: 1, thinking: "stripped" });
  expect(first).toMatchObject({ taskId: fresh.taskId });
  await expect(server.client.reissueTasks([])).rejects.toThrow("task_ids: must have at least 1 entry; got 0");
});
