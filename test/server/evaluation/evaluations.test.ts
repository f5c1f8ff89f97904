/** Tests of evaluations without transport, with suites, an issuer and a store of the test's own. */
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import { createEvaluations } from "../../../server/evaluation/evaluations.ts";
import type { SuiteDefinition } from "../../../server/evaluation/open-suite.ts";
import { memoryHolds } from "../../../server/stores/holds.ts";
import { memoryEvaluationStore } from "../../../server/stores/memory.ts";
import { signingKey } from "../../../server/tasks/keyring.ts";
import { createMaker, type Maker } from "../../../server/tasks/making/make.ts";
import { presentTask } from "../../../server/rpc/write-task.ts";
import type { MakeResult } from "../../../server/tasks/task.ts";
import { createAsyncScorer } from "../../../server/tasks/scoring/async-scorer.ts";
import { systemClock } from "../../../server/base/system-clock.ts";
import { createResources } from "../../../server/outside/gate/resources.ts";
import { createScorer } from "../../../server/tasks/scoring/scorer.ts";
import { runSlice } from "../../../server/tasks/making/make-slice.ts";
import type { WorkerPool } from "../../../server/tasks/making/workers.ts";
import { registry } from "../../support/registry.ts";

const inline: WorkerPool = {
  ready: Promise.resolve(),
  run: async ({ spec, seeds }) => {
    const { results } = runSlice(registry, { spec, seeds, progress: undefined, sliceMs: Infinity });
    return results;
  },
  load: () => ({ waiting: 0, running: 0 }),
  close: async () => undefined,
};

const tsp: SuiteDefinition = {
  id: "forge-bench",
  version: 1,
  description: "",
  overall: "categories",
  parts: [
    {
      name: "np/tsp",
      environment: "np/tsp",
      version: 2,
      level: "easy",
      split: "bench",
      tasks: 12,
      category: "planning",
    },
  ],
};
const keyring = [signingKey(randomBytes(32))] as const;
const pools = new Map<string, never>();

/** Evaluations over a store, and how many tasks were made. */
function setUp(store = memoryEvaluationStore(), suites = [tsp], refusal?: MakeResult) {
  const real = createMaker({ workers: inline, registry, pools });
  const made: bigint[] = [];
  const maker: Maker = {
    ...real,
    make: async (spec, seeds, signal) => {
      if (refusal !== undefined) return seeds.map(() => refusal);
      made.push(...seeds);
      return real.make(spec, seeds, signal);
    },
  };
  const onFailure = (error: unknown): void => {
    throw error;
  };
  const scorer = createScorer({ keyring, registry, pools, completionBytesMax: 100_000, onFailure });
  const asyncScorer = createAsyncScorer({
    keyring,
    resources: createResources({ clock: systemClock, onFailure }),
    completionBytesMax: 100_000,
    record: async () => ({ kind: "not_recorded", detail: "evaluations belong to no run" }),
    onFailure,
  });
  return {
    evaluations: createEvaluations({
      store,
      holds: memoryHolds(),
      maker,
      scorer,
      asyncScorer,
      registry,
      suites,
      now: () => 0,
    }),
    made,
  };
}

const choice = { suite: "forge-bench", suiteVersion: 0, samplesPerTask: 1, model: "" };

test("tasks are made when they are asked for, once for all evaluations and servers that share a store", async () => {
  const store = memoryEvaluationStore();
  const first = setUp(store);
  await first.evaluations.create("a", choice);
  const page = await first.evaluations.pending("a", -1, 5);
  if (page.kind !== "ok") throw new Error(page.message);
  expect([page.value.tasks.length, page.value.next, first.made.length]).toEqual([5, 4, 5]);
  const rest = await first.evaluations.pending("a", 4, 100);
  expect(first.made).toHaveLength(12);
  expect(new Set(first.made).size).toBe(12);
  expect(rest).toMatchObject({ kind: "ok", value: { next: undefined } });
  const second = setUp(store);
  await second.evaluations.create("b", choice);
  expect(await second.evaluations.pending("b", 4, 100)).toEqual(rest);
  expect(second.made).toHaveLength(0);
});

/** Answers every task of a new evaluation by the solver, each completion in the form of `written`. */
async function answerAll(
  id: string,
  written: (whole: string) => string,
  truncated: boolean,
  { evaluations } = setUp(),
) {
  await evaluations.create(id, choice);
  const page = await evaluations.pending(id, -1, 100);
  if (page.kind !== "ok") throw new Error(page.message);
  const scorer = createScorer({ keyring, registry, pools, completionBytesMax: 100_000, onFailure: () => undefined });
  for (const { spec, task } of page.value.tasks) {
    const { taskId } = presentTask({ keyring, registry, scorer }, spec, task);
    const opened = scorer.open(taskId);
    if (opened.kind === "none") throw new Error(opened.detail);
    const { environment, instance, format } = opened.scoring;
    const whole = wrapAnswer(environment.solver!.format(environment.solver!.solve(instance).answer), format);
    const completion = { sampleIndex: 0, text: written(whole) };
    const form = { isCut: truncated, isHermes: false };
    const submission = { evaluationId: id, taskId, completion, form, conversation: {} };
    const caller = { caller: "", peer: "127.0.0.1:1", signal: new AbortController().signal, deadlineMs: undefined };
    expect(await evaluations.submit(submission, caller, () => undefined)).toMatchObject({
      kind: "ok",
      value: { kind: "recorded" },
    });
  }
  expect(await evaluations.pending(id, -1, 100)).toMatchObject({ value: { tasks: [] } });
  const report = await evaluations.report(id);
  if (report.kind !== "ok") throw new Error(report.message);
  const { samples, figures } = report.value.report.overall;
  expect(samples).toBe(12);
  return figures;
}

test("the solver's answers have SR 1 and QR 1, and are optimal", async () => {
  const figures = await answerAll("a", (whole) => whole, false);
  expect(figures).toMatchObject({ success_rate: 1, quality_ratio: 1, optimal_rate: 1, truncated_rate: 0 });
});

test("a report can be had while another server makes tasks and scores them", async () => {
  const store = memoryEvaluationStore();
  await setUp(store).evaluations.create("busy", choice);
  let meanwhile = (): Promise<unknown> => answerAll("busy", (whole) => whole, false, setUp(store));
  const tasks: typeof store.tasks = async (...of) => {
    const found = await store.tasks(...of);
    await meanwhile();
    meanwhile = async () => undefined;
    return found;
  };
  const report = await setUp({ ...store, tasks }).evaluations.report("busy");
  expect(report.kind).toBe("ok");
});

test("a closing tag may be missing, but not where the completion was cut off", async () => {
  const unclosed = (whole: string): string => whole.slice(0, whole.lastIndexOf("</answer>"));
  expect(await answerAll("a", unclosed, false)).toMatchObject({ success_rate: 1, optimal_rate: 1 });
  expect(await answerAll("b", unclosed, true)).toMatchObject({ success_rate: 0, malformed_rate: 1, truncated_rate: 1 });
});

test("what cannot be made now is asked for again later, and what was made is kept", async () => {
  const store = memoryEvaluationStore();
  const busy = setUp(store, [tsp], { kind: "overloaded", retryDelayMs: 70 });
  await busy.evaluations.create("a", choice);
  expect(await busy.evaluations.pending("a", -1, 5)).toMatchObject({ kind: "unavailable", retryDelayMs: 70 });
  const none = setUp(store, [tsp], { kind: "exhausted", message: "no such instance" });
  expect(await none.evaluations.pending("a", -1, 5)).toMatchObject({ kind: "failed_precondition" });
  const gone = setUp(store, [tsp], { kind: "cancelled" });
  expect(await gone.evaluations.pending("a", -1, 5)).toMatchObject({ kind: "cancelled" });
  expect(await setUp(store).evaluations.pending("a", -1, 5)).toMatchObject({ kind: "ok" });
});

test("a suite that was changed under its version is not mistaken for what it was", async () => {
  const store = memoryEvaluationStore();
  await setUp(store).evaluations.create("a", choice);
  const changed = { ...tsp, parts: tsp.parts.map((part) => ({ ...part, level: "medium" })) };
  expect(await setUp(store, [changed]).evaluations.get("a")).toMatchObject({
    kind: "failed_precondition",
    message: expect.stringContaining("give the changed suite another version") as string,
  });
  const newer = { ...changed, version: 2 };
  const both = setUp(store, [tsp, newer]).evaluations;
  expect(await both.get("a")).toMatchObject({ value: { suiteVersion: 1 } });
  expect(await both.create("b", choice)).toMatchObject({ value: { suiteVersion: 2 } });
});

test("a suite whose environments are not here is not listed, and says what is missing", async () => {
  const parts = [
    ...tsp.parts,
    { ...(tsp.parts[0] as (typeof tsp.parts)[number]), name: "b", environment: "np/nothing" },
  ];
  const { evaluations } = setUp(memoryEvaluationStore(), [{ ...tsp, parts }]);
  expect(evaluations.suites()).toEqual([]);
  expect(await evaluations.create("a", choice)).toMatchObject({
    kind: "not_found",
    message: expect.stringMatching(
      /'forge-bench' version 1 cannot be issued: unknown environment 'np\/nothing'/,
    ) as string,
  });
});

test("where a suite wants it, what heuristics attain is kept with the tasks, and the optimum is better than that", async () => {
  const store = memoryEvaluationStore();
  const wanting = [{ ...tsp, heuristic: true as const }];
  const figures = await answerAll("h", (whole) => whole, false, setUp(store, wanting));
  expect(figures["quality_ratio"]).toBe(1);
  expect(figures["heuristic_ratio"]).toBeGreaterThan(1);
  const again = await setUp(store, wanting).evaluations.report("h");
  expect(again).toMatchObject({ value: { report: { overall: { figures } } } });
  expect(again).toMatchObject({ value: { report: { baseline: expect.stringContaining("may exceed 1") as string } } });
  expect(await answerAll("n", (whole) => whole, false)).not.toHaveProperty("heuristic_ratio");
});
