/** `gradus eval` of tasks with turns, against models that call tools, write calls in their text, or answer plainly. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Code } from "../../envs/games/mastermind/code.ts";
import { type Behaviour, type ChatRequest, startChatServer } from "../support/chat-server.ts";
import { EASY_CODES, fitting, say } from "../support/mastermind.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

const folder = temporaryFolder();
const here = { cwd: folder.path };
afterAll(() => folder[Symbol.dispose]());

const part = { environment: "games/mastermind", level: "easy", tasks: 3, split: "eval" };
const suites = { tools: [{ ...part, tools: ["guess"] }], answers: [{ ...part, calls: 8 }] };
for (const [id, parts] of Object.entries(suites))
  writeFileSync(join(folder.path, `${id}.json`), JSON.stringify({ id, version: 1, parts }));

function evaluate(url: string, suite: keyof typeof suites, ...more: string[]) {
  const flags = ["--suite", suite, "--suite-file", `${suite}.json`, "--endpoint", url, "--model", "m", "--json"];
  return gradus(here, "eval", ...flags, "--temperature", "0", ...more);
}

interface Report {
  readonly report: {
    readonly overall: { readonly samples: string; readonly figures: Readonly<Record<string, number>> };
  };
}
const overallOf = (out: string) => (JSON.parse(out) as Report).report.overall;

/** Returns the first code that fits all replies of a conversation, as a good model would. */
function nextCode({ messages }: ChatRequest): Code {
  let codes = EASY_CODES;
  for (const { role, content } of messages)
    if (/ of 3 in place/.test(content) && role !== "system") codes = fitting(codes, codes[0] as Code, content);
  return codes[0] as Code;
}

const callOf = (code: Code, id: string) => ({
  id,
  type: "function",
  function: { name: "guess", arguments: JSON.stringify({ code }) },
});

const called = (request: ChatRequest, index: number): Behaviour => ({
  kind: "answer",
  content: null,
  reasoning: "hm",
  finishReason: "tool_calls",
  toolCalls: [callOf(nextCode(request), `call-${index}`)],
});

test("a model that calls tools gets them in OpenAI's form, and the replies under the ids of its calls", async () => {
  await using server = await startChatServer(called);
  const { code, out, err } = await evaluate(server.url, "tools", "--evaluation-id", "called");
  expect([code, err]).toEqual([0, ""]);
  const figures = { success_rate: 1, calls_per_episode: server.requests.length / 3 };
  expect(overallOf(out)).toMatchObject({ samples: "3", figures });
  expect(server.requests[0]?.["tools"]).toMatchObject([
    { type: "function", function: { name: "guess", parameters: { type: "object", required: ["code"] } } },
  ]);
  const longest = server.requests.reduce((one, other) => (other.messages.length > one.messages.length ? other : one));
  const [prompt, asked, reply] = longest.messages;
  expect(prompt).toMatchObject({ role: "user" });
  const [call] = asked?.tool_calls as ReturnType<typeof callOf>[];
  expect(asked).toMatchObject({ role: "assistant", content: null });
  expect(call).toMatchObject({ type: "function", function: { name: "guess" } });
  const content = expect.stringContaining("in place") as string;
  expect(reply).toEqual({ role: "tool", content, tool_call_id: call?.id, name: "guess" });
  // Nothing is left to ask when the command is repeated.
  const before = server.requests.length;
  expect((await evaluate(server.url, "tools", "--evaluation-id", "called")).out).toBe(out);
  expect(server.requests).toHaveLength(before);
});

test("a model without tool calls finds the tools in its prompt, and the replies in messages of the user", async () => {
  await using server = await startChatServer((request) => ({
    kind: "answer",
    content: `I try.\n<tool_call>{"name": "guess", "arguments": {"code": [${nextCode(request).join()}]}}</tool_call>`,
  }));
  const { code, out, err } = await evaluate(server.url, "tools", "--text-tools", "--samples", "2");
  expect([code, err]).toEqual([0, ""]);
  expect(overallOf(out)).toMatchObject({ samples: "6", figures: { success_rate: 1 } });
  for (const request of server.requests) expect(request).not.toHaveProperty("tools");
  const { messages } = server.requests.findLast((request) => request.messages.length > 2) as ChatRequest;
  expect(messages[0]).toMatchObject({ role: "system", content: expect.stringContaining('"name": "guess"') as string });
  expect(messages[2]).toMatchObject({ role: "assistant", content: expect.stringContaining("I try.") as string });
  expect(messages[3]).toMatchObject({
    role: "user",
    content: expect.stringMatching(/^<tool_response>\n[^]*in place[^]*<\/tool_response>$/) as string,
  });
});

test("calls in the text of a model with tools are read, and plain answers are calls", async () => {
  await using texts = await startChatServer((request) => ({
    kind: "answer",
    content: `<tool_call>{"name": "guess", "arguments": {"code": [${nextCode(request).join()}]}}</tool_call>`,
  }));
  expect(overallOf((await evaluate(texts.url, "tools")).out)).toMatchObject({ figures: { success_rate: 1 } });
  await using plain = await startChatServer((request) => ({ kind: "answer", content: say(nextCode(request)) }));
  const answered = await evaluate(plain.url, "answers", "--evaluation-id", "answered");
  expect(overallOf(answered.out)).toMatchObject({ figures: { success_rate: 1 } });
  expect(plain.requests.at(-1)).not.toHaveProperty("tools");
});

test("whole conversations are exported, and episodes with calls of tools are left out and said", async () => {
  await using plain = await startChatServer((request) => ({ kind: "answer", content: say(nextCode(request)) }));
  await using server = await startChatServer(called);
  await evaluate(plain.url, "answers", "--evaluation-id", "written");
  await evaluate(server.url, "tools", "--evaluation-id", "unwritten");
  const flags = (id: string, suite: string) => ["--evaluation-id", id, "--suite-file", `${suite}.json`, "--out"];
  const texts = await gradus(here, "export", ...flags("written", "answers"), "rows.jsonl", "--ratio-above", "0.1");
  expect([texts.code, texts.err]).toEqual([0, expect.stringContaining("3 rows in rows.jsonl")]);
  const lines = readFileSync(join(folder.path, "rows.jsonl"), "utf8").trimEnd().split("\n");
  const rows = lines.map((line) => JSON.parse(line) as { readonly messages: ChatRequest["messages"] });
  expect(rows).toHaveLength(3);
  for (const { messages } of rows) {
    expect(messages.length % 2).toBe(0);
    expect(messages.map(({ role }) => role)).toEqual(messages.map((_, i) => (i % 2 === 0 ? "user" : "assistant")));
    // Each answer is the one that the conversation before it calls for.
    for (let at = 1; at < messages.length; at += 2)
      expect(messages[at]?.content).toBe(say(nextCode({ model: "m", messages: messages.slice(0, at) })));
  }
  const calls = await gradus(here, "export", ...flags("unwritten", "tools"), "none.jsonl", "--ratio-above", "0.1");
  expect(calls.err).toContain("games/mastermind: 3 episodes are left out, because a row has no calls of tools");
});

test("an episode that failed begins again, and one whose context is full ends", async () => {
  let isBroken = true;
  await using server = await startChatServer((request, index) => {
    const isLater = request.messages.length > 1;
    return isLater && isBroken ? { kind: "status", status: 400, message: "no luck" } : called(request, index);
  });
  const failing = await evaluate(server.url, "tools", "--evaluation-id", "again");
  expect([failing.code, failing.err]).toEqual([1, expect.stringContaining("no luck")]);
  isBroken = false;
  const { code, out } = await evaluate(server.url, "tools", "--evaluation-id", "again");
  expect([code, overallOf(out).samples]).toEqual([0, "3"]);
  await using small = await startChatServer((request, index) =>
    request.messages.length > 1
      ? { kind: "status", status: 400, message: "This model's maximum context length is 64 tokens." }
      : called({ ...request, messages: [] }, index),
  );
  const ended = await evaluate(small.url, "tools", "--out", "small");
  expect(ended.code).toBe(0);
  expect(overallOf(ended.out)).toMatchObject({ samples: "3", figures: { no_reward_rate: 0 } });
  expect(readFileSync(join(folder.path, "small", "report.json"), "utf8")).toContain(
    "the trainer ended the episode after … calls",
  );
});

test("an endpoint that takes no tools says what to do", async () => {
  await using server = await startChatServer((request) =>
    "tools" in request
      ? { kind: "status", status: 400, message: "this model does not support tools" }
      : { kind: "answer", content: say([1, 1, 1]) },
  );
  const { code, err } = await evaluate(server.url, "tools");
  expect([code, err]).toEqual([1, expect.stringMatching(/does not support tools.*give --text-tools/)]);
});
