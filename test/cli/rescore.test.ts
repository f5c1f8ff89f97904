/** `gradus rescore`: files, runs and evaluations, on the real server and in the command's own process. */
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { RescoredRow } from "../../cli/rescore/report.ts";
import type { Outcome, Task } from "../../clients/ts/src/public.ts";
import { mixed, right, wrong } from "../e2e/services/answers.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { PYTHON, useCheckout } from "../support/mounted/mounts.ts";
import { eventually, PATIENCE_MS, until } from "../support/patience.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus, start } from "./gradus.ts";

const folder = temporaryFolder();
const here = { cwd: folder.path };
let server: TestServer;
beforeAll(async () => {
  server = await openServer({ keepSamples: "1" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const inFolder = (...names: readonly string[]): string => join(folder.path, ...names);

function fileOf(name: string, rows: readonly object[]): string {
  writeFileSync(inFolder(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return name;
}

async function rowsOf(out: string): Promise<readonly RescoredRow[]> {
  const file = await asyncBufferFromFile(inFolder(out, "rescored.parquet"));
  return (await parquetReadObjects({ file })) as RescoredRow[];
}

interface Report {
  readonly arms: readonly Readonly<Record<string, unknown>>[];
  readonly changes: readonly Readonly<Record<string, unknown>>[];
}

async function rescore(...args: readonly string[]): Promise<Report> {
  const { code, out, err } = await gradus(here, "rescore", ...args, "--json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out) as Report;
}

async function refused(...args: readonly string[]): Promise<readonly [code: number | null, err: string]> {
  const { code, err } = await gradus(here, "rescore", ...args);
  return [code, err];
}

const countdown = { environment: "countdown", level: "T0" };

async function tasksOf(seeds: readonly number[], choice: object = {}): Promise<readonly Task[]> {
  const results = await server.client.batchReset({ ...countdown, ...choice, seeds });
  return results.map(({ result }) => {
    if (result.case !== "task") throw new Error("no task");
    return result.value;
  });
}

/** Returns the score of fresh scoring in the form of a row. */
function freshly(outcome: Outcome | undefined) {
  if (outcome?.kind !== "scored") throw new Error("no score");
  const { reward, verdict, solved, rlooAdvantage, grpoAdvantage } = outcome;
  return [reward, verdict, solved, rlooAdvantage, grpoAdvantage];
}

const newly = (row: RescoredRow) => [row.reward, row.verdict, row.solved, row.rloo_advantage, row.grpo_advantage];

describe("a file", () => {
  test("of seeds is scored under other parameters, equal to fresh scoring to the bit", async () => {
    const seeds = [1, 2, 3, 4, 5];
    const tasks = await tasksOf(seeds);
    const rows = tasks.flatMap((task, i) =>
      mixed(task).map((completion, sample_index) => ({ ...countdown, seed: seeds[i], sample_index, completion })),
    );
    const rewardScheme = { name: "graded", parameters: { format_score: 0.3 } };
    const again = await tasksOf(seeds, { rewardScheme });
    const groups = await server.client.batchStep(again.map((task) => ({ task, completions: mixed(task) })));
    const fresh = groups.flatMap(({ outcomes }) => outcomes.map(freshly));
    const parquet = parquetWriteBuffer({
      columnData: [
        { name: "environment", data: rows.map(() => "countdown"), type: "STRING" },
        { name: "level", data: rows.map(() => "T0"), type: "STRING" },
        { name: "seed", data: rows.map(({ seed }) => BigInt(seed ?? 0)), type: "INT64" },
        { name: "sample", data: rows.map((_, i) => `line ${i + 1}`), type: "STRING" },
        { name: "completion", data: rows.map(({ completion }) => completion), type: "STRING" },
      ],
    });
    writeFileSync(inFolder("seeds.parquet"), new Uint8Array(parquet));
    const lines = fileOf("seeds.jsonl", rows);
    for (const [out, path, ...where] of [
      ["local", lines],
      ["remote", lines, "--server", server.address],
      ["columns", "seeds.parquet"],
    ] as const) {
      const { arms } = await rescore(path, "--scheme-param", "format_score=0.3", ...where, "--out", out);
      expect(arms).toMatchObject([
        { arm: "countdown T0", completions: 20, changed: 0, solved: 5, reward_before: null },
      ]);
      const made = await rowsOf(out);
      expect(made.map(newly)).toEqual(fresh);
      expect(made.map(({ sample }) => sample)).toEqual(rows.map((_, i) => `line ${i + 1}`));
    }
  });

  test("of task ids gives the ids' scores, and no run is told", async () => {
    const run = server.client.run("untold");
    await run.create({
      arms: [{ id: "a", ...countdown }],
      policy: { kind: "mixture" },
      numGenerations: 2,
      promptsPerUpdate: 1,
    });
    const { tasks } = await run.nextBatch();
    const task = tasks[0] as Task;
    const { state } = await run.get();
    const rows = [right(task), wrong(task)].map((completion) => ({ task_id: task.taskId, completion, reward: 0.25 }));
    const { arms, changes } = await rescore(fileOf("ids.jsonl", rows), "--server", server.address, "--out", "ids");
    expect(arms).toMatchObject([{ completions: 2, changed: 2, reward_before: 0.25, reward: 0.55 }]);
    expect(changes).toMatchObject([
      { from: "unknown", to: "feasible, solved", samples: ["line 1"] },
      { from: "unknown", to: "infeasible", samples: ["line 2"] },
    ]);
    expect((await run.get()).state).toEqual(state);
  });

  test("with rows that cannot be used is refused, and the row is named", async () => {
    const one = { ...countdown, seed: 1, completion: "1" };
    const cases = [
      [[one, { completion: "1" }], /'bad.jsonl', line 2: task_id: must be set, or 'environment' and 'seed' must/],
      [[{ ...one, completion: 3 }], /line 1: completion: must be a text/],
      [[{ ...one, seed: -1 }], /line 1: seed: must be a whole number from 0/],
      [[{ ...one, split: "test" }], /line 1: split: must be one of train, eval, bench/],
      [
        [
          { ...one, group_id: "g" },
          { ...one, seed: 2, group_id: "g" },
        ],
        /line 2: group_id: .*another task/,
      ],
      [
        [
          { ...one, sample_index: 4 },
          { ...one, sample_index: 4 },
        ],
        /line 2: sample_index: 4 is also that of line 1/,
      ],
      [[], /'bad.jsonl' has no completions/],
    ] as const;
    for (const [rows, words] of cases) {
      const [code, err] = await refused(fileOf("bad.jsonl", rows), "--out", "bad");
      expect([code, err]).toEqual([2, expect.stringMatching(words)]);
    }
    expect(await refused("nowhere.jsonl")).toEqual([3, expect.stringContaining("nowhere.jsonl")]);
  });

  test("is refused under settings that its tasks do not have", async () => {
    const [task] = await tasksOf([1]);
    const path = fileOf("other.jsonl", [{ task_id: task?.taskId, completion: "1" }]);
    const at = ["--server", server.address, "--out", "other"];
    expect(await refused(path, ...at, "--scheme", "grade")).toEqual([2, expect.stringMatching(/'grade'.*'graded'/)]);
    // The first command left no scores, so that its folder can be used again.
    expect(await refused(path, ...at, "--environment-version", "99")).toEqual([
      2,
      expect.stringMatching(/countdown has no version 99/),
    ]);
  });

  test("of tasks that cannot be opened has no rewards, and says why", async () => {
    const path = fileOf("lost.jsonl", [{ task_id: "AAAA", completion: "1", reward: 1 }]);
    const { changes } = await rescore(path, "--server", server.address, "--out", "lost");
    expect(changes).toMatchObject([{ to: "no reward: task_unavailable", reward_before: 1, reward: null }]);
    expect(await rowsOf("lost")).toMatchObject([
      { reward: null, no_reward: "task_unavailable", detail: expect.any(String) as string },
    ]);
  });
});

test("a source must be named, and only one", async () => {
  const one = /give one of these: a file, --run or --evaluation-id/;
  expect(await refused()).toEqual([2, expect.stringMatching(one)]);
  expect(await refused("a.jsonl", "--run", "r")).toEqual([2, expect.stringMatching(one)]);
  expect(await refused("--run", "r")).toEqual([2, expect.stringContaining("--run needs --server")]);
  expect(await refused("--run", "none", "--server", server.address)).toEqual([3, expect.stringContaining("none")]);
});

test("a run's completions are scored under other parameters, with the advantages of whole groups", async () => {
  const run = server.client.run("kept");
  const arms = ["T0", "T1"].map((level) => ({ id: `arm-${level}`, environment: "countdown", level }));
  await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 4, promptsPerUpdate: 4 });
  const { tasks } = await run.nextBatch();
  const completions = (task: Task, count: number) =>
    mixed(task)
      .slice(0, count)
      .map((text, sampleIndex) => ({ text, sampleIndex }));
  await server.client.batchStep(tasks.map((task, i) => ({ task, completions: completions(task, i === 0 ? 3 : 4) })));
  await eventually(async () => expect(await Array.fromAsync(run.samples())).toHaveLength(15));
  const at = ["--run", "kept", "--server", server.address];

  const same = await rescore(...at, "--out", "same");
  expect(same.changes).toEqual([]);
  for (const row of await rowsOf("same")) {
    expect(newly(row).slice(0, 3)).toEqual([row.reward_before, row.verdict_before, row.solved_before]);
    // The run knows the advantages of the groups that are complete.
    expect([row.rloo_advantage, row.grpo_advantage]).toEqual([row.rloo_advantage_before, row.grpo_advantage_before]);
    if (row.group_id === tasks[0]?.groupId) expect(row.rloo_advantage).toBeNull();
    else expect(row.rloo_advantage).not.toBeNull();
  }

  const other = await rescore(...at, "--scheme-param", "format_score=0.5", "--out", "other-weights");
  expect(other.arms.map(({ arm }) => arm).sort()).toEqual([...new Set(tasks.map(({ armId }) => armId))].sort());
  const wrongs = other.changes.filter(({ from, to }) => from === "infeasible" && to === "infeasible");
  for (const change of wrongs)
    expect(change).toMatchObject({
      reward: 0.5,
      samples: expect.arrayContaining([expect.stringMatching(/^#\d+$/)]) as string[],
    });
  expect(wrongs.reduce((sum, { completions: count }) => sum + Number(count), 0)).toBe(7);
});

test("of a run of several environments, the arms that have the new settings are chosen by --arm", async () => {
  const run = server.client.run("mixed");
  const arms = [{ id: "numbers", ...countdown } as const, { id: "tours", environment: "np/tsp" } as const];
  await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 4, promptsPerUpdate: 6 });
  const { tasks } = await run.nextBatch();
  const ofNumbers = tasks.filter(({ armId }) => armId === "numbers");
  expect([0, tasks.length]).not.toContain(ofNumbers.length);
  await server.client.batchStep(tasks.map((task) => ({ task, completions: new Array<string>(4).fill("none") })));
  await eventually(async () => expect(await Array.fromAsync(run.samples())).toHaveLength(24));
  const at = ["--run", "mixed", "--server", server.address, "--scheme-param", "format_score=0.5"];

  expect(await refused(...at, "--out", "mixed")).toEqual([
    2,
    expect.stringMatching(/arm 'tours': .*unknown parameter 'format_score'.*; --arm chooses others/),
  ]);
  const { arms: scored } = await rescore(...at, "--arm", "numbers", "--out", "mixed");
  expect(scored).toMatchObject([{ arm: "numbers", completions: 4 * ofNumbers.length, without_reward: 0 }]);
  expect(await refused(...at, "--arm", "none", "--out", "none")).toEqual([
    2,
    expect.stringMatching(/--arm: .*the arms are (numbers, tours|tours, numbers)/),
  ]);

  const choice = { rewardScheme: { name: "", parameters: { format_score: 0.5 } } };
  const groups = await Array.fromAsync(server.client.rescore({ runId: "mixed", armIds: ["numbers"] }, choice));
  expect(groups.map(({ armId }) => armId)).toEqual(ofNumbers.map(() => "numbers"));
  await expect(Array.fromAsync(server.client.rescore({ runId: "mixed", armIds: ["none"] }))).rejects.toThrow(
    "arm_ids: there are no completions of these arms or parts",
  );
});

test("an evaluation's completions, also those that were cut off, keep their scores under the same settings", async () => {
  const evaluation = server.client.evaluation("stored");
  await evaluation.create({ suite: "countdown", answerFormat: "answer_line", samplesPerTask: 2 });
  let count = 0;
  for await (const { task } of evaluation.pending()) {
    if (task === undefined || ++count > 3) break;
    const answer = `Answer: ${/<answer>(.*)<\/answer>/.exec(right(task))?.[1]}`;
    await evaluation.submit([
      { task, sampleIndex: 0, completion: answer },
      // An answer line at the end of a completion that was cut off is no answer.
      { task, sampleIndex: 1, completion: answer, finishReason: "length" },
    ]);
  }
  const at = ["--evaluation-id", "stored", "--server", server.address];
  expect((await rescore(...at, "--out", "stored")).changes).toEqual([]);
  const rows = await rowsOf("stored");
  expect(rows.map(({ reward }) => reward)).toEqual([1, 0, 1, 0, 1, 0]);
  expect(rows.every(({ rloo_advantage }) => rloo_advantage !== null)).toBe(true);
  const { changes } = await rescore(...at, "--answer-format", "boxed", "--out", "boxed");
  expect(changes).toMatchObject([
    { from: "feasible, solved", to: "malformed", completions: 3, reward_before: 1, reward: 0 },
  ]);
});

test("a command that was killed goes on, and writes the same bytes", { timeout: 4 * PATIENCE_MS }, async () => {
  const completion = "<think></think><answer>1 + 1</answer>";
  const seeds = Array.from({ length: 6000 }, (_, seed) => seed);
  const path = fileOf(
    "long.jsonl",
    seeds.map((seed) => ({ ...countdown, seed, completion })),
  );
  await rescore(path, "--out", "whole");
  const child = start(["rescore", path, "--out", "killed", "--json"], here);
  const scores = inFolder("killed", "scores.jsonl");
  await until(() => existsSync(scores) && readFileSync(scores).length > 0);
  // A second command must not write to the folder meanwhile.
  expect(await refused(path, "--out", "killed")).toEqual([
    1,
    expect.stringContaining("another command is writing to 'killed'"),
  ]);
  child.kill("SIGKILL");
  await once(child, "exit");
  const written = readFileSync(scores, "utf8");
  expect(written.split("\n").length).toBeLessThan(seeds.length);
  expect(existsSync(inFolder("killed", "rescored.parquet"))).toBe(false);
  // A line whose writing was interrupted is cut off.
  appendFileSync(scores, '{"environment":"countd');
  await rescore(path, "--out", "killed");
  expect(readFileSync(scores, "utf8").startsWith(written)).toBe(true);
  for (const name of ["scores.jsonl", "rescored.parquet"])
    expect(readFileSync(inFolder("killed", name)).equals(readFileSync(inFolder("whole", name))), name).toBe(true);
  expect(await refused(path, "--out", "killed", "--scheme-param", "format_score=0.5")).toEqual([
    2,
    expect.stringContaining("'killed' has scores of other completions or settings: give another --out"),
  ]);
});

test("completions wait for a judge that is down, and have its scores", { timeout: 2 * PATIENCE_MS }, async () => {
  mkdirSync(inFolder("judge"));
  vi.stubEnv("GRADUS_TEST_JUDGE", inFolder("judge"));
  const down = inFolder("judge", "down");
  writeFileSync(down, "");
  const module = join(import.meta.dirname, "../support/environments/held-judge.ts");
  await using judging = await openServer({ environmentFile: [module] });
  const row = { environment: "test/held", level: "only", seed: 1, answer_format: "answer_tag" };
  const path = fileOf("judged.jsonl", [
    { ...row, completion: "<answer>1000</answer>" },
    { ...row, completion: "?" },
  ]);
  const ended = rescore(path, "--server", judging.address, "--out", "judged");
  await until(() => existsSync(inFolder("judge", "asked")));
  rmSync(down);
  await ended;
  expect((await rowsOf("judged")).map(({ verdict, no_reward }) => [verdict, no_reward])).toEqual([
    ["infeasible", null],
    ["malformed", null],
  ]);
});

test("completions of a mounted environment are scored by its changed code", { timeout: 2 * PATIENCE_MS }, async () => {
  useCheckout();
  const path = inFolder("word.py");
  const write = (verify: string): void =>
    writeFileSync(
      path,
      `from gradus.serve import Environment


class Word(Environment):
    """Repeat a word."""

    id = "mine/word"
    levels = {"one": {}}

    def generate(self, rng):
        return "".join(rng.choices("abcdefghij", k=6))

    def prompt(self, instance):
        return f"Repeat {instance}."

    def verify(self, instance, answer):
        return ${verify}

    def reference(self, instance):
        return instance
`,
    );
  const flags = { python: [PYTHON, path], dataDir: inFolder("mounted"), mountWorkers: "1" };
  write("answer == instance");
  const first = await openServer(flags);
  const task = await first.client.reset({ environment: "mine/word", seed: 3 });
  const word = /Repeat (\w+)\./.exec(task.prompt[0]?.content ?? "")?.[1] ?? "";
  const completion = `<think></think><answer>${word.toUpperCase()}</answer>`;
  const { reward, verdict } = (await first.client.step(task, completion)) as Extract<Outcome, { kind: "scored" }>;
  expect([reward, verdict]).toEqual([0.1, "infeasible"]);
  await first[Symbol.asyncDispose]();
  write("answer.lower() == instance");
  await using second = await openServer(flags);
  const rows = [{ task_id: task.taskId, completion, reward, verdict, solved: false }];
  const { changes } = await rescore(fileOf("words.jsonl", rows), "--server", second.address, "--out", "words");
  expect(changes).toMatchObject([{ from: "infeasible", to: "feasible, solved", reward_before: 0.1, reward: 1 }]);
  rmSync(inFolder("words"), { recursive: true });
});
