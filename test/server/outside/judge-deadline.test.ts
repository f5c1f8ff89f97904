/**
 * Tests of a judge's deadline, by a clock that stands still: it holds for every endpoint, with retries and waits
 * included.
 */
import { describe, expect, test } from "vitest";
import type { Conversation } from "../../../envs/writing/conversation.ts";
import { comparisonOf } from "../../../envs/writing/question.ts";
import type { AskModel, Reply } from "../../../server/outside/chat-endpoint.ts";
import { createJudge } from "../../../server/outside/judge/judge.ts";
import { fakeClock } from "../curriculum/support.ts";

const conversation: Conversation = { system: undefined, request: "Write a line.", reference: "A line of some words." };
const asked = comparisonOf(conversation, "A line of very many words, each of them another one.");
const options = { url: "", model: "judge", key: undefined, timeoutMs: 1000, temperature: 0.4, prices: undefined };

describe("the deadline holds", () => {
  /** Returns a judge with a clock that stands still; `reply` decides when replies come. */
  function still(reply: (signal: AbortSignal) => Promise<Reply> | Reply) {
    const clock = fakeClock();
    let requests = 0;
    const ask: AskModel = async (prompt, signal) => {
      if (prompt.at(-1)?.content.includes(conversation.request) !== true) return new Promise(() => undefined);
      requests++;
      return reply(signal);
    };
    const judge = createJudge(options, { clock, onTrust: () => undefined, ask });
    const context = { signal: new AbortController().signal, deadlineMs: clock.now() + 1000 };
    let found: unknown;
    void judge.ask(asked, context).then((result) => (found = result));
    return { clock, judge, asked: () => requests, found: () => found };
  }
  const TIMEOUT = { kind: "failed", reason: "timeout", retryable: true };

  test("with an endpoint that says nothing, and heeds nothing", async () => {
    const { clock, found } = still(() => new Promise(() => undefined));
    await clock.advance(999);
    expect(found()).toBeUndefined();
    await clock.advance(1);
    expect(found()).toMatchObject({ ...TIMEOUT, detail: "no verdict within 1000 ms" });
  });

  test("with one that fails fast: what cannot come in time is not waited for", async () => {
    const { clock, asked, found } = still(() => ({ kind: "failed", why: "status", message: "busy", status: 503 }));
    await clock.advance(250);
    await clock.advance(500);
    // The fourth request would come 1,000 ms later.
    expect([asked(), found()]).toEqual([
      6,
      expect.objectContaining({ kind: "failed", reason: "resource_unavailable", resource: "judge" }),
    ]);
  });

  test("with one that asks for more time than there is: the delay is passed on", async () => {
    const busy: Reply = { kind: "failed", why: "status", message: "busy", status: 429, retryDelayMs: 2000 };
    const { clock, asked, found } = still(() => busy);
    await clock.advance(0);
    expect(asked()).toBe(2);
    expect(found()).toMatchObject({
      reason: "resource_unavailable",
      resource: "judge",
      retryDelayMs: 2000,
      detail: "the judge: busy",
    });
  });

  test("with one that asks for less: it is asked again then, and not before", async () => {
    const busy: Reply = { kind: "failed", why: "status", message: "busy", status: 429, retryDelayMs: 400 };
    const { clock, asked, found } = still(() => busy);
    await clock.advance(399);
    expect(asked()).toBe(2);
    await clock.advance(1);
    expect(asked()).toBe(4);
    await clock.advance(400);
    expect(asked()).toBe(6);
    expect(found()).toMatchObject({ kind: "failed", detail: "the judge: busy" });
  });

  test("with one that is slow after it has failed", async () => {
    let requests = 0;
    const { clock, found } = still(() =>
      requests++ < 2 ? { kind: "failed", why: "status", message: "busy", status: 503 } : new Promise(() => undefined),
    );
    await clock.advance(999);
    expect(found()).toBeUndefined();
    await clock.advance(1);
    expect(found()).toMatchObject({ ...TIMEOUT, detail: "the judge: busy" });
  });

  test("and breaks off what is asked", async () => {
    const signals: AbortSignal[] = [];
    const { clock } = still((signal) => (signals.push(signal), new Promise(() => undefined)));
    await clock.advance(1000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  test("of each who asks, whoever asked the same before with less time", async () => {
    const clock = fakeClock();
    const replies: ((reply: Reply) => void)[] = [];
    const ask: AskModel = (prompt) =>
      new Promise((resolve) => {
        if (prompt.at(-1)?.content.includes(conversation.request) === true) replies.push(resolve);
      });
    const judge = createJudge(options, { clock, onTrust: () => undefined, ask });
    const { signal } = new AbortController();
    const hasty = judge.ask(asked, { signal, deadlineMs: clock.now() + 100 });
    const patient = judge.ask(asked, { signal, deadlineMs: clock.now() + 1000 });
    await clock.advance(100);
    expect(await hasty).toMatchObject(TIMEOUT);
    await clock.advance(100);
    const text = '{"winner": "tie", "reason": "none"}';
    for (const reply of replies) reply({ kind: "reply", text, tokens: undefined });
    expect(await patient).toMatchObject({ kind: "judged" });
  });
});
