/** Tests of the calls that people make, in the JSON that the page uses. */
import {
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  fromJson,
  type JsonObject,
  type MessageShape,
} from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BatchRecord, CurriculumService, type HistoryRecord } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { EvaluationService } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { eventually } from "../../support/patience.ts";
import { openServer, type TestServer } from "../../support/in-process.ts";

const { method: environment } = EnvironmentService;
const { method: curriculum } = CurriculumService;
const { method: evaluation } = EvaluationService;

let server: TestServer;
beforeAll(async () => {
  server = await openServer({ keepSamples: "1" });
});
afterAll(() => server[Symbol.asyncDispose]());

async function call(
  method: DescMethod,
  body: JsonObject,
): Promise<{ readonly status: number; readonly json: JsonObject }> {
  const response = await fetch(`${server.http}/${method.parent.typeName}/${method.name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: (await response.json()) as JsonObject };
}

/** A server's answer, as it stands on the wire and as the contract reads it. */
interface Answer<O extends DescMessage> {
  readonly json: JsonObject;
  readonly read: MessageShape<O>;
}

async function ask<O extends DescMessage>(
  method: DescMethodUnary<DescMessage, O>,
  body: JsonObject,
): Promise<Answer<O>> {
  const { status, json } = await call(method, body);
  expect(json, method.name).not.toHaveProperty("code");
  expect(status).toBe(200);
  return { json, read: fromJson(method.output, json) };
}

async function reset(spec: JsonObject): Promise<string> {
  const { read } = await ask(environment.reset, { spec, seed: "3" });
  return read.task?.taskId ?? "";
}

const clique = { environment: "np/clique", level: "easy" };
const config = {
  arms: [
    { id: "easy", spec: clique },
    { id: "sums", spec: { environment: "math/arithmetic" } },
  ],
  policy: { mixture: {} },
  seed: "1",
  numGenerations: 2,
  promptsPerUpdate: 2,
  length: "8",
};

test("an answer is tried, in its format, and no run is told", async () => {
  const taskId = await reset(clique);
  const { json, read } = await ask(environment.tryAnswer, { taskId, answer: "[0, 4, 5]" });
  expect(read.completion).toContain("[0, 4, 5]");
  expect(json).toMatchObject({ outcome: { score: { verdict: "VERDICT_INFEASIBLE", reward: -0.5 } } });
  const result = read.outcome?.result;
  if (result?.case !== "score") throw new Error("the answer has no score");
  expect(result.value.violation).toContain("not joined");
  const [span] = result.value.spans;
  expect(read.completion.slice(span?.start, span?.end)).toBe("[0, 4, 5]");
  expect(json["outcome"]).not.toHaveProperty("feedback");
  const wrong = await call(environment.tryAnswer, { taskId: "nonsense", answer: "1" });
  expect(wrong.json).toMatchObject({ code: "failed_precondition" });
});

test("a picture never has the best answer, which only a solution has, and none of a benchmark's", async () => {
  const taskId = await reset(clique);
  const draw = (body: JsonObject) => ask(environment.drawTask, { taskId, ...body });
  const { read: drawn } = await draw({ answer: "[0, 4, 6]" });
  expect(drawn.svg).toMatch(/^<svg/);
  const solved = await ask(environment.solveTask, { taskId, draw: true, answer: "[0, 4, 6]" });
  expect(solved.json).toMatchObject({ baseline: { value: 4, proof: "PROOF_OPTIMAL" } });
  expect(solved.read.svg.length).toBeGreaterThan(drawn.svg.length);
  const tried = await ask(environment.tryAnswer, { taskId, completion: solved.read.completion });
  expect(tried.json).toMatchObject({ outcome: { score: { solved: true } } });
  const hostile = await draw({ completion: "<script>alert(1)</script>\u0000<answer>[0]</answer>" });
  expect(hostile.read.svg).not.toContain("<script");
  const bench = await reset({ ...clique, split: "SPLIT_BENCH" });
  expect(await call(environment.solveTask, { taskId: bench })).toMatchObject({
    json: { code: "failed_precondition" },
  });
});

test("a run file is checked with its lines, and a configuration simulated", async () => {
  const file =
    "run_id: a\narms:\n  - id: one\n    spec: {environment: np/clik}\npolicy: {mixture: {}}\nnum_generations: 2\nprompts_per_update: 2\n";
  const checked = await ask(curriculum.checkRun, { file });
  expect(checked.json).toMatchObject({ runId: "a", problems: [{ line: 4 }] });
  expect(checked.read.problems[0]?.message).toContain("did you mean 'np/clique'");
  const misspelt = await ask(curriculum.checkRun, { file: "arm: []" });
  expect(misspelt.json["problems"]).toEqual([expect.objectContaining({ line: 1, field: "arm" })]);
  const fine = await ask(curriculum.checkRun, { config });
  expect(fine.read.problems).toEqual([]);
  const simulated = await ask(curriculum.simulateRun, { config, updates: 20, points: 5 });
  expect(simulated.json).toMatchObject({ armIds: ["easy", "sums"] });
  expect(simulated.read.points).toHaveLength(5);
  const again = await ask(curriculum.simulateRun, { config, updates: 20, points: 5 });
  expect(again.json).toEqual(simulated.json);
  expect(await call(curriculum.simulateRun, { config, student: "fats" })).toMatchObject({
    json: { code: "invalid_argument", message: expect.stringContaining("did you mean 'fast'") as string },
  });
});

test("a run keeps completions, which are found, and deleted", async () => {
  await ask(curriculum.createRun, { runId: "kept", config });
  const { read: batch } = await ask(curriculum.nextBatch, { runId: "kept", cursor: "0" });
  const groups = batch.tasks.map(({ taskId, groupId }) => ({
    taskId,
    groupId,
    completions: [
      { text: "I do NOT know" },
      { sampleIndex: 1, text: "<think></think><answer>[0]</answer>", policyVersion: 7 },
    ],
  }));
  await ask(environment.batchStep, { groups });
  // The second request keeps what was recorded before only once.
  await ask(environment.batchStep, { groups });
  const list = (body: JsonObject) => ask(curriculum.listRunSamples, { runId: "kept", ...body });
  const all = await list({ tasks: true });
  expect(all.json).toMatchObject({ kept: true });
  expect(all.read.samples).toHaveLength(4);
  expect(all.json).toHaveProperty(
    "samples[0]",
    expect.objectContaining({
      sampleIndex: 1,
      policyVersion: 7,
      task: expect.objectContaining({ runId: "kept" }) as object,
    }),
  );
  expect(all.json).toHaveProperty("samples[0].outcome.rlooAdvantage");
  expect(all.read.samples[0]?.task?.prompt[0]?.content).toMatch(/./);
  const found = await list({ filter: { text: "do not", verdicts: ["VERDICT_MALFORMED"] }, armId: "sums", brief: true });
  for (const sample of found.read.samples) expect(sample).toMatchObject({ armId: "sums" });
  expect(all.read.samples.map(({ answer }) => answer)).toEqual(["[0]", "", "[0]", ""]);
  expect((await list({ brief: true })).read.samples.map(({ answer }) => answer)).toEqual(["[0]", "", "[0]", ""]);
  const page = await list({ pageSize: 3 });
  const rest = await list({ pageSize: 3, pageToken: page.read.nextPageToken });
  expect([page.read.samples.length, rest.read.samples.length]).toEqual([3, 1]);
  const group = await list({ groupId: groups[0]?.groupId ?? "" });
  expect(group.read.samples).toHaveLength(2);
  await ask(curriculum.deleteRunSamples, { runId: "kept" });
  expect((await list({})).read.samples).toEqual([]);
});

test("completions of one update batch are found, also after the run has other sizes and changes in between", async () => {
  const runId = "by-batch";
  await ask(curriculum.createRun, { runId, config });
  const step = async (cursor: number): Promise<number> => {
    const { read } = await ask(curriculum.nextBatch, { runId, cursor: String(cursor) });
    const groups = read.tasks.map(({ taskId, groupId }) => ({
      taskId,
      groupId,
      completions: [{ text: "no" }, { sampleIndex: 1, text: "none" }],
    }));
    await ask(environment.batchStep, { groups });
    return cursor + read.tasks.length;
  };
  const second = await step(0);
  await ask(curriculum.pause, { runId });
  await ask(curriculum.resume, { runId });
  await ask(curriculum.updateShape, { runId, promptsPerUpdate: 3 });
  const third = await step(second);
  await step(third);
  const cursors = async (updateBatch: string) => {
    const { read } = await ask(curriculum.listRunSamples, { runId, updateBatch, brief: true });
    return [...new Set(read.samples.map(({ cursor }) => Number(cursor)))].sort((one, other) => one - other);
  };
  expect(await cursors("0")).toEqual([0, 1]);
  expect(await cursors("1")).toEqual([2, 3, 4]);
  expect(await cursors("2")).toEqual([5, 6, 7]);
  expect(await cursors("3")).toEqual([]);
  const far = await call(curriculum.listRunSamples, { runId, updateBatch: String(2n ** 63n) });
  expect(far.json).toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining("update_batch") as string,
  });
});

test("an arm that was added later has its samples, its rows, and the pass rates that it is told", async () => {
  const runId = "grown";
  await ask(curriculum.createRun, { runId, config });
  const added = (id: string): JsonObject => ({ runId, addArms: [{ id, spec: clique, rows: { count: 4 } }] });
  await ask(curriculum.updateShape, added("third"));
  await ask(curriculum.updateShape, { ...added("fourth"), removeArms: ["easy", "sums", "third"] });
  const { read: batch } = await ask(curriculum.nextBatch, { runId, cursor: "0" });
  const [task] = batch.tasks;
  expect(task?.armId).toBe("fourth");
  const group = { taskId: task?.taskId ?? "", groupId: task?.groupId ?? "", completions: [{ text: "no" }] };
  await ask(environment.batchStep, { groups: [group] });
  const found = await ask(curriculum.listRunSamples, { runId, armId: "fourth", tasks: true });
  expect(found.read.samples).toEqual([expect.objectContaining({ armId: "fourth" })]);
  expect(found.read.samples[0]?.task?.prompt[0]?.content).toMatch(/./);
  await ask(curriculum.rateRows, { runId, armId: "fourth", rows: [{ row: 2, passRate: 1 }] });
  const { read } = await ask(curriculum.listRows, { runId, armId: "fourth" });
  expect(read.rows.map(({ samples }) => samples > 0)).toEqual([false, false, true, false]);
});

test("a completion from before an import has no advantages of the group that took its place", async () => {
  const runId = "undone";
  await ask(curriculum.createRun, { runId, config });
  const { read: drawn } = await ask(curriculum.nextBatch, { runId, cursor: "0" });
  const { json: exported } = await ask(curriculum.exportRun, { runId });
  const answer = async (tasks: typeof drawn.tasks): Promise<void> => {
    const completions = [{ text: "no" }, { sampleIndex: 1, text: "<think></think><answer>[0]</answer>" }];
    await ask(environment.batchStep, {
      groups: tasks.map(({ taskId, groupId }) => ({ taskId, groupId, completions })),
    });
  };
  await answer(drawn.tasks);
  const { read: imported } = await ask(curriculum.importRun, { runId, state: exported["state"] ?? "" });
  await answer(imported.outstanding);
  const all = (await ask(curriculum.listRunSamples, { runId })).read.samples;
  expect(all).toHaveLength(8);
  for (const { groupId, outcome } of all)
    expect(outcome?.rlooAdvantage !== undefined).toBe(imported.outstanding.some((task) => task.groupId === groupId));
});

test("a change says what it would do before it is done", async () => {
  await ask(curriculum.createRun, { runId: "tried", config });
  await ask(curriculum.nextBatch, { runId: "tried", cursor: "0" });
  const before = await ask(curriculum.getRun, { runId: "tried" });
  const would = await ask(curriculum.pause, { runId: "tried", validateOnly: true });
  expect(would.json).toMatchObject({ appliesFromCursor: "2" });
  const weights = { runId: "tried", weights: { easy: 0, sums: 0 }, validateOnly: true };
  expect((await call(curriculum.setWeights, weights)).json).toMatchObject({ code: "invalid_argument" });
  const open = await ask(curriculum.getGroups, { runId: "tried", open: true });
  expect(open.json).toHaveProperty("groups[0].issueTime");
  const close = { runId: "tried", groupIds: [open.read.groups[0]?.groupId ?? ""], validateOnly: true };
  const closed = await ask(curriculum.closeGroups, close);
  expect(closed.json).toHaveProperty("groups[0].feedback.status", "FEEDBACK_STATUS_RECORDED");
  expect((await ask(curriculum.getRun, { runId: "tried" })).json).toEqual(before.json);
});

test("a history is read on from where it was not settled, and long ones in fewer records", async () => {
  await ask(curriculum.createRun, { runId: "long", config });
  const step = async (cursor: number): Promise<void> => {
    const { read } = await ask(curriculum.nextBatch, { runId: "long", cursor: String(cursor) });
    const groups = read.tasks.map(({ taskId, groupId }) => ({
      taskId,
      groupId,
      completions: [{ text: "no" }, { sampleIndex: 1, text: "no" }],
    }));
    await ask(environment.batchStep, { groups });
  };
  const history = (body: JsonObject) => ask(curriculum.getHistory, { runId: "long", ...body });
  await step(0);
  await ask(curriculum.nextBatch, { runId: "long", cursor: "2" });
  const first = await history({});
  expect(first.json).toMatchObject({ resumeRecords: 1 });
  expect(first.read.records).toHaveLength(2);
  await step(2);
  await step(4);
  const more = await history({ pageToken: first.read.resumeToken });
  const batches = (records: readonly HistoryRecord[]): unknown[] =>
    records.map(({ kind }) => (kind.case === "batch" ? kind.value.batch : kind.case));
  expect(batches(more.read.records)).toEqual([1n, 2n]);
  const merged = await history({ mergeBatches: 2 });
  expect(batches(merged.read.records)).toEqual([0n, 2n]);
  expect(merged.read.records[0]?.kind.value).toMatchObject({ merged: 2, prompts: 4, closed: true });
  expect(merged.json).toMatchObject({ resumeRecords: 1 });
  const one = (records: readonly HistoryRecord[], at: number) => records[at]?.kind.value as BatchRecord;
  const all = (await history({})).read.records;
  const [zeroth, second] = [one(all, 0), one(all, 1)];
  const joined = one(merged.read.records, 0);
  expect(joined.counts).toEqual(zeroth.counts.map((count, arm) => count + (second.counts[arm] ?? 0)));
  expect(joined.probabilities).toEqual(
    zeroth.probabilities.map((p, arm) => (p + (second.probabilities[arm] ?? 0)) / 2),
  );
  expect(joined.rewardMean).toBe(((zeroth.rewardMean ?? 0) + (second.rewardMean ?? 0)) / 2);
  for (const body of [{ withoutArms: true }, { withoutArms: true, mergeBatches: 2 }]) {
    const brief = one((await history(body)).read.records, 0);
    expect([brief.counts, brief.probabilities, brief.values]).toEqual([[], [], []]);
    expect([brief.rewardSums, brief.rewardCounts, brief.solvedCounts]).toEqual([[], [], []]);
    expect(brief.rewardMean).toBe((body.mergeBatches === undefined ? zeroth : joined).rewardMean);
  }
  const sum = (numbers: readonly number[]): number => numbers.reduce((so, number) => so + number, 0);
  // The means by arm: their samples together are those of the batch.
  expect(sum(zeroth.rewardCounts)).toBe(4);
  expect(sum(zeroth.rewardSums) / 4).toBeCloseTo(zeroth.rewardMean ?? 0);
  expect(zeroth.rewardCounts.map((count) => count > 0)).toEqual(zeroth.counts.map((count) => count > 0));
  expect(sum(zeroth.solvedCounts) / 4).toBe(zeroth.solvedShare);
  expect(joined.solvedCounts).toEqual(zeroth.solvedCounts.map((each, arm) => each + (second.solvedCounts[arm] ?? 0)));
  expect(joined.rewardSums).toEqual(zeroth.rewardSums.map((each, arm) => each + (second.rewardSums[arm] ?? 0)));
  for (const body of [{}, { mergeBatches: 2 }]) {
    const apart = "mergeBatches" in body ? joined : zeroth;
    const whole = one((await history({ ...body, armGroups: [0, 0] })).read.records, 0);
    expect(whole.counts).toEqual([sum(apart.counts)]);
    expect([whole.rewardSums, whole.rewardCounts]).toEqual([[sum(apart.rewardSums)], [sum(apart.rewardCounts)]]);
    expect(whole.solvedCounts).toEqual([sum(apart.solvedCounts)]);
    expect(whole.probabilities[0]).toBeCloseTo(1);
    expect(whole.values[0]).toBeCloseTo(sum(apart.values) / 2);
    const turned = one((await history({ ...body, armGroups: [1, 0] })).read.records, 0);
    expect(turned).toMatchObject({
      counts: [...apart.counts].reverse(),
      probabilities: [...apart.probabilities].reverse(),
      values: [...apart.values].reverse(),
    });
    // An arm for which the request names no group is in none.
    const alone = one((await history({ ...body, armGroups: [0] })).read.records, 0);
    expect(alone.counts).toEqual(apart.counts.slice(0, 1));
  }
  const beyond = await call(curriculum.getHistory, { runId: "long", armGroups: [0, 2] });
  expect(beyond.json["code"]).toBe("invalid_argument");
  expect(beyond.json["message"]).toContain("arm_groups[1]");
  const many = await call(curriculum.getHistory, { runId: "long", armGroups: new Array<number>(1025).fill(0) });
  expect(many.json).toMatchObject({ message: "arm_groups: must have at most 1024 entries; got 1025" });
});

test("evaluations are listed, filtered and deleted", async () => {
  const evaluationId = "listed";
  await ask(evaluation.createEvaluation, { evaluationId, suite: "forge-bench", model: "m" });
  const { read: pending } = await ask(evaluation.listPendingTasks, { evaluationId, pageSize: 2 });
  const completions = pending.tasks.map(({ task }, i) => ({
    evaluationId,
    taskId: task?.taskId ?? "",
    completion: i === 0 ? "Nothing" : "<think></think><answer>[0]</answer>",
  }));
  await ask(evaluation.batchSubmitCompletions, { completions });
  const listed = await ask(evaluation.listEvaluations, {});
  expect(listed.json["evaluations"]).toEqual([
    expect.objectContaining({ evaluationId, samplesScored: "2", model: "m" }),
  ]);
  expect(listed.json).toHaveProperty("evaluations[0].createTime");
  const list = (body: JsonObject) => ask(evaluation.listSamples, { evaluationId, ...body });
  const found = await list({ filter: { text: "NOTHING" } });
  expect(found.read.samples).toHaveLength(1);
  expect((await list({ part: "np/none" })).read.samples).toEqual([]);
  const brief = await list({ brief: true });
  expect(brief.json).toHaveProperty("samples[0]");
  expect(brief.json).not.toHaveProperty("samples[0].completion");
  const report = await ask(evaluation.getReport, { evaluationId });
  expect(report.json).toHaveProperty("report.overall.figures");
  await ask(evaluation.deleteEvaluation, { evaluationId });
  expect((await call(evaluation.getEvaluation, { evaluationId })).status).toBe(404);
});

test("a server says what it is doing, and who asks", async () => {
  await eventually(async () => {
    const { json, read } = await ask(environment.getServerInfo, {});
    expect(json["caller"]).toEqual({ role: "operator" });
    expect(read.server?.queues.map(({ name }) => name)).toEqual(["tasks", "aside", "simulations"]);
    expect(json["server"]).toMatchObject({ keepSamplesBytes: "1048576", keepSamplesFor: "604800s" });
    expect(read.server?.replicas).toHaveLength(1);
    expect(read.server?.students.length).toBeGreaterThan(3);
  });
});
