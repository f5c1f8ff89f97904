/** Tests of a teacher over HTTP: accepted replies, counted failures, and that nothing waits for ever. */
import { describe, expect, test } from "vitest";
import { countdown } from "../../../envs/countdown/index.ts";
import { createRegistry } from "../../../envs/registry.ts";
import { systemClock } from "../../../server/base/system-clock.ts";
import { createResources } from "../../../server/outside/gate/resources.ts";
import type { TaskSpec } from "../../../server/tasks/spec.ts";
import { createTeacher, type Teacher } from "../../../server/outside/teacher/teacher.ts";
import { type Behaviour, type ChatRequest, type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { goodReply, rowsOf } from "../../support/teacher.ts";

const spec: TaskSpec = {
  environment: "countdown",
  version: 1,
  level: "T0",
  parameters: {},
  split: "train",
  source: "teacher",
  pool: "",
  answerFormat: "think_answer",
  thinking: "required",
  rewardScheme: "graded",
  rewardParameters: {},
};

interface Rig extends AsyncDisposable {
  readonly teacher: Teacher;
  readonly chat: ChatServer;
  readonly downs: readonly (string | undefined)[];
}

async function rig(behave: (request: ChatRequest, index: number) => Behaviour, timeoutMs = 20_000): Promise<Rig> {
  const chat = await startChatServer(behave);
  const resources = createResources({ clock: systemClock, onFailure: (error) => expect.unreachable(String(error)) });
  const downs: (string | undefined)[] = [];
  resources.onChange((_name, down) => downs.push(down));
  const endpoint = { url: chat.url, model: "teacher", key: "secret", timeoutMs };
  const teacher = createTeacher({ registry: createRegistry([countdown]), resources, endpoint });
  if (teacher === undefined) throw new Error("an endpoint made no teacher");
  return {
    teacher,
    chat,
    downs,
    async [Symbol.asyncDispose]() {
      teacher.close();
      resources.close();
      await chat[Symbol.asyncDispose]();
    },
  };
}

const places = (count: number, from = 0): readonly string[] => Array.from({ length: count }, (_, i) => `${from + i}`);
const says = (rows: unknown): Behaviour => ({ kind: "answer", content: JSON.stringify(rows) });

function countsOf(teacher: Teacher) {
  const [counts] = teacher.counts();
  if (counts === undefined) throw new Error("nothing was counted");
  return { ...counts, requests: Object.fromEntries(counts.requests), proposals: Object.fromEntries(counts.proposals) };
}

describe("good tasks", () => {
  test("are taken in order, each place keeps its own, and the accounts add up", async () => {
    await using of = await rig(goodReply);
    const first = await of.teacher.take(spec, { scope: "a", places: places(20) });
    expect(first.map(({ kind }) => kind)).toEqual(places(20).map(() => "made"));
    const hashes = first.map((result) => (result.kind === "made" ? result.task.key.hash : ""));
    expect(new Set(hashes).size).toBe(20);
    const asked = of.chat.requests.length;
    expect(await of.teacher.take(spec, { scope: "a", places: places(20) })).toEqual(first);
    expect(of.chat.requests).toHaveLength(asked);
    expect(of.chat.requests[0]).toMatchObject({ model: "teacher", authorization: "Bearer secret" });
    const counts = countsOf(of.teacher);
    expect(counts).toMatchObject({ requests: { useful: asked }, asked: 16 * asked });
    expect([counts.tokensIn, counts.tokensOut, counts.repliesWithoutUsage]).toEqual([300 * asked, 200 * asked, 0]);
    expect(Object.values(counts.proposals).reduce((sum, count) => sum + count, 0)).toBe(16 * asked);
  });

  test("are shown and scored as any other", async () => {
    await using of = await rig(goodReply);
    const [result] = await of.teacher.take(spec, { scope: "a", places: ["0"] });
    if (result?.kind !== "made") throw new Error("no task");
    const { key, prompt, inline } = result.task;
    expect([key.origin.kind, inline]).toEqual(["inline", undefined]);
    expect(prompt[0]?.content).toContain("Using the numbers");
  });

  test("may come again in another run, and not in the same", async () => {
    const rows = rowsOf("T0", 16, 1);
    await using of = await rig((_request, index) => says(index < 2 ? rows : rowsOf("T0", 16, 500)));
    const count = new Set(rows.map(({ nums, target }) => countdown.canonical({ numbers: nums, target }))).size;
    const one = await of.teacher.take(spec, { scope: "a", places: places(count) });
    const other = await of.teacher.take(spec, { scope: "b", places: places(count) });
    expect(other).toEqual(one);
    const more = await of.teacher.take(spec, { scope: "a", places: places(4, 100) });
    for (const result of more) expect(one).not.toContainEqual(result);
  });
});

test("each proposal that is no task is counted under what is wrong with it", async () => {
  const good = rowsOf("T0", 1, 1);
  const [row = { nums: [], target: 0 }] = good;
  const proposals = [
    ...good,
    { nums: [...row.nums].reverse(), target: row.target },
    ...[null, "1 + 1", { nums: [1, 2, 3], target: 2.5 }, { nums: [1, 2, 3] }, { nums: [1, 2, 1e9], target: 3 }],
    ...rowsOf("T2", 2, 1),
    ...Array.from({ length: 40 }, (_, i) => ({ nums: [1, 1, 2], target: 50_000 + i })),
    ...Array.from({ length: 40 }, () => row),
  ];
  await using of = await rig(() => says(proposals));
  const [result] = await of.teacher.take(spec, { scope: "a", places: ["0"] });
  expect(result?.kind).toBe("made");
  const { proposals: counted, repliesWithoutUsage } = countsOf(of.teacher);
  expect(repliesWithoutUsage).toBe(1);
  expect(counted).toMatchObject({ accepted: 1, malformed: 5, other_level: 2, excess: proposals.length - 64 });
  expect((counted["no_level"] ?? 0) + (counted["other_split"] ?? 0)).toBe(40);
  expect(counted["no_level"]).toBeGreaterThan(20);
  expect(Object.values(counted).reduce((sum, count) => sum + count, 0)).toBe(proposals.length);
});

// Each case retries after a while, so the cases run side by side.
describe.concurrent("what goes wrong is unavailable, with a delay, and counted", () => {
  test.each<[string, Behaviour, string, RegExp]>([
    [
      "tasks of another level",
      says(rowsOf("T3", 4, 1)),
      "useless",
      /none of its 4 proposed tasks was accepted: .*4 other_level/,
    ],
    ["no tasks", says([]), "useless", /none of its 0 proposed tasks/],
    [
      "words",
      { kind: "answer", content: "As a language model I" },
      "unreadable",
      /cannot be read: it holds no JSON list/,
    ],
    ["nothing", { kind: "answer", content: null }, "unreadable", /cannot be read/],
    ["no JSON at all", { kind: "raw", body: "<html>", then: "end" }, "connection", /JSON/],
    ["other JSON", { kind: "raw", body: '{"choices": 5}', then: "end" }, "unreadable", /cannot be read/],
    [
      "a huge reply",
      { kind: "raw", body: "9".repeat(1024 ** 2 + 1), then: "end" },
      "connection",
      /more than 1048576 bytes/,
    ],
    ["half a reply", { kind: "raw", body: '{"choices"', then: "reset" }, "connection", /the teacher: /],
    ["a lost connection", { kind: "reset" }, "connection", /the teacher: /],
    ["500", { kind: "status", status: 500 }, "status", /500 not now/],
    ["401", { kind: "status", status: 401, message: "wrong key" }, "status", /401 wrong key/],
  ])("%s", async (_name, behaviour, outcome, words) => {
    await using of = await rig(() => behaviour);
    const results = await of.teacher.take(spec, { scope: "a", places: places(2) });
    for (const result of results) {
      expect(result).toMatchObject({ kind: "unavailable", message: expect.stringMatching(words) as string });
      expect(result.kind === "unavailable" && result.retryDelayMs).toBeGreaterThan(0);
    }
    expect(countsOf(of.teacher).requests).toEqual({ [outcome]: of.chat.requests.length });
  });

  test("a reply that never comes ends at its deadline", async () => {
    await using of = await rig(() => ({ kind: "silence" }), 50);
    const [result] = await of.teacher.take(spec, { scope: "a", places: ["0"] });
    expect(result).toMatchObject({ kind: "unavailable" });
    const { requests } = countsOf(of.teacher);
    expect(requests).toEqual({ timeout: expect.any(Number) as number });
    // On a busy machine a request may time out before it arrives.
    expect(of.chat.requests.length).toBeLessThanOrEqual(requests["timeout"] ?? 0);
  });

  test("429 says when to come again, and is not asked before", async () => {
    await using of = await rig(() => ({ kind: "status", status: 429, retryAfter: "30" }));
    const [result] = await of.teacher.take(spec, { scope: "a", places: ["0"] });
    expect(result).toMatchObject({ kind: "unavailable", retryDelayMs: 30_000 });
    expect(of.chat.requests).toHaveLength(1);
  });

  test("after some failures it is down: nobody asks", async () => {
    await using of = await rig(() => ({ kind: "status", status: 503 }));
    for (let i = 0; i < 4; i++) await of.teacher.take(spec, { scope: "a", places: ["0"] });
    expect(of.downs[0]).toMatch(/503/);
    const asked = of.chat.requests.length;
    const [refused] = await of.teacher.take(spec, { scope: "a", places: ["0"] });
    expect(refused).toMatchObject({ kind: "unavailable", message: expect.stringMatching(/is down/) as string });
    expect(of.chat.requests).toHaveLength(asked);
  });
});

test("what nobody waits for any more is kept for who asks next", async () => {
  await using of = await rig((request, index) => ({ ...goodReply(request, index), delayMs: 50 }));
  const leaving = new AbortController();
  const left = of.teacher.take(spec, { scope: "a", places: ["0"], signal: leaving.signal });
  leaving.abort();
  expect(await left).toEqual([{ kind: "cancelled" }]);
  expect((await of.teacher.take(spec, { scope: "a", places: ["0"] }))[0]?.kind).toBe("made");
  expect(of.chat.requests).toHaveLength(1);
});
