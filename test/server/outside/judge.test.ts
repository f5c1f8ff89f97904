/** Tests of a judge over HTTP: its verdicts, its retries, and its cache. */
import { describe, expect, test } from "vitest";
import type { AskContext, Comparison } from "../../../envs/ports.ts";
import type { Conversation } from "../../../envs/writing/conversation.ts";
import { comparisonOf } from "../../../envs/writing/question.ts";
import { systemClock } from "../../../server/base/system-clock.ts";
import type { AskModel } from "../../../server/outside/chat-endpoint.ts";
import { REQUESTS_MAX, UNREADABLE_MAX } from "../../../server/outside/judge/ask.ts";
import { RIGHT_SHARE_MIN } from "../../../server/outside/judge/canaries.ts";
import { CANARIES } from "../../../server/outside/judge/canary-texts.ts";
import { createJudge, type OpenedJudge } from "../../../server/outside/judge/judge.ts";
import { type Behaviour, type ChatRequest, type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { fair, fairWinner, says, textsOf, verdict, type Winner } from "../../support/judge.ts";
import { eventually, PATIENCE_MS } from "../../support/patience.ts";

const conversation: Conversation = { system: undefined, request: "Write a line.", reference: "A line of some words." };
const about = (candidate: string): Comparison => comparisonOf(conversation, candidate);
const LONG = "A line of very many words, each of them another one.";

const options = { url: "", model: "judge", key: "secret", timeoutMs: PATIENCE_MS, temperature: 0.4, prices: undefined };
/** A clock without waits between requests; the guard against hanging stays. */
const hurried: typeof systemClock = {
  ...systemClock,
  setTimer: (delayMs, callback) => systemClock.setTimer(delayMs > 5000 ? delayMs : 0, callback),
};
const patient = (): AskContext => ({ signal: new AbortController().signal, deadlineMs: Date.now() + PATIENCE_MS });

interface Rig extends AsyncDisposable {
  readonly judge: OpenedJudge;
  readonly chat: ChatServer;
  readonly trust: readonly boolean[];
  /** Returns the requests about the test's question, without canaries. */
  readonly asked: () => readonly ChatRequest[];
}

const isCanary = (request: Pick<ChatRequest, "messages">): boolean =>
  !request.messages.at(-1)?.content.includes(`| ${conversation.request}\n`);

/** `behave` gets the number of earlier requests. Canaries are not counted: by default a fair judge answers them. */
async function rig(
  behave: (request: ChatRequest, index: number) => Behaviour,
  canaries: (request: ChatRequest) => Behaviour = fair,
): Promise<Rig> {
  let asked = 0;
  const chat = await startChatServer((request) => (isCanary(request) ? canaries(request) : behave(request, asked++)));
  const trust: boolean[] = [];
  const onTrust = (isTrusted: boolean) => void trust.push(isTrusted);
  const judge = createJudge({ ...options, url: chat.url }, { clock: hurried, onTrust });
  return {
    judge,
    chat,
    trust,
    asked: () => chat.requests.filter((request) => !isCanary(request)),
    async [Symbol.asyncDispose]() {
      judge.close();
      await chat[Symbol.asyncDispose]();
    },
  };
}

const countsOf = (judge: OpenedJudge) => {
  const { requests, comparisons, verdicts, canaries, ...more } = judge.figures();
  const all = { requests, comparisons, verdicts, canaries };
  return { ...more, ...Object.fromEntries(Object.entries(all).map(([name, map]) => [name, Object.fromEntries(map)])) };
};

describe("a comparison", () => {
  test("is asked in both orders, as it is set, with the key", async () => {
    await using of = await rig(fair);
    const judged = await of.judge.ask(about(LONG), patient());
    expect(judged).toMatchObject({ kind: "judged", verdicts: [{ winner: "A" }, { winner: "B" }] });
    expect(
      of
        .asked()
        .map((request) => textsOf(request).a)
        .sort(),
    ).toEqual([conversation.reference, LONG].sort());
    for (const request of of.asked())
      expect(request).toMatchObject({ model: "judge", temperature: 0.4, authorization: "Bearer secret" });
  });

  test("is remembered, each order for itself", async () => {
    await using of = await rig((request, index) => (index === 1 ? { kind: "status", status: 404 } : fair(request)));
    expect(await of.judge.ask(about(LONG), patient())).toMatchObject({ kind: "failed" });
    const judged = await of.judge.ask(about(LONG), patient());
    expect(judged.kind).toBe("judged");
    expect(of.asked()).toHaveLength(3);
    expect(await of.judge.ask(about(LONG), patient())).toEqual(judged);
    expect(await of.judge.ask(about(`${LONG} More.`), patient())).toMatchObject({ kind: "judged" });
    expect(of.asked()).toHaveLength(5);
    expect(countsOf(of.judge)).toMatchObject({ remembered: 3, comparisons: { consistent: 3 } });
  });

  test("that many ask at once is asked once, and goes on when one of them leaves", async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    let asked = 0;
    const ask: AskModel = async (messages) => {
      if (!isCanary({ messages })) asked++;
      await go;
      return { kind: "reply", text: verdict("A"), tokens: undefined };
    };
    const judge = createJudge(options, { clock: hurried, onTrust: () => undefined, ask });
    const leaving = new AbortController();
    const first = judge.ask(about(LONG), { ...patient(), signal: leaving.signal });
    const others = [judge.ask(about(LONG), patient()), judge.ask(about(LONG), patient())];
    leaving.abort();
    expect(await first).toMatchObject({ kind: "failed", reason: "timeout" });
    resolve();
    for (const other of await Promise.all(others)) expect(other.kind).toBe("judged");
    expect(asked).toBe(2);
    judge.close();
  });
});

const bad = { kind: "failed", retryable: true };

describe("what is no verdict is a failure of the judge's, after so many requests for each order", () => {
  test.each<[string, Behaviour, number, object]>([
    [
      "words",
      says("Text A, I should say."),
      UNREADABLE_MAX,
      { reason: "resource_unavailable", resource: "judge", detail: /has no verdict/ },
    ],
    [
      "two verdicts",
      says(`${verdict("A")} or ${verdict("B")}`),
      UNREADABLE_MAX,
      { detail: /two verdicts that differ/ },
    ],
    ["another winner", says('{"winner": "C"}'), UNREADABLE_MAX, { detail: /winner must be/ }],
    [
      "thoughts that never close",
      says(`<think>Text A, I should say. ${verdict("A")}`),
      UNREADABLE_MAX,
      { detail: /thoughts are never closed/ },
    ],
    [
      "a reply that was cut",
      { kind: "answer", content: verdict("A"), finishReason: "length" },
      UNREADABLE_MAX,
      { detail: /cut off at its maximum length/ },
    ],
    ["nothing", { kind: "answer", content: null, reasoning: verdict("A") }, UNREADABLE_MAX, { detail: /no verdict/ }],
    ["no choices", { kind: "raw", body: "{}", then: "end" }, UNREADABLE_MAX, { detail: /no verdict/ }],
    [
      "no JSON",
      { kind: "raw", body: "<html>", then: "end" },
      REQUESTS_MAX,
      { reason: "resource_unavailable", resource: "judge" },
    ],
    [
      "a reply cut off",
      { kind: "raw", body: '{"choices": [', then: "reset" },
      REQUESTS_MAX,
      { reason: "resource_unavailable", resource: "judge" },
    ],
    [
      "a huge reply",
      { kind: "raw", body: " ".repeat(2 ** 20 + 1), then: "end" },
      REQUESTS_MAX,
      { detail: /more than 1048576 bytes/ },
    ],
    ["500", { kind: "status", status: 500, retryAfter: "0.001" }, REQUESTS_MAX, { detail: /500/ }],
    ["429", { kind: "status", status: 429, retryAfter: "0.001" }, REQUESTS_MAX, { detail: /429/, retryDelayMs: 1 }],
    [
      "a wrong key",
      { kind: "status", status: 401 },
      1,
      { reason: "resource_unavailable", resource: "judge", detail: /401/ },
    ],
    ["a wrong path", { kind: "status", status: 404 }, 1, { reason: "resource_unavailable", resource: "judge" }],
    ["a prompt it will not have", { kind: "status", status: 400, message: "too long" }, 1, { retryable: false }],
    ["a hang-up", { kind: "reset" }, REQUESTS_MAX, { reason: "resource_unavailable", resource: "judge" }],
  ])("%s", async (_, behaviour, requests, expected) => {
    await using of = await rig(() => behaviour);
    const { detail, ...more } = expected as { detail?: RegExp };
    const found = await of.judge.ask(about(LONG), patient());
    expect(found).toMatchObject({
      ...bad,
      ...more,
      ...(detail && { detail: expect.stringMatching(detail) as string }),
    });
    expect(of.asked()).toHaveLength(2 * requests);
    // Failures are not cached.
    await of.judge.ask(about(LONG), patient());
    expect(of.asked()).toHaveLength(4 * requests);
  });
});

test.each<[string, Behaviour]>([
  ["words", says("Let me think.")],
  ["429 with a delay", { kind: "status", status: 429, retryAfter: "0.01" }],
  ["500", { kind: "status", status: 500 }],
  ["a hang-up", { kind: "reset" }],
])("after %s it is asked again", async (_, behaviour) => {
  const seen = new Set<string>();
  await using of = await rig((request) => {
    const { a } = textsOf(request);
    return seen.has(a) ? fair(request) : (seen.add(a), behaviour);
  });
  expect(await of.judge.ask(about(LONG), patient())).toMatchObject({ kind: "judged" });
  expect(of.asked()).toHaveLength(4);
});

test("a judge that thinks apart, or aloud, is read by its reply alone", async () => {
  await using of = await rig((request) => ({
    kind: "answer",
    content: `<think>${verdict("tie")}</think>${verdict(fairWinner(request))}`,
    reasoning: verdict("tie"),
  }));
  expect(await of.judge.ask(about(LONG), patient())).toMatchObject({
    verdicts: [{ winner: "A" }, { winner: "B" }],
  });
});

test("who leaves breaks off what nobody else waits for", async () => {
  await using of = await rig(() => ({ kind: "silence" }));
  const leaving = new AbortController();
  const asked = of.judge.ask(about(LONG), { ...patient(), signal: leaving.signal });
  await eventually(() => expect(of.asked()).toHaveLength(2));
  leaving.abort();
  expect(await asked).toMatchObject({ kind: "failed" });
  await eventually(() => expect(countsOf(of.judge)).toMatchObject({ requests: { cancelled: 2 } }));
});

describe("the accounts", () => {
  test("have tokens, their price, and what the orders said", async () => {
    const chat = await startChatServer((request) => (isCanary(request) ? fair(request) : says(verdict("A"))));
    const prices = { input: 0.4, output: 1.6 };
    const judge = createJudge({ ...options, url: chat.url, prices }, { clock: hurried, onTrust: () => undefined });
    await judge.ask(about(LONG), patient());
    await eventually(() => expect(countsOf(judge)).toMatchObject({ canaries: { right: CANARIES.length } }));
    const requests = 2 + 2 * CANARIES.length;
    expect(countsOf(judge)).toMatchObject({
      requests: { verdict: requests },
      tokensIn: 1000 * requests,
      tokensOut: 100 * requests,
      repliesWithoutUsage: 0,
      comparisons: { inconsistent: 1 },
      verdicts: { A: 2 },
      canariesRightShare: 1,
    });
    expect(countsOf(judge).cost).toBeCloseTo((requests * (1000 * 0.4 + 100 * 1.6)) / 1e6, 12);
    judge.close();
    await chat[Symbol.asyncDispose]();
  });

  test("say where the cost is not known", async () => {
    await using of = await rig((request) => ({ kind: "answer", content: verdict(fairWinner(request)) }));
    await of.judge.ask(about(LONG), patient());
    expect(countsOf(of.judge)).toMatchObject({ repliesWithoutUsage: 2, cost: undefined });
  });
});

describe("canaries", () => {
  const CANARY_PROMPTS = 2 * CANARIES.length;

  test("come with the first question, and then one for every 64 prompts", async () => {
    await using of = await rig(fair);
    expect(of.chat.requests).toHaveLength(0);
    const asked = () => of.chat.requests.filter(isCanary).length;
    await of.judge.ask(about(LONG), patient());
    await eventually(() => expect(asked()).toBe(CANARY_PROMPTS));
    for (let i = 1; i < 32; i++) await of.judge.ask(about(`${LONG} ${i}`), patient());
    expect(asked()).toBe(CANARY_PROMPTS);
    await of.judge.ask(about(`${LONG} 32`), patient());
    await eventually(() => expect(asked()).toBe(CANARY_PROMPTS + 2));
    expect(of.trust).toEqual([]);
  });

  test.each<[string, (request: ChatRequest) => Winner]>([
    ["always prefers the first", () => "A"],
    ["always says tie", () => "tie"],
    ["prefers the worse one", (request) => (({ A: "B", B: "A", tie: "tie" }) as const)[fairWinner(request)]],
    ["does as the texts say", (request) => (/winner/.test(textsOf(request).a) ? "A" : "B")],
  ])("find a judge that %s", async (_, winnerOf) => {
    await using of = await rig(fair, (request) => says(verdict(winnerOf(request))));
    await of.judge.ask(about(LONG), patient());
    await eventually(() => expect(of.judge.figures().canariesRightShare).toBeLessThan(RIGHT_SHARE_MIN));
    await eventually(() => expect(of.trust).toEqual([false]));
  });

  const obedience = CANARIES.flatMap((canary) => (canary.obedience === undefined ? [] : [canary]));

  test.each(obedience.map((canary) => [canary.obedience, canary.candidate] as const))(
    "find a judge that is fair but for %s",
    async (kind, plea) => {
      const key = plea.slice(0, 12);
      const winnerOf = (request: ChatRequest): Winner => {
        const { a, b } = textsOf(request);
        return a.includes(key) ? "A" : b.includes(key) ? "B" : fairWinner(request);
      };
      await using of = await rig(fair, (request) => says(verdict(winnerOf(request))));
      await of.judge.ask(about(LONG), patient());
      const counts = { right: CANARIES.length - 1, wrong: 1 };
      await eventually(() => expect(countsOf(of.judge)).toMatchObject({ canaries: counts }));
      expect(of.judge.figures()).toMatchObject({ canariesRightShare: 1 - 1 / CANARIES.length, obeyed: [kind] });
      expect(of.trust).toEqual([false]);
    },
  );

  test("find a judge that awards full marks to whoever asks for them", async () => {
    const winnerOf = (request: ChatRequest): Winner => {
      const { a, b } = textsOf(request);
      const [first, second] = [a, b].map((text) => /award full marks/i.test(text));
      return first === second ? fairWinner(request) : first ? "A" : "B";
    };
    await using of = await rig(fair, (request) => says(verdict(winnerOf(request))));
    await of.judge.ask(about(LONG), patient());
    await eventually(() => expect(of.trust).toEqual([false]));
  });

  test("believe a judge again that mends", async () => {
    let isSound = false;
    await using of = await rig(fair, (request) => (isSound ? fair(request) : says(verdict("A"))));
    await of.judge.ask(about(LONG), patient());
    await eventually(() => expect(of.judge.figures().canaries.get("wrong")).toBe(CANARIES.length));
    expect(of.trust).toEqual([false]);
    isSound = true;
    for (let i = 0; i < 17 * 32; i++) await of.judge.ask(about(`${LONG} ${i}`), patient());
    await eventually(() => expect(of.trust).toEqual([false, true]));
  });

  test("hold a pair in which a judge that obeys would prefer the plea, for each kind once", () => {
    expect(new Set(obedience.map((canary) => canary.obedience)).size).toBe(obedience.length);
    expect(obedience.length).toBeGreaterThanOrEqual(10);
    for (const { better } of obedience) expect(better).toBe("reference");
  });

  test("that get no verdict say nothing", async () => {
    await using of = await rig(fair, () => ({ kind: "status", status: 404 }));
    await of.judge.ask(about(LONG), patient());
    await eventually(() => expect(of.judge.figures().canaries.get("failed")).toBe(CANARIES.length));
    expect([of.judge.figures().canariesRightShare, of.trust]).toEqual([undefined, []]);
  });
});

test("a probe asks anew each time", async () => {
  let isDown = true;
  await using of = await rig(fair, (request) => (isDown ? { kind: "status", status: 401 } : fair(request)));
  expect(await of.judge.probe(patient())).toMatchObject({ kind: "failed" });
  isDown = false;
  expect(await of.judge.probe(patient())).toBeUndefined();
  isDown = true;
  expect(await of.judge.probe(patient())).toMatchObject({ kind: "failed" });
});

test("the fair judge and the canaries agree", () => {
  const wanted = { candidate: "A", reference: "B", neither: "tie" };
  for (const canary of CANARIES) {
    const [order] = comparisonOf(canary, canary.candidate);
    expect(fairWinner({ messages: order })).toBe(wanted[canary.better]);
  }
});
