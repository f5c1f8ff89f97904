import { describe, expect, test } from "vitest";
import type { NewShape } from "../../../server/curriculum/decide-shape.ts";
import {
  answer,
  arm,
  ask,
  batchesOf,
  bench,
  savedState,
  feedbackFor,
  freshTasks,
  mixturePolicy,
  runConfig,
  type Runs,
  stage,
  stagedPolicy,
  train,
  value,
} from "./support.ts";
import { decodeState, follow } from "../../support/follow.ts";

const same: NewShape<{ readonly id: string }> = {
  addArms: [],
  removeArms: [],
  numGenerations: undefined,
  promptsPerUpdate: undefined,
  length: undefined,
  policy: undefined,
};

async function started(more: Parameters<typeof runConfig>[0] = {}) {
  const all = bench();
  value(await all.runs.create("run", runConfig(more)));
  return all;
}

const shapes = (runs: Runs, more: Partial<typeof same>) => runs.updateShape("run", { ...same, ...more });

describe("a change of shape", () => {
  test("adds arms, which are drawn from then on, while the others keep what is known of them", async () => {
    const { runs } = await started();
    await train(runs, "run", 10);
    const before = value(await runs.get("run")).state;
    expect(value(await shapes(runs, { addArms: [arm("d")] }))).toMatchObject({ appliesFromCursor: 60 });
    const after = value(await runs.get("run")).state;
    expect(after.arms.slice(0, 3)).toEqual(before.arms);
    // A new arm begins with the mean value of the others, so that it is neither preferred nor avoided.
    const mean = before.arms.reduce((sum, { value: of }) => sum + of, 0) / 3;
    expect(after.arms[3]).toMatchObject({ armId: "d", issued: 0, value: mean, probability: 0 });
    await train(runs, "run", 10, 60);
    const records = await batchesOf(runs, "run");
    expect(records.slice(0, 10).every(({ counts }) => counts.length === 3)).toBe(true);
    expect(records.slice(10).every(({ probabilities }) => (probabilities[3] ?? 0) > 0)).toBe(true);
    expect(value(await runs.get("run")).state.arms[3]?.issued).toBeGreaterThan(0);
  });

  test("removes arms for good: they are not drawn, no weight brings them back, their open groups still count", async () => {
    const { runs } = await started();
    const { tasks } = value(await ask(runs, "run", 0, 6));
    value(await shapes(runs, { removeArms: ["b"] }));
    await answer(runs, "run", tasks);
    const later = await train(runs, "run", 20, 6);
    expect(later.tasks.some((task) => task.arm === 1)).toBe(false);
    expect(value(await runs.get("run")).state.arms[1]).toMatchObject({ removed: true, weight: 0 });
    expect(await runs.setWeights("run", { b: 1 })).toMatchObject({ kind: "invalid", field: 'weights["b"]' });
    expect(await shapes(runs, { removeArms: ["b"] })).toMatchObject({ kind: "invalid", field: "remove_arms[0]" });
    expect(await shapes(runs, { addArms: [arm("b")] })).toMatchObject({ kind: "invalid", field: "arms[3].id" });
    expect(await shapes(runs, { removeArms: ["a", "c"] })).toMatchObject({ kind: "invalid" });
  });

  test("changes generations and prompts from the next update batch; what is out stays as it is", async () => {
    const { runs } = await started({ length: 30 });
    const { tasks } = value(await ask(runs, "run", 0, 6));
    value(await shapes(runs, { numGenerations: 2, promptsPerUpdate: 4, length: 14 }));
    expect(value(await runs.recordFeedback("run", [feedbackFor(tasks[0] as (typeof tasks)[0], 3)]))).toEqual([
      { kind: "recorded" },
    ]);
    for (const task of tasks)
      value(
        await runs.recordFeedback(
          "run",
          [0, 1, 2, 3].map((sample) => feedbackFor(task, sample)),
        ),
      );
    const next = value(await ask(runs, "run", 6, 100));
    expect(next.tasks.map(({ cursor, numGenerations }) => [cursor, numGenerations])).toEqual([
      ...[6, 7, 8, 9].map((cursor) => [cursor, 2]),
      ...[10, 11, 12, 13].map((cursor) => [cursor, 2]),
    ]);
    expect(next.done).toBe(true);
    const statuses = value(await runs.recordFeedback("run", [feedbackFor(next.tasks[0] as (typeof tasks)[0], 2)]));
    expect(statuses).toEqual([{ kind: "not_recorded", detail: "sample_index must be below num_generations, 2" }]);
    expect(await shapes(runs, { length: 9 })).toMatchObject({ kind: "invalid", field: "length" });
    // The creator asks again with the configuration that the run was created with, and finds the run.
    expect(value(await runs.create("run", runConfig({ length: 30 }))).created).toBe(false);
  });

  test("takes a policy for the new arms, and refuses a shape that does not go with the one there is", async () => {
    const { runs } = await started({ policy: stagedPolicy(stage({ kind: "open" }, { a: 1 })) });
    expect(await shapes(runs, { removeArms: ["a"] })).toMatchObject({ kind: "invalid" });
    value(await shapes(runs, { removeArms: ["a"], addArms: [arm("d")], policy: mixturePolicy() }));
    const { tasks } = await train(runs, "run", 6);
    expect(new Set(tasks.map((task) => task.arm))).toEqual(new Set([1, 2, 3]));
  });

  test("is held to the constraints in the last batch of what is left", async () => {
    const constraints = { realShareMin: 0.5, syntheticShareMax: 1, hardShareMin: 0.25, hardWarmupBatches: 0 };
    const arms = [arm("real", { source: "real" }), arm("hard", { hard: true })];
    const policy = mixturePolicy(constraints);
    const { runs } = await started({ arms, policy, promptsPerUpdate: 3, length: 24 });
    await train(runs, "run", 1);
    // 21 are left: five batches of 4 and one of 1, which has no room for a real task and a hard one.
    const refused = { kind: "invalid", field: "policy.constraints.hard_share_min" };
    expect(await shapes(runs, { promptsPerUpdate: 4 })).toMatchObject(refused);
    expect((await shapes(runs, { promptsPerUpdate: 4, length: 25 })).kind).toBe("ok");
    const updated = await runs.updatePolicy("run", mixturePolicy({ ...constraints, hardShareMin: 0.5 }));
    expect(updated.kind).toBe("ok");
  });

  test("is in the journal, in an export and in the history", async () => {
    const { runs, store } = await started();
    await train(runs, "run", 2);
    value(await shapes(runs, { addArms: [arm("d")], removeArms: ["a"], numGenerations: 3, promptsPerUpdate: 5 }));
    const { tasks } = value(await ask(runs, "run", 12, 5));
    await answer(runs, "run", tasks.slice(0, 2));
    const key = (await store.find("run"))?.key ?? -1;
    const state = follow(undefined, (await store.read(key, 0)) ?? [], freshTasks);
    if (state === undefined) throw new Error("there is no journal");
    value(await runs.import(value(await runs.export("run")).state, "copy"));
    const copied = value(await runs.get("copy"));
    expect(copied.state.arms).toEqual(value(await runs.get("run")).state.arms);
    expect(copied.config).toEqual(value(await runs.get("run")).config);
    expect(decodeState(savedState(state, freshTasks), freshTasks).config.numGenerations).toBe(3);
    const { items } = value(await runs.history("run", 0, 100));
    const shape = { numGenerations: 3, promptsPerUpdate: 5, length: 0 };
    expect(items.filter(({ kind }) => kind === "control")).toMatchObject([{ control: "shape", cursor: 12, shape }]);
    expect(value(await runs.get("run")).state.shape).toEqual(shape);
  });
});

describe("late feedback", () => {
  test("that is dropped leaves values as they are, and is recorded all the same", async () => {
    const play = async (batchesMax: number) => {
      const lateFeedback = { batchesMax, weight: 0 };
      const { runs } = await started({ lag: { kind: "unbounded" }, lateFeedback });
      const { tasks } = value(await ask(runs, "run", 0, 6));
      value(await ask(runs, "run", 6, 12));
      await answer(runs, "run", tasks);
      value(await ask(runs, "run", 18, 6));
      return value(await runs.get("run")).state;
    };
    const [dropped, taken] = [await play(1), await play(2)];
    expect(dropped.arms.map((one) => one.value)).toEqual([0, 0, 0]);
    expect(taken.arms.some((one) => one.value > 0)).toBe(true);
    expect([dropped.samplesRecorded, taken.samplesRecorded]).toEqual([24, 24]);
  });
});

test("reported advantages are as many as their own update batch has generations", async () => {
  const { runs } = await started({ feedbackSource: "reported" });
  const [task] = value(await ask(runs, "run", 0, 1)).tasks;
  const { incarnation, cursor } = task as NonNullable<typeof task>;
  value(await shapes(runs, { numGenerations: 2 }));
  const report = (advantages: readonly number[]) =>
    runs.reportAdvantages("run", [{ incarnation, cursor, advantages, rewardMean: undefined }]);
  const many = { kind: "not_recorded", detail: "more advantages than num_generations, 4" };
  expect(value(await report([1, -1, 1, -1, 1]))).toEqual([many]);
  expect(value(await report([1, -1, 1, -1]))).toEqual([{ kind: "recorded" }]);
});
