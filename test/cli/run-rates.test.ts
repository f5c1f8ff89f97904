/**
 * Tests of a run whose curriculum over rows begins with a model's pass rates: from CSV, and from a report of gradus
 * eval.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../clients/ts/src/index.ts";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";
import { type Ended, gradus } from "./gradus.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder.path, name);
let model: ChatServer;
let server: ServerProcess;

const ROWS = 8;

beforeAll(async () => {
  const rows = Array.from({ length: ROWS }, (_, i) => ({ problem: `What is ${i} + 100?`, answer: `${i + 100}` }));
  writeFileSync(at("sums.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
  const part = { environment: "math", level: "all", split: "train", tasks: "all", pool: "sums" };
  writeFileSync(at("suite.json"), JSON.stringify({ id: "sums", version: 1, parts: [part] }));
  const arm = (id: string, more: object) => ({
    id,
    spec: { environment: "math", source: "SOURCE_REAL", pool: "sums" },
    ...more,
  });
  const run = { arms: [arm("a", { rows: {} }), arm("plain", {})], num_generations: 2, prompts_per_update: 2 };
  writeFileSync(at("run.json"), JSON.stringify({ ...run, policy: { mixture: {} } }));
  // Even rows are solved, odd ones never.
  model = await startChatServer(({ messages }) => {
    const i = Number(/What is (\d+) \+ 100/.exec(messages.at(-1)?.content ?? "")?.[1]);
    return { kind: "answer", content: `<think>…</think><answer>${i % 2 === 0 ? i + 100 : 7}</answer>` };
  });
  server = await startServer(at("data"), "--pool", `sums=math:${at("sums.jsonl")}@train`);
});
afterAll(async () => {
  await server.kill("SIGTERM");
  await model[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const onServer = (...args: readonly string[]): Promise<Ended> =>
  gradus({ cwd: folder.path }, ...args, "--server", server.address);

/**
 * Returns, for each row of the run: its index, how many samples its estimate is worth, and whether its expected pass
 * rate exceeds 0.5.
 */
async function known(id: string) {
  const { out } = await onServer("run", "rows", id, "a", "--json");
  const { rows } = JSON.parse(out) as { rows: { row?: number; samples?: number; passRate: number }[] };
  return rows.map(({ row = 0, samples = 0, passRate: rate }) => [row, Math.round(samples), rate > 0.5]);
}

test("begins with the rates of a CSV, and keeps what it has learnt when it is created again", async () => {
  const lines = Array.from({ length: ROWS }, (_, row) => `${row},${row < 4 ? 1 : 0}`);
  writeFileSync(at("rates.csv"), ["row,pass_rate", ...lines].join("\n"));
  const create = () => onServer("run", "create", "run.json", "--run-id", "csv", "--rates", "a=rates.csv");
  expect((await create()).code).toBe(0);
  expect(await known("csv")).toEqual(Array.from({ length: ROWS }, (_, row) => [row, 8, row < 4]));
  const client = createClient(server.address);
  await client.run("csv").nextBatch({ count: 2 });
  client.close();
  const again = await create();
  expect([again.code, again.err]).toEqual([0, expect.stringContaining("--rates is ignored")]);
});

test("rates that are told are said as text or as JSON, and what a rate is worth must be a number", async () => {
  const rate = (...more: readonly string[]) => onServer("run", "rate-rows", "csv", "a", "rates.csv", ...more);
  for (const wrong of ["many", "0", "1024", "NaN"])
    expect(await rate("--samples", wrong)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("Want a number above 0 and at most 1023.") as string,
    });
  expect((await rate("--samples", "2.5")).out).toMatch(/^8 rows rated, from task \d+ on\n$/);
  expect(JSON.parse((await rate("--json")).out)).toEqual({ rated: 8, appliesFromCursor: expect.any(String) as string });
});

test("begins with what a report says of the rows of its pool", async () => {
  const ended = await gradus(
    { cwd: folder.path },
    ...["eval", "--suite", "sums", "--suite-file", "suite.json", "--pool", "sums=math:sums.jsonl@train"],
    ...["--endpoint", model.url, "--model", "m", "--samples", "3", "--out", "evaluated"],
  );
  expect(ended.code).toBe(0);
  const { rows } = JSON.parse(readFileSync(at("evaluated/report.json"), "utf8")) as { readonly rows: unknown };
  const expected = Array.from({ length: ROWS }, (_, row) => ({
    pool: "sums",
    pool_digest: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    row,
    samples: 3,
    pass_rate: 1 - (row % 2),
  }));
  expect(rows).toEqual(expect.arrayContaining(expected));
  const report = "a=evaluated/report.json";
  expect((await onServer("run", "create", "run.json", "--run-id", "report", "--rates", report)).code).toBe(0);
  expect(await known("report")).toEqual(Array.from({ length: ROWS }, (_, row) => [row, 8, row % 2 === 0]));
  const told = await onServer("run", "rate-rows", "report", "a", "evaluated/report.json", "--samples", "100");
  expect(told.out).toContain("8 rows rated, from task 0 on");
});

test.each([
  ["rates.csv", /--rates must be arm=file, e\.g\. math=rates\.csv; got 'rates\.csv'/],
  ["b=rates.csv", /--rates: run\.json has no arm 'b'; it has: a, plain/],
  ["plain=rates.csv", /arm 'plain' of run\.json does not choose its rows by pass rates/],
  ["a=run.json", /--rates 'run\.json': the report has no rows of pool 'sums'/],
])("says what is wrong with --rates %s", async (rates, message) => {
  const { code, err } = await onServer("run", "create", "run.json", "--run-id", "wrong", "--rates", rates);
  expect(code).not.toBe(0);
  expect(err).toMatch(message);
});
