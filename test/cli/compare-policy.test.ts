/** `gradus run compare-policy`, against a server with a run that has drawn three update batches. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServer, type TestServer } from "../support/in-process.ts";
import { type Ended, gradus } from "./gradus.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-compare-"));
let server: TestServer;
beforeAll(async () => {
  writeFileSync(join(folder, "other.yaml"), "policy: {staged: {stages: [{weights: {easy: 3, hard: 1}}]}}\n");
  writeFileSync(join(folder, "none.yaml"), "length: 8\n");
  server = await openServer({ store: "memory" });
  const run = server.client.run("r");
  const arms = [
    { id: "easy", environment: "countdown", level: "T0" },
    { id: "hard", environment: "countdown", level: "T3" },
  ];
  await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 1, promptsPerUpdate: 4 });
  for (let batch = 0; batch < 3; batch++) {
    const { tasks } = await run.nextBatch();
    await server.client.batchStep(tasks.map((task) => ({ task, completions: ["<answer>1</answer>"] })));
  }
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const compare = (...args: readonly string[]): Promise<Ended> =>
  gradus({ cwd: folder }, "run", "compare-policy", "r", ...args, "--server", server.address);

test("shows the mean probabilities of each arm under both policies", async () => {
  const { code, out } = await compare("other.yaml");
  expect(code).toBe(0);
  const lines = out.trimEnd().split("\n");
  expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
    ["arm", "this run", "the other policy", "difference"],
    ["easy", "50.0%", "75.0%", "+25.0%"],
    ["hard", "50.0%", "25.0%", "−25.0%"],
  ]);
});

test("writes the probabilities of each draw", async () => {
  const { out } = await compare("other.yaml", "--json", "--out", "draws.jsonl");
  const arm = (name: string, compared: number) => ({ arm: name, recorded: 0.5, compared });
  expect(JSON.parse(out)).toEqual({ arms: [arm("easy", 0.75), arm("hard", 0.25)], rows: "draws.jsonl" });
  const rows = readFileSync(join(folder, "draws.jsonl"), "utf8").trimEnd().split("\n");
  expect(rows.map((row) => JSON.parse(row) as object)).toEqual(
    [0, 1, 2].flatMap((batch) => [
      { update_batch: batch, ...arm("easy", 0.75) },
      { update_batch: batch, ...arm("hard", 0.25) },
    ]),
  );
  expect((await compare("other.yaml", "--out", "draws.parquet")).code).toBe(0);
  expect(readFileSync(join(folder, "draws.parquet")).subarray(0, 4).toString()).toBe("PAR1");
});

test("says what is wrong with the file, its policy, or the name of the output", async () => {
  const without = await compare("none.yaml");
  expect([without.code, without.err]).toEqual([2, expect.stringContaining("none.yaml has no policy")]);
  writeFileSync(join(folder, "wrong.yaml"), "policy: {staged: {stages: [{weights: {medium: 1}}]}}\n");
  for (const more of [[], ["--out", "draws.jsonl"]]) {
    const wrong = await compare("wrong.yaml", ...more);
    const why = 'wrong.yaml:1: policy.staged.stages[0].weights["medium"]: is not an arm of the run';
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining(why)]);
  }
  const text = await compare("other.yaml", "--out", "draws.txt");
  expect([text.code, text.err]).toEqual([2, expect.stringContaining(".parquet or .jsonl")]);
});
