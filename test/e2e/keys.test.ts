/** Tests that a key reaches only the operator's address: no redirect forwards it, and no message shows it. */
import { create } from "@bufbuild/protobuf";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModel } from "../../cli/evaluation/endpoint.ts";
import { ChatMessageSchema } from "../../proto/gen/gradus/v1/task_pb.js";
import { readConfig } from "../../server/runtime/config.ts";
import { openLog } from "../../server/runtime/logging.ts";
import { createEndpoint } from "../../server/outside/chat-endpoint.ts";
import { type Behaviour, type ChatServer, startChatServer } from "../support/chat-server.ts";
import { openServer } from "../support/in-process.ts";
import { USAGE } from "../support/judge.ts";
import { eventually, PATIENCE_MS } from "../support/patience.ts";
import { temporaryFolder } from "../support/server-process.ts";

const KEY = "sk-proj-0123456789abcdef";
const FORMS = [
  KEY,
  `Bearer ${KEY}`,
  encodeURIComponent(`Bearer ${KEY}`),
  Buffer.from(`Bearer ${KEY}`).toString("base64"),
];
const HIDDEN = "\u001b[31m\u202e";
const ECHO = `${FORMS.join(" ")} ${HIDDEN}`;
const CORES = [KEY, KEY.slice(4, 16), Buffer.from(KEY).toString("base64").slice(4, 24)];
const prompt = [{ ...create(ChatMessageSchema, { content: "Well?" }), role: "user" as const }];

function expectClean(words: string): void {
  for (const core of CORES) expect(words).not.toContain(core);
  expect(words).not.toMatch(/[\u001b\u202e]/);
}

interface Told {
  readonly words: string;
  readonly text?: string | undefined;
}

/** Clients that send a key: one asks judges and teachers, the other evaluates models. */
const clients: Readonly<Record<string, (chat: ChatServer, key?: string) => Promise<Told>>> = {
  "a judge's or a teacher's": async ({ url }, key = KEY) => {
    const ask = createEndpoint({ url, model: "m", key, timeoutMs: PATIENCE_MS });
    const reply = await ask(prompt, new AbortController().signal);
    return reply.kind === "failed" ? { words: reply.message } : { words: reply.text, text: reply.text };
  },
  "an evaluated model's": async ({ url }, key = KEY) => {
    const troubles: string[] = [];
    const model = createModel({
      endpoint: url,
      model: "m",
      apiKey: key,
      timeoutMs: PATIENCE_MS,
      deadlineMs: PATIENCE_MS,
      body: {},
      signal: new AbortController().signal,
      onTrouble: (words) => void troubles.push(words),
    });
    const done = await model(prompt, []);
    const [text, message] = done.kind === "completion" ? [done.text, ""] : [undefined, done.message];
    return { words: [...troubles, message].join(" "), text };
  },
};

test.each(Object.keys(clients))("%s client follows no redirect", async (name) => {
  await using elsewhere = await startChatServer(() => ({ kind: "answer", content: "stolen", usage: USAGE }));
  for (const status of [301, 302, 303, 307, 308]) {
    await using chat = await startChatServer(() => ({
      kind: "redirect",
      status,
      to: `${elsewhere.url}/chat/completions`,
    }));
    const { words } = await clients[name]!(chat);
    expect(words).toContain(String(status));
    expect(chat.requests).toMatchObject([{ authorization: `Bearer ${KEY}` }]);
  }
  expect(elsewhere.requests).toEqual([]);
});

test.each(Object.keys(clients))(
  "%s client gives what a model wrote, with the word that stands in for a key",
  async (name) => {
    await using chat = await startChatServer(() => ({ kind: "answer", content: "anything goes", usage: USAGE }));
    expect(await clients[name]!(chat, "anything")).toMatchObject({ text: "anything goes" });
    await using refusing = await startChatServer(() => ({ kind: "status", status: 401, message: "not by anything" }));
    const { words } = await clients[name]!(refusing, "anything");
    expect(words).toContain("not by [a secret]");
  },
);

test.each(Object.keys(clients))("%s client tells no key and nothing that a terminal obeys", async (name) => {
  const echoes: readonly Behaviour[] = [
    { kind: "status", status: 401, message: ECHO },
    { kind: "status", status: 400, message: `${"x".repeat(185)} ${ECHO}` },
    { kind: "status", status: 422, message: JSON.stringify({ headers: { authorization: ECHO } }) },
  ];
  for (const echo of echoes) {
    await using chat = await startChatServer(() => echo);
    expectClean((await clients[name]!(chat)).words);
  }
});

test("an outcome, the metrics and the log tell no judge's key", async () => {
  const lines: string[] = [];
  await using chat = await startChatServer((_, index) =>
    index % 2 === 0
      ? { kind: "status", status: 401, message: ECHO }
      : { kind: "answer", content: `${ECHO} {"reason": "${KEY}", "winner": "A"}`, usage: USAGE },
  );
  await using server = await openServer({ store: "memory", judgeUrl: chat.url, judgeModel: "judge", judgeKey: KEY });
  const task = await server.client.reset({ environment: "writing", source: "real", seed: 1n });
  for (let i = 0; i < 8; i++) {
    const outcome = await server.client.step(
      task,
      `<think></think><answer>A text of some words, number ${i}.</answer>`,
    );
    lines.push(JSON.stringify(outcome, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)));
  }
  lines.push(await (await fetch(`${server.http}/metrics`)).text());
  expect(lines.join(" ")).toMatch(/judge/);
  expectClean(lines.join(" ").replaceAll(/\\u001b|\\u202e/g, "\u001b"));
});

test("no line of the log holds a key", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "log");
  writeFileSync(file, "");
  const { openSync, readFileSync } = await import("node:fs");
  for (const logFormat of ["json", "pretty"]) {
    const read = readConfig({ logFormat, judgeUrl: "http://localhost:1/v1", judgeModel: "m", judgeKey: KEY }, {});
    if (read.kind === "invalid") throw new Error(read.message);
    const { log, flush } = openLog(read.config, openSync(file, "a"));
    log.info({ reason: ECHO, err: new Error(KEY) }, `it says ${KEY}`);
    flush();
    await eventually(() => expect(readFileSync(file, "utf8")).toContain("it says [a secret]"));
  }
  for (const core of CORES) expect(readFileSync(file, "utf8")).not.toContain(core);
});
