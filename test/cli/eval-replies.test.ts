/** Tests gradus eval on replies that are cut off, empty or odd, and on commands that are killed or given twice. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readReply } from "../../cli/evaluation/reply.ts";
import { type Behaviour, type ChatServer, middlingAnswer, startChatServer } from "../support/chat-server.ts";
import { eventually, until } from "../support/patience.ts";
import { startServer, temporaryFolder } from "../support/server-process.ts";
import { gradus, start } from "./gradus.ts";

const folder = temporaryFolder();
const here = { cwd: folder.path };
afterAll(() => folder[Symbol.dispose]());
beforeAll(() => {
  const parts = [{ environment: "countdown", level: "T0", tasks: 6 }];
  writeFileSync(join(folder.path, "six.json"), JSON.stringify({ id: "six", version: 1, parts }));
});

const reply = (message: object | null, finish_reason?: string | null) =>
  readReply({ choices: [{ message, ...(finish_reason !== undefined && { finish_reason }) }] });

describe("a reply", () => {
  test.each([
    [{ content: "a" }, "stop", "a", "stop"],
    [{ content: "a" }, undefined, "a", undefined],
    [{ content: "a" }, null, "a", undefined],
    [{ content: "a" }, "length", "a", "length"],
    [{ content: "a" }, "max_tokens", "a", "length"],
    [{ content: "a" }, "LENGTH", "a", "length"],
    [{ content: "b", reasoning_content: "a" }, "stop", "<think>\na\n</think>\nb", "stop"],
    [{ content: "b", reasoning: "a" }, "stop", "<think>\na\n</think>\nb", "stop"],
    // The thought was over, and the answer was cut off.
    [{ content: "b", reasoning_content: "a" }, "length", "<think>\na\n</think>\nb", "length"],
    // The thought was cut off: it has no end.
    [{ content: "", reasoning_content: "a" }, "length", "<think>\na", "length"],
    [{ content: null, reasoning: "a" }, "length", "<think>\na", "length"],
    [{ content: "\n", reasoning: "a" }, "length", "<think>\na", "length"],
    // The model thought to its end, and then gave no answer.
    [{ content: "", reasoning_content: "a" }, "stop", "<think>\na\n</think>\n", "stop"],
    // Thoughts that are not shown took all there was.
    [{ content: "" }, "length", "", "length"],
    [{ content: "<think>a</think>b", reasoning_content: "a" }, "stop", "<think>a</think>b", "stop"],
    [
      {
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      "stop",
      "ab",
      "stop",
    ],
    [{ content: null, refusal: "I will not." }, "stop", "I will not.", "stop"],
  ])("%j that ended by %j is %j, %j", (message, reason, text, finishReason) => {
    const read = reply(message, reason);
    const content = read.kind === "completion" ? read.content : "none";
    expect(read).toEqual({ kind: "completion", text, finishReason, content, toolCalls: [] });
    // The next request repeats the text without thoughts that were given apart.
    expect(content.startsWith("<think>\n")).toBe(false);
    expect(content.trim() === "" || text.endsWith(content)).toBe(true);
  });

  test("is its calls of tools, whichever way the server writes them", () => {
    const calls = [
      { id: "x", type: "function", function: { name: "add", arguments: '{"by": 1}' } },
      { function: { name: "add", arguments: { by: 2 } } },
      { id: null, function: { name: "add", arguments: "" } },
      null,
    ];
    expect(reply({ content: null, tool_calls: calls, reasoning: "a" }, "tool_calls")).toEqual({
      kind: "completion",
      text: "<think>\na\n</think>\n",
      content: "",
      finishReason: "stop",
      toolCalls: [
        { id: "x", name: "add", argumentsJson: '{"by": 1}' },
        { id: "call00001", name: "add", argumentsJson: '{"by":2}' },
        { id: "call00002", name: "add", argumentsJson: "{}" },
        { id: "call00003", name: "", argumentsJson: "{}" },
      ],
    });
  });

  test.each([
    [{ content: "" }, "stop", "the reply is empty (finish_reason stop)"],
    [{ content: null }, undefined, "the reply is empty"],
    [{ content: " \n" }, "stop", "the reply is empty"],
    [{}, "tool_calls", "the reply is empty (finish_reason tool_calls)"],
    [{ content: "", reasoning: "" }, "content_filter", "the reply is empty (finish_reason content_filter)"],
    [{ content: "half an ans" }, "abort", "the endpoint gave up in the middle (abort)"],
    [null, "stop", "the reply is empty"],
  ])("%j that ended by %j is asked for again", (message, reason, words) => {
    expect(reply(message, reason)).toEqual({ kind: "unusable", message: expect.stringContaining(words) as string });
  });
});

const flagsOf = (server: ChatServer, name: string, ...more: readonly string[]): readonly string[] => [
  ...["eval", "--suite", "six", "--suite-file", "six.json", "--endpoint", server.url, "--model", "m"],
  ...["--evaluation-id", name, "--out", name, "--json", ...more],
];
const figuresIn = (out: string): Readonly<Record<string, number>> =>
  (JSON.parse(out) as { report: { overall: { figures: Readonly<Record<string, number>> } } }).report.overall.figures;

describe("gradus eval", () => {
  const cutOff: readonly (readonly [string, Behaviour])[] = [
    ["a thought given apart", { kind: "answer", content: "", reasoning: "Well", finishReason: "length" }],
    ["a thought", { kind: "answer", content: "<think>Well", finishReason: "length" }],
    ["an answer", { kind: "answer", content: "<think>a</think><answer>1 +", finishReason: "length" }],
    [
      "words after an answer",
      { kind: "answer", content: "<think>a</think><answer>1</answer> a", finishReason: "length" },
    ],
    ["thoughts that are not shown", { kind: "answer", content: null, finishReason: "length" }],
  ];
  test.each(cutOff)("%s that was cut off counts as truncated", async (name, behaviour) => {
    await using server = await startChatServer(() => behaviour);
    const { out, code } = await gradus(here, ...flagsOf(server, name.replaceAll(" ", "-")));
    expect([code, figuresIn(out)]).toEqual([0, expect.objectContaining({ truncated_rate: 1 })]);
  });

  test("so it does on a server, which keeps it with the sample", async () => {
    await using server = await startChatServer(() => ({ kind: "answer", content: "1", finishReason: "length" }));
    const data = join(folder.path, "served");
    const served = await startServer(data, "--suite-file", join(folder.path, "six.json"));
    const { out } = await gradus(here, ...flagsOf(server, "far", "--server", served.address));
    expect(figuresIn(out)).toMatchObject({ truncated_rate: 1 });
    await served.kill("SIGTERM");
  });

  test("a reply that names no content type is read all the same", async () => {
    const body = '{"choices": [{"message": {"content": "1"}, "finish_reason": "length"}]}';
    await using server = await startChatServer(() => ({ kind: "raw", body, then: "end", contentType: "text/plain" }));
    expect(figuresIn((await gradus(here, ...flagsOf(server, "plain"))).out)).toMatchObject({ truncated_rate: 1 });
  });

  test("a launcher that is killed takes the command with it, and lets go of the evaluation", async () => {
    let open = false;
    await using server = await startChatServer((request, index) =>
      open ? { kind: "answer", content: middlingAnswer(request, index) } : { kind: "silence" },
    );
    const flags = flagsOf(server, "killed", "--concurrency", "3");
    const child = start(flags, here);
    await until(() => server.requests.length === 3);
    child.kill("SIGKILL");
    open = true;
    // The second one waits for the first to be gone, no longer.
    const { code, err } = await gradus(here, ...flags);
    expect([code, err]).toEqual([0, ""]);
    expect(server.requests).toHaveLength(3 + 6);
  });

  // The next three wait for most of their time: for another try, and for a command that was killed.
  test.concurrent("asks again for an empty reply, and leaves a prompt without another for a later run", async () => {
    let silent = true;
    await using server = await startChatServer((request, index) => {
      const content = index < 3 || (silent && index % 2 === 0) ? "" : middlingAnswer(request, index);
      return { kind: "answer", content };
    });
    const first = await gradus(here, ...flagsOf(server, "quiet", "--concurrency", "1"));
    expect(first.code).toBe(0);
    expect(figuresIn(first.out)["malformed_rate"]).toBeLessThan(1);
    expect(server.requests.length).toBeGreaterThan(6);
    silent = false;
    await using mute = await startChatServer(() => ({ kind: "answer", content: "" }));
    const never = await gradus(here, ...flagsOf(mute, "mute", "--concurrency", "6"));
    expect([never.code, never.err]).toEqual([
      1,
      expect.stringContaining("the reply is empty (finish_reason stop), 4 times"),
    ]);
    const later = await gradus(here, ...flagsOf(server, "mute"));
    expect([later.code, figuresIn(later.out)["malformed_rate"]]).toEqual([0, expect.any(Number)]);
  });

  test.concurrent.each(["here", "on a server"])("two commands of one evaluation do not both ask, %s", async (where) => {
    // The endpoint never answers the first command's requests, and answers later ones.
    await using server = await startChatServer((request, index) =>
      index < 2 ? { kind: "silence" } : { kind: "answer", content: middlingAnswer(request, index) },
    );
    const data = [join(folder.path, "two"), "--suite-file", join(folder.path, "six.json")] as const;
    const served = where === "here" ? undefined : await startServer(...data);
    const more = served === undefined ? [] : ["--server", served.address];
    const flags = flagsOf(server, `two-${where.length}`, "--concurrency", "2", ...more);
    const first = start(flags, here);
    await until(() => server.requests.length === 2);
    const second = await gradus(here, ...flags);
    const words: unknown = expect.stringMatching(
      /another command is completing evaluation two-\d+: wait until it ends/,
    );
    expect([second.code, second.err, second.out]).toEqual([1, words, ""]);
    expect(server.requests).toHaveLength(2);
    first.kill("SIGKILL");
    await eventually(async () => expect((await gradus(here, ...flags)).code).toBe(0));
    await served?.kill("SIGTERM");
  });
});
