/** Slow, failing and graded environments of a module, through a server's process and the client. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GradusClient, type Task } from "../../clients/ts/src/index.ts";
import { PATIENCE_MS, until } from "../support/patience.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";

const folder = temporaryFolder();
const judge = join(folder.path, "judge");
const modules = ["index.ts", "held-judge.ts"].map((name) =>
  resolve(import.meta.dirname, "../support/environments", name),
);
const suite = {
  id: "sums",
  version: 1,
  parts: [{ environment: "test/flaky", level: "only", tasks: 3, split: "eval" }],
};
let server: ServerProcess;
let client: GradusClient;

beforeAll(async () => {
  mkdirSync(judge);
  process.env["GRADUS_TEST_JUDGE"] = judge;
  const suiteFile = join(folder.path, "suite.json");
  writeFileSync(suiteFile, JSON.stringify(suite));
  const flags = modules.flatMap((path) => ["--environment-file", path]);
  server = await startServer(folder.path, ...flags, "--suite-file", suiteFile);
  client = createClient(server.address, { deadlineMs: PATIENCE_MS });
});
afterAll(async () => {
  client.close();
  await server.kill("SIGTERM");
  folder[Symbol.dispose]();
});

const says = (name: string): void => writeFileSync(join(judge, name), "");
const unsays = (name: string): void => rmSync(join(judge, name), { force: true });
const asked = (): number => (existsSync(join(judge, "asked")) ? readFileSync(join(judge, "asked")).length : 0);

/** The task's sum, or another number. */
function answerTo({ prompt }: Task, off = 0): string {
  const [, a, b] = /What is (\d+) \+ (\d+)\?/.exec(prompt[0]?.content ?? "") ?? [];
  return `<answer>${Number(a) + Number(b) + off}</answer>`;
}

describe.each(["test/slow", "test/flaky", "test/graded"])("%s", (environment) => {
  test("is scored by Step and by BatchStep", async () => {
    const seeds = [1n, 2n, 3n, 4n];
    const results = await client.batchReset({ environment, seeds });
    const tasks = results.flatMap(({ result }) => (result.case === "task" ? [result.value] : []));
    expect(tasks).toHaveLength(4);
    for (const task of tasks.slice(0, 2)) {
      expect((await client.step(task, answerTo(task))).message.result).toMatchObject({
        case: "score",
        value: { solved: true },
      });
    }
    const groups = tasks.map((task) => ({ task, completions: [answerTo(task), answerTo(task, 1), "none"] }));
    for (const { outcomes, statistics } of await client.batchStep(groups)) {
      expect(outcomes.map((outcome) => outcome.kind === "scored" && outcome.solved)).toEqual([true, false, false]);
      expect(statistics?.count).toBe(3);
    }
  });
});

test("an evaluation asks a judge that hangs up until it answers", async () => {
  const evaluation = client.evaluation("sums");
  await evaluation.create({ suite: suite.id });
  const completions: { task: Task; completion: string }[] = [];
  for await (const { task } of evaluation.pending()) {
    if (task !== undefined) completions.push({ task, completion: answerTo(task) });
  }
  const submitted = await evaluation.submit(completions);
  expect(submitted.map(({ outcome }) => outcome?.message.result)).toMatchObject(
    Array.from({ length: 3 }, () => ({ case: "score", value: { solved: true } })),
  );
  expect((await evaluation.report()).overall?.samples).toBe(3n);
});

const arms = [
  { id: "judged", environment: "test/held" },
  { id: "plain", environment: "countdown", level: "T0" },
];

test("a sample whose caller left is scored once, and recorded", async () => {
  const run = client.run("left");
  await run.create({
    arms: arms.slice(0, 1),
    policy: { kind: "mixture" },
    numGenerations: 1,
    promptsPerUpdate: 1,
    seed: 1,
  });
  const [task] = (await run.nextBatch()).tasks;
  if (task === undefined) throw new Error("no task");
  says("hold");
  const before = asked();
  const leaving = new AbortController();
  const left = client.step(task, answerTo(task), { signal: leaving.signal });
  await until(() => asked() === before + 1);
  leaving.abort();
  await expect(left).rejects.toMatchObject({ code: "CANCELLED" });
  unsays("hold");
  await until(async () => (await run.get()).state?.samplesRecorded === 1n);
  const again = await client.step(task, answerTo(task));
  expect([again.kind, again.feedback?.status]).toEqual(["scored", "duplicate"]);
  expect(asked()).toBe(before + 1);
});

test("a judge that is down masks its arm, and has it back when it answers", async () => {
  const run = client.run("masked");
  await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 1, promptsPerUpdate: 8, seed: 1 });
  const reasons = async () => (await run.get()).state?.arms.map(({ maskedReason }) => maskedReason);
  expect(await reasons()).toEqual([undefined, undefined]);
  says("down");
  const task = await client.reset({ environment: "test/held", seed: 1n });
  await until(async () => {
    const outcome = await client.step(task, answerTo(task));
    expect(outcome).toMatchObject({ kind: "unscored", reason: "resource_unavailable", resource: "flaky-judge" });
    return (await reasons())?.[0] !== undefined;
  });
  expect(await reasons()).toEqual(["the judge hung up", undefined]);
  const masked = await run.nextBatch({ count: 8 });
  expect(new Set(masked.tasks.map(({ armId }) => armId))).toEqual(new Set(["plain"]));
  unsays("down");
  await until(async () => (await reasons())?.[0] === undefined);
  expect((await client.step(task, answerTo(task))).kind).toBe("scored");
  const drawn = new Set<string>();
  for (let cursor = 8n; cursor < 40n; cursor += 8n) {
    for (const { armId } of (await run.nextBatch({ cursor, count: 8 })).tasks) drawn.add(armId);
  }
  expect(drawn).toEqual(new Set(["judged", "plain"]));
});
