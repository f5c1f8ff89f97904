/** Episodes in runs: kept conversations, streams, dynamic sampling and rounds of evaluation. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StreamStepsRequestSchema } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { FeedbackStatus, type GroupOutcome, type Outcome, type Turn } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { ChatMessage, Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { guess, MASTERMIND } from "../../support/mastermind.ts";
import { temporaryFolder } from "../../support/server-process.ts";
import { right, wrong } from "./answers.ts";
import { MIXTURE, runOf } from "./run-of.ts";
import { failureOf, openWire, type Wire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => void (wire = await openWire({ keepSamples: "8" })));
afterAll(() => wire[Symbol.asyncDispose]());

const arms = [{ id: "easy", spec: MASTERMIND }];
const tries = {
  environment: "countdown",
  difficulty: { case: "level", value: "T0" } as const,
  calls: 2,
  rewardScheme: { name: "best", parameters: { discount: 0.5 } },
};

function turnOf(outcome: Outcome | undefined): Turn {
  if (outcome?.result.case !== "turn") throw new Error(`no turn: ${outcome?.result.case ?? ""}`);
  return outcome.result.value;
}

async function taskOf(runId: string, over: object, on = wire): Promise<Task> {
  const run = await runOf(on, runId, { arms, policy: MIXTURE, promptsPerUpdate: 1, ...over });
  const [task] = await run.next(0, 1);
  if (task === undefined) throw new Error("no task");
  return task;
}

describe("a run keeps with a sample", () => {
  const transcriptOf = (turn: Turn) => [
    { role: "assistant", content: "I begin.", toolCalls: [guess([1, 1, 1])] },
    ...turn.messages,
  ];
  const plain = (messages: readonly ChatMessage[]) =>
    messages.map(({ role, content, toolCalls, toolCallId, name, reward }) => {
      return { role, content, calls: toolCalls.map(({ id }) => id), toolCallId, name, reward };
    });

  /** Plays two calls, by ids of the samples' own, and sends the conversation with the second. */
  async function play(on: Wire, { taskId, groupId }: Task, sampleIndex: number) {
    const first = await on.environments.step({ taskId, groupId, sampleIndex, toolCalls: [guess([1, 1, 1])] });
    const turn = turnOf(first.outcome);
    const last = {
      sampleIndex,
      taskId: turn.taskId,
      text: "I stop.",
      toolCalls: [guess([1, 1, 2], "last")],
      end: true,
    };
    const completions = [{ ...last, transcript: transcriptOf(turn) }];
    const { groups } = await on.environments.batchStep({ groups: [{ groupId, completions }] });
    return { turn, outcome: groups[0]?.outcomes[0] };
  }

  test("its conversation and its calls, with the reward of each, and the first id of its task", async () => {
    const folder = temporaryFolder();
    const flags = { store: "sqlite", dataDir: folder.path, keepSamples: "8" };
    const runId = "kept";
    let task: Task;
    let turn: Turn;
    {
      await using first = await openWire(flags);
      task = await taskOf(runId, {}, first);
      const played = await play(first, task, 1);
      ({ turn } = played);
      expect(played.outcome?.feedback?.status).toBe(FeedbackStatus.RECORDED);
    }
    await using later = await openWire(flags);
    const { samples } = await later.curriculum.listRunSamples({ runId, tasks: true });
    expect(samples).toMatchObject([{ taskId: task.taskId, sampleIndex: 1, completion: "I stop." }]);
    const [sample] = samples;
    expect(sample?.task?.prompt).toEqual(task.prompt);
    expect(sample?.toolCalls.map(({ id }) => id)).toEqual(["last"]);
    expect(plain(sample?.transcript ?? [])).toEqual([
      { role: "assistant", content: "I begin.", calls: ["call_a"], toolCallId: "", name: "", reward: undefined },
      {
        role: "tool",
        content: turn.messages[0]?.content,
        calls: [],
        toolCallId: "call_a",
        name: "guess",
        reward: turn.turnReward,
      },
    ]);
    expect(turn.turnReward).toBe(0);
    const brief = await later.curriculum.listRunSamples({ runId, brief: true });
    expect(brief.samples).toMatchObject([{ completion: "", transcript: [], toolCalls: [] }]);
    await later.curriculum.deleteRunSamples({ runId });
    expect((await later.curriculum.listRunSamples({ runId })).samples).toEqual([]);
    folder[Symbol.dispose]();
  });

  test("nothing before its episode ends, and as many bytes as --keep-samples allows", async () => {
    await using small = await openWire({ keepSamples: "1" });
    const task = await taskOf("small", { numGenerations: 8 }, small);
    const { taskId, groupId } = task;
    const transcript = [{ role: "assistant", content: "x".repeat(250 * 1024) }];
    const request = { taskId, groupId, transcript };
    await small.environments.step({ ...request, sampleIndex: 0, toolCalls: [guess([1, 1, 1])] });
    const kept = async () => (await small.curriculum.listRunSamples({ runId: "small" })).samples;
    expect(await kept()).toEqual([]);
    for (let sampleIndex = 0; sampleIndex < 8; sampleIndex++)
      await small.environments.step({ ...request, sampleIndex, end: true });
    await expect.poll(async () => (await kept()).length).toBeLessThan(5);
    expect((await kept())[0]?.transcript[0]?.content).toHaveLength(250 * 1024);
  });

  test("no more than 256 KiB of calls, and no transcript whose texts together are longer", async () => {
    const task = await taskOf("limits", { numGenerations: 2 });
    const { taskId, groupId } = task;
    const long = (id: string) => ({ id, name: "guess", argumentsJson: JSON.stringify({ code: "x".repeat(100_000) }) });
    const toolCalls = [long("a"), long("b"), long("c"), guess([1, 1, 1], "d")];
    await wire.environments.step({ taskId, groupId, toolCalls, end: true });
    const { samples } = await wire.curriculum.listRunSamples({ runId: "limits" });
    expect(samples[0]?.toolCalls.map(({ id }) => id)).toEqual(["a", "b"]);
    const most = 256 * 1024;
    const call = { id: "", name: "", argumentsJson: "" };
    const tooLong = [
      { role: "x".repeat(most + 1) },
      { content: "x".repeat(most + 1) },
      { name: "x".repeat(most + 1) },
      { toolCallId: "x".repeat(most + 1) },
      { toolCalls: [{ ...call, id: "x".repeat(most + 1) }] },
      { toolCalls: [{ ...call, name: "x".repeat(most + 1) }] },
      { toolCalls: [{ ...call, argumentsJson: "x".repeat(most + 1) }] },
    ];
    const refusal = (transcript: readonly object[]) =>
      failureOf(wire.environments.step({ taskId, groupId, sampleIndex: 1, transcript: [...transcript], end: true }));
    for (const message of tooLong)
      expect(await refusal([message])).toMatchObject({ code: "INVALID_ARGUMENT", field: "transcript" });
    // Empty messages and calls count too.
    expect(await refusal(Array.from({ length: most + 1 }, () => ({})))).toMatchObject({ code: "INVALID_ARGUMENT" });
    const calls = Array.from({ length: most + 1 }, () => call);
    expect(await refusal([{ toolCalls: calls }])).toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

test("StreamSteps plays episodes: turns lead to the next requests, and only the ends are recorded", async () => {
  const task = await taskOf("streamed", { numGenerations: 3 });
  const { groupId } = task;
  type Request = MessageInitShape<typeof StreamStepsRequestSchema>;
  const waiting: Request[] = [];
  let wake = (): void => undefined;
  const send = (request: Request): void => {
    waiting.push(request);
    wake();
  };
  let isOver = false;
  async function* requests(): AsyncGenerator<Request, void, undefined> {
    while (!isOver) {
      yield* waiting.splice(0);
      if (waiting.length === 0 && !isOver) await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  const calls = [guess([1, 1, 1])];
  const completion = (sampleIndex: number, more: object) => ({ sampleIndex, ...more });
  // Sample 0 travels alone, and the other two together within one message.
  const groupOf = (completions: readonly { readonly sampleIndex: number }[], taskId = "") => [
    { taskId, groupId, completions: [...completions] },
  ];
  send({
    requestId: "0 first",
    groups: groupOf([completion(0, { toolCalls: calls })], task.taskId),
    more: [
      {
        requestId: "1 first",
        groups: groupOf(
          [1, 2].map((i) => completion(i, { toolCalls: calls })),
          task.taskId,
        ),
      },
    ],
  });
  const seen = new Map<string, readonly GroupOutcome[]>();
  for await (const message of wire.environments.streamSteps(requests())) {
    for (const { requestId, groups, failure } of [message, ...message.more]) {
      expect(failure).toBeUndefined();
      seen.set(requestId, groups);
      const outcomes = groups[0]?.outcomes ?? [];
      if (requestId.endsWith("first")) {
        expect(groups[0]?.statistics).toBeUndefined();
        expect(outcomes.every(({ feedback }) => feedback === undefined)).toBe(true);
        const next = outcomes.map((each) =>
          completion(each.sampleIndex, { taskId: turnOf(each).taskId, toolCalls: calls, end: true }),
        );
        send({ requestId: requestId.replace("first", "last"), groups: groupOf(next) });
      }
    }
    if (seen.size === 4) {
      isOver = true;
      wake();
    }
  }
  const ends = [...seen].flatMap(([id, groups]) => (id.endsWith("last") ? (groups[0]?.outcomes ?? []) : []));
  expect(ends.map(({ feedback }) => feedback?.status)).toEqual(
    Array.from({ length: 3 }, () => FeedbackStatus.RECORDED),
  );
  for (const { result } of ends) expect(result).toMatchObject({ case: "score", value: { calls: 2 } });
  const { groups } = await wire.curriculum.getGroups({ runId: "streamed", groupIds: [groupId] });
  expect(groups).toMatchObject([{ closed: true, missing: [] }]);
});

describe("dynamic sampling", () => {
  /** Plays a sample: the right answer at the given call, or never. */
  async function play(task: Task, sampleIndex: number, solvedAt: number | undefined) {
    let { taskId } = task;
    for (let call = 0; ; call++) {
      const completion = call === solvedAt ? right(task) : wrong(task);
      const { outcome } = await wire.environments.step({ taskId, groupId: task.groupId, sampleIndex, completion });
      if (outcome?.result.case !== "turn") return;
      ({ taskId } = outcome.result.value);
    }
  }
  const sampled = (alike: number) => ({
    arms: [{ id: "tries", spec: tries }],
    policy: MIXTURE,
    promptsPerUpdate: 1,
    dynamicSampling: { oversampleMax: 3, alike },
  });
  const usefulOf = async (runId: string) =>
    (await wire.curriculum.getGroups({ runId, updateBatch: 0n })).groups.map(({ useful }) => useful);

  test("judges returns of whole episodes, and waits for groups whose episodes go on", async () => {
    const run = await runOf(wire, "returns", sampled(1));
    const [first] = (await run.next(0)) as [Task];
    // One episode has ended and the other one has not: the group is not judged, and no reserve is given out.
    await play(first, 0, 0);
    await wire.environments.step({
      taskId: first.taskId,
      groupId: first.groupId,
      sampleIndex: 1,
      completion: wrong(first),
    });
    const wait = { seconds: 0n };
    expect(await failureOf(wire.curriculum.nextBatch({ runId: "returns", cursor: 1n, wait }))).toMatchObject({
      code: "UNAVAILABLE",
    });
    // Both end with the same return, so a task of the reserve follows.
    await play(first, 1, 0);
    const [second] = (await run.next(1)) as [Task];
    expect(second.cursor).toBe(1n);
    // Both are solved, but the discount tells them apart.
    await play(second, 0, 0);
    await play(second, 1, 1);
    expect(await usefulOf("returns")).toEqual([false, true]);
  });

  test("by solved takes episodes that were solved at different calls as alike", async () => {
    const run = await runOf(wire, "by-solved", sampled(2));
    const [first] = (await run.next(0)) as [Task];
    await play(first, 0, 0);
    await play(first, 1, 1);
    const [second] = (await run.next(1)) as [Task];
    await play(second, 0, 1);
    await play(second, 1, undefined);
    expect(await usefulOf("by-solved")).toEqual([false, true]);
  });
});

test("NextEvaluation gives tasks with turns, whose ends make the round's figures", async () => {
  const evaluationArms = [{ id: "held-out", spec: { ...tries, split: 2 }, tasks: 2, numGenerations: 2 }];
  await runOf(wire, "rounds", { evaluationArms });
  const { tasks } = await wire.curriculum.nextEvaluation({ runId: "rounds", armId: "held-out", round: 0n });
  expect(tasks.map(({ callsMax, evaluationRound }) => [callsMax, evaluationRound])).toEqual([
    [2, 0n],
    [2, 0n],
  ]);
  const round = async () => {
    const { records } = await wire.curriculum.getHistory({ runId: "rounds" });
    return records.flatMap(({ kind }) => (kind.case === "evaluation" ? [kind.value] : []))[0];
  };
  for (const task of tasks) {
    const { groupId } = task;
    const step = async (sampleKey: string, taskId: string, completion: string) => {
      const { outcome } = await wire.environments.step({ taskId, groupId, sampleKey, completion });
      return outcome;
    };
    const { taskId } = turnOf(await step("red", task.taskId, wrong(task)));
    expect((await step("blue", task.taskId, right(task)))?.feedback).toMatchObject({
      status: FeedbackStatus.RECORDED,
      sampleIndex: 0,
    });
    expect((await step("red", taskId, wrong(task)))?.feedback).toMatchObject({
      status: FeedbackStatus.RECORDED,
      sampleIndex: 1,
    });
    expect((await step("red", taskId, wrong(task)))?.feedback?.status).toBe(FeedbackStatus.DUPLICATE);
    expect((await step("red", taskId, right(task)))?.feedback?.status).toBe(FeedbackStatus.CONFLICTING_COMPLETION);
    expect((await step("third", task.taskId, right(task)))?.feedback?.status).toBe(FeedbackStatus.NOT_RECORDED);
  }
  expect(await round()).toMatchObject({ samples: 4, rewardMean: 0.5, solvedShare: 0.5, closed: true });
});
