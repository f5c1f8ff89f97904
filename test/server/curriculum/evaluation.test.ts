/**
 * Tests of evaluation beside training: every process gets the same rounds, which are kept and shown, and never learnt
 * from.
 */
import { describe, expect, test } from "vitest";
import type { FeedbackItem } from "../../../server/curriculum/feedback.ts";
import type { EvaluationBatch } from "../../../server/runs/next-evaluation.ts";
import { readState } from "../../../server/runs/journal.ts";
import { eventFrom, readEvent } from "../../../server/curriculum/event-codec.ts";
import { decodeState } from "../../support/follow.ts";
import type { EvaluationArm, Result } from "../../../server/curriculum/types.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import {
  arm,
  ask,
  type Bench,
  bench,
  codecs,
  savedState,
  freshTasks,
  incarnations,
  type Key,
  made,
  mixturePolicy,
  type Place,
  runConfig,
  type Runs,
  sourceOf,
  type Spec,
  stage,
  stagedPolicy,
  train,
  value,
  listedViews,
} from "./support.ts";

function evaluationArm(id: string, tasks = 5, numGenerations = 2): EvaluationArm<Spec> {
  return { id, spec: { id }, source: "synthetic", tasks, numGenerations };
}

const config = runConfig({ evaluationArms: [evaluationArm("held-out"), evaluationArm("bench", 3, 1)] });

type Batch = EvaluationBatch<Spec, Key>;

interface Asked {
  readonly armId?: string;
  readonly cursor?: number;
  readonly count?: number;
}

function evaluation(runs: Runs, round: number, more: Asked = {}): Promise<Result<Batch>> {
  const { signal } = new AbortController();
  return runs.nextEvaluation("run", { armId: "held-out", round, cursor: 0, count: 4096, signal, ...more });
}

function itemOf({ arm: index, round, incarnation }: Batch, cursor: number, sample: number, reward = 1): FeedbackItem {
  const result = { kind: "reward", reward, solved: reward === 1 } as const;
  return { incarnation, cursor, sample, digest: `${sample}`, result, evaluation: { arm: index, round } };
}

/** Returns results for every sample of a batch: the first of each task is right, the others are not. */
function itemsOf(batch: Batch): readonly FeedbackItem[] {
  const { numGenerations = 0 } = batch.config.evaluationArms[batch.arm] ?? {};
  return batch.tasks.flatMap(({ ordinal }) =>
    Array.from({ length: numGenerations }, (_, sample) => itemOf(batch, ordinal, sample, sample === 0 ? 1 : 0.1)),
  );
}

async function feed(runs: Runs, items: readonly FeedbackItem[]): Promise<readonly string[]> {
  return value(await runs.recordFeedback("run", items)).map(({ kind }) => kind);
}

async function created(more = config): Promise<Bench> {
  const all = bench();
  value(await all.runs.create("run", more));
  return all;
}

const stateOf = async (runs: Runs) => value(await runs.get("run")).state;

async function roundsTold(runs: Runs) {
  const { items } = value(await runs.history("run", 0, 1000));
  return items.flatMap((item) => (item.kind === "evaluation" ? [item] : []));
}

describe("a round", () => {
  test("has the same tasks for everyone and in every round, whatever was trained on between", async () => {
    const { runs } = await created();
    const first = value(await evaluation(runs, 0));
    expect(first).toMatchObject({ nextCursor: 5, done: true, epoch: 0 });
    await train(runs, "run", 3);
    const again = value(await evaluation(runs, 0));
    const later = value(await evaluation(runs, 100));
    expect(again.tasks).toEqual(first.tasks);
    expect(later.tasks).toEqual(first.tasks);
    const other = bench({ newIncarnation: incarnations("other") });
    value(await other.runs.create("run", config));
    expect(value(await evaluation(other.runs, 7)).tasks).toEqual(first.tasks);
    const reseeded = await created({ ...config, seed: 8n });
    expect(value(await evaluation(reseeded.runs, 0)).tasks).not.toEqual(first.tasks);
  });

  test("is given in stretches", async () => {
    const { runs } = await created();
    const whole = value(await evaluation(runs, 3)).tasks;
    const start = value(await evaluation(runs, 3, { count: 2 }));
    expect(start).toMatchObject({ tasks: whole.slice(0, 2), nextCursor: 2, done: false });
    expect(value(await evaluation(runs, 3, { cursor: 2 }))).toMatchObject({
      tasks: whole.slice(2),
      nextCursor: 5,
      done: true,
    });
    expect(value(await evaluation(runs, 3, { cursor: 9 }))).toMatchObject({ tasks: [], nextCursor: 5, done: true });
  });

  test("makes its tasks once", async () => {
    let makes = 0;
    const source = sourceOf(({ ordinal }) => {
      makes++;
      return made(`${ordinal}`);
    });
    const { runs } = bench({ source });
    value(await runs.create("run", config));
    for (const round of [1, 2, 2, 9]) value(await evaluation(runs, round));
    expect(makes).toBe(5);
  });

  test("goes up, and the last two are kept", async () => {
    const { runs } = await created();
    for (const round of [10, 20, 30]) value(await evaluation(runs, round));
    for (const round of [10, 25, 0]) {
      expect(await evaluation(runs, round)).toEqual({
        kind: "out_of_range",
        message: `round ${round} of evaluation arm "held-out" is not stored: round numbers must increase, and the stored rounds are 20 and 30`,
      });
    }
    expect((await evaluation(runs, 20)).kind).toBe("ok");
    // The other arm has rounds of its own.
    expect((await evaluation(runs, 1, { armId: "bench" })).kind).toBe("ok");
  });

  test("is of an evaluation arm of the run", async () => {
    const { runs } = await created();
    expect(await evaluation(runs, 0, { armId: "a" })).toEqual({
      kind: "invalid",
      field: "arm_id",
      message: '"a" is not an evaluation arm of the run: they are "held-out", "bench"',
    });
  });

  test("passes over ordinals without an instance, and says where there is none", async () => {
    const sparse = sourceOf(({ arm: { id }, ordinal }: Place) =>
      id === "bench" || ordinal === 3 ? { kind: "none", message: "nothing there" } : made(`${id}:${ordinal}`),
    );
    const { runs } = bench({ source: sparse });
    value(await runs.create("run", config));
    const hashes = value(await evaluation(runs, 0)).tasks.map(({ key }) => key.hash);
    expect(hashes).toEqual([0, 1, 2, 8, 4].map((ordinal) => `held-out:${ordinal}`));
    expect(await evaluation(runs, 0, { armId: "bench" })).toEqual({
      kind: "failed_precondition",
      message: 'evaluation arm "bench" cannot make its task number 0 in 8 tries: nothing there',
    });
  });

  test("is given while the run is paused and when it is over", async () => {
    const { runs } = await created({ ...config, length: 6 });
    value(await runs.pause("run"));
    expect(await feed(runs, itemsOf(value(await evaluation(runs, 1))))).not.toContain("not_recorded");
    value(await runs.resume("run"));
    await train(runs, "run", 1);
    expect((await stateOf(runs)).done).toBe(true);
    expect(await feed(runs, itemsOf(value(await evaluation(runs, 2))))).not.toContain("not_recorded");
  });
});

describe("a score of a round", () => {
  test("counts once, and while its round is kept", async () => {
    const { runs } = await created();
    const batch = value(await evaluation(runs, 1));
    const item = itemOf(batch, 2, 0);
    expect(await feed(runs, [item, item, { ...item, digest: "other" }])).toEqual([
      ...["recorded", "duplicate", "conflicting_completion"],
    ]);
    expect(await feed(runs, [item])).toEqual(["duplicate"]);
    expect(await feed(runs, [{ ...item, incarnation: "another" }])).toEqual(["stale_epoch"]);
    expect(value(await runs.recordFeedback("run", [itemOf(batch, 2, 2), itemOf(batch, 5, 0)]))).toEqual([
      { kind: "not_recorded", detail: "sample_index must be below num_generations, 2" },
      { kind: "not_recorded", detail: "the evaluation arm's set has no such task" },
    ]);
    for (const round of [2, 3]) value(await evaluation(runs, round));
    expect(value(await runs.recordFeedback("run", [itemOf(batch, 3, 0)]))).toEqual([
      { kind: "not_recorded", detail: "round 1 of the evaluation arm is no longer kept" },
    ]);
  });

  test("goes beside those of training and of other rounds, in one call", async () => {
    const { runs } = await created();
    const { tasks } = value(await ask(runs, "run", 0, 1));
    const [one, two] = [value(await evaluation(runs, 1)), value(await evaluation(runs, 2))];
    const { incarnation = "", cursor = 0 } = tasks[0] ?? {};
    const trained: FeedbackItem = {
      incarnation,
      cursor,
      sample: 0,
      digest: "t",
      result: { kind: "terminal", reason: "too_large" },
    };
    const items = [itemOf(one, 0, 0), trained, itemOf(two, 0, 0), itemOf(one, 0, 1), trained, itemOf(two, 0, 0)];
    expect(await feed(runs, items)).toEqual([
      ...["recorded", "recorded", "recorded", "recorded", "duplicate", "duplicate"],
    ]);
    expect((await roundsTold(runs)).map(({ samples }) => samples)).toEqual([2, 1]);
    expect((await stateOf(runs)).samplesRecorded).toBe(1);
  });

  test("is recorded in a run of reported advantages too", async () => {
    const { runs } = await created({ ...config, feedbackSource: "reported" });
    expect(new Set(await feed(runs, itemsOf(value(await evaluation(runs, 1)))))).toEqual(new Set(["recorded"]));
  });
});

describe("what is told of a round", () => {
  test("is its means as they come, in the state and in the history", async () => {
    const { runs, clock } = await created();
    await train(runs, "run", 2);
    const batch = value(await evaluation(runs, 40));
    const openedAtMs = clock.now();
    const base = { armId: "held-out", round: 40, cursor: 12, tasks: 5 };
    expect((await stateOf(runs)).evaluations).toEqual([{ ...base, samples: 0, withoutReward: 0, closed: false }]);
    await clock.advance(5000);
    const lost: FeedbackItem = { ...itemOf(batch, 1, 0), result: { kind: "terminal", reason: "too_large" } };
    await feed(runs, [itemOf(batch, 0, 0), itemOf(batch, 0, 1, 0.5), lost]);
    const live = { ...base, samples: 3, withoutReward: 1, rewardMean: 0.75, solvedShare: 0.5, closed: false };
    expect((await stateOf(runs)).evaluations).toEqual([live]);
    expect(await roundsTold(runs)).toEqual([
      { kind: "evaluation", ...live, epoch: 0, atMs: openedAtMs, rolledBack: false, seq: 2, isSettled: false },
    ]);
    await feed(runs, itemsOf(batch));
    expect(await roundsTold(runs)).toMatchObject([{ samples: 10, withoutReward: 1, closed: true, atMs: openedAtMs }]);
    value(await evaluation(runs, 50));
    expect((await stateOf(runs)).evaluations).toMatchObject([{ round: 50, samples: 0 }]);
  });

  test("stays as it was when two more have followed", async () => {
    const { runs } = await created();
    const batch = value(await evaluation(runs, 1));
    await feed(runs, [itemOf(batch, 4, 1)]);
    for (const round of [2, 3]) value(await evaluation(runs, round));
    const told = (await roundsTold(runs)).map(({ round, samples, closed }) => ({ round, samples, closed }));
    expect(told).toEqual([
      { round: 1, samples: 1, closed: false },
      { round: 2, samples: 0, closed: false },
      { round: 3, samples: 0, closed: false },
    ]);
  });

  test("is in a list, too, whether the run is in memory or not", async () => {
    const store = memoryStore();
    const { runs } = bench({ store });
    value(await runs.create("run", config));
    await feed(runs, itemsOf(value(await evaluation(runs, 1))));
    const here = await stateOf(runs);
    runs.close();
    const [listed] = listedViews(await bench({ store }).runs.list("", 10));
    expect(listed?.state.evaluations).toEqual(here.evaluations);
    expect(here.evaluations).toMatchObject([{ samples: 10, closed: true }]);
  });
});

describe("training", () => {
  const policies = [
    { name: "a bandit", run: config },
    { name: "stages", run: { ...config, policy: stagedPolicy(stage({ kind: "open" })) } },
    { name: "an unbounded lag", run: { ...config, lag: { kind: "unbounded" } } as const },
    { name: "a mixture", run: { ...config, policy: mixturePolicy(), length: 36 } },
  ];
  test.each(policies)("goes bit for bit as without evaluation: $name", async ({ run }) => {
    const alone = await created({ ...run, evaluationArms: [] });
    const beside = await created(run);
    for (let i = 0; i < 6; i++) {
      const batch = value(await evaluation(beside.runs, i));
      const items = itemsOf(batch);
      await feed(beside.runs, items.slice(0, 4));
      await train(beside.runs, "run", 1, 6 * i);
      await train(alone.runs, "run", 1, 6 * i);
      // A trainer may leave a round unfinished.
      if (i % 2 === 0) await feed(beside.runs, items);
    }
    const [one, other] = [await train(alone.runs, "run", 0), await train(beside.runs, "run", 0)];
    expect(other).toEqual(one);
    const tasks = async (runs: Runs) => value(await ask(runs, "run", 0, 36)).tasks;
    expect(await tasks(beside.runs)).toEqual(await tasks(alone.runs));
    const plain = async (runs: Runs) => ({ ...(await stateOf(runs)), version: 0, evaluations: [] });
    expect(await plain(beside.runs)).toEqual(await plain(alone.runs));
  });
});

describe("what is written of rounds", () => {
  test("leads to the same state by the journal and by a snapshot", async () => {
    const store = memoryStore();
    const { runs, clock } = bench({ store });
    value(await runs.create("run", config));
    await train(runs, "run", 1);
    const items = itemsOf(value(await evaluation(runs, 1)));
    await feed(runs, items.slice(0, 3));
    await feed(runs, items.slice(4, 7));
    await feed(runs, itemsOf(value(await evaluation(runs, 2, { armId: "bench" }))));
    const row = await store.find("run");
    const state = row && (await readState(store, row, freshTasks, clock));
    if (row === undefined || state === undefined) throw new Error("no run");
    expect(decodeState(savedState(state, freshTasks), freshTasks)).toEqual(state);
    const events = ((await store.read(row.key, 0)) ?? []).map((event) => eventFrom(readEvent(event), state, codecs));
    const solved = { kind: "reward", reward: 1, solved: true };
    const one = (cursor: number) => ({ cursor, indices: [0], digests: ["0"], results: [solved] });
    const two = (cursor: number) => ({
      cursor,
      indices: [0, 1],
      digests: ["0", "1"],
      results: [solved, { kind: "reward", reward: 0.1, solved: false }],
    });
    expect(events.filter(({ kind }) => kind.startsWith("evaluat"))).toEqual([
      { kind: "evaluationOpened", arm: 0, round: 1, atMs: 1_000_000 },
      { kind: "evaluated", arm: 0, round: 1, tasks: [two(0), one(1)] },
      { kind: "evaluated", arm: 0, round: 1, tasks: [two(2), one(3)] },
      { kind: "evaluationOpened", arm: 1, round: 2, atMs: 1_000_000 },
      { kind: "evaluated", arm: 1, round: 2, tasks: [one(0), one(1), one(2)] },
    ]);
  });

  test("is put back by an import, and what came later is undone", async () => {
    const { runs } = await created();
    await train(runs, "run", 1);
    const batch = value(await evaluation(runs, 1));
    await feed(runs, itemsOf(batch).slice(0, 4));
    const exported = value(await runs.export("run")).state;
    await feed(runs, itemsOf(batch));
    for (const round of [2, 3]) value(await evaluation(runs, round));
    value(await runs.import(exported, undefined));
    expect(await roundsTold(runs)).toMatchObject([
      { round: 1, samples: 4, closed: false, rolledBack: false },
      { round: 2, rolledBack: true },
      { round: 3, rolledBack: true },
    ]);
    expect(await feed(runs, [itemOf(batch, 4, 0)])).toEqual(["stale_epoch"]);
    const again = value(await evaluation(runs, 1));
    expect(again.epoch).toBe(1);
    expect(again.tasks).toEqual(batch.tasks);
    expect(await feed(runs, itemsOf(again))).toEqual([
      ...Array.from({ length: 4 }, () => "duplicate"),
      ...Array.from({ length: 6 }, () => "recorded"),
    ]);
    // Round 2 was undone: it can be opened again.
    expect((await evaluation(runs, 2)).kind).toBe("ok");
    expect(await roundsTold(runs)).toMatchObject([{ closed: true }, {}, {}, { round: 2, rolledBack: false, epoch: 1 }]);
  });
});

describe("an evaluation arm is refused", () => {
  const refused = async (evaluationArms: readonly EvaluationArm<Spec>[]) =>
    bench().runs.create("run", { ...config, evaluationArms });

  test("without an id of its own, without tasks, and where the sets are too large", async () => {
    expect(await refused([evaluationArm("a")])).toMatchObject({ field: "evaluation_arms[0].id" });
    expect(await refused([evaluationArm("x"), evaluationArm("x")])).toMatchObject({ field: "evaluation_arms[1].id" });
    expect(await refused([evaluationArm("x", 0)])).toMatchObject({ field: "evaluation_arms[0].tasks" });
    expect(await refused([evaluationArm("x", 65_536, 3), evaluationArm("y", 65_536, 2)])).toEqual({
      kind: "invalid",
      field: "evaluation_arms",
      message:
        "tasks × num_generations of all evaluation arms may be at most 262144 samples, not 327680: lower one of them",
    });
  });

  test("where the run is there with another", async () => {
    const { runs } = await created();
    const evaluationArms = [evaluationArm("held-out", 6), evaluationArm("bench", 3, 1)];
    expect(await runs.create("run", { ...config, evaluationArms })).toMatchObject({
      kind: "already_exists",
      field: "evaluation_arms[0].tasks",
    });
  });

  test("its id is no arm's that is added", async () => {
    const { runs } = await created();
    const none = { numGenerations: undefined, promptsPerUpdate: undefined, length: undefined, policy: undefined };
    expect(await runs.updateShape("run", { addArms: [arm("bench")], removeArms: [], ...none })).toMatchObject({
      kind: "invalid",
      field: "add_arms[0].id",
    });
  });
});
