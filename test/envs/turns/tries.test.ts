/** Several tries: what replies say at each level of detail, how many answers a task takes, and tools beside answers. */
import { describe, expect, test } from "vitest";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import { defineEnvironment } from "../../../envs/define.ts";
import type { Facts, Parsed } from "../../../envs/facts.ts";
import { math } from "../../../envs/math/index.ts";
import { countdown } from "../../../envs/countdown/index.ts";
import { knapsack } from "../../../envs/np/knapsack/index.ts";
import { resolveScheme } from "../../../envs/reward/schemes.ts";
import { callsInstruction, type EpisodeTask, play } from "../../../envs/turns/episode.ts";
import type { ReplyDetail } from "../../../envs/turns/turns.ts";
import { resolveTurns } from "../../../server/tasks/resolve-turns.ts";

function taskOf(environment: unknown, instance: unknown, over: Partial<EpisodeTask> = {}): EpisodeTask {
  const scheme = resolveScheme(environment as SyncEnvironment, "last", {}, true);
  if (scheme.kind === "invalid") throw new Error(scheme.message);
  return {
    environment: environment as SyncEnvironment,
    instance,
    format: "answer_tag",
    thinking: "stripped",
    scheme: scheme.scheme,
    calls: 8,
    tools: [],
    seed: ["tries"],
    ...over,
  };
}

/** Plays completions until the episode is over, and returns the replies and the end. */
function playAll(task: EpisodeTask, messages: readonly (string | { readonly expression: string })[]) {
  const replies: string[] = [];
  let episode;
  for (const message of messages) {
    const isText = typeof message === "string";
    const call = { id: "a", name: "calculator", argumentsJson: JSON.stringify(message) };
    const text = isText ? `<answer>${message}</answer>` : "";
    const toolCalls = isText ? [] : [call];
    const played = play(task, episode, { text, toolCalls, isHermes: false, isCut: false, ends: false });
    if (played.kind === "over") return { replies, end: played, episode };
    replies.push(...played.messages.map(({ content }) => content));
    episode = played.episode;
  }
  return { replies, end: undefined, episode };
}

const SUM = { problem: "What is 1/3 + 1/6?", answer: "\\frac{1}{2}", level: "unrated", facts: {} };

describe("math", () => {
  test("takes two answers, and the second one ends the episode", () => {
    const { replies, end } = playAll(taskOf(math, SUM), ["1", "2", "\\frac12"]);
    expect(replies).toEqual(["The answer is wrong."]);
    expect([end?.stop, end?.score.reward, end?.score.solved]).toEqual(["goal", 0, false]);
    const second = playAll(taskOf(math, SUM), ["1", "0.5"]).end;
    expect([second?.score.reward, second?.score.solved, second?.score.episode?.calls]).toEqual([1, true, 2]);
  });

  test("does not count calls of the calculator and messages without a readable answer among the answers", () => {
    const task = taskOf(math, SUM, { tools: ["calculator"] });
    const { replies, end } = playAll(task, [{ expression: "1/3+1/6" }, "1", "))(", { expression: "2" }, "1/2"]);
    expect(replies[0]).toContain("= 1/2");
    expect(replies[1]).toBe("The answer is wrong.");
    expect(replies[2]).toMatch(/cannot be read/);
    expect([end?.score.reward, end?.score.episode?.calls]).toEqual([1, 5]);
  });

  test("says that an answer cannot be compared, and not that it is wrong", () => {
    const set = { ...SUM, answer: "x^2 < 9" };
    const reply = "It cannot be told whether the answer is right: write it in another form.";
    expect(playAll(taskOf(math, set), ["(-3, 3)"]).replies).toEqual([reply]);
  });
});

test("a result of a tool is no answer by itself", () => {
  const instance = { numbers: [2, 3], target: 5 };
  const task = taskOf(countdown, instance, { tools: ["calculator"], calls: 1 });
  const { end } = playAll(task, [{ expression: "2+3" }]);
  expect([end?.stop, end?.score.reward, end?.score.solved]).toEqual(["budget", 0, false]);
  const right = playAll({ ...task, calls: 2 }, [{ expression: "2+3" }, "2 + 3"]).end;
  expect([right?.stop, right?.score.reward]).toEqual(["goal", 1]);
});

describe("the level of detail", () => {
  const instance = { capacity: 10, weights: Int32Array.from([5, 5, 6]), values: Int32Array.from([4, 4, 5]) };
  const repliesOf = (detail?: ReplyDetail) =>
    playAll(taskOf(knapsack, instance, { baseline: { value: 8, bound: 8, proven: true }, ...(detail && { detail }) }), [
      "[0, 1, 2]",
      "[2]",
    ]).replies;

  test.each<[ReplyDetail | undefined, RegExp, RegExp]>([
    [
      undefined,
      /^The answer is wrong: .*weigh/,
      /^The answer is feasible: its objective is 38% below the best known\.$/,
    ],
    ["distance", /^The answer is wrong: .*weigh/, /38% below/],
    ["reason", /^The answer is wrong: .*weigh/, /^The answer is feasible\.$/],
    ["verdict", /^The answer is wrong\.$/, /^The answer is feasible\.$/],
  ])("%s", (detail, wrong, feasible) => {
    const [one, two] = repliesOf(detail);
    expect(one).toMatch(wrong);
    expect(two).toMatch(feasible);
  });
});

test("words of others are left out of replies", () => {
  const facts = (text: string): Facts =>
    text === "5" ? { kind: "feasible" } : { kind: "infeasible", violation: "the answer is 5" };
  const parse = (text: string): Parsed<string> =>
    text === "" || text === "x" ? { kind: "malformed", reason: "it is not 5" } : { kind: "answer", answer: text };
  const environment = defineEnvironment<null, string>({
    id: "test/told",
    version: 1,
    description: "Say 5.",
    render: () => [{ role: "user", content: "Say 5." }],
    parse,
    verify: (_, answer) => facts(answer),
    tries: { quiet: true },
  });
  for (const detail of [undefined, "distance", "reason", "verdict"] as const) {
    const task = taskOf(environment, null, detail && { detail });
    const { replies, end } = playAll(task, ["x", "4", "5"]);
    expect(replies).toEqual(["The answer cannot be read.", "The answer is wrong."]);
    expect(end?.score).toMatchObject({ reward: 1, solved: true });
  }
});

test("settings that an environment does not have are refused in words", () => {
  const refusal = (environment: unknown, given: Partial<Parameters<typeof resolveTurns>[1]>) =>
    resolveTurns(environment as SyncEnvironment, { calls: 0, tools: [], detail: "", ...given }, {});
  expect(refusal(math, { calls: 3 })).toEqual({
    kind: "invalid",
    field: "calls",
    message: "it is 3, and tasks of math take 2 answers: further calls need tools",
  });
  expect(refusal(math, { calls: 8, tools: ["calculator"] })).toEqual({
    kind: "ok",
    turns: { calls: 8, tools: ["calculator"] },
  });
  expect(refusal(knapsack, { calls: 4, detail: "reason" })).toMatchObject({ turns: { calls: 4, detail: "reason" } });
  expect(refusal(knapsack, { calls: 4, detail: "distance" })).toEqual({ kind: "ok", turns: { calls: 4 } });
  expect(refusal(knapsack, { calls: 4, detail: "all" })).toMatchObject({
    field: "detail",
    message: "there is no detail 'all'; choose one of: verdict, reason, distance",
  });
  expect(refusal(knapsack, { detail: "reason" })).toMatchObject({ kind: "invalid", field: "detail" });
});

test("the prompt says how many answers the task takes", () => {
  expect(callsInstruction(8, ["calculator"], 2)).toContain("The answer number 2 is the last one.");
  expect(callsInstruction(8, ["calculator"])).not.toContain("last one");
});
