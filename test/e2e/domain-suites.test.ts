/**
 * Tests of evaluations of rows: each domain's suite, both QA formats crossed, and exports of self-samples (Omni-Thinker
 * 5.2).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PendingTask } from "../../clients/ts/src/index.ts";
import { loadPool, rowOf } from "../../envs/pool.ts";
import { qa } from "../../envs/qa/index.ts";
import { rows } from "../../envs/qa/question.ts";
import { startChatServer } from "../support/chat-server.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "../cli/gradus.ts";

const folder = temporaryFolder();
let server: TestServer;
beforeAll(async () => {
  server = await openServer({ store: "memory", sandbox: "off" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const pool = loadPool(qa, "qa", readFileSync(rows.defaultPool.file, "utf8"));
const questions = Array.from({ length: pool.size }, (_, place) => rowOf(pool, place).instance);

/** The right option of a prompt. */
function rightOf(content: string): string {
  const asked = questions.find(({ question }) => content.startsWith(`${question}\n`));
  return asked?.options[asked.right] ?? "";
}

const completion = (answer: string): string => `<think>?</think><answer>${answer}</answer>`;

test("the same questions are asked by text and by letter, and each has its accuracy", async () => {
  const evaluation = server.client.evaluation("crossed");
  await evaluation.create({ suite: "qa-crossed" });
  const pending: PendingTask[] = [];
  for await (const each of evaluation.pending()) pending.push(each);
  const hashes = (environment: string): readonly (string | undefined)[] =>
    pending.filter(({ task }) => task?.environment === environment).map(({ task }) => task?.instanceHash);
  expect(hashes("qa").length).toBeGreaterThan(10);
  expect(hashes("qa/letter")).toEqual(hashes("qa"));
  expect(new Set(hashes("qa")).size).toBe(hashes("qa").length);
  await evaluation.submit(
    pending.map(({ task }) => ({
      task: { taskId: task?.taskId ?? "" },
      // Right as a text, and no letter.
      completion: completion(rightOf(task?.prompt[0]?.content ?? "")),
    })),
  );
  const { categories, overall } = await evaluation.report();
  const rates = Object.fromEntries(categories.map(({ name, figures }) => [name, figures["exact_rate"]]));
  expect(rates).toEqual({ text: 1, letter: 0 });
  expect(overall?.figures["exact_rate"]).toBe(0.5);
});

test("accuracy comes by discipline", async () => {
  const evaluation = server.client.evaluation("by-discipline");
  await evaluation.create({ suite: "qa" });
  for await (const { task } of evaluation.pending()) {
    const isScience = task?.hints?.metadata["category"] === "Science";
    const answer = isScience ? rightOf(task?.prompt[0]?.content ?? "") : "none of them";
    await evaluation.submit([{ task: { taskId: task?.taskId ?? "" }, completion: completion(answer) }]);
  }
  const { categories } = await evaluation.report();
  expect(categories.length).toBeGreaterThan(2);
  for (const { name, figures } of categories) expect(figures["exact_rate"], name).toBe(name === "Science" ? 1 : 0);
});

test("a suite that asks what is not here is not listed, and says what is missing", async () => {
  const ids = (await server.client.listSuites()).map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(["math", "qa", "qa-crossed"]));
  expect(ids).not.toContain("code");
  expect(ids).not.toContain("writing");
  await expect(server.client.evaluation("judged").create({ suite: "writing" })).rejects.toThrow("--judge-url");
});

test("self-samples of training rows are exported by the rewards of training", async () => {
  const suite = {
    id: "self",
    version: 1,
    parts: [{ environment: "qa", level: "easy", split: "train", tasks: 5, pool: "" }],
  };
  writeFileSync(join(folder.path, "self.json"), JSON.stringify(suite));
  // Every other completion is right.
  const endpoint = await startChatServer(({ messages }, index) => ({
    kind: "answer",
    content: completion(index % 2 === 0 ? rightOf(messages.at(-1)?.content ?? "") : "nonsense"),
  }));
  const here = { cwd: folder.path };
  const asked = ["--suite", "self", "--suite-file", "self.json", "--endpoint", endpoint.url, "--model", "m"];
  const evaluated = await gradus(
    here,
    "eval",
    ...asked,
    "--samples",
    "4",
    "--evaluation-id",
    "self",
    "--out",
    "report",
  );
  expect([evaluated.code, evaluated.err]).toEqual([0, expect.any(String)]);
  const files = ["--suite-file", "self.json", "--evaluation-id", "self"];
  const exported = await gradus(here, "export", ...files, "--where", "correctness>=1", "--out", "sft.jsonl");
  expect([exported.code, exported.err]).toEqual([0, expect.stringContaining("sft.jsonl")]);
  const lines = readFileSync(join(folder.path, "sft.jsonl"), "utf8").trim().split("\n");
  const written = lines.map(
    (line) => JSON.parse(line) as { solved: boolean; split: string; messages: { content: string }[] },
  );
  expect(written.length).toBe(10);
  for (const { solved, split, messages } of written) {
    expect([solved, split]).toEqual([true, "train"]);
    expect(messages.at(-1)?.content).toBe(completion(rightOf(messages[0]?.content ?? "")));
  }
  await endpoint[Symbol.asyncDispose]();
});
