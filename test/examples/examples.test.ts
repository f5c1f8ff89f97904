/** The run files under examples/: each can be created, says what it is of, and stands in the README's table. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseRunFile, type RunFile } from "../../cli/run-file.ts";
import { openServer, type TestServer } from "../support/in-process.ts";

const folder = resolve(import.meta.dirname, "../../examples");
const names = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
const textOf = (name: string): string => readFileSync(join(folder, name), "utf8");

function read(name: string): RunFile {
  const result = parseRunFile(name, textOf(name));
  if (result.kind === "invalid") throw new Error(result.problems.join("\n"));
  return result.file;
}

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

describe("each run file", () => {
  test.each(names)("%s can be created", async (name) => {
    const { runId, config } = read(name);
    expect(`${runId}.yaml`).toBe(name);
    const run = await server.client.run(runId ?? "").create(config);
    expect(run.state?.policy?.kind.case).toBe(config.policy?.kind.case);
  });

  test.each(names)("%s opens with its paper, what is ours and what is the trainer's", (name) => {
    const opening = textOf(name).split(/^run_id:/m)[0] ?? "";
    expect(opening).toMatch(/^# .*\(paper 00[0-4]/);
    expect(opening).toMatch(/\bours\b/i);
    expect(opening).toMatch(/the\s(# )?trainer's/i);
  });
});

test("the README's table has all of them, and no others", () => {
  const linked = [...readFileSync(join(folder, "README.md"), "utf8").matchAll(/\]\(([\w.-]+\.yaml)\)/g)];
  const listed = linked.map(([, name = ""]) => name);
  expect([...new Set(listed)].sort()).toEqual([...names].sort());
});

test("what the papers' tables fix is what the files give", () => {
  const shares = (name: string) => {
    const { arms } = read(name).config;
    return arms.map(({ weight }) => weight);
  };
  expect(shares("forge-table-6-1-4-5-shuffle.yaml")).toEqual([1, 4, 5]);
  expect(read("forge-table-7-3-tasks.yaml").config.arms).toHaveLength(9);
  const { config } = read("adsc.yaml");
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
    const { config } = read(`omni-thinker-table-3-${row}.yaml`);
    expect(new Set(config.arms.map(({ klCoefficient }) => klCoefficient))).toEqual(new Set([kl]));
    expect([config.numGenerations, config.promptsPerUpdate]).toEqual([16, 256 * 6]);
  });

  test("its curriculum goes from code to writing, and the ablation of table 1 the other way", async () => {
    const first = async (name: string): Promise<readonly string[]> => {
      const run = server.client.run(`order-${name}`);
      const created = await run.create(read(`${name}.yaml`).config);
      const arms = created.state?.arms ?? [];
      return arms.filter(({ probability }) => probability > 0).map(({ armId }) => armId);
    };
    expect(await first("omni-thinker-table-3-curriculum-mt")).toEqual(["code"]);
    expect(await first("omni-thinker-table-1-reverse-curr")).toEqual(["writing"]);
  });
});

test("QA by letter and by text differ in the format alone", () => {
  const text = textOf("omni-thinker-table-3-st-qa.yaml").split(/^arms:/m)[1] ?? "";
  const letter = textOf("omni-thinker-figure-4-qa-by-letter.yaml").split(/^arms:/m)[1] ?? "";
  const [textArms, ...rest] = text.split(/^policy:/m);
  const [letterArms, ...letterRest] = letter.split(/^policy:/m);
  expect(letterRest).toEqual(rest);
  expect(letterArms?.replaceAll("qa/letter", "qa")).toBe(textArms);
});
