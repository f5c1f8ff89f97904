/** Tests of a mounted Python file: tasks, rewards, the party at fault for a failure, and a host that is killed. */
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createClient,
  type GradusClient,
  GradusError,
  type Outcome,
  type RunChoice,
  type Task,
} from "../../../../clients/ts/src/index.ts";
import { wrapAnswer } from "../../../../envs/answers/wording.ts";
import type { TestServer } from "../../../support/in-process.ts";
import { hostPids, openMounting, WORD_FILE } from "../../../support/mounted/mounts.ts";
import { temporaryFolder } from "../../../support/server-process.ts";
import { until } from "../../../support/patience.ts";

const ask = (level: string, seed = 0) => ({ environment: "mine/word", level, seed }) as const;
const wordOf = ({ prompt }: Task): string => /backwards: ([a-z]+)/.exec(prompt[0]?.content ?? "")?.[1] ?? "";
const right = (task: Task): string => wrapAnswer([...wordOf(task)].reverse().join(""), "think_answer");
const answered = (text: string): string => wrapAnswer(text, "think_answer");
const line = ({ instanceHash, armId, prompt }: Task): string => `${armId} ${instanceHash} ${prompt[0]?.content ?? ""}`;

const choice: RunChoice = {
  arms: ["short", "long", "vast"].map((level) => ({ id: level, environment: "mine/word", level })),
  policy: { kind: "mixture" },
  numGenerations: 2,
  promptsPerUpdate: 6,
  seed: 5,
};

async function playBatch(client: GradusClient, run: string, cursor: bigint): Promise<readonly string[]> {
  const { tasks } = await client.run(run).nextBatch({ cursor, count: 6 });
  const groups = tasks.map((task) => ({
    task,
    completions: [right(task), answered("wrong")].map((text, sampleIndex) => ({ sampleIndex, text })),
  }));
  const outcomes = await client.batchStep(groups);
  for (const group of outcomes) expect(group.outcomes.map(rewardOf)).toEqual([1, 0.1]);
  return tasks.map(line);
}

const rewardOf = (outcome: Outcome): number | string => (outcome.kind === "scored" ? outcome.reward : outcome.detail);

/** Has callers' slow answers wait for each other until a worker is ended for that, and returns the metrics. */
async function metricsWithStale({ address, http }: TestServer, client: GradusClient): Promise<string> {
  const others = [1, 2, 3].map(() => createClient(address));
  let text = "";
  const play = async (asking: GradusClient, seed: number): Promise<void> => {
    const task = await asking.reset(ask("short", seed));
    const completions = [0, 1, 2].map((sampleIndex) => ({ sampleIndex, text: answered("slow") }));
    await asking.batchStep([{ task, completions }]);
  };
  try {
    await until(async () => {
      await Promise.all([client, ...others].map((each, i) => play(each, 40 + i)));
      text = await (await fetch(`${http}/metrics`)).text();
      return text.includes('why="stale"');
    });
  } finally {
    for (const each of others) each.close();
  }
  return text;
}

describe("a mounted file", () => {
  let server: TestServer;
  let client: GradusClient;
  beforeAll(async () => {
    server = await openMounting(WORD_FILE);
    ({ client } = server);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("is listed with its levels, and gives tasks and rewards", async () => {
    const environment = await client.getEnvironment("mine/word");
    expect(environment.levels.map(({ name }) => name)).toEqual(["short", "long", "vast"]);
    const task = await client.reset(ask("short"));
    expect(wordOf(task)).toHaveLength(4);
    expect(await client.reset(ask("short"))).toEqual(task);
    expect(await client.step(task, right(task))).toMatchObject({ kind: "scored", reward: 1, solved: true });
    expect(await client.step(task, answered("no"))).toMatchObject({ kind: "scored", reward: 0.1, solved: false });
  });

  test("asks again for an instance that no id has room for", async () => {
    const task = await client.reset(ask("vast"));
    expect(task.taskId.length).toBeLessThan(500);
    expect(await client.step(task, right(task))).toMatchObject({ kind: "scored", reward: 1 });
  });

  test("is an arm for each of its levels, where a run names the family", async () => {
    const run = client.run("family");
    const family = { ...choice, arms: [{ id: "", environment: "mine/*" }] };
    await run.create(family);
    const { state } = await run.get();
    expect(state?.arms.map(({ armId }) => armId)).toEqual(["mine/word/short", "mine/word/long", "mine/word/vast"]);
    expect((await run.nextBatch({ cursor: 0n, count: 6 })).tasks).toHaveLength(6);
    await run.create(family);
  });

  test.each(["hang", "die"])("takes an answer that makes its verifier %s for wrong, and no other", async (words) => {
    const task = await client.reset(ask("short", 1));
    const texts = [words, [...wordOf(task)].reverse().join(""), "other"];
    const completions = texts.map((text, sampleIndex) => ({ sampleIndex, text: answered(text) }));
    const [group] = await client.batchStep([{ task, completions }]);
    expect(group?.outcomes).toMatchObject([
      {
        kind: "scored",
        verdict: "infeasible",
        violation: expect.stringMatching(/even on a second try/) as string,
      },
      { kind: "scored", reward: 1 },
      { kind: "scored", verdict: "infeasible" },
    ]);
  });

  test.each([
    ["raise", /ValueError: no such answer/],
    ["nan", /nan/i],
  ])("has no reward where its verifier comes to %s", async (words, detail) => {
    const task = await client.reset(ask("short", 2));
    const outcome = await client.step(task, answered(words));
    expect(outcome).toMatchObject({ kind: "unscored", reason: "resource_unavailable" });
    expect(outcome.kind === "unscored" && outcome.detail).toMatch(detail);
    expect(outcome).not.toHaveProperty("retryDelayMs");
  });

  test("draws tasks and answers by its own code, and shows no script", async () => {
    const task = await client.reset(ask("vast"));
    const picture = (words: string): string =>
      `<svg xmlns="http://www.w3.org/2000/svg"><text>${wordOf(task)}: ${words}</text></svg>`;
    expect(await client.drawTask(task)).toBe(picture("None"));
    expect(await client.drawTask(task, { answer: "drow" })).toBe(picture("drow"));
    expect(await client.drawTask(task, { completion: answered("drow") })).toBe(picture("drow"));
    await expect(client.drawTask(task, { answer: "script" })).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      message: expect.stringMatching(/not shown: it has a script/) as string,
    });
  });

  test.each(["short", "vast"])("is solved by its reference answer, at level %s", async (level) => {
    const task = await client.reset(ask(level));
    const answer = [...wordOf(task)].reverse().join("");
    const solved = await client.solveTask(task);
    expect(solved).toMatchObject({ answer, completion: right(task), nodes: 0n, svg: "" });
    expect(await client.step(task, solved.completion)).toMatchObject({ kind: "scored", reward: 1, solved: true });
  });

  test("draws its reference answer where a person asks for the solution", async () => {
    const task = await client.reset(ask("short"));
    const solved = await client.solveTask(task, { draw: true, beside: { answer: "drow" } });
    expect(solved.svg).toContain(`${wordOf(task)}: ${solved.answer}</text>`);
  });

  test("gives nobody the reference answer of a task of the split bench", async () => {
    const task = await client.reset({ ...ask("short"), split: "bench" });
    await expect(client.solveTask(task)).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      message: expect.stringContaining("split bench") as string,
    });
  });

  test("is counted: items by what they came to, their seconds, workers that ended, and levels", async () => {
    const text = await metricsWithStale(server, client);
    const mount = `mount="${WORD_FILE}"`;
    const of = (item: string): string => `{${mount},environment="mine/word",item="${item}"`;
    for (const series of [
      `gradus_mount_items_total${of("instance")},result="ok"}`,
      ...["ok", "timeout", "crashed", "raised"].map(
        (result) => `gradus_mount_items_total${of("verdict")},result="${result}"}`,
      ),
      `gradus_mount_items_total${of("drawing")},result="ok"}`,
      `gradus_mount_seconds_total${of("verdict")}}`,
      ...["timeout", "crashed", "stale"].map((why) => `gradus_mount_worker_ends_total{${mount},why="${why}"}`),
      `gradus_mount_levels{${mount},found="lawful"} 3`,
    ])
      expect(text).toContain(series);
  });

  test("goes on as before when its host was killed", async () => {
    const run = client.run("killed");
    await run.create(choice);
    const undisturbed = client.run("undisturbed");
    await undisturbed.create(choice);
    const [first, second] = [await playBatch(client, "killed", 0n), await playBatch(client, "undisturbed", 0n)];
    expect(first).toEqual(second);
    const [pid = 0] = hostPids();
    process.kill(pid, "SIGKILL");
    const [after, same] = await Promise.all([playBatch(client, "killed", 6n), playBatch(client, "undisturbed", 6n)]);
    expect(after).toEqual(same);
    await until(() => hostPids().length === 1 && hostPids()[0] !== pid);
  });
});

test("a server that begins again has the same tasks of a run, and the same future", async () => {
  const first = await openMounting(WORD_FILE, { store: "sqlite" });
  const { dataDir, client } = first;
  const run = client.run("resumed");
  await run.create(choice);
  const drawn = (await run.nextBatch({ cursor: 0n, count: 6 })).tasks;
  await first.server.stop();
  client.close();
  await using second = await openMounting(WORD_FILE, { store: "sqlite", dataDir });
  const again = (await second.client.run("resumed").nextBatch({ cursor: 0n, count: 6 })).tasks;
  expect(again).toEqual(drawn);
  const [task] = drawn as [Task];
  expect(await second.client.step(task, right(task))).toMatchObject({ kind: "scored", reward: 1 });
});

test("a task of other sources is refused by name in each way of asking, and never scored", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "word.py");
  copyFileSync(WORD_FILE, file);
  const first = await openMounting(file);
  const { dataDir, client } = first;
  const task = await client.reset(ask("short"));
  await first.server.stop();
  client.close();
  appendFileSync(file, "# changed\n");
  await using second = await openMounting(file, { dataDir });
  const words = /mine\/word was of digest [0-9a-f]{16} .* is of digest [0-9a-f]{16} now, mounted from .*word\.py/;
  await expect(second.client.step(task, right(task))).rejects.toMatchObject({
    code: "FAILED_PRECONDITION",
    message: expect.stringMatching(words) as string,
  });
  const unscored = { kind: "unscored", reason: "failed_precondition", detail: expect.stringMatching(words) as string };
  const group = { task, completions: [{ sampleIndex: 0, text: right(task) }] };
  expect(await second.client.batchStep([group])).toMatchObject([{ outcomes: [unscored] }]);
  for await (const result of second.client.streamSteps([group]))
    expect(result).toMatchObject({ kind: "scored", outcome: { outcomes: [unscored] } });
});

test("a file that changes is mounted again, and one that is broken leaves what was there", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "word.py");
  copyFileSync(WORD_FILE, file);
  await using server = await openMounting(file, { reload: true });
  const { client } = server;
  const run = client.run("before");
  await run.create(choice);
  const task = await client.reset(ask("short"));
  writeFileSync(file, "this is no Python");
  const kept = /gradus_mount_remounts_total\{mount="[^"]*",outcome="kept"\} 1/;
  await until(async () => kept.test(await (await fetch(`${server.http}/metrics`)).text()));
  expect(await client.step(task, right(task))).toMatchObject({ kind: "scored", reward: 1 });
  writeFileSync(file, `${readFileSync(WORD_FILE, "utf8")}\n# A comment makes other sources.\n`);
  await until(async () => {
    const outcome = await client.step(task, right(task)).catch((error: unknown) => error);
    return outcome instanceof GradusError && outcome.code === "FAILED_PRECONDITION";
  });
  const now = await client.reset(ask("short"));
  expect(await client.step(now, right(now))).toMatchObject({ kind: "scored", reward: 1 });
  // The file has its first content again, and its tasks are scored as at first.
  copyFileSync(WORD_FILE, file);
  await until(async () => (await client.step(task, right(task)).catch(() => undefined))?.kind === "scored");
  expect((await client.run("before").nextBatch({ cursor: 0n, count: 6 })).tasks).toHaveLength(6);
});

const FEW = `from gradus.serve import Environment


class Few(Environment):
    """Repeat a number. All instances of a level are equal, and so of one split."""

    id = "mine/few"
    levels = {f"only-{n}": {"n": n} for n in range(40)}

    def generate(self, rng, n):
        return n

    def prompt(self, instance):
        return f"Repeat {instance}"

    def verify(self, instance, answer):
        return answer == str(instance)
`;

test("a family leaves out levels without a task in the run's split, which refuse an arm that is named", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "few.py");
  writeFileSync(file, FEW);
  await using server = await openMounting(file);
  const { client } = server;
  const run = client.run("few");
  const family = { ...choice, arms: [{ id: "", environment: "mine/*" }] };
  const ids = (await run.create(family)).state?.arms.map(({ armId }) => armId) ?? [];
  expect(ids.length).toBeGreaterThan(0);
  const all = Array.from({ length: 40 }, (_, n) => `only-${n}`);
  const empty = all.filter((level) => !ids.includes(`mine/few/${level}`));
  expect(empty.length).toBeGreaterThan(0);
  expect((await run.create(family)).state?.arms.map(({ armId }) => armId)).toEqual(ids);
  expect((await client.checkRun(family)).problems).toEqual([]);
  const named = { ...choice, arms: [{ id: "empty", environment: "mine/few", level: empty[0] ?? "" }] };
  await expect(client.run("named").create(named)).rejects.toThrow(/none of 3 seeds gave a task/);
});

test("a Python without Gradus's package is named, with what to do", async () => {
  using folder = temporaryFolder();
  const bare = join(folder.path, "python");
  writeFileSync(bare, '#!/bin/sh\nexec python3 -I -S "$@"\n', { mode: 0o755 });
  await expect(openMounting(WORD_FILE, { python: [bare, WORD_FILE] })).rejects.toThrow(
    `${WORD_FILE} cannot be mounted: ${bare} has no Python package of Gradus: install it there (in a checkout: pip install ./clients/python;`,
  );
});
