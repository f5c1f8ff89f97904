/** Runs beside a pool of one's own: arms that draw the shipped rows are warned of, and all rows are drawn alike. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Split } from "../../../clients/ts/src/public.ts";
import { readPaperRun } from "../../examples/paper-runs.ts";
import { openServer, type TestServer } from "../../support/in-process.ts";
import { temporaryFolder } from "../../support/server-process.ts";
import { writerTo } from "../../cli/run-file.ts";

const folder = temporaryFolder();
let server: TestServer;
beforeAll(async () => {
  const write = writerTo(folder.path);
  // T0 has three numbers and a small target, T1 three and a larger one: three times as many rows of T0.
  const row = (nums: readonly number[]) => JSON.stringify({ nums, target: nums.reduce((sum, each) => sum + each, 0) });
  const small = Array.from({ length: 30 }, (_, i) =>
    row([1, 2, 3 + (i % 15)].map((n, j) => (j === 0 ? n + Math.floor(i / 15) : n))),
  );
  const large = Array.from({ length: 10 }, (_, i) => row([20, 21, 10 + i]));
  const own = write("tasks.jsonl", [...small, ...large].join("\n"));
  server = await openServer({
    store: "memory",
    pool: [`tasks=${own}`, `held=${write("held.jsonl", row([1, 2, 4]))}@eval`],
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

function configOf(name: string, pool: readonly string[] = [], set: readonly string[] = []) {
  return readPaperRun(name, { pool, set }).config;
}

test("an arm that draws the shipped rows beside a pool of the same is warned of, by its name and the pool's", async () => {
  const { warnings, problems } = await server.client.checkRun(configOf("adsc-real-only-mab"));
  expect(problems).toEqual([]);
  const words = warnings.map(({ message }) => message);
  expect(words).toHaveLength(2);
  expect(words[0]).toContain(
    "arm 'real/T0' draws the rows of countdown that ship with Gradus, and this server has pool 'tasks'",
  );
  expect(words[1]).toContain("arm 'real/T1'");
  // Rows for evaluation alone are none that an arm could train on.
  expect(words.join()).not.toContain("held");
  const arms = "arms=[{id: real/T0, spec: {environment: countdown, level: T0, source: real, pool: tasks}}]";
  const named = await server.client.checkRun(configOf("adsc-vanilla-rloo", [], [arms]));
  expect(named.warnings).toEqual([]);
});

test.each(["curriculum-rloo-table-1-baseline", "curriculum-rloo-table-2-baseline", "adsc-vanilla-rloo"])(
  "all rows of %s are drawn alike, whatever the tiers have",
  async (name) => {
    const tiers = ["T0", "T1"].map(
      (level) => `{id: ${level}, spec: {environment: countdown, level: ${level}, source: real}}`,
    );
    const config = configOf(name, ["countdown=tasks"], [`arms=[${tiers.join(", ")}]`]);
    const { state } = await server.client.run(name).create(config);
    const { pools } = await server.client.getEnvironment("countdown");
    const groups = pools.find((pool) => pool.name === "tasks")?.groups ?? [];
    const counts = ["T0", "T1"].map(
      (tier) => groups.find(({ level, split }) => level === tier && split === Split.TRAIN)?.rows ?? 0,
    );
    const all = counts.reduce((sum, count) => sum + count, 0);
    expect(counts[0]).not.toBe(counts[1]);
    const probabilities = state?.arms.map(({ probability }) => probability) ?? [];
    for (const [i, count] of counts.entries()) expect(probabilities[i]).toBeCloseTo(count / all, 9);
  },
);
