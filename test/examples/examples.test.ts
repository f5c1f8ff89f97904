/** The run files under examples/: each can be created, says what it is of, and stands in the README's table. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseRunFile, type RunFile } from "../../server/cli/run-file.ts";
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
  // Creating a run asks no teacher.
  server = await openServer({ store: "memory", teacherUrl: "http://127.0.0.1:1/v1", teacherModel: "teacher" });
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
