/** Large BatchStep requests are answered as small ones are. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GroupOutcome } from "../../../clients/ts/src/outcomes.ts";
import type { GroupChoice, Task } from "../../../clients/ts/src/index.ts";
import { type TestServer, openServer } from "../../support/in-process.ts";
import { adscRun, complete } from "../../support/scripted-policy.ts";

const KiB = 1024;
let host: TestServer;
beforeAll(async () => {
  host = await openServer();
});
afterAll(() => host[Symbol.asyncDispose]());

/** Long enough that some groups are a large request, and each alone is a small one. */
function long(task: Task, sample: number): string {
  return `<think>${"thinking ".repeat(4 * KiB)}</think>${complete(task, sample).replace("<think>…</think>", "")}`;
}
const groupsOf = (tasks: readonly Task[]): GroupChoice[] =>
  tasks.map((task) => ({ task, completions: [0, 1, 2, 3].map((sample) => long(task, sample)) }));

test("a large message is answered as its groups are, one by one", async () => {
  const results = await host.client.batchReset({ environment: "countdown", level: "T2", seeds: [1, 2, 3, 4, 5, 6] });
  const tasks = results.map(({ result }) => result.value as Task);
  const forged = { ...(tasks[0] as Task), taskId: "AAAA" };
  const groups = groupsOf([...tasks, forged]);
  const together = await host.client.batchStep(groups);
  const alone = await Promise.all(groups.map(async (group) => (await host.client.batchStep([group]))[0]));
  expect(together).toEqual(alone);
  expect(together[6]?.outcomes[0]).toMatchObject({ kind: "unscored", reason: "invalid_task_id" });
});

test("rows of a pool and tasks of any environment are answered too", async () => {
  const tsp = await host.client.reset({ environment: "np/tsp", level: "benchmark", seed: 1 });
  const row = await host.client.reset({ environment: "countdown", level: "T1", source: "real", seed: 1 });
  const groups = [tsp, tsp, row, row].map((task) => ({
    task,
    completions: [0, 1, 2, 3].map((i) => `<think>${"x".repeat(24 * KiB)}</think><answer>[${i}]</answer>`),
  }));
  const alone = await Promise.all(groups.map(async (group) => (await host.client.batchStep([group]))[0]));
  expect(await host.client.batchStep(groups)).toEqual(alone);
});

test("what is wrong with a large message is said as for a small one", async () => {
  const task = await host.client.reset({ environment: "countdown", level: "T0", seed: 1 });
  const text = "x".repeat(200 * KiB);
  const twice = { task, completions: [0, 0].map((sampleIndex) => ({ sampleIndex, text })) };
  await expect(host.client.batchStep([twice])).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining("groups[0].completions[1].sample_index") as string,
  });
});

describe("a run", () => {
  test("is told of large messages as of small ones", async () => {
    const status = (group: GroupOutcome) => group.outcomes.map(({ feedback }) => feedback?.status);
    const run = host.client.run("large");
    await run.create(adscRun({ numGenerations: 4, promptsPerUpdate: 8 }));
    const { tasks } = await run.nextBatch({ cursor: 0n });
    const groups = groupsOf(tasks);
    const [first, ...others] = await host.client.batchStep(groups);
    for (const group of [first, ...others]) expect(group && status(group)).toEqual(new Array(4).fill("recorded"));
    const again = await host.client.batchStep(groups);
    for (const group of again) expect(status(group)).toEqual(new Array(4).fill("duplicate"));
    expect((await run.get()).state?.samplesRecorded).toBe(32n);
    // Statistics and advantages come along.
    expect(first?.statistics?.count).toBe(4);
    expect(again.map(({ statistics }) => statistics)).toEqual([first, ...others].map((group) => group?.statistics));
  });
});
