/**
 * Tests trainers' requests to a run: reserves, groups, shapes, templates; over gRPC with the client, and over Connect
 * JSON.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GradusClient, type RunChoice, type Task } from "../../clients/ts/src/index.ts";
import { countdown } from "../../envs/countdown/index.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";

const folder = temporaryFolder();
let server: ServerProcess;
let client: GradusClient;

beforeAll(async () => {
  server = await startServer(folder.path);
  client = createClient(server.address, { deadlineMs: PATIENCE_MS });
});
afterAll(async () => {
  client.close();
  await server.kill("SIGTERM");
  folder[Symbol.dispose]();
});

const plain: RunChoice = {
  arms: [{ id: "T0", environment: "countdown", level: "T0" }],
  policy: { kind: "bandit" },
  numGenerations: 2,
  promptsPerUpdate: 2,
};
const config: RunChoice = { ...plain, dynamicSampling: { oversampleMax: 3 } };

const wrong = "<think>hm</think><answer>1 + 1</answer>";
const none = "I do not know.";

/** Two equal completions, or an expression and no answer, whose rewards differ. */
const alike = (task: Task) => ({ task, completions: [none, none] });
const mixed = (task: Task) => ({ task, completions: [wrong, none] });

/** The answer that the solver gives. */
function solution({ prompt }: Task): string {
  const [, listed = "", target = ""] = /numbers (.*), write .* equals (\d+)/.exec(prompt.at(-1)?.content ?? "") ?? [];
  const numbers = listed.split(/\D+/).map(Number);
  const solved = countdown.solver?.solve({ numbers, target: Number(target) });
  return `<answer>${solved === undefined ? "" : countdown.solver?.format(solved.answer)}</answer>`;
}

test("a reserve is given out for useless groups, and the groups to train on are told once they are settled", async () => {
  const run = client.run("reserve");
  await run.create(config);
  const first = await run.nextBatch({ cursor: 0n });
  expect(first.tasks.map(({ cursor, updateBatch }) => [cursor, updateBatch])).toEqual([
    [0n, 0n],
    [1n, 0n],
  ]);
  expect(first.tasks.every(({ armProbability }) => armProbability === 1)).toBe(true);
  await client.batchStep([alike(first.tasks[0] as Task), mixed(first.tasks[1] as Task)]);
  const more = await run.nextBatch({ cursor: first.nextCursor });
  expect(more.tasks.map(({ cursor }) => cursor)).toEqual([2n]);
  const waiting = run.groups({ which: 0n, waitMs: 50_000, tasks: true });
  await client.batchStep([mixed(more.tasks[0] as Task)]);
  const groups = await waiting;
  expect(groups.map(({ cursor, useful, selected }) => [cursor, useful, selected])).toEqual([
    [0n, false, false],
    [1n, true, true],
    [2n, true, true],
  ]);
  expect(groups[2]?.task?.taskId).toBe(more.tasks[0]?.taskId);
  expect(groups[2]?.samples.map(({ rlooAdvantage }) => rlooAdvantage)).toEqual([
    expect.closeTo(0.1, 12) as number,
    expect.closeTo(-0.1, 12) as number,
  ]);
  expect((await run.nextBatch({ cursor: more.nextCursor })).tasks[0]?.cursor).toBe(6n);
  const [record] = await run.history();
  expect(record?.kind).toMatchObject({ case: "batch", value: { prompts: 2, released: 3, useful: 2, closed: true } });
});

test("a trainer that comes back finds what is open, and opens a group again that was dropped", async () => {
  const run = client.run("resume");
  await run.create(plain);
  const { tasks } = await run.nextBatch({ cursor: 0n });
  const [a, b] = tasks as [Task, Task];
  await client.batchStep([{ task: a, completions: [{ sampleIndex: 1, text: wrong, policyVersion: 7 }] }]);
  await run.closeGroups([b.groupId], "too long");
  const [open, ...others] = await run.groups({ which: "open" });
  expect([open?.groupId, open?.missing, others.length]).toEqual([a.groupId, [0], 0]);
  expect(open?.samples[0]).toMatchObject({ sampleIndex: 1, policyVersion: 7 });
  const [reopened] = await run.reopenGroups([b.groupId]);
  expect(reopened?.status).toBe("recorded");
  const [scored] = await client.batchStep([mixed(b)]);
  expect(scored?.outcomes.map(({ feedback }) => feedback?.status)).toEqual(["recorded", "recorded"]);
  expect((await run.get()).state?.firstOpenCursor).toBe(0n);
});

test("a shape is changed while a run goes on, and arms that give no tasks are refused", async () => {
  const run = client.run("shape");
  await run.create(config);
  const before = await run.nextBatch({ cursor: 0n });
  const added = { id: "T1", environment: "countdown", level: "T1" };
  expect(await run.updateShape({ addArms: [added], removeArms: ["T0"], numGenerations: 3 })).toBe(6n);
  expect((await run.get()).state?.shape).toMatchObject({ numGenerations: 3, promptsPerUpdate: 2, length: 0n });
  const after = await run.nextBatch({ cursor: 6n });
  expect(after.tasks.map(({ armId }) => armId)).toEqual(["T1", "T1"]);
  const [outcome] = await client.batchStep([{ task: after.tasks[0] as Task, completions: [none, none, wrong] }]);
  expect(outcome?.statistics?.count).toBe(3);
  expect((await client.batchStep([mixed(before.tasks[0] as Task)]))[0]?.statistics?.count).toBe(2);
  await expect(run.updateShape({ addArms: [{ ...added, id: "x", level: "no such" }] })).rejects.toThrow("add_arms[0]");
  await expect(run.updateShape({ removeArms: ["T9"] })).rejects.toThrow('remove_arms[0]: "T9" is not an arm');
});

test("prompts stand in the run's template, and a finish reason tells that a completion was cut", async () => {
  const run = client.run("template");
  const promptTemplate = { system: "Be brief.", user: "### Task\n{prompt}\n### $& Answer" };
  await run.create({ ...config, promptTemplate });
  const [task] = (await run.nextBatch({ cursor: 0n })).tasks as [Task];
  expect(task.prompt[0]).toMatchObject({ role: "system", content: "Be brief." });
  expect(task.prompt.at(-1)?.content).toMatch(/^### Task\n.*\n### \$& Answer$/s);
  const completions = [{ sampleIndex: 0, text: wrong, finishReason: "length" } as const];
  const [group] = await client.batchStep([{ task, completions }]);
  expect(group?.outcomes[0]).toMatchObject({ kind: "scored", truncated: true });
  const twice = { ...config, promptTemplate: { user: "{prompt} {prompt}" } };
  await expect(client.run("twice").create(twice)).rejects.toThrow("prompt_template.user");
});

test("samples that come one by one have the contrast pairs of a group that comes whole", async () => {
  const run = client.run("pairs");
  await run.create({ ...plain, rewardScheme: "vcc", numGenerations: 3 });
  const [task] = (await run.nextBatch({ cursor: 0n })).tasks as [Task];
  // The right answer, and more after it; an answer that is wrong; and none.
  const completions = [`${wrong} ${solution(task)} or ${wrong}`, wrong, none];
  const whole = await client.batchStep([{ task, completions }]);
  const others = client.run("pairs-one-by-one");
  await others.create({ ...plain, rewardScheme: "vcc", numGenerations: 3 });
  const [same] = (await others.nextBatch({ cursor: 0n })).tasks as [Task];
  for (const [sampleIndex, text] of completions.entries())
    await client.batchStep([{ task: same, completions: [{ sampleIndex, text }] }]);
  const [group] = await others.groups({ which: 0n });
  expect(group?.contrastPairs).toEqual(whole[0]?.contrastPairs);
  expect(group?.contrastPairs.length).toBeGreaterThan(1);
});

test("every new call is there over Connect JSON", async () => {
  const run = client.run("json");
  await run.create(plain);
  const { tasks } = await run.nextBatch({ cursor: 0n });
  const call = async (method: string, body: object): Promise<unknown> => {
    const url = `${server.httpAddress}/gradus.v1.CurriculumService/${method}`;
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    return (await fetch(url, init)).json();
  };
  const groupId = tasks[0]?.groupId;
  expect(await call("GetGroups", { runId: "json", open: true })).toMatchObject({ groups: [{ groupId }, {}] });
  expect(await call("ReopenGroups", { runId: "json", groupIds: [groupId] })).toMatchObject({
    groups: [{ feedback: { status: "FEEDBACK_STATUS_DUPLICATE" } }],
  });
  expect(await call("UpdateShape", { runId: "json", promptsPerUpdate: 3 })).toEqual({ appliesFromCursor: "2" });
});
