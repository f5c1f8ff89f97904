/** Evaluations of tasks with turns over the real ports: only the end of an episode is stored, and it can be resumed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Code } from "../../../envs/games/mastermind/code.ts";
import { FinishReason } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type {
  SubmitCompletionsRequestSchema,
  SubmitCompletionsResponse,
} from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { FeedbackStatus, StopReason, Verdict } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { TextTools } from "../../../proto/gen/gradus/v1/task_pb.js";
import { deriveSeed } from "../../../envs/lib/rng.ts";
import { EASY_CODES, fitting, guess, MASTERMIND, say } from "../../support/mastermind.ts";
import { temporaryFolder } from "../../support/server-process.ts";
import { failureOf, openWire, type Wire } from "./wire.ts";

const folder = temporaryFolder();
let wire: Wire;

const suite = {
  id: "games",
  version: 1,
  parts: [
    { name: "by tool", environment: "games/mastermind", level: "easy", tasks: 2, split: "eval", tools: ["guess"] },
    { name: "by answer", environment: "games/mastermind", level: "easy", tasks: 1, split: "eval", calls: 5 },
    { name: "tries", environment: "countdown", level: "T0", tasks: 1, split: "eval", calls: 3 },
    { name: "single", environment: "countdown", level: "T0", tasks: 1, split: "eval" },
  ],
};

beforeAll(async () => {
  const path = join(folder.path, "suite.json");
  writeFileSync(path, JSON.stringify(suite));
  wire = await openWire({ suiteFile: [path] });
});
afterAll(async () => {
  await wire[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

type Written = Omit<MessageInitShape<typeof SubmitCompletionsRequestSchema>, "$typeName" | "evaluationId">;

let count = 0;
async function evaluationOf(samplesPerTask = 1) {
  const evaluationId = `games-${count++}`;
  await wire.evaluation.createEvaluation({ evaluationId, suite: "games", samplesPerTask });
  const pending = async () => (await wire.evaluation.listPendingTasks({ evaluationId })).tasks;
  const submitAll = async (written: readonly Written[]) => {
    const completions = written.map((each) => ({ ...each, evaluationId }));
    return (await wire.evaluation.batchSubmitCompletions({ completions })).results;
  };
  const submit = async (written: Written): Promise<SubmitCompletionsResponse> => {
    const [result] = await submitAll([written]);
    if (result === undefined) throw new Error("no result");
    return result;
  };
  const [byTool, , byAnswer, tries, single] = (await pending()).map(({ task }) => task?.taskId ?? "");
  if (byTool === undefined || byAnswer === undefined || tries === undefined || single === undefined)
    throw new Error("tasks are missing");
  const samples = async () => (await wire.evaluation.listSamples({ evaluationId })).samples;
  const report = async () => (await wire.evaluation.getReport({ evaluationId })).report;
  return { evaluationId, pending, submit, submitAll, byTool, byAnswer, tries, single, samples, report };
}

function turnOf({ outcome, failure }: SubmitCompletionsResponse) {
  if (outcome?.result.case !== "turn") throw new Error(`no turn: ${failure?.message ?? outcome?.result.case ?? ""}`);
  return outcome.result.value;
}

type Opened = Awaited<ReturnType<typeof evaluationOf>>;

/** Plays a sample to its end, with each guess as `write` has it. */
async function solve(
  { submit }: Pick<Opened, "submit">,
  first: string,
  write: (code: Code) => Written,
  more: Written = {},
) {
  let [codes, taskId] = [EASY_CODES, first];
  for (;;) {
    const code = codes[0] as Code;
    const reply = await submit({ ...write(code), ...more, taskId });
    if (reply.outcome?.result.case !== "turn") return reply;
    const turn = turnOf(reply);
    codes = fitting(codes, code, turn.messages[0]?.content);
    ({ taskId } = turn);
  }
}

const byCall = (code: Code): Written => ({ toolCalls: [guess(code)] });
const stored = { case: "score", value: { stopReason: StopReason.GOAL, verdict: Verdict.FEASIBLE } };

describe("an evaluation of tasks with turns", () => {
  test("says in the suite and in the tasks which calls and tools there are", async () => {
    const { pending } = await evaluationOf();
    const { suites } = await wire.evaluation.listSuites({});
    const parts = suites.find(({ id }) => id === "games")?.parts;
    expect(parts?.map(({ calls, tools }) => ({ calls, tools }))).toEqual([
      { calls: 10, tools: ["guess"] },
      { calls: 5, tools: [] },
      { calls: 3, tools: [] },
      { calls: 0, tools: [] },
    ]);
    expect((await pending()).map(({ task }) => [task?.callsMax, task?.tools.length])).toEqual([
      [10, 1],
      [10, 1],
      [5, 0],
      [3, 0],
      [0, 0],
    ]);
  });

  test("plays calls of a tool, marked answers and calls in the text, and stores the ends alone", async () => {
    const opened = await evaluationOf(2);
    const { byTool, byAnswer, submit, samples, pending } = opened;
    const first = await submit({ taskId: byTool, ...byCall([1, 1, 1]) });
    expect(first.feedback).toBeUndefined();
    expect(turnOf(first)).toMatchObject({ callsLeft: 9, messages: [{ role: "tool", toolCallId: "call_a" }] });
    expect(await samples()).toEqual([]);
    expect((await pending())[0]?.sampleIndices).toEqual([0, 1]);
    const hermes = (code: Code): Written => ({
      completion: `<tool_call>{"name": "guess", "arguments": {"code": [${code.join()}]}}</tool_call>`,
      textTools: TextTools.HERMES,
    });
    const ends = [
      await solve(opened, byTool, byCall),
      await solve(opened, byTool, hermes, { sampleIndex: 1 }),
      await solve(opened, byAnswer, (code) => ({ completion: say(code) })),
    ];
    for (const { outcome, feedback } of ends) {
      expect(outcome?.result).toMatchObject(stored);
      expect(feedback).toMatchObject({ status: FeedbackStatus.RECORDED, detail: "" });
    }
    const all = await samples();
    expect(all.map(({ sampleIndex, outcome }) => [sampleIndex, outcome?.result])).toEqual(
      [0, 1, 0].map((index, i) => [index, ends[i]?.outcome?.result]),
    );
    expect((await pending()).map(({ sampleIndices }) => sampleIndices)).toEqual([[0, 1], [1], [0, 1], [0, 1]]);
  });

  test("keeps the conversation that comes with the end, with the reward of each reply", async () => {
    const { byTool, submit, samples, evaluationId } = await evaluationOf();
    const { taskId, messages } = turnOf(await submit({ taskId: byTool, ...byCall([1, 1, 1]) }));
    const transcript = [{ role: "assistant", content: "First.", ...byCall([1, 1, 1]) }, ...messages];
    await submit({ taskId, completion: "Last.", toolCalls: [guess([1, 1, 2], "z")], end: true, transcript });
    const [sample] = await samples();
    expect(sample).toMatchObject({ completion: "Last.", transcript, toolCalls: [{ id: "z", name: "guess" }] });
    expect(sample?.transcript[1]?.reward).toBe(0);
    const brief = await wire.evaluation.listSamples({ evaluationId, brief: true });
    expect(brief.samples).toMatchObject([{ completion: "", transcript: [], toolCalls: [] }]);
    const long = [{ role: "assistant", content: "x".repeat(256 * 1024) }];
    expect(await submit({ taskId: byTool, end: true, transcript: long })).toMatchObject({
      failure: { code: 3, message: expect.stringContaining("transcript") as string },
    });
  });

  test("takes a retry of the end as a duplicate, however it is split, and another branch as a conflict", async () => {
    const { byTool, submit, samples } = await evaluationOf();
    const one = turnOf(await submit({ taskId: byTool, ...byCall([1, 1, 1]) }));
    const two = turnOf(await submit({ taskId: one.taskId, ...byCall([1, 1, 2]) }));
    const both = turnOf(await submit({ taskId: byTool, toolCalls: [guess([1, 1, 1]), guess([1, 1, 2])] }));
    const branch = turnOf(await submit({ taskId: byTool, ...byCall([2, 2, 2]) }));
    const end = async (taskId: string) => submit({ taskId, end: true });
    const first = await end(two.taskId);
    expect(first.feedback?.status).toBe(FeedbackStatus.RECORDED);
    expect((await end(two.taskId)).feedback?.status).toBe(FeedbackStatus.DUPLICATE);
    expect((await end(both.taskId)).feedback?.status).toBe(FeedbackStatus.DUPLICATE);
    const other = await end(branch.taskId);
    expect(other.feedback?.status).toBe(FeedbackStatus.CONFLICTING_COMPLETION);
    expect(other.outcome).toEqual(first.outcome);
    expect(await samples()).toHaveLength(1);
  });

  test("binds an episode to its sample, and refuses what began elsewhere", async () => {
    const { byTool, byAnswer, submit, samples, evaluationId } = await evaluationOf(2);
    const { taskId } = turnOf(await submit({ taskId: byTool, ...byCall([1, 1, 1]) }));
    const invalid = { failure: { code: 3, message: expect.stringContaining("task_id") as string } };
    expect(await submit({ taskId, sampleIndex: 1, end: true })).toMatchObject(invalid);
    expect(await submit({ taskId, sampleKey: "other", end: true })).toMatchObject(invalid);
    // Step outside of evaluations plays the same task, but its episodes belong to no sample.
    const { outcome } = await wire.environments.step({ taskId: byTool, toolCalls: [guess([1, 1, 1])] });
    const elsewhere = outcome?.result.case === "turn" ? outcome.result.value.taskId : "";
    expect(await submit({ taskId: elsewhere, end: true })).toMatchObject(invalid);
    const { task } = await wire.environments.reset({ spec: { ...MASTERMIND, calls: 9 }, seed: 5n });
    expect(await submit({ taskId: task?.taskId ?? "", end: true })).toMatchObject(invalid);
    // The task of the part without tools has another id than one with tools.
    expect(turnOf(await submit({ taskId: byAnswer, ...byCall([1, 1, 1]) })).messages[0]?.content).toContain("no tools");
    expect(await submit({ taskId: byTool, sampleIndex: 2, end: true })).toMatchObject({
      failure: { message: expect.stringContaining("sample_index") as string },
    });
    expect(await samples()).toEqual([]);
    const unknown = await submit({ taskId: byTool, toolCalls: [{ id: "x".repeat(129), name: "guess" }] });
    expect(unknown).toMatchObject({ failure: { message: expect.stringContaining("tool_calls[0].id") as string } });
    expect(await failureOf(wire.evaluation.getEvaluation({ evaluationId: `${evaluationId}-no` }))).toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test("refuses a task that differs from the suite's in what replies say alone", async () => {
    const { submit, tries, samples } = await evaluationOf();
    const spec = { environment: "countdown", difficulty: { case: "level", value: "T0" } as const, split: 2, calls: 3 };
    const seed = deriveSeed("games", 1, "countdown", 0);
    const same = await wire.environments.reset({ spec, seed });
    expect(same.task?.taskId).toBe(tries);
    const other = await wire.environments.reset({ spec: { ...spec, replyDetail: "verdict" }, seed });
    expect(await submit({ taskId: other.task?.taskId ?? "", end: true })).toMatchObject({
      failure: { code: 3, message: expect.stringContaining("task_id") as string },
    });
    expect(await samples()).toEqual([]);
  });

  test("gives indices to keys in the order of their ends, and refuses surplus keys", async () => {
    const { byTool, single, submit, submitAll, samples, pending } = await evaluationOf(2);
    const close = async (sampleKey: string, code: Code) => {
      const { taskId } = turnOf(await submit({ taskId: byTool, sampleKey, ...byCall(code) }));
      // The id holds the key, and is of no use without it.
      expect((await submit({ taskId, end: true })).failure).toMatchObject({ code: 3 });
      return submit({ taskId, sampleKey, end: true });
    };
    const [red, blue] = [await close("red", [1, 1, 1]), await close("blue", [1, 1, 1])];
    expect([red, blue].map(({ feedback }) => [feedback?.status, feedback?.sampleIndex])).toEqual([
      [FeedbackStatus.RECORDED, 0],
      [FeedbackStatus.RECORDED, 1],
    ]);
    expect((await close("blue", [1, 1, 1])).feedback).toMatchObject({
      status: FeedbackStatus.DUPLICATE,
      sampleIndex: 1,
    });
    expect((await close("blue", [2, 1, 1])).feedback).toMatchObject({
      status: FeedbackStatus.CONFLICTING_COMPLETION,
      sampleIndex: 1,
    });
    expect((await close("black", [1, 1, 1])).feedback).toMatchObject({
      status: FeedbackStatus.NOT_RECORDED,
      detail: expect.stringContaining("sample_key") as string,
    });
    expect(await samples()).toHaveLength(2);
    // Tasks of one completion take keys too. Replies repeat them, because their indices are equal.
    const keys = ["a", "b", "c"];
    const replies = await submitAll(keys.map((sampleKey) => ({ taskId: single, sampleKey, completion: sampleKey })));
    expect(replies.map(({ sampleKey }) => sampleKey)).toEqual(keys);
    const statuses = replies.map(({ feedback }) => feedback?.status ?? 0);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([1, 1, FeedbackStatus.NOT_RECORDED]);
    expect((await pending()).map(({ task }) => task?.environment)).toEqual([
      "games/mastermind",
      "games/mastermind",
      "countdown",
    ]);
  });

  test("goes on where it was after a restart", async () => {
    const dataDir = join(folder.path, "restarted");
    const flags = { store: "sqlite", dataDir, suiteFile: [join(folder.path, "suite.json")] };
    const evaluationId = "restarted";
    let taskId = "";
    {
      await using first = await openWire(flags);
      await first.evaluation.createEvaluation({ evaluationId, suite: "games" });
      const { tasks } = await first.evaluation.listPendingTasks({ evaluationId });
      const begun = { evaluationId, taskId: tasks[0]?.task?.taskId ?? "", ...byCall([1, 1, 1]) };
      const { results } = await first.evaluation.batchSubmitCompletions({ completions: [begun] });
      ({ taskId } = turnOf(results[0]!));
    }
    await using later = await openWire(flags);
    const { tasks } = await later.evaluation.listPendingTasks({ evaluationId });
    // The trainer may go on with the last turn, or begin again with the first id.
    expect(tasks[0]?.sampleIndices).toEqual([0]);
    const completions = [{ evaluationId, taskId, end: true }];
    const { results } = await later.evaluation.batchSubmitCompletions({ completions });
    expect(results[0]).toMatchObject({
      feedback: { status: FeedbackStatus.RECORDED },
      outcome: { result: { value: { calls: 1 } } },
    });
    expect((await later.evaluation.listPendingTasks({ evaluationId })).tasks).toHaveLength(tasks.length - 1);
  });

  test("streams turns, and a truncated episode is not solved", async () => {
    const { byTool, evaluationId, samples } = await evaluationOf();
    const cut: Written = { ...byCall([1, 1, 1]), finishReason: FinishReason.LENGTH };
    const next: ((written: Written | undefined) => void)[] = [];
    async function* requests() {
      yield { evaluationId, taskId: byTool, ...byCall([1, 1, 1]) };
      for (;;) {
        const written = await new Promise<Written | undefined>((resolve) => next.push(resolve));
        if (written === undefined) return;
        yield { evaluationId, ...written };
      }
    }
    const seen: SubmitCompletionsResponse[] = [];
    for await (const reply of wire.evaluation.submitCompletions(requests())) {
      seen.push(reply);
      await expect.poll(() => next.length).toBe(seen.length);
      next.at(-1)?.(seen.length === 1 ? { taskId: turnOf(reply).taskId, ...cut } : undefined);
    }
    expect(seen[1]?.outcome?.result).toMatchObject({
      case: "score",
      value: { stopReason: StopReason.TRUNCATED, solved: false, truncated: true, calls: 1 },
    });
    expect(await samples()).toHaveLength(1);
  });

  test("reports pass@k and solved of the ends", async () => {
    const { tries, submit, report } = await evaluationOf(2);
    const { answer = "" } = await wire.environments.solveTask({ taskId: tries });
    const right = `<think></think><answer>${answer}</answer>`;
    const wrong = "<think></think><answer>1 + 1</answer>";
    const { taskId } = turnOf(await submit({ taskId: tries, completion: wrong }));
    expect((await report())?.parts[2]).toMatchObject({ samples: 0n, figures: {} });
    expect((await submit({ taskId, completion: right })).outcome?.result).toMatchObject({ value: { solved: true } });
    const other = turnOf(await submit({ taskId: tries, sampleIndex: 1, completion: wrong }));
    await submit({ taskId: other.taskId, sampleIndex: 1, end: true });
    expect((await report())?.parts[2]).toMatchObject({
      samples: 2n,
      figures: {
        exact_rate: 0.5,
        "pass@1": 0.5,
        "pass@2": 1,
        mean_reward: 0.5,
        no_reward_rate: 0,
        calls_per_episode: 1.5,
      },
    });
  });
});
