/** Episodes of several calls over the real ports: any request can be sent again, and only the close is recorded. */
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Code } from "../../../envs/games/mastermind/code.ts";
import {
  EnvironmentService,
  FinishReason,
  type CompletionSchema,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import {
  FeedbackStatus,
  NoRewardReason,
  type Outcome,
  StopReason,
  Verdict,
} from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { type Task, TextTools } from "../../../proto/gen/gradus/v1/task_pb.js";
import { EASY_CODES, fitting, guess, MASTERMIND, say } from "../../support/mastermind.ts";
import { failureOf, openWire, type Wire } from "./wire.ts";

type Written = Partial<Omit<MessageInitShape<typeof CompletionSchema>, "$typeName" | "sampleIndex">>;

let wire: Wire;
beforeAll(async () => void (wire = await openWire()));
afterAll(() => wire[Symbol.asyncDispose]());

async function taskOf(spec: object = MASTERMIND, seed = 1n): Promise<Task> {
  const { task } = await wire.environments.reset({ spec, seed });
  if (task === undefined) throw new Error("no task");
  return task;
}

async function step(task: Task, taskId: string, written: Written, sampleIndex = 0): Promise<Outcome> {
  const { text = "", ...rest } = written;
  const { taskId: _, ...others } = rest;
  const request = { ...others, taskId, groupId: task.groupId, sampleIndex, completion: text };
  const { outcome } = await wire.environments.step(request);
  if (outcome === undefined) throw new Error("no outcome");
  return outcome;
}

function turnOf({ result }: Outcome) {
  if (result.case !== "turn") throw new Error(`no turn: ${JSON.stringify(result.value?.$typeName)}`);
  return result.value;
}

/** Guesses that a player makes until the code is found: each is consistent with the replies so far. */
async function solve(task: Task, write: (code: Code) => Written, sampleIndex = 0): Promise<Outcome> {
  let codes = EASY_CODES;
  let taskId = task.taskId;
  for (;;) {
    const code = codes[0] as Code;
    const outcome = await step(task, taskId, write(code), sampleIndex);
    if (outcome.result.case !== "turn") return outcome;
    const turn = turnOf(outcome);
    codes = fitting(codes, code, turn.messages[0]?.content);
    taskId = turn.taskId;
  }
}

describe("an episode outside of runs", () => {
  test("is played by calls of a tool, by marked answers and by calls in the text, to one score", async () => {
    const task = await taskOf();
    expect(task).toMatchObject({ callsMax: 10, tools: [{ name: "guess" }] });
    expect(JSON.parse(task.tools[0]?.parametersJson ?? "")).toMatchObject({ type: "object", required: ["code"] });
    expect(task.prompt.at(-1)?.content).toContain("You have up to 10 calls.");
    const hermes = (code: Code) => `<tool_call>{"name": "guess", "arguments": {"code": [${code.join()}]}}</tool_call>`;
    const ends = [
      await solve(task, (code) => ({ toolCalls: [guess(code)] })),
      await solve(task, (code) => ({ text: say(code) })),
      await solve(task, (code) => ({ text: hermes(code), textTools: TextTools.HERMES })),
    ];
    for (const { result } of ends) {
      expect(result).toMatchObject({
        case: "score",
        value: { verdict: Verdict.FEASIBLE, stopReason: StopReason.GOAL, terminated: true, baseline: { value: 4 } },
      });
      expect(result).toEqual(ends[0]?.result);
    }
  });

  test("replies to the call, under its id, and says how many are left", async () => {
    const task = await taskOf();
    const turn = turnOf(await step(task, task.taskId, { toolCalls: [guess([1, 1, 1], "x-1"), guess([9, 1, 1], "y")] }));
    expect(turn.callsLeft).toBe(8);
    expect(turn.messages).toMatchObject([
      { role: "tool", toolCallId: "x-1", name: "guess", content: expect.stringMatching(/^\d of 3 in place/) as string },
      {
        role: "tool",
        toolCallId: "y",
        name: "guess",
        content: expect.stringContaining("9 is none of the colours") as string,
      },
    ]);
    expect(turn.turnReward).toBe(0);
    expect(turn.taskId.length).toBeLessThan(600);
  });

  test.each([{}, { textTools: TextTools.HERMES }, { end: true }])(
    "answers a text over the limit with the limit, and counts it as a call (%j)",
    async (form) => {
      const task = await taskOf();
      const text = `${"x".repeat(300_000)}${say([1, 1, 1])}`;
      const outcome = await step(task, task.taskId, { ...form, text });
      if ("end" in form) expect(outcome.result).toMatchObject({ case: "score", value: { calls: 1 } });
      else {
        const { messages, callsLeft } = turnOf(outcome);
        const content = "The message was not read: it is longer than 262144 bytes, the limit.";
        expect([messages, callsLeft]).toMatchObject([[{ role: "user", content }], 9]);
      }
    },
  );

  test("is the same whichever request is sent twice, and to whichever port", async () => {
    const task = await taskOf();
    const other = createClient(EnvironmentService, createConnectTransport({ baseUrl: wire.http, httpVersion: "1.1" }));
    let taskId = task.taskId;
    for (const code of [
      [1, 1, 1],
      [2, 2, 2],
      [1, 2, 3],
    ]) {
      const request = { taskId, groupId: task.groupId, toolCalls: [guess(code)] };
      const [first, again, there] = [
        await wire.environments.step(request),
        await wire.environments.step(request),
        await other.step(request),
      ];
      expect(again.outcome?.result).toEqual(first.outcome?.result);
      expect(there.outcome?.result).toEqual(first.outcome?.result);
      if (first.outcome?.result.case !== "turn") break;
      taskId = first.outcome.result.value.taskId;
    }
  });

  test("is played by turns of two servers with the same keys as by one", async () => {
    await using other = await openWire({ keyFile: join(wire.dataDir, "task-keys") });
    const task = await taskOf();
    const play = async (servers: readonly Wire[]): Promise<readonly unknown[]> => {
      const seen: unknown[] = [];
      let taskId = task.taskId;
      for (let call = 0; ; call++) {
        const { environments } = servers[call % servers.length] as Wire;
        const code = [1 + (call % 4), 1 + ((call * 3) % 4), 1 + ((call * 7) % 4)];
        const { outcome } = await environments.step({ taskId, groupId: task.groupId, toolCalls: [guess(code)] });
        seen.push(outcome?.result);
        if (outcome?.result.case !== "turn") return seen;
        taskId = outcome.result.value.taskId;
      }
    };
    expect(await play([wire, other])).toEqual(await play([wire]));
  });

  test("takes no forged id, and huge or countless calls hold up nobody", async () => {
    const task = await taskOf();
    const { taskId } = turnOf(await step(task, task.taskId, { toolCalls: [guess([1, 1, 1])] }));
    const bytes = Buffer.from(taskId, "base64url");
    const forged = Array.from({ length: 300 }, (_, i) => {
      const changed = Buffer.from(bytes);
      const at = (i * 7) % bytes.length;
      changed[at] = (changed[at] as number) ^ (1 << (i % 8));
      return (i % 3 === 0 ? changed.subarray(0, bytes.length - 1 - (i % 20)) : changed).toString("base64url");
    });
    const completions = forged.map((id, sampleIndex) => ({ sampleIndex, taskId: id, toolCalls: [guess([1, 1, 2])] }));
    const groups = [{ taskId: task.taskId, groupId: task.groupId, completions }];
    const { groups: scored } = await wire.environments.batchStep({ groups });
    for (const { result } of scored[0]?.outcomes ?? [])
      expect(result).toMatchObject({ case: "noReward", value: { reason: NoRewardReason.INVALID_TASK_ID } });
    const huge = { id: "h", name: "guess", argumentsJson: JSON.stringify({ code: "x".repeat(1_000_000) }) };
    expect(turnOf(await step(task, taskId, { toolCalls: [huge] })).messages[0]?.content).toContain(
      "longer than 256 bytes",
    );
    const many = Array.from({ length: 16_384 }, () => guess([9, 9, 9]));
    const { result } = await step(task, taskId, { toolCalls: many });
    expect(result).toMatchObject({ case: "score", value: { calls: 10, stopReason: StopReason.BUDGET } });
    expect(await failureOf(step(task, taskId, { toolCalls: [...many, guess([1, 1, 1])] }))).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(/tool_calls: .*16384/) as string,
    });
  });

  test("ends when it is cut, ended or out of calls", async () => {
    const task = await taskOf({ ...MASTERMIND, calls: 2 });
    const wrong = guess([1, 1, 1]);
    const { taskId } = turnOf(await step(task, task.taskId, { toolCalls: [wrong] }));
    const score = (stopReason: StopReason, calls: number) => ({
      case: "score",
      value: { stopReason, calls, solved: false, reward: 0 },
    });
    expect((await step(task, taskId, { toolCalls: [guess([2, 9, 9])] })).result).toMatchObject(
      score(StopReason.BUDGET, 2),
    );
    expect((await step(task, taskId, { end: true })).result).toMatchObject(score(StopReason.ENDED, 1));
    const cut = { toolCalls: [wrong], finishReason: FinishReason.LENGTH };
    expect((await step(task, taskId, cut)).result).toMatchObject({ ...score(StopReason.TRUNCATED, 1) });
  });

  test("is of another group if its task has other settings, and of its own after each call", async () => {
    const spec = { ...MASTERMIND, rewardScheme: { name: "best", parameters: { discount: 0.5 } } };
    const task = await taskOf(spec);
    const next = turnOf(await step(task, task.taskId, { toolCalls: [guess([1, 1, 1])] }));
    const others = [
      await taskOf({ ...spec, rewardScheme: { name: "best", parameters: { discount: 0.6 } } }),
      await taskOf({ ...spec, tools: [] }),
      await taskOf({ ...spec, calls: 9 }),
    ];
    const ids = [task.taskId, next.taskId, ...others.map(({ taskId }) => taskId)];
    const completions = ids.map((taskId, sampleIndex) => ({ sampleIndex, taskId, end: true }));
    const { groups } = await wire.environments.batchStep({ groups: [{ groupId: task.groupId, completions }] });
    expect(groups[0]?.outcomes.map(({ result }) => result.case)).toEqual([
      "score",
      "score",
      "noReward",
      "noReward",
      "noReward",
    ]);
  });

  test("can be tried by a person without being recorded", async () => {
    const task = await taskOf();
    const { outcome } = await wire.environments.tryAnswer({ taskId: task.taskId, toolCalls: [guess([1, 1, 1])] });
    const { taskId, callsLeft } = turnOf(outcome as Outcome);
    expect(callsLeft).toBe(9);
    const text = { case: "answer", value: "[1, 1, 2]" } as const;
    const next = await wire.environments.tryAnswer({ taskId, text });
    expect(turnOf(next.outcome as Outcome).callsLeft).toBe(8);
    const last = await wire.environments.tryAnswer({ taskId, end: true });
    expect(last.outcome?.result).toMatchObject({ case: "score", value: { stopReason: StopReason.ENDED, calls: 1 } });
    expect(await failureOf(wire.environments.tryAnswer({ taskId }))).toMatchObject({ field: "text" });
  });
});

test("settings are refused that the environment does not have, or whose ids could be too long", async () => {
  const reset = (spec: object) => failureOf(wire.environments.reset({ spec: { ...MASTERMIND, ...spec }, seed: 1n }));
  expect(await reset({ calls: 65 })).toMatchObject({ code: "INVALID_ARGUMENT", field: "spec.calls" });
  expect(await reset({ tools: ["gues"] })).toMatchObject({
    message: expect.stringContaining("did you mean 'guess'") as string,
  });
  const questions = { environment: "qa", difficulty: { case: undefined } };
  expect(await reset({ ...questions, tools: [], calls: 2 })).toMatchObject({ field: "spec.calls" });
  expect(await reset({ ...questions, tools: ["guess"] })).toMatchObject({ field: "spec.tools" });
  // A tool that nobody could call is not left out in silence.
  for (const calls of [0, 1])
    expect(
      await reset({ environment: "countdown", difficulty: { case: undefined }, calls, tools: ["calculator"] }),
    ).toMatchObject({ field: "spec.calls", message: expect.stringContaining("ask for at least 2") as string });
  const { task } = await wire.environments.reset({ spec: { environment: "countdown", calls: 1 }, seed: 1n });
  expect(task).toMatchObject({ callsMax: 0, tools: [] });
});

describe("a group of episodes in a run", () => {
  const config = (over: object = {}) => ({
    arms: [{ id: "easy", spec: MASTERMIND }],
    policy: { kind: { case: "mixture", value: {} } as const },
    numGenerations: 3,
    promptsPerUpdate: 1,
    seed: 7n,
    ...over,
  });
  let count = 0;
  async function groupOf(over: object = {}) {
    const runId = `episodes-${count++}`;
    await wire.curriculum.createRun({ runId, config: config(over) });
    const { tasks } = await wire.curriculum.nextBatch({ runId, cursor: 0n, count: 1 });
    const [task] = tasks;
    if (task === undefined) throw new Error("no task");
    const groups = async () => (await wire.curriculum.getGroups({ runId, groupIds: [task.groupId] })).groups;
    const batch = async (completions: readonly MessageInitShape<typeof CompletionSchema>[], taskId = task.taskId) => {
      const { groups: scored } = await wire.environments.batchStep({
        groups: [{ taskId, groupId: task.groupId, completions: [...completions] }],
      });
      return scored[0]!;
    };
    return { runId, task, groups, batch };
  }

  test("records nothing before an episode closes, and gives advantages when the message closes the whole group", async () => {
    const { task, groups, batch, runId } = await groupOf();
    const first = await batch([0, 1, 2].map((sampleIndex) => ({ sampleIndex, toolCalls: [guess([1, 1, 1])] })));
    expect(first.statistics).toBeUndefined();
    const ids = first.outcomes.map((outcome) => turnOf(outcome).taskId);
    expect(first.outcomes.every(({ feedback }) => feedback === undefined)).toBe(true);
    // Each sample has an id of its own, which only this sample can use.
    expect(new Set(ids).size).toBe(3);
    const [swapped] = (await batch([{ sampleIndex: 1, taskId: ids[0] ?? "", toolCalls: [guess([1, 1, 2])] }])).outcomes;
    expect(swapped).toMatchObject({
      result: { case: "noReward", value: { reason: NoRewardReason.INVALID_TASK_ID, retryDelayMs: 0 } },
      feedback: { status: FeedbackStatus.NOT_RECORDED },
    });
    const [open] = (await wire.curriculum.getGroups({ runId, open: true, tasks: true })).groups;
    expect(open?.task?.taskId).toBe(task.taskId);
    expect((await groups())[0]?.samples).toEqual([]);
    const closed = await batch(
      ids.map((taskId, sampleIndex) => ({ sampleIndex, taskId, end: true })),
      "",
    );
    expect(closed.outcomes.map(({ feedback }) => feedback?.status)).toEqual([1, 1, 1]);
    expect(closed.outcomes.map(({ grpoAdvantage }) => grpoAdvantage)).toEqual([0, 0, 0]);
    expect(closed.statistics).toMatchObject({ count: 3 });
    expect((await groups())[0]).toMatchObject({ closed: true });
  });

  test("takes a retry as a duplicate and a branch as a conflict", async () => {
    const { task } = await groupOf();
    const { taskId } = turnOf(await step(task, task.taskId, { toolCalls: [guess([1, 1, 1])] }));
    const branch = turnOf(await step(task, task.taskId, { toolCalls: [guess([2, 2, 2])] }));
    const statusOf = async (id: string) => (await step(task, id, { end: true })).feedback?.status;
    expect(await statusOf(taskId)).toBe(FeedbackStatus.RECORDED);
    expect(await statusOf(taskId)).toBe(FeedbackStatus.DUPLICATE);
    expect(await statusOf(branch.taskId)).toBe(FeedbackStatus.CONFLICTING_COMPLETION);
  });

  test("gives indices to keys in the order of their closes, and refuses surplus keys", async () => {
    const { task, groups } = await groupOf();
    const close = async (sampleKey: string, code: Code) => {
      const { taskId } = turnOf(await step(task, task.taskId, { sampleKey, toolCalls: [guess(code)] }));
      return (await step(task, taskId, { sampleKey, end: true })).feedback;
    };
    expect(await close("red", [1, 1, 1])).toMatchObject({ status: FeedbackStatus.RECORDED, sampleIndex: 0 });
    expect(await close("blue", [1, 1, 1])).toMatchObject({ status: FeedbackStatus.RECORDED, sampleIndex: 1 });
    expect(await close("red", [1, 1, 1])).toMatchObject({ status: FeedbackStatus.DUPLICATE, sampleIndex: 0 });
    expect(await close("red", [2, 1, 1])).toMatchObject({
      status: FeedbackStatus.CONFLICTING_COMPLETION,
      sampleIndex: 0,
    });
    expect(await close("green", [1, 1, 1])).toMatchObject({ status: FeedbackStatus.RECORDED, sampleIndex: 2 });
    expect(await close("black", [1, 1, 1])).toMatchObject({
      status: FeedbackStatus.NOT_RECORDED,
      detail: expect.stringContaining("sample_key") as string,
    });
    expect((await groups())[0]).toMatchObject({ closed: true, missing: [] });
  });

  test("takes a turn of a sample with a key from nobody without the key", async () => {
    const { task, groups } = await groupOf();
    const { taskId } = turnOf(await step(task, task.taskId, { sampleKey: "red", toolCalls: [guess([1, 1, 1])] }));
    for (const sampleKey of ["", "blue"])
      expect((await step(task, taskId, { sampleKey, end: true })).result).toMatchObject({
        case: "noReward",
        value: { reason: NoRewardReason.INVALID_TASK_ID, detail: expect.stringContaining("sample_key") as string },
      });
    expect((await groups())[0]?.samples).toEqual([]);
  });

  test("has missing samples when it is closed before its episodes", async () => {
    const { task, groups, runId } = await groupOf();
    const { taskId } = turnOf(await step(task, task.taskId, { toolCalls: [guess([1, 1, 1])] }));
    await wire.curriculum.closeGroups({ runId, groupIds: [task.groupId] });
    expect((await groups())[0]).toMatchObject({ closed: true, samples: [] });
    expect((await step(task, taskId, { end: true })).feedback).toMatchObject({ status: FeedbackStatus.NOT_RECORDED });
  });

  test("is recorded although one of its completions has a forged id", async () => {
    const { task, batch, groups } = await groupOf();
    const { taskId } = turnOf(await step(task, task.taskId, { toolCalls: [guess([1, 1, 1])] }, 1));
    const forged = { sampleIndex: 0, taskId: "forged", end: true };
    const { outcomes } = await batch([forged, { sampleIndex: 1, taskId, end: true }], "");
    expect(outcomes.map(({ result, feedback }) => [result.case, feedback?.status])).toEqual([
      ["noReward", FeedbackStatus.NOT_RECORDED],
      ["score", FeedbackStatus.RECORDED],
    ]);
    expect((await groups())[0]?.samples.map(({ sampleIndex }) => sampleIndex)).toEqual([1]);
    // With a forged id of the group, nothing is scored that no run would record.
    const lost = await batch([{ sampleIndex: 2, taskId: task.taskId, end: true }], "forged");
    expect(lost.outcomes[0]?.result).toMatchObject({
      case: "noReward",
      value: { reason: NoRewardReason.INVALID_TASK_ID },
    });
  });

  test("refuses ids of other groups, and changed ones", async () => {
    const [one, other] = [await groupOf(), await groupOf()];
    const { taskId } = turnOf(await step(one.task, one.task.taskId, { toolCalls: [guess([1, 1, 1])] }));
    const middle = Math.floor(taskId.length / 2);
    const changed = `${taskId.slice(0, middle)}${taskId[middle] === "A" ? "B" : "A"}${taskId.slice(middle + 1)}`;
    for (const id of [taskId, changed]) {
      const [outcome] = (await other.batch([{ sampleIndex: 0, taskId: id, end: true }])).outcomes;
      expect(outcome?.result).toMatchObject({ case: "noReward", value: { reason: NoRewardReason.INVALID_TASK_ID } });
    }
    expect((await other.groups())[0]?.samples).toEqual([]);
  });
});

describe("several tries at a task of one answer", () => {
  test("get replies that say what is wrong, and the default return is that of the last", async () => {
    const task = await taskOf({
      environment: "countdown",
      difficulty: { case: "level", value: "T0" } as const,
      calls: 3,
    });
    expect(task).toMatchObject({ callsMax: 3, tools: [] });
    const numbers = (task.hints?.metadata["numbers"] ?? "").split(" ");
    const text = `<think></think><answer>${numbers.join(" + ")} + 1</answer>`;
    const first = turnOf(await step(task, task.taskId, { text }));
    expect(first.messages).toMatchObject([
      { role: "user", content: expect.stringMatching(/^The answer is wrong: /) as string },
    ]);
    const second = turnOf(await step(task, first.taskId, { text: "I give up" }));
    expect(second.messages[0]?.content).toContain("has no answer");
    const { answer = "" } = await wire.environments.solveTask({ taskId: task.taskId });
    const { result } = await step(task, second.taskId, { text: `<think></think><answer>${answer}</answer>` });
    expect(result).toMatchObject({
      case: "score",
      value: { reward: 1, solved: true, calls: 3, stopReason: StopReason.GOAL },
    });
  });

  test("tell how far a feasible answer is from the best known, and keep the best", async () => {
    const spec = {
      environment: "np/tsp",
      difficulty: { case: "level", value: "easy" } as const,
      calls: 4,
      rewardScheme: { name: "best", parameters: { discount: 0.5 } },
    };
    const task = await taskOf(spec);
    const cities = Array.from({ length: Number(task.hints?.metadata["cities"]) }, (_, city) => city);
    const tour = (order: readonly number[]) => ({ text: say([...order, order[0] as number]) });
    const first = turnOf(await step(task, task.taskId, tour(cities)));
    expect(first.messages[0]?.content).toMatch(/^The answer is feasible: its objective is .*above the best known\.$/);
    const second = turnOf(await step(task, first.taskId, tour(cities.slice(1))));
    expect(second.messages[0]?.content).toMatch(/^The answer is wrong: /);
    expect(second.turnReward).toBe(0);
    // Tries leave no trace in the id.
    expect(Math.abs(second.taskId.length - first.taskId.length)).toBeLessThan(4);
    const { result } = await step(task, second.taskId, { end: true });
    expect(result).toMatchObject({
      case: "score",
      value: { reward: first.turnReward, ratio: first.turnReward, verdict: Verdict.FEASIBLE, solved: false, calls: 2 },
    });
  });

  test("are only for tasks that ask for them", async () => {
    const { environment } = await wire.environments.getEnvironment({ id: "np/tsp" });
    expect(environment).toMatchObject({ calls: 0, callsMax: 16 });
    expect(environment?.rewardSchemes.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["quality", "last", "best", "sum"]),
    );
    const scheme = (name: string, calls: number) =>
      failureOf(wire.environments.reset({ spec: { environment: "np/tsp", calls, rewardScheme: { name } }, seed: 1n }));
    expect(await scheme("best", 1)).toMatchObject({ field: "spec.reward_scheme.name" });
    expect(await scheme("quality", 2)).toMatchObject({ field: "spec.reward_scheme.name" });
  });
});
