/** Tests of a mounted Python file whose tasks have several turns: replies, states, rewards, and whose fault a failure is. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { GradusClient, Outcome, Task } from "../../../../clients/ts/src/index.ts";
import { wrapAnswer } from "../../../../envs/answers/wording.ts";
import { examine } from "../../../../server/outside/mounted/examine-level.ts";
import { openLocal } from "../../../../server/outside/mounted/local-provider.ts";
import { readDescribed } from "../../../../server/outside/mounted/read-description.ts";
import { breachWords } from "../../../../server/outside/mounted/rules.ts";
import { type ProvidedEnvironment, ProvidedTurnsSchema } from "../../../../proto/gen/gradus/v1/provider_pb.js";
import { openServer, type TestServer } from "../../../support/in-process.ts";
import {
  GUESS_FILE,
  openMounting,
  PYTHON,
  UNLAWFUL_TURNS_FILE,
  useCheckout,
  WORD_FILE,
} from "../../../support/mounted/mounts.ts";
import { described } from "../../../support/mounted/provider.ts";
import { PATIENCE_MS } from "../../../support/patience.ts";

let server: TestServer;
let client: GradusClient;
beforeAll(async () => {
  server = await openMounting(GUESS_FILE);
  ({ client } = server);
}, PATIENCE_MS);
afterAll(() => server[Symbol.asyncDispose]());

const taskOf = (environment: string, tools: readonly string[], seed = 0) =>
  client.reset({ environment, level: "default", seed, tools });
const call = (name: string, given: unknown) => ({ id: "c", name, argumentsJson: JSON.stringify(given) });
const guess = (number: unknown) => call("guess", { number });

/** Sends a completion with calls, and returns the next task or the final outcome with the replies. */
async function playAt(asked: GradusClient, task: Task, ...toolCalls: readonly ReturnType<typeof call>[]) {
  const outcome = await asked.step(task, "", { toolCalls });
  const turn = outcome.kind === "unscored" ? outcome.turn : undefined;
  const replies = turn?.messages.map(({ content }) => content) ?? [];
  return { outcome, replies, next: turn === undefined ? task : { ...task, taskId: turn.taskId } };
}

const play = (task: Task, ...toolCalls: readonly ReturnType<typeof call>[]) => playAt(client, task, ...toolCalls);

const detailOf = (outcome: Outcome): string => (outcome.kind === "unscored" ? outcome.detail : outcome.kind);

/** Finds the number by bisection, and returns the final outcome with the number of calls. */
async function bisect(
  first: Task,
  asked = client,
): Promise<{ readonly outcome: Outcome; readonly calls: number; number: number }> {
  let [low, high, task] = [1, 1000, first];
  for (let calls = 1; ; calls++) {
    const number = Math.floor((low + high) / 2);
    const { outcome, replies, next } = await playAt(asked, task, guess(number));
    if (replies[0] === undefined) return { outcome, calls, number };
    if (replies[0].startsWith("higher")) low = number + 1;
    else high = number - 1;
    task = next;
  }
}

describe("an environment with states", () => {
  test("is listed with its tools and calls", async () => {
    const { tools, calls, callsMax } = await client.getEnvironment("mine/guess");
    expect(tools.map(({ name }) => name)).toEqual(["guess", "note"]);
    expect([calls, callsMax]).toEqual([8, 12]);
  });

  test("says whether it is deterministic", async () => {
    const listed = await client.listEnvironments({ category: "mine" });
    expect(listed.map(({ id, deterministic }) => [id, deterministic])).toEqual([
      ["mine/guess", true],
      ["mine/moody", false],
      ["mine/piled", true],
    ]);
  });

  test("plays an episode, and prices its last call", async () => {
    const task = await client.reset({
      environment: "mine/guess",
      level: "default",
      seed: 3,
      calls: 12,
      tools: ["guess"],
    });
    const { outcome, calls } = await bisect(task);
    expect(outcome).toMatchObject({ kind: "scored", reward: 1, solved: true, verdict: "graded" });
    expect(calls).toBeGreaterThan(1);
  });

  test("gives the same reply to the same request, and a branch another one", async () => {
    const task = await taskOf("mine/guess", ["guess", "note"]);
    const first = await play(task, call("note", { text: "a" }));
    expect(first.replies).toEqual(["a"]);
    expect(await play(task, call("note", { text: "a" }))).toEqual(first);
    expect((await play(first.next, call("note", { text: "b" }))).replies).toEqual(["a; b"]);
    expect((await play(first.next, call("note", { text: "c" }))).replies).toEqual(["a; c"]);
  });

  test("makes no difference between one message of several calls and several messages", async () => {
    const task = await taskOf("mine/guess", ["guess", "note"]);
    const calls = [call("note", { text: "a" }), guess(7), guess(8)];
    const together = await play(task, ...calls);
    let apart = await play(task, calls[0]!);
    const replies = [...apart.replies];
    for (const each of calls.slice(1)) replies.push(...(apart = await play(apart.next, each)).replies);
    expect([replies, apart.next.taskId]).toEqual([together.replies, together.next.taskId]);
    expect(replies[1]).toMatch(/^(higher|lower) \d$/);
  });

  test.each([
    [{ number: 1.5 }, "The call is invalid: 'number' must be of the type integer."],
    [{ number: 0 }, "The call is invalid: 'number' must be at least 1."],
    [{}, "The call is invalid: the arguments must have 'number'."],
    [{ number: 5, other: 1 }, "The call is invalid: the arguments must not have 'other'."],
  ])("checks the arguments %j before it asks", async (given, reply) => {
    const { replies } = await play(await taskOf("mine/guess", ["guess"]), call("guess", given));
    expect(replies).toEqual([reply]);
  });

  test("takes an answer without tools", async () => {
    const task = await taskOf("mine/guess", []);
    const wrong = await client.step(task, wrapAnswer("x", "think_answer"));
    expect(wrong).toMatchObject({ turn: { messages: [{ role: "user", content: "That is no whole number." }] } });
  });

  test("takes no exception for a reward of 0", async () => {
    const { outcome } = await play(await taskOf("mine/guess", ["guess"]), guess(666));
    expect(outcome).toMatchObject({ kind: "unscored", reason: "resource_unavailable" });
    expect(detailOf(outcome)).toContain("RuntimeError: the devil");
  });

  test("replies to a call that ends its process, if an empty answer does not", async () => {
    const { replies, next } = await play(await taskOf("mine/guess", ["guess", "note"]), guess(667));
    expect(replies).toEqual(["The call ends its process, so it was not carried out."]);
    expect((await play(next, call("note", { text: "on" }))).replies).toEqual(["on"]);
  });

  test("is an arm of a run, which records the end of each episode once", async () => {
    const run = client.run("guessed");
    const arms = [{ id: "guess", environment: "mine/guess", level: "default", calls: 12, tools: ["guess"] }];
    await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 2, promptsPerUpdate: 1 });
    const [task] = (await run.nextBatch({ cursor: 0n })).tasks;
    const [found] = [await bisect(task!)];
    expect(found.outcome).toMatchObject({ kind: "scored", reward: 1, feedback: { status: "recorded" } });
  });
});

test("an environment of one answer is deterministic, and may give two tries", { timeout: PATIENCE_MS }, async () => {
  await using words = await openMounting(WORD_FILE);
  const [word] = await words.client.listEnvironments({ category: "mine" });
  expect(word).toMatchObject({ deterministic: true, calls: 0, callsMax: 16, tools: [] });
  const spec = { environment: "mine/word", level: "short", seed: 4 };
  await expect(words.client.reset({ ...spec, calls: 3 })).rejects.toThrow("tasks of mine/word take 2 answers");
  const task = await words.client.reset({ ...spec, calls: 2 });
  const answer = (text: string) => wrapAnswer(text, "think_answer");
  const first = await words.client.step(task, answer("wrong"));
  if (first.kind !== "unscored" || first.turn === undefined) throw new Error("no turn");
  expect(first.turn.messages.map(({ content }) => content)).toEqual(["The answer is wrong."]);
  const next = { ...task, taskId: first.turn.taskId };
  const right = [...(/backwards: ([a-z]+)/.exec(task.prompt[0]?.content ?? "")?.[1] ?? "")].reverse().join("");
  expect(await words.client.step(next, answer(right))).toMatchObject({ kind: "scored", reward: 1, solved: true });
  expect(await words.client.step(next, answer("wrong"))).toMatchObject({ kind: "scored", reward: 0, solved: false });
  // A failure of the verifier is no try.
  expect(await words.client.step(next, answer("raise"))).toMatchObject({ reason: "resource_unavailable" });
});

describe("an environment whose state is an object", () => {
  const put = (number: number) => call("put", { number });

  test("repeats the calls wherever the object is missing", async () => {
    let { next, replies } = await play(await taskOf("mine/piled", ["put"]), put(1));
    expect(replies).toEqual(["[1]"]);
    const branch = next;
    for (const [number, reply] of [
      [2, "[1, 2]"],
      [3, "[1, 2, 3]"],
      [4, "[1, 2, 3, 4]"],
    ] as const) {
      ({ next, replies } = await play(next, put(number)));
      expect(replies).toEqual([reply]);
    }
    expect((await play(branch, put(9))).replies).toEqual(["[1, 9]"]);
    expect((await play(next, put(5))).outcome).toMatchObject({ kind: "scored", reward: 1, solved: true });
    expect((await play(next, put(0))).outcome).toMatchObject({ kind: "scored", reward: 0, solved: false });
  });
});

describe("arguments", () => {
  const put = async (json: string) => {
    const { replies } = await play(await taskOf("mine/piled", ["put"]), { id: "c", name: "put", argumentsJson: json });
    return replies;
  };

  test.each(["9007199254740993", "-9007199254740993", "100000000000000000000001", "9".repeat(40)])(
    "reach Python with all digits of %s",
    async (number) => {
      expect(await put(`{"number": ${number}}`)).toEqual([`[${number}]`]);
    },
  );

  test("are whole numbers in Python whichever way they are written", async () => {
    for (const number of ["3", "3.0", "3e0", "30e-1"]) expect(await put(`{"number": ${number}}`)).toEqual(["[3]"]);
  });

  test.each([
    ['{"number": 9007199254740993.5}', "The text of the arguments has a number that is too large or too precise"],
    ['{"number": 1e400}', "The text of the arguments has a number that is too large or too precise"],
    ['{"number": NaN}', "The text of the arguments is not valid JSON"],
    ['{"number": 1, "number": 2}', "The text of the arguments has the key 'number' twice"],
    // Numbers with exponents take more room in the task id than in the completion.
    [
      '{"number": 1, "x": [1e20, 1e20, 1e20]}',
      "The call is invalid: the arguments, with numbers written out, are longer",
    ],
  ])("that would change on the way are refused: %s", async (json, words) => {
    expect(await put(json)).toEqual([expect.stringContaining(words)]);
  });
});

test("a provider on another machine plays episodes too", { timeout: PATIENCE_MS }, async () => {
  useCheckout();
  const args = ["-m", "gradus.serve", GUESS_FILE, "--address", "127.0.0.1:0"];
  const child = spawn(PYTHON, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGTERM"));
  const [said] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  const port = /on port (\d+)/.exec(said)?.[1];
  const far = await openServer({ store: "memory", workers: "1", mount: [`far=127.0.0.1:${port}`] });
  onTestFinished(() => far[Symbol.asyncDispose]());
  const task = await far.client.reset({
    environment: "mine/guess",
    level: "default",
    seed: 3,
    calls: 12,
    tools: ["guess"],
  });
  expect((await bisect(task, far.client)).outcome).toMatchObject({ kind: "scored", reward: 1, solved: true });
  const failed = await far.client.step(task, "", { toolCalls: [guess(666)] });
  expect(detailOf(failed)).toContain("RuntimeError: the devil");
});

describe("the rules on turns", () => {
  test.each<[what: string, change: Partial<ProvidedEnvironment>, words: string | undefined]>([
    ["one answer", { turnsMax: 1 }, undefined],
    ["several answers without turns, as of a newer provider", { turnsMax: 5 }, "ProvidedEnvironment.turns_max must"],
    ["turns of one call", { turnsMax: 1, turns: create(ProvidedTurnsSchema) }, "ProvidedEnvironment.turns_max must"],
    ["turns", { turnsMax: 8, turns: create(ProvidedTurnsSchema, { tools: [{ name: "a" }] }) }, undefined],
    [
      "two tools of one name",
      { turnsMax: 8, turns: create(ProvidedTurnsSchema, { tools: [{ name: "a" }, { name: "a" }] }) },
      "ProvidedTool.name must",
    ],
    [
      "chance without states",
      { turnsMax: 8, turns: create(ProvidedTurnsSchema, { nondeterministic: true }) },
      "ProvidedTurns.nondeterministic must",
    ],
  ])("decide about a declaration: %s", (_, change, words) => {
    const [environment] = described().environments;
    const read = readDescribed({ ...described(), environments: [{ ...environment!, ...change }] });
    const refused = read.kind === "ok" ? read.refused.map(({ reason }) => reason) : [read.why];
    expect(refused).toEqual(words === undefined ? [] : [expect.stringContaining(words)]);
  });

  /** Returns the broken rules of each environment of the file. */
  async function brokenRules(): Promise<ReadonlyMap<string, readonly string[]>> {
    useCheckout();
    const options = { python: PYTHON, target: UNLAWFUL_TURNS_FILE, workers: 2, memoryMib: 512 };
    const opened = await openLocal({ ...options, allow: { read: [], net: [] }, onFault: () => undefined });
    if (opened.kind === "failed") throw new Error(opened.why);
    const { provider } = opened;
    onTestFinished(() => provider.close());
    const read = readDescribed(provider.described);
    if (read.kind === "invalid") throw new Error(read.why);
    const { signal } = new AbortController();
    const broken = new Map<string, readonly string[]>();
    for (const each of read.environments) {
      const words: string[] = [];
      for await (const { tried } of examine({ provider, described: each, level: each.levels[0]!, signal }))
        words.push(...tried.filter(({ came }) => came !== undefined).map(breachWords));
      broken.set(each.asked.id, words);
    }
    return broken;
  }

  test("find each environment that breaks one, and no other", { timeout: PATIENCE_MS }, async () => {
    const broken = await brokenRules();
    expect(broken.get("mine/lawful")).toEqual([]);
    expect(broken.get("mine/chance")).toEqual([]);
    const first = (name: string): string => broken.get(`mine/${name}`)?.[0] ?? "nothing";
    expect(first("counts")).toMatch(/^EnvironmentProvider\.Advance must give equal turns/);
    expect(first("forgets")).toMatch(/^(EnvironmentProvider\.Advance|EnvironmentProviderAdvanceRequest\.calls) must/);
    expect(first("raises")).toMatch(/^EnvironmentProviderAdvanceResponse\.result must be a turn.*could not convert/);
    expect(first("grows")).toMatch(/^EnvironmentProviderAdvanceResponse\.result must be a turn.*state_bytes is 64/);
    expect(first("accepts")).toMatch(/^ProvidedTurn\.facts must not count a meaningless answer/);
  });
});
