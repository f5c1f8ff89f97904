/** The run files under examples/ and the papers' runs that the README makes of them: each can be created. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RunConfigSchema } from "../../clients/ts/src/public.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { files, folder, paperRuns, readPaperRun } from "./paper-runs.ts";

const runs = paperRuns.map(({ runId }) => runId);

let server: TestServer;
beforeAll(async () => {
  // Creating a run asks no teacher, no judge and no sandbox.
  const nobody = "http://127.0.0.1:1/v1";
  server = await openServer({
    store: "memory",
    teacherUrl: nobody,
    teacherModel: "teacher",
    judgeUrl: nobody,
    judgeModel: "judge",
    sandbox: nobody,
  });
});
afterAll(() => server[Symbol.asyncDispose]());

test.each(runs)("the run %s can be created", async (name) => {
  const { runId, config } = readPaperRun(name);
  const run = await server.client.run(runId ?? "").create(config);
  expect(run.state?.policy?.kind.case).toBe(config.policy?.kind.case);
});

describe("each run file", () => {
  test.each(files)("%s opens with its paper, what is ours and what is the trainer's", (name) => {
    const [opening = "", rest = ""] = readFileSync(join(folder, name), "utf8").split(/^run_id: /m);
    expect(`${rest.split("\n")[0]}.yaml`).toBe(name);
    expect(opening).toMatch(/^# .*\(paper 00[0-4]/);
    expect(opening).toMatch(/\bours\b/i);
    expect(opening).toMatch(/the\s(# )?trainer's/i);
  });
});

test("the README's tables have all of them, each also as it is, and no run twice", () => {
  const asTheyAre = paperRuns.filter(({ runId, file, set }) => file === `${runId}.yaml` && set.length === 0);
  expect(asTheyAre.map(({ file }) => file).sort()).toEqual([...files].sort());
  expect(files.length).toBeLessThanOrEqual(15);
  expect([new Set(runs).size, runs.length]).toEqual([58, 58]);
});

test("what the papers' tables fix is what the runs have", () => {
  const { arms } = readPaperRun("forge-table-6-1-4-5-shuffle").config;
  expect(arms.map(({ weight }) => weight)).toEqual([1, 4, 5]);
  const { config } = readPaperRun("adsc");
  expect([config.numGenerations, config.promptsPerUpdate, Number(config.length)]).toEqual([8, 128, 75 * 128]);
  expect(config.policy?.constraints).toMatchObject({ realShareMin: 0.3, syntheticShareMax: 0.5, hardShareMin: 0.1 });
});

describe("Omni-Thinker's table 3", () => {
  test.each([
    ["joint-mt", 0.02],
    ["curriculum-mt", 0],
    ["st-coding", 0.001],
    ["st-math", 0.04],
    ["st-qa", 0.04],
    ["st-writing", 0],
  ])("%s has the KL coefficient %d, 16 rollouts and 256 × 6 prompts", (row, kl) => {
    const { config } = readPaperRun(`omni-thinker-table-3-${row}`);
    expect(new Set(config.arms.map(({ klCoefficient }) => klCoefficient))).toEqual(new Set([kl]));
    expect([config.numGenerations, config.promptsPerUpdate]).toEqual([16, 256 * 6]);
  });

  test("its curriculum goes from code to writing, and the ablation of table 1 the other way", async () => {
    const first = async (name: string): Promise<readonly string[]> => {
      const run = server.client.run(`order-${name}`);
      const created = await run.create(readPaperRun(name).config);
      const arms = created.state?.arms ?? [];
      return arms.filter(({ probability }) => probability > 0).map(({ armId }) => armId);
    };
    expect(await first("omni-thinker-table-3-curriculum-mt")).toEqual(["code"]);
    expect(await first("omni-thinker-table-1-reverse-curr")).toEqual(["writing"]);
  });
});

test("QA by letter and by text differ in the format alone", () => {
  const [text, letter] = ["table-3-st-qa", "figure-4-qa-by-letter"].map((name) =>
    JSON.stringify(toJson(RunConfigSchema, readPaperRun(`omni-thinker-${name}`).config)).split('"evaluationArms"'),
  );
  expect(letter?.[1]).toBe(text?.[1]);
  expect(letter?.[0]?.replaceAll("qa/letter", "qa")).toBe(text?.[0]);
});

test.each([3, 5, 7])("table 7's row of %d tasks draws from as many, at the level of each stage", (count) => {
  const kind = readPaperRun(`forge-table-7-${count}-tasks`).config.policy?.kind;
  const stages = kind?.case === "replay" ? kind.value.stages : [];
  const tasks = ["tsp", "clique", "knapsack", "bisection", "meetings", "subset-sum", "coloring"].slice(0, count);
  expect(stages.map(({ weights }) => weights)).toEqual(
    ["easy", "medium", "hard"].map((level) => Object.fromEntries(tasks.map((task) => [`${task}/${level}`, 1]))),
  );
});

test("the example of ADSC's four conditions trains the runs of the table", () => {
  const program = readFileSync(join(folder, "../clients/python/examples/adsc_four.py"), "utf8");
  for (const { runId, file, set } of paperRuns.filter((run) => run.runId.startsWith("adsc"))) {
    const [, conditions = ""] = new RegExp(`"${runId}": \\(([^)]*)\\)`).exec(program) ?? [];
    const strings = [...conditions.matchAll(/"([^"]*)"/g)].map(([, value = ""]) => value);
    expect(strings, runId).toEqual([file, ...set]);
  }
});
