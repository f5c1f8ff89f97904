/** The guide's commands run as they stand, in their order, with a model on loopback in the endpoint's place. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { suiteDefinitions } from "../../server/evaluation/shipped-suites.ts";
import { type ChatServer, middlingAnswer, startChatServer } from "../support/chat-server.ts";
import { launcher } from "../support/program.ts";
import { temporaryFolder } from "../support/server-process.ts";

const repository = resolve(import.meta.dirname, "../..");
const guide = readFileSync(join(repository, "docs/guides/evaluation.md"), "utf8");
const blocks = (language: string): readonly string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, text = ""]) => text);

const run = promisify(execFile);
const folder = temporaryFolder();
let model: ChatServer;
beforeAll(async () => {
  model = await startChatServer((request, index) => ({ kind: "answer", content: middlingAnswer(request, index) }));
  for (const text of blocks("json")) writeFileSync(join(folder.path, "tsp-sweep.json"), text);
  // This small suite replaces forge-train, whose 12,000 tasks take minutes.
  const parts = [{ environment: "np/tsp", level: "easy", split: "train", tasks: 10 }];
  writeFileSync(join(folder.path, "train.json"), JSON.stringify({ id: "small-train", version: 1, parts }));
});
afterAll(async () => {
  await model[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

function here(command: string): string {
  return command
    .replaceAll("npx gradus", launcher)
    .replaceAll("http://localhost:8000/v1", model.url)
    .replaceAll("--suite forge-train", "--suite small-train --suite-file train.json")
    .replaceAll(/--evaluation-id rft-1 (?=--(?:ratio|scheme))/g, "--evaluation-id rft-1 --suite-file train.json ");
}

test("the guide's commands do what it says", async () => {
  const commands = blocks("sh").flatMap((text) => text.replaceAll("\\\n", " ").trimEnd().split("\n"));
  expect(commands.length).toBeGreaterThanOrEqual(6);
  for (const command of commands) {
    const { stdout, stderr } = await run("bash", ["-euo", "pipefail", "-c", here(command)], { cwd: folder.path });
    expect(stdout + stderr, command).not.toBe("");
  }
  for (const path of [
    "reports/countdown/report.html",
    "reports/sweep/report.json",
    "sft.parquet",
    "rft.jsonl",
    "rescored/file/rescored.parquet",
  ])
    expect(existsSync(join(folder.path, path)), path).toBe(true);
});

test("the guide names each suite that ships", () => {
  for (const { id } of suiteDefinitions) expect(guide).toContain(`| \`${id}\` |`);
});
