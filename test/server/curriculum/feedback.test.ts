import { describe, expect, test } from "vitest";
import type { FeedbackItem } from "../../../server/curriculum/feedback.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import type { Store } from "../../../server/stores/store.ts";
import {
  ask,
  bench,
  feedbackFor,
  mixturePolicy,
  runConfig,
  settled,
  train,
  value,
  type Runs,
  type Task,
} from "./support.ts";

async function started(more: Parameters<typeof runConfig>[0] = {}) {
  const { runs, store } = bench();
  value(await runs.create("run", runConfig(more)));
  const { tasks } = value(await ask(runs, "run", 0, 6));
  return { runs, store, tasks, first: tasks[0] as Task, second: tasks[1] as Task };
}

async function send(runs: Runs, ...items: FeedbackItem[]): Promise<readonly string[]> {
  const statuses = value(await runs.recordFeedback("run", items));
  return statuses.map((status) => (status.kind === "not_recorded" ? status.detail : status.kind));
}

const stateOf = async (runs: Runs) => value(await runs.get("run")).state;

describe("the first write of a sample wins", () => {
  test("a retry is a duplicate, another completion conflicts, and neither changes anything", async () => {
    const { runs, first } = await started();
    const item = feedbackFor(first, 0, 1);
    expect(await send(runs, item)).toEqual(["recorded"]);
    const { version } = await stateOf(runs);
    const other = { ...item, digest: "other", result: { kind: "reward", reward: 0, solved: false } } as const;
    expect(await send(runs, item, other)).toEqual(["duplicate", "conflicting_completion"]);
    expect((await stateOf(runs)).version).toBe(version);
    expect((await stateOf(runs)).samplesRecorded).toBe(1);
  });

  test("within one call and across calls at once", async () => {
    const { runs, first, second } = await started();
    const item = feedbackFor(first, 1, 1);
    expect(await send(runs, item, item, { ...item, digest: "other" })).toEqual([
      "recorded",
      "duplicate",
      "conflicting_completion",
    ]);
    const same = feedbackFor(second, 0, 1);
    const statuses = await Promise.all([send(runs, same), send(runs, same), send(runs, same)]);
    expect(statuses.flat().sort()).toEqual(["duplicate", "duplicate", "recorded"]);
  });

  test("also after the group has closed, for as long as it is kept", async () => {
    const { runs, first } = await started();
    const items = [0, 1, 2, 3].map((sample) => feedbackFor(first, sample, 1));
    expect(await send(runs, ...items)).toEqual(["recorded", "recorded", "recorded", "recorded"]);
    expect(await send(runs, ...items.slice(0, 1), { ...feedbackFor(first, 1), digest: "other" })).toEqual([
      "duplicate",
      "conflicting_completion",
    ]);
  });

  test("a terminal reason is a first write too", async () => {
    const { runs, first } = await started();
    const lost = { ...feedbackFor(first, 0), result: { kind: "terminal", reason: "timeout" } } as const;
    expect(await send(runs, lost)).toEqual(["recorded"]);
    expect(await send(runs, feedbackFor(first, 0), { ...feedbackFor(first, 0), digest: "other" })).toEqual([
      "duplicate",
      "conflicting_completion",
    ]);
  });
});

describe("a group closes", () => {
  const signalOf = async (results: readonly FeedbackItem["result"][]) => {
    const { runs, tasks, first } = await started({ numGenerations: 4, lag: { kind: "batches", count: 0 } });
    const items = results.map((result, sample) => ({ ...feedbackFor(first, sample), result }));
    await send(runs, ...items);
    await runs.closeGroups("run", tasks.slice(1), "only the first counts");
    value(await ask(runs, "run", 6, 6));
    const { arms } = await stateOf(runs);
    return arms[first.arm]?.value ?? NaN;
  };
  const won = { kind: "reward", reward: 1, solved: true } as const;
  const failed = { kind: "reward", reward: 0, solved: false } as const;
  const none = { kind: "terminal", reason: "too_large" } as const;

  test("with the signal of the rewards that it has", async () => {
    expect(await signalOf([won, failed, failed, failed])).toBeCloseTo(0.15 * 0.5, 12);
    // Three rewards: |A| is 1, 1/2 and 1/2.
    expect(await signalOf([won, none, failed, failed])).toBeCloseTo(0.15 * (2 / 3), 12);
    expect(await signalOf([none, won, none, failed])).toBeCloseTo(0.15, 12);
  });

  test("without a signal where it has fewer than two rewards", async () => {
    expect(await signalOf([won, none, none, none])).toBe(0);
    expect(await signalOf([none, none, none, none])).toBe(0);
  });

  test("by force with what it has, once", async () => {
    const { runs, first, second } = await started();
    await send(runs, feedbackFor(first, 0, 1), feedbackFor(first, 2, 0));
    const close = async (...groups: Task[]) => value(await runs.closeGroups("run", groups, "dropped"));
    expect(await close(first, second, first)).toEqual([
      { kind: "recorded" },
      { kind: "recorded" },
      { kind: "duplicate" },
    ]);
    expect(await close(first)).toEqual([{ kind: "duplicate" }]);
    expect(await send(runs, feedbackFor(first, 0, 1), feedbackFor(first, 1, 1))).toEqual([
      "duplicate",
      "the group was closed",
    ]);
    const { groupsOutstanding, samplesRecorded } = await stateOf(runs);
    expect({ groupsOutstanding, samplesRecorded }).toEqual({ groupsOutstanding: 4, samplesRecorded: 2 });
  });
});

describe("what cannot count says why", () => {
  test("positions, samples, rewards and instances that are not the run's", async () => {
    const { runs, first } = await started();
    const item = feedbackFor(first, 0);
    expect(await send(runs, { ...item, cursor: 6 })).toEqual(["the run has not issued this task"]);
    expect(await send(runs, { ...item, cursor: -1 })).toEqual(["the cursor is not the position of a task"]);
    expect(await send(runs, { ...item, cursor: 0.5 })).toEqual(["the cursor is not the position of a task"]);
    expect(await send(runs, { ...item, incarnation: "another" })).toEqual(["stale_epoch"]);
    expect(await send(runs, { ...item, sample: 4 })).toEqual(["sample_index must be below num_generations, 4"]);
    const infinite = { kind: "reward", reward: Infinity, solved: false } as const;
    const limits = "must be in [-1000000000, 1000000000]";
    expect(await send(runs, { ...item, result: infinite })).toEqual([`the reward ${limits}, not Infinity`]);
    const huge = { ...infinite, reward: -1e300 };
    expect(await send(runs, { ...item, result: huge })).toEqual([`the reward ${limits}, not -1e+300`]);
    expect(await send(runs, { ...item, hash: "another" })).toEqual([
      "the run has another task at this position: send the task's own group_id",
    ]);
    expect(await send(runs, { ...item, hash: first.key.hash })).toEqual(["recorded"]);
  });

  test("groups that were closed so long ago that nothing of them is kept", async () => {
    const { runs, first } = await started({ numGenerations: 1, policy: mixturePolicy() });
    const cursor = (await train(runs, "run", 1024 / 6)).tasks.length;
    // The last 1,024 tasks that are closed, whatever the size of an update batch.
    expect(await send(runs, feedbackFor(first, 0))).toEqual(["duplicate"]);
    expect((await ask(runs, "run", 0, 6)).kind).toBe("ok");
    await train(runs, "run", 4, cursor);
    expect(await send(runs, feedbackFor(first, 0))).toEqual(["the group was closed long ago"]);
    expect(value(await runs.closeGroups("run", [first], ""))).toEqual([{ kind: "duplicate" }]);
    expect((await ask(runs, "run", 0, 6)).kind).toBe("out_of_range");
  });

  test("a run that is not there", async () => {
    const { runs, first } = await started();
    expect((await runs.recordFeedback("other", [feedbackFor(first, 0)])).kind).toBe("not_found");
  });
});

describe("reported advantages", () => {
  test("close groups with the trainer's numbers over the span of the rewards", async () => {
    const config = { feedbackSource: "reported", lag: { kind: "batches", count: 0 } } as const;
    const { runs, tasks, first } = await started(config);
    expect(await send(runs, feedbackFor(first, 0))).toEqual([
      "the run takes reported advantages, not results: call ReportAdvantages",
    ]);
    const report = (task: Task, advantages: number[], rewardMean?: number) => ({
      ...task,
      advantages,
      rewardMean,
    });
    const reports = tasks.map((task) => report(task, task.arm === first.arm ? [1, -0.5, -0.5] : [], 0.25));
    const statuses = value(await runs.reportAdvantages("run", [...reports, report(first, [9])]));
    expect(statuses.map(({ kind }) => kind)).toEqual([...tasks.map(() => "recorded"), "duplicate"]);
    value(await ask(runs, "run", 6, 6));
    const { arms } = await stateOf(runs);
    const learned = arms.map(({ value: q }) => q);
    expect(learned[first.arm]).toBeCloseTo(0.15 * (2 / 3), 12);
    expect(learned.filter((q) => q !== 0)).toHaveLength(1);
    expect(arms[first.arm]?.recentRewardMean).toBe(0.25);
    expect(arms[first.arm]?.recentSolvedShare).toBeUndefined();
  });

  test("must be of a size that no sum makes infinite, and no more than the group has samples", async () => {
    const { runs, first } = await started({ feedbackSource: "reported" });
    const tell = async (advantages: number[], rewardMean?: number) =>
      value(await runs.reportAdvantages("run", [{ ...first, advantages, rewardMean }]))[0];
    const refused = (what: string) => ({
      kind: "not_recorded",
      detail: what.replace("LIMITS", "must be in [-1000000000, 1000000000]"),
    });
    expect(await tell([NaN])).toEqual(refused("advantages[0] LIMITS, not NaN"));
    expect(await tell([0, 1e308])).toEqual(refused("advantages[1] LIMITS, not 1e+308"));
    expect(await tell([], -2e9)).toEqual(refused("reward_mean LIMITS, not -2000000000"));
    expect(await tell([1, 2, 3, 4, 5])).toEqual({
      kind: "not_recorded",
      detail: "more advantages than num_generations, 4",
    });
    expect(await tell([])).toEqual({ kind: "recorded" });
  });

  test("are refused by a run that takes steps", async () => {
    const { runs } = await started();
    expect((await runs.reportAdvantages("run", [])).kind).toBe("failed_precondition");
  });
});

test("calls at the same time are written as one, each with its own answer", async () => {
  const { runs, store, tasks } = await started();
  const before = (await store.find("run"))?.version ?? 0;
  const calls = tasks.map((task) => send(runs, feedbackFor(task, 0), feedbackFor(task, 0)));
  expect(await Promise.all(calls)).toEqual(tasks.map(() => ["recorded", "duplicate"]));
  expect((await store.find("run"))?.version).toBe(before + 1);
});

test("calls that come while the run is written to are written as one after that", async () => {
  const memory = memoryStore();
  let held = Promise.resolve();
  const append: Store["append"] = (key, change) => held.then(() => memory.append(key, change));
  const { runs, store } = bench({ store: { ...memory, append } });
  value(await runs.create("run", runConfig()));
  const { tasks } = value(await ask(runs, "run", 0, 6));
  const before = (await store.find("run"))?.version ?? 0;
  const writing = Promise.withResolvers<void>();
  held = writing.promise;
  const calls: Promise<readonly string[]>[] = [];
  for (const task of tasks) {
    calls.push(send(runs, feedbackFor(task, 0)));
    await settled();
  }
  writing.resolve();
  expect(await Promise.all(calls)).toEqual(tasks.map(() => ["recorded"]));
  expect((await store.find("run"))?.version).toBe(before + 2);
});
