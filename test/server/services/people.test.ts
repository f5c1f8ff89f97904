/** What people ask of a server, by the JSON that its page speaks. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/patience.ts";
import { openServer, type TestServer } from "../../support/in-process.ts";

type Json = Record<string, any>;

let server: TestServer;
beforeAll(async () => {
  server = await openServer({ keepSamples: "1" });
});
afterAll(() => server[Symbol.asyncDispose]());

async function call(method: string, body: Json): Promise<{ readonly status: number; readonly json: Json }> {
  const response = await fetch(`${server.http}/gradus.v1.${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: (await response.json()) as Json };
}

async function ask(method: string, body: Json): Promise<Json> {
  const { status, json } = await call(method, body);
  expect(json, method).not.toHaveProperty("code");
  expect(status).toBe(200);
  return json;
}

const reset = async (spec: Json): Promise<string> =>
  (await ask("EnvironmentService/Reset", { spec, seed: "3" }))["task"]["taskId"] as string;

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
  const { completion, outcome } = await ask("EnvironmentService/TryAnswer", { taskId, answer: "[0, 4, 5]" });
  expect(completion).toContain("[0, 4, 5]");
  expect(outcome["score"]).toMatchObject({ verdict: "VERDICT_INFEASIBLE", reward: -0.5 });
  expect(outcome["score"]["violation"]).toContain("not joined");
  const [{ start, end }] = outcome["score"]["spans"];
  expect(completion.slice(start, end)).toBe("[0, 4, 5]");
  expect(outcome).not.toHaveProperty("feedback");
  const wrong = await call("EnvironmentService/TryAnswer", { taskId: "nonsense", answer: "1" });
  expect(wrong.json).toMatchObject({ code: "failed_precondition" });
});

test("a picture never has the best answer, which only a solution has, and none of a benchmark's", async () => {
  const taskId = await reset(clique);
  const draw = (body: Json) => ask("EnvironmentService/DrawTask", { taskId, ...body });
  const { svg } = await draw({ answer: "[0, 4, 6]" });
  expect(svg).toMatch(/^<svg/);
  const solved = await ask("EnvironmentService/SolveTask", { taskId, draw: true, answer: "[0, 4, 6]" });
  expect(solved).toMatchObject({ baseline: { value: 4, proof: "PROOF_OPTIMAL" } });
  expect((solved["svg"] as string).length).toBeGreaterThan((svg as string).length);
  const tried = await ask("EnvironmentService/TryAnswer", { taskId, completion: solved["completion"] });
  expect(tried["outcome"]["score"]).toMatchObject({ solved: true });
  const hostile = await draw({ completion: "<script>alert(1)</script>\u0000<answer>[0]</answer>" });
  expect(hostile["svg"]).not.toContain("<script");
  const bench = await reset({ ...clique, split: "SPLIT_BENCH" });
  expect(await call("EnvironmentService/SolveTask", { taskId: bench })).toMatchObject({
    json: { code: "failed_precondition" },
  });
});

test("a run file is checked with its lines, and a configuration simulated", async () => {
  const file =
    "run_id: a\narms:\n  - id: one\n    spec: {environment: np/clik}\npolicy: {mixture: {}}\nnum_generations: 2\nprompts_per_update: 2\n";
  const checked = await ask("CurriculumService/CheckRun", { file });
  expect(checked).toMatchObject({ runId: "a", problems: [{ line: 4 }] });
  expect(checked["problems"][0]["message"]).toContain("did you mean 'np/clique'");
  const misspelt = await ask("CurriculumService/CheckRun", { file: "arm: []" });
  expect(misspelt["problems"]).toEqual([expect.objectContaining({ line: 1, field: "arm" })]);
  const fine = await ask("CurriculumService/CheckRun", { config });
  expect(fine["problems"] ?? []).toEqual([]);
  const simulated = await ask("CurriculumService/SimulateRun", { config, updates: 20, points: 5 });
  expect(simulated).toMatchObject({ armIds: ["easy", "sums"] });
  expect(simulated["points"]).toHaveLength(5);
  const again = await ask("CurriculumService/SimulateRun", { config, updates: 20, points: 5 });
  expect(again).toEqual(simulated);
  expect(await call("CurriculumService/SimulateRun", { config, student: "fats" })).toMatchObject({
    json: { code: "invalid_argument", message: expect.stringContaining("did you mean 'fast'") as string },
  });
});

test("a run keeps completions, which are found, and deleted", async () => {
  await ask("CurriculumService/CreateRun", { runId: "kept", config });
  const { tasks } = await ask("CurriculumService/NextBatch", { runId: "kept", cursor: "0" });
  const groups = (tasks as Json[]).map(({ taskId, groupId }) => ({
    taskId,
    groupId,
    completions: [
      { text: "I do NOT know" },
      { sampleIndex: 1, text: "<think></think><answer>[0]</answer>", policyVersion: 7 },
    ],
  }));
  await ask("EnvironmentService/BatchStep", { groups });
  // Again: what was recorded before is kept once.
  await ask("EnvironmentService/BatchStep", { groups });
  const list = (body: Json) => ask("CurriculumService/ListRunSamples", { runId: "kept", ...body });
  const all = await list({ tasks: true });
  expect(all).toMatchObject({ kept: true });
  expect(all["samples"]).toHaveLength(4);
  expect(all["samples"][0]).toMatchObject({ sampleIndex: 1, policyVersion: 7, task: { runId: "kept" } });
  expect(all["samples"][0]["outcome"]).toHaveProperty("rlooAdvantage");
  expect(all["samples"][0]["task"]["prompt"][0]["content"]).not.toBe("");
  const found = await list({ filter: { text: "do not", verdicts: ["VERDICT_MALFORMED"] }, armId: "sums", brief: true });
  for (const sample of found["samples"] ?? []) expect(sample).toMatchObject({ armId: "sums" });
  const page = await list({ pageSize: 3 });
  const rest = await list({ pageSize: 3, pageToken: page["nextPageToken"] });
  expect([page["samples"].length, rest["samples"].length]).toEqual([3, 1]);
  const group = await list({ groupId: groups[0]?.groupId });
  expect(group["samples"]).toHaveLength(2);
  await ask("CurriculumService/DeleteRunSamples", { runId: "kept" });
  expect((await list({}))["samples"] ?? []).toEqual([]);
});

test("a change says what it would do before it is done", async () => {
  await ask("CurriculumService/CreateRun", { runId: "tried", config });
  await ask("CurriculumService/NextBatch", { runId: "tried", cursor: "0" });
  const before = await ask("CurriculumService/GetRun", { runId: "tried" });
  const would = await ask("CurriculumService/Pause", { runId: "tried", validateOnly: true });
  expect(would).toMatchObject({ appliesFromCursor: "2" });
  const weights = { runId: "tried", weights: { easy: 0, sums: 0 }, validateOnly: true };
  expect((await call("CurriculumService/SetWeights", weights)).json).toMatchObject({ code: "invalid_argument" });
  const { groups } = await ask("CurriculumService/GetGroups", { runId: "tried", open: true });
  expect(groups[0]).toHaveProperty("issueTime");
  const close = { runId: "tried", groupIds: [groups[0]["groupId"]], validateOnly: true };
  const closed = await ask("CurriculumService/CloseGroups", close);
  expect(closed["groups"][0]["feedback"]).toMatchObject({ status: "FEEDBACK_STATUS_RECORDED" });
  expect(await ask("CurriculumService/GetRun", { runId: "tried" })).toEqual(before);
});

test("a history is read on from where it was not settled, and long ones in fewer records", async () => {
  await ask("CurriculumService/CreateRun", { runId: "long", config });
  const step = async (cursor: number): Promise<void> => {
    const { tasks } = await ask("CurriculumService/NextBatch", { runId: "long", cursor: String(cursor) });
    const groups = (tasks as Json[]).map(({ taskId, groupId }) => ({
      taskId,
      groupId,
      completions: [{ text: "no" }, { sampleIndex: 1, text: "no" }],
    }));
    await ask("EnvironmentService/BatchStep", { groups });
  };
  const history = (body: Json) => ask("CurriculumService/GetHistory", { runId: "long", ...body });
  await step(0);
  await ask("CurriculumService/NextBatch", { runId: "long", cursor: "2" });
  const first = await history({});
  expect(first).toMatchObject({ resumeRecords: 1 });
  expect(first["records"]).toHaveLength(2);
  await step(2);
  await step(4);
  const more = await history({ pageToken: first["resumeToken"] });
  const batches = (records: Json[]): unknown[] => records.map(({ batch }) => batch["batch"] ?? "0");
  expect(batches(more["records"])).toEqual(["1", "2"]);
  const merged = await history({ mergeBatches: 2 });
  expect(batches(merged["records"])).toEqual(["0", "2"]);
  expect(merged["records"][0]["batch"]).toMatchObject({ merged: 2, prompts: 4, closed: true });
  expect(merged).toMatchObject({ resumeRecords: 1 });
});

test("evaluations are listed, filtered and deleted", async () => {
  const evaluationId = "listed";
  await ask("EvaluationService/CreateEvaluation", { evaluationId, suite: "forge-bench", model: "m" });
  const { tasks } = await ask("EvaluationService/ListPendingTasks", { evaluationId, pageSize: 2 });
  const completions = (tasks as Json[]).map(({ task }, i) => ({
    evaluationId,
    taskId: task["taskId"],
    completion: i === 0 ? "Nothing" : "<think></think><answer>[0]</answer>",
  }));
  await ask("EvaluationService/BatchSubmitCompletions", { completions });
  const { evaluations } = await ask("EvaluationService/ListEvaluations", {});
  expect(evaluations).toEqual([expect.objectContaining({ evaluationId, samplesScored: "2", model: "m" })]);
  expect(evaluations[0]).toHaveProperty("createTime");
  const list = (body: Json) => ask("EvaluationService/ListSamples", { evaluationId, ...body });
  const found = await list({ filter: { text: "NOTHING" } });
  expect(found["samples"]).toHaveLength(1);
  expect((await list({ part: "np/none" }))["samples"] ?? []).toEqual([]);
  const [brief] = (await list({ brief: true }))["samples"];
  expect(brief).not.toHaveProperty("completion");
  const { report } = await ask("EvaluationService/GetReport", { evaluationId });
  expect(report["overall"]).toHaveProperty("figures");
  await ask("EvaluationService/DeleteEvaluation", { evaluationId });
  expect((await call("EvaluationService/GetEvaluation", { evaluationId })).status).toBe(404);
});

test("a server says what it is doing, and who asks", async () => {
  await eventually(async () => {
    const { server: info, caller } = await ask("EnvironmentService/GetServerInfo", {});
    expect(caller).toEqual({ role: "operator" });
    expect(info["queues"].map(({ name }: Json) => name as string)).toEqual(["tasks", "aside", "simulations"]);
    expect(info).toMatchObject({ keepSamplesBytes: "1048576", keepSamplesFor: "604800s" });
    expect(info["replicas"]).toHaveLength(1);
    expect(info["students"].length).toBeGreaterThan(3);
  });
});
