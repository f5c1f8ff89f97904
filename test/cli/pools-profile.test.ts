/** `gradus pools profile`, against a scripted model on loopback. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readRates } from "../../clients/ts/src/public.ts";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { type Ended, gradus } from "./gradus.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder.path, name);
const read = (name: string): string => readFileSync(at(name), "utf8");
let model: ChatServer;
/** Number of completions requested, by problem. */
const asked = new Map<string, number>();

/** Row i asks for i + 100, and is solved in i of four completions, for i from 0 to 4, and again from 5 on. */
const ROWS = 20;
const problems = Array.from({ length: ROWS }, (_, i) => ({
  problem: `What is ${i} + 100?`,
  answer: `${i + 100}`,
  id: 9007199254740993n + BigInt(i),
}));

beforeAll(async () => {
  const lines = problems.map(
    ({ problem, answer, id }) => `{"problem": "${problem}", "answer": "${answer}", "id": ${id}}`,
  );
  // A blank line and a row that holds no task count as rows of the file.
  writeFileSync(at("sums.jsonl"), ["", '{"problem": 1}', ...lines].join("\n"));
  model = await startChatServer(({ messages }) => {
    const i = Number(/What is (\d+) \+ 100/.exec(messages.at(-1)?.content ?? "")?.[1]);
    const before = asked.get(`${i}`) ?? 0;
    asked.set(`${i}`, before + 1);
    return { kind: "answer", content: `<think>…</think><answer>${before < i % 5 ? i + 100 : 7}</answer>` };
  });
});
afterAll(async () => {
  await model[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

function profile(...more: readonly string[]): Promise<Ended> {
  const endpoint = ["--endpoint", model.url, "--model", "m", "--samples", "4"];
  const pool = ["--pool", "sums=math:sums.jsonl@train"];
  return gradus({ cwd: folder.path }, "pools", "profile", "sums", ...pool, ...endpoint, ...more);
}

const expected = new Map(problems.map((_, i) => [i + 2, (i % 5) / 4]));

test("rates each row by its number in the file, as rate-rows reads it, and draws the histogram", async () => {
  const { code, out, err } = await profile("--out", "rates.csv", "--picture", "rates.svg");
  expect([code, err]).toEqual([0, expect.stringMatching(/^evaluation profile-.*: 0 of 80 samples are scored/)]);
  expect(readRates(read("rates.csv"))).toEqual(expected);
  expect(out).toContain("20 of 20 rows rated by 4 samples each: mean 0.500, 4 never solved, 4 always");
  expect(out).toMatch(/^0\.2-0\.3 {2}█+ 4$/m);
  expect(read("rates.svg")).toMatch(/^<svg[^]*Pass rates of 20 rows of sums[^]*<\/svg>\n$/);
});

test("the pool's own file is not written to: rows that are not rated would be gone", async () => {
  const before = read("sums.jsonl");
  const { code, err } = await profile("--out", "sums.jsonl");
  expect([code, err]).toEqual([2, expect.stringContaining("--out must not be the file that is read: choose another")]);
  expect(read("sums.jsonl")).toBe(before);
});

test("the same command again asks nothing, and writes the rows with the column that ranks them", async () => {
  const before = model.requests.length;
  const { code, out } = await profile("--out", "rated.jsonl", "--json");
  expect([code, model.requests.length]).toEqual([0, before]);
  expect(JSON.parse(out)).toEqual({
    warnings: [],
    pool: "sums",
    split: "train",
    levels: [],
    model: "m",
    samples: 4,
    out: "rated.jsonl",
    rows: 20,
    rated: 20,
    mean: 0.5,
    never: 4,
    always: 4,
    histogram: [4, 0, 4, 0, 0, 4, 0, 4, 0, 4],
  });
  const rows = read("rated.jsonl").trimEnd().split("\n");
  expect(rows[3]).toBe('{"problem":"What is 3 + 100?","answer":"103","id":9007199254740996,"pass_rate":0.75}');
  const checked = await gradus({ cwd: folder.path }, "pools", "check", "math:rated.jsonl", "--json");
  expect(JSON.parse(checked.out)).toMatchObject({ rows: 20, ranks: { by: "column pass_rate (a pass rate)" } });
});

test.each([
  [["--out", "rates.txt"], /--out must end in \.csv or \.jsonl; got 'rates\.txt'/],
  [["--out", "r.csv", "--split", "bench"], /pool 'sums' has no rows in split bench: it has 'all' in train \(20 rows\)/],
  [["--out", "r.csv", "--level", "9"], /pool 'sums' has no rows of level '9' in split train/],
  [[], /--out is required/],
])("says what is wrong with %o", async (flags, message) => {
  const before = model.requests.length;
  const { code, err } = await profile(...flags);
  expect(code).not.toBe(0);
  expect(err).toMatch(message);
  expect(model.requests.length).toBe(before);
});
