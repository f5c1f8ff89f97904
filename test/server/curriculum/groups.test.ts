import { describe, expect, test } from "vitest";
import type { GroupSelection } from "../../../server/curriculum/groups.ts";
import { advantagesOf } from "../../../server/curriculum/advantages.ts";
import {
  answer,
  ask,
  batchesOf,
  bench,
  feedbackFor,
  freshTasks,
  mixturePolicy,
  runConfig,
  type Runs,
  type Task,
  type TaskSource,
  train,
  value,
} from "./support.ts";

async function started(more: Parameters<typeof runConfig>[0] = {}) {
  const { runs, clock } = bench();
  value(await runs.create("run", runConfig({ promptsPerUpdate: 3, ...more })));
  return { runs, clock };
}

function groups(runs: Runs, wanted: GroupSelection, more: { waitMs?: number; from?: number; limit?: number } = {}) {
  const { signal } = new AbortController();
  return runs.groups("run", { wanted, from: 0, limit: 100, waitMs: 0, signal, ...more });
}

const rewards = [1, 0.25, 0.5, 0];
const whole = (task: Task) => rewards.map((reward, sample) => feedbackFor(task, sample, reward));

describe("GetGroups", () => {
  test("of a closed group equal results are one object: a run keeps a thousand groups", async () => {
    const { runs } = await started();
    const { tasks } = value(await ask(runs, "run", 0, 3));
    const [task] = tasks as [Task];
    value(
      await runs.recordFeedback(
        "run",
        [1, 0, 1, 0].map((reward, sample) => feedbackFor(task, sample, reward)),
      ),
    );
    const { groups: found } = value(await groups(runs, { kind: "groups", refs: [task] }));
    const results = found[0]?.samples.map(({ result }) => result) ?? [];
    expect(results.map((result) => result.kind === "reward" && result.reward)).toEqual([1, 0, 1, 0]);
    expect(new Set(results).size).toBe(2);
  });

  test("tells what is open and which samples are missing, in pages, without changing anything", async () => {
    const { runs } = await started();
    const { tasks } = value(await ask(runs, "run", 0, 3));
    const [first, second, third] = tasks as [Task, Task, Task];
    value(await runs.recordFeedback("run", [...whole(second), feedbackFor(third, 2, 0.5)]));
    const before = value(await runs.get("run"));
    const found = value(await groups(runs, { kind: "open" }));
    expect(found.groups.map(({ task, missing, closed }) => [task, missing, closed])).toEqual([
      [first, [0, 1, 2, 3], false],
      [third, [0, 1, 3], false],
    ]);
    expect(found.groups[1]?.samples.map(({ index, rloo: of }) => [index, of])).toEqual([[2, undefined]]);
    const page = value(await groups(runs, { kind: "open" }, { limit: 1 }));
    expect([page.groups.length, page.next]).toEqual([1, 1]);
    expect(value(await groups(runs, { kind: "open" }, { from: 1 })).groups).toHaveLength(1);
    expect(value(await runs.get("run"))).toEqual(before);
  });

  test("gives rewards, statistics and advantages of a group once it is whole, and waits for that", async () => {
    const { runs, clock } = await started();
    const { tasks } = value(await ask(runs, "run", 0, 3));
    const [task] = tasks as [Task];
    const asked = groups(runs, { kind: "groups", refs: [task] }, { waitMs: 5000 });
    value(await runs.recordFeedback("run", whole(task).slice(0, 3)));
    await clock.advance(10);
    value(await runs.recordFeedback("run", whole(task).slice(3)));
    await clock.advance(1000);
    const [group] = value(await asked).groups;
    expect(group).toMatchObject({ closed: true, missing: [], useful: true, selected: true });
    expect(group?.samples.map(({ result }) => result)).toEqual(
      rewards.map((reward) => ({ kind: "reward", reward, solved: reward === 1 })),
    );
    expect(group?.samples.map((sample) => sample.rloo)).toEqual(advantagesOf(rewards, { min: 0, max: 1 }).rloo);
    expect(group?.samples.map((sample) => sample.grpo)).toEqual(advantagesOf(rewards, { min: 0, max: 1 }).grpo);
    expect(group?.statistics).toMatchObject({ count: 4, mean: 0.4375 });
  });

  test("gives what is known when the time is up, and leaves out what is of another incarnation", async () => {
    const { runs, clock } = await started();
    const { tasks } = value(await ask(runs, "run", 0, 3));
    const refs = [tasks[0] as Task, { ...(tasks[1] as Task), incarnation: "another" }];
    const asked = groups(runs, { kind: "groups", refs }, { waitMs: 500 });
    await clock.advance(1000);
    const found = value(await asked);
    expect(found.groups.map(({ closed, task }) => [closed, task.cursor])).toEqual([[false, 0]]);
  });

  test("a sample without a reward has no advantage, and its place in the others is kept", async () => {
    const { runs } = await started();
    const { tasks } = value(await ask(runs, "run", 0, 3));
    const [task] = tasks as [Task];
    const lost = { ...feedbackFor(task, 1), result: { kind: "terminal", reason: "timeout" } } as const;
    const [a, , c, d] = whole(task);
    value(
      await runs.recordFeedback(
        "run",
        [a, lost, c, d].flatMap((item) => item ?? []),
      ),
    );
    const [group] = value(await groups(runs, { kind: "groups", refs: [task] })).groups;
    const [one, three, four] = advantagesOf([1, 0.5, 0], { min: 0, max: 1 }).rloo;
    expect(group?.samples.map((sample) => sample.rloo)).toEqual([one, undefined, three, four]);
  });

  test("of an update batch that is not drawn, or closed long ago, is refused", async () => {
    const { runs } = await started({ policy: mixturePolicy() });
    expect(await groups(runs, { kind: "batch", batch: 0 })).toMatchObject({ kind: "out_of_range" });
    await train(runs, "run", 400);
    expect(await groups(runs, { kind: "batch", batch: 0 })).toMatchObject({ kind: "out_of_range" });
    expect(value(await groups(runs, { kind: "batch", batch: 399 })).groups).toHaveLength(3);
  });

  test("is the same after an export and an import, but for the incarnation", async () => {
    const { runs } = await started();
    const { tasks } = value(await ask(runs, "run", 0, 3));
    await answer(runs, "run", tasks.slice(0, 1));
    const plain = async () =>
      value(await groups(runs, { kind: "batch", batch: 0 })).groups.map(({ task, ...group }) => ({
        ...group,
        cursor: task.cursor,
      }));
    const before = await plain();
    value(await runs.import(value(await runs.export("run")).state, undefined));
    expect(await plain()).toEqual(before);
  });
});

describe("ReopenGroups", () => {
  test("opens a group that timed out: what it had stays, what is missing is taken", async () => {
    const { runs, clock } = await started({ groupTimeoutMs: 1000 });
    const { tasks } = value(await ask(runs, "run", 0, 3));
    const [task] = tasks as [Task];
    value(await runs.recordFeedback("run", whole(task).slice(0, 1)));
    await clock.advance(2000);
    const late = whole(task).slice(1);
    expect(value(await runs.recordFeedback("run", late))).toMatchObject(late.map(() => ({ kind: "not_recorded" })));
    expect(value(await runs.get("run")).state.batchesClosed).toBe(1);
    expect(value(await runs.reopenGroups("run", [task, task]))).toEqual([{ kind: "recorded" }, { kind: "duplicate" }]);
    expect(value(await runs.get("run")).state).toMatchObject({ batchesClosed: 0, groupsOutstanding: 1 });
    expect(value(await runs.recordFeedback("run", whole(task)))).toEqual([
      { kind: "duplicate" },
      ...late.map(() => ({ kind: "recorded" })),
    ]);
    expect(value(await runs.get("run")).state).toMatchObject({ batchesClosed: 1, samplesRecorded: 4 });
    const arm = value(await runs.get("run")).state.arms[task.arm];
    expect([arm?.groups, arm?.recentRewardMean]).toEqual([1, 0.4375]);
  });

  test("refuses what is whole, what a draw was made with, and what is another incarnation's", async () => {
    const { runs } = await started({ lag: { kind: "batches", count: 0 } });
    const { tasks } = value(await ask(runs, "run", 0, 3));
    const [first, second, third] = tasks as [Task, Task, Task];
    await answer(runs, "run", [first]);
    value(await runs.closeGroups("run", [second, third], "dropped"));
    const because = async (task: Task) => value(await runs.reopenGroups("run", [task]))[0];
    expect(await because(first)).toEqual({ kind: "not_recorded", detail: "the group already has all its results" });
    expect(await because({ ...second, incarnation: "another" })).toEqual({ kind: "stale_epoch" });
    expect(await because(second)).toEqual({ kind: "recorded" });
    expect(await because(second)).toEqual({ kind: "duplicate" });
    await answer(runs, "run", [second]);
    value(await ask(runs, "run", 3, 3));
    expect(await because(third)).toEqual({
      kind: "not_recorded",
      detail: "a later draw has already used the group",
    });
  });

  test("a draw that is being made when a group opens again is made with what the group comes to then", async () => {
    const waiting: (() => void)[] = [];
    let holds = false;
    const source: TaskSource = {
      ...freshTasks,
      make: async (places, ...rest) => {
        if (holds) await new Promise<void>((resolve) => waiting.push(resolve));
        return freshTasks.make(places, ...rest);
      },
    };
    const { runs } = bench({ source });
    value(await runs.create("run", runConfig({ promptsPerUpdate: 3, lag: { kind: "batches", count: 0 } })));
    const { tasks } = value(await ask(runs, "run", 0, 3));
    const [first, ...others] = tasks as [Task, ...Task[]];
    await answer(runs, "run", others);
    value(await runs.closeGroups("run", [first], "dropped"));
    holds = true;
    const drawing = ask(runs, "run", 3, 3);
    await expect.poll(() => waiting.length).toBeGreaterThan(0);
    holds = false;
    expect(value(await runs.reopenGroups("run", [first]))).toEqual([{ kind: "recorded" }]);
    value(await runs.recordFeedback("run", whole(first)));
    for (const go of waiting) go();
    value(await drawing);
    // The signal of the late group is in the arm's value, as if the draw had come after it.
    const calm = bench().runs;
    value(await calm.create("run", runConfig({ promptsPerUpdate: 3, lag: { kind: "batches", count: 0 } })));
    const again = value(await ask(calm, "run", 0, 3)).tasks;
    await answer(calm, "run", again.slice(1));
    value(await calm.recordFeedback("run", whole(again[0] as Task)));
    value(await ask(calm, "run", 3, 3));
    expect((await batchesOf(runs, "run"))[1]?.values).toEqual((await batchesOf(calm, "run"))[1]?.values);
  });
});
