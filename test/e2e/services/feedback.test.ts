/**
 * Tests the effect of scores on a run, ReportAdvantages and CloseGroups, point by point from the contract's comments.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Feedback, FeedbackStatus, NoRewardReason } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { groupAt, MALFORMED, right, wrong } from "./answers.ts";
import { type TestRun, runOf } from "./run-of.ts";
import { type Wire, failureOf, openWire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire({ maxCompletionBytes: "8KiB" });
});
afterAll(() => wire[Symbol.asyncDispose]());

async function taskOf(run: TestRun): Promise<Task> {
  const [task] = await run.next(0, 1);
  if (task === undefined) throw new Error("no task");
  return task;
}

const short = (feedback: Feedback | undefined): readonly unknown[] => [feedback?.status, feedback?.detail];
const RECORDED = [FeedbackStatus.RECORDED, ""];
const DUPLICATE = [FeedbackStatus.DUPLICATE, ""];
const not = (detail: string) => [FeedbackStatus.NOT_RECORDED, detail];

describe("the feedback of scores", () => {
  test("counts the first completion of a sample, once", async () => {
    const run = await runOf(wire, "first");
    const task = await taskOf(run);
    const samplesRecorded = async () => (await wire.curriculum.getRun({ runId: "first" })).run?.state?.samplesRecorded;
    const fed = async (sample: number, text: string) => short((await run.step(task, sample, text)).feedback);
    expect(await fed(0, right(task))).toEqual(RECORDED);
    expect(await fed(0, right(task))).toEqual(DUPLICATE);
    expect(await fed(0, MALFORMED)).toEqual([FeedbackStatus.CONFLICTING_COMPLETION, ""]);
    expect(await samplesRecorded()).toBe(1n);
    expect(await fed(1, MALFORMED)).toEqual(RECORDED);
    // The group is complete now; retries are still told apart.
    expect(await fed(1, MALFORMED)).toEqual(DUPLICATE);
    expect(await fed(1, right(task))).toEqual([FeedbackStatus.CONFLICTING_COMPLETION, ""]);
    expect(await samplesRecorded()).toBe(2n);
  });

  test("says why a score is not recorded", async () => {
    const run = await runOf(wire, "why");
    const task = await taskOf(run);
    expect(short((await run.step(task, 2, wrong(task))).feedback)).toEqual(
      not("sample_index must be below num_generations, 2"),
    );
    const astray = await run.step({ ...task, groupId: groupAt(task, 1) }, 0, wrong(task));
    expect(astray.result.case).toBe("score");
    expect(short(astray.feedback)).toEqual(not(`group_id: the task's group is '${task.groupId}'`));
    await wire.curriculum.closeGroups({ runId: "why", groupIds: [task.groupId] });
    expect(short((await run.step(task, 0, wrong(task))).feedback)).toEqual(not("the group was closed"));
  });

  test("takes a final reason for an answer, and no other", async () => {
    const run = await runOf(wire, "final");
    const task = await taskOf(run);
    const large = await run.step(task, 0, "x".repeat(9000));
    expect(large.result).toMatchObject({ case: "noReward", value: { reason: NoRewardReason.TOO_LARGE } });
    expect(short(large.feedback)).toEqual(RECORDED);
    await run.step(task, 1, right(task));
    const state = (await wire.curriculum.getRun({ runId: "final" })).run?.state;
    expect(state?.groupsOutstanding).toBe(1);
  });

  test("tells completions of a sample apart, whatever their length", async () => {
    const lengths = [10, 9000, 300_000];
    const run = await runOf(wire, "apart", { numGenerations: lengths.length + 1 });
    const task = await taskOf(run);
    for (const [sample, length] of lengths.entries()) {
      const fed = async (last: string) =>
        short((await run.step(task, sample, `${"é".repeat(length - 1)}${last}`)).feedback)[0];
      expect([await fed("a"), await fed("a"), await fed("b")]).toEqual([
        FeedbackStatus.RECORDED,
        FeedbackStatus.DUPLICATE,
        FeedbackStatus.CONFLICTING_COMPLETION,
      ]);
    }
  });

  test("is none for tasks outside of runs", async () => {
    const { task } = await wire.environments.reset({ spec: { environment: "countdown", split: 2 }, seed: 1n });
    if (task === undefined) throw new Error("no task");
    const { taskId, groupId } = task;
    const { outcome } = await wire.environments.step({ taskId, groupId, completion: right(task) });
    expect(outcome?.result).toMatchObject({ case: "score", value: { reward: 1 } });
    expect(outcome?.feedback).toBeUndefined();
  });

  test("reaches the arm's figures and the bandit's values", async () => {
    const run = await runOf(wire, "learns");
    await run.answer(await run.next(0));
    await run.next(2);
    const { run: found } = await wire.curriculum.getRun({ runId: "learns" });
    const arms = found?.state?.arms ?? [];
    expect(arms.reduce((sum, { groups }) => sum + groups, 0n)).toBe(2n);
    for (const { groups, recentRewardMean, recentSolvedShare, value } of arms) {
      if (groups === 0n) continue;
      // Each group was answered once right and once wrong: rewards 1 and 0.1.
      expect(recentRewardMean).toBeCloseTo(0.55, 12);
      expect(recentSolvedShare).toBe(0.5);
      // ADSC: α times the mean absolute RLOO advantage, 0.9, over the scheme's span, 1.
      expect(value).toBeCloseTo(0.15 * 0.9, 12);
    }
  });
});

describe("ReportAdvantages", () => {
  const reported = { feedbackSource: 2 };

  test("closes groups with what the trainer computed; the first report counts", async () => {
    const run = await runOf(wire, "reported", reported);
    const [a, b] = (await run.next(0)) as [Task, Task];
    const outcome = await run.step(a, 0, right(a));
    expect(outcome.result).toMatchObject({ case: "score", value: { reward: 1 } });
    expect(short(outcome.feedback)[0]).toBe(FeedbackStatus.NOT_RECORDED);

    const report = async (...groups: { groupId: string; advantages: number[]; rewardMean?: number }[]) =>
      (await wire.curriculum.reportAdvantages({ runId: "reported", groups })).groups.map(({ groupId, feedback }) => [
        groupId,
        ...short(feedback),
      ]);
    expect(
      await report(
        { groupId: a.groupId, advantages: [0.5, -0.5], rewardMean: 0.25 },
        { groupId: b.groupId, advantages: [0, 1e308] },
        { groupId: b.groupId, advantages: [1, 2, 3] },
        { groupId: groupAt(a, 9), advantages: [] },
        { groupId: "reported/another/0", advantages: [] },
      ),
    ).toEqual([
      [a.groupId, ...RECORDED],
      [b.groupId, ...not("advantages[1] must be in [-1000000000, 1000000000], not 1e+308")],
      [b.groupId, ...not("more advantages than num_generations, 2")],
      [groupAt(a, 9), ...not("the run has not issued this task")],
      ["reported/another/0", FeedbackStatus.STALE_EPOCH, ""],
    ]);
    expect(await report({ groupId: a.groupId, advantages: [1, -1] }, { groupId: b.groupId, advantages: [] })).toEqual([
      [a.groupId, ...DUPLICATE],
      [b.groupId, ...RECORDED],
    ]);
    // Both groups are closed, so the next update batch is due; only the first one gave a signal.
    expect(await run.next(2)).toHaveLength(2);
    const state = (await wire.curriculum.getRun({ runId: "reported" })).run?.state;
    const arm = state?.arms.find(({ armId }) => armId === a.armId);
    expect(arm?.value).toBeCloseTo(0.15 * 0.5, 12);
    expect(arm?.recentRewardMean).toBe(0.25);
    expect(arm?.recentSolvedShare).toBeUndefined();
  });

  test("is refused by runs that learn from scores", async () => {
    await runOf(wire, "scores");
    const failure = await failureOf(wire.curriculum.reportAdvantages({ runId: "scores", groups: [] }));
    expect(failure).toEqual({
      code: "FAILED_PRECONDITION",
      message: "the run takes no reported advantages, because its feedback_source is not REPORTED",
    });
  });

  test.each([
    [{ runId: "nobody" }, "NOT_FOUND", 'there is no run "nobody"'],
    [
      { runId: "r", groups: new Array(4097).fill({ groupId: "r/0/0" }) as object[] },
      "INVALID_ARGUMENT",
      "groups: must have at most 4096 entries; got 4097",
    ],
    [
      { runId: "r", groups: [{ groupId: "r/0/0" }, { groupId: "s/0/0" }] },
      "INVALID_ARGUMENT",
      "groups[1].group_id: it is not a group of run 'r'",
    ],
    [
      { runId: "r", groups: [{ groupId: "x".repeat(257) }] },
      "INVALID_ARGUMENT",
      "groups[0].group_id: must have at most 256 bytes; got 257",
    ],
  ])("refuses what cannot be", async (request, code, message) => {
    const failure = await failureOf(wire.curriculum.reportAdvantages(request));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(message);
  });
});

describe("CloseGroups", () => {
  test("closes groups with what they have, so that the run goes on", async () => {
    const run = await runOf(wire, "closing");
    const [a, b] = (await run.next(0)) as [Task, Task];
    await run.step(a, 0, right(a));
    const close = async (...groupIds: string[]) => {
      const { groups } = await wire.curriculum.closeGroups({ runId: "closing", groupIds, reason: "dropped" });
      return groups.map(({ groupId, feedback }) => [groupId, ...short(feedback)]);
    };
    expect(await close(a.groupId, groupAt(a, 7), a.groupId)).toEqual([
      [a.groupId, ...RECORDED],
      [groupAt(a, 7), ...not("the run has not issued this task")],
      [a.groupId, ...DUPLICATE],
    ]);
    expect(await close(a.groupId, b.groupId)).toEqual([
      [a.groupId, ...DUPLICATE],
      [b.groupId, ...RECORDED],
    ]);
    await run.next(2);
    const { run: found } = await wire.curriculum.getRun({ runId: "closing" });
    expect(found?.state?.batchesClosed).toBe(1n);
    // A single reward gives no signal, and a group without rewards does not count.
    expect(found?.state?.arms.map(({ value }) => value)).toEqual([0, 0]);
    expect(found?.state?.arms.reduce((sum, { groups }) => sum + groups, 0n)).toBe(1n);
    const { records } = await wire.curriculum.getHistory({ runId: "closing" });
    const controls = records.flatMap(({ kind }) => (kind.case === "control" ? [kind.value] : []));
    expect(controls.map(({ kind, reason }) => [kind, reason])).toEqual([
      ["close_groups", "dropped"],
      ["close_groups", "dropped"],
    ]);
  });

  test.each([
    [{ runId: "r", reason: "x".repeat(257) }, "reason: must have at most 256 bytes; got 257"],
    [{ runId: "r", groupIds: ["nonsense"] }, "group_ids[0]: it is not a group of run 'r'"],
    [
      { runId: "r", groupIds: new Array<string>(4097).fill("r/0/0") },
      "group_ids: must have at most 4096 entries; got 4097",
    ],
  ])("refuses what cannot be", async (request, message) => {
    const failure = await failureOf(wire.curriculum.closeGroups(request));
    expect(failure.code).toBe("INVALID_ARGUMENT");
    expect(failure.message).toContain(message);
  });
});
