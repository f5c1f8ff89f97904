import { describe, expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { hashKey } from "../../../envs/lib/rng.ts";
import type { FeedbackItem } from "../../../server/curriculum/feedback.ts";
import {
  arm,
  ask,
  banditPolicy,
  batchesOf,
  bench,
  feedbackFor,
  mixturePolicy,
  runConfig,
  type RunConfig,
  type Runs,
  type Task,
  value,
} from "./support.ts";

const config: RunConfig = runConfig({
  promptsPerUpdate: 4,
  dynamicSampling: { oversampleMax: 2.5, alike: "rewards" },
});

/** Returns rewards that solve two of five groups in all samples and one in none; the other two are mixed. */
function rewardsOf({ key }: Task): readonly number[] {
  const kind = Number.parseInt(hashKey(key.hash).slice(0, 6), 16) % 5;
  if (kind < 2) return [1, 1, 1, 1];
  return kind === 2 ? [0, 0, 0, 0] : [1, 0, 1, 0];
}

function isMixed(task: Task): boolean {
  return new Set(rewardsOf(task)).size > 1;
}

function results(tasks: readonly Task[]): FeedbackItem[] {
  return tasks.flatMap((task) => rewardsOf(task).map((reward, sample) => feedbackFor(task, sample, reward)));
}

async function created(more: Partial<RunConfig> = {}) {
  const { runs } = bench();
  value(await runs.create("run", { ...config, ...more }));
  return runs;
}

/** Answers all tasks of a cursor's update batch, each before more are requested. */
async function throughBatch(runs: Runs, from: number) {
  const tasks: Task[] = [];
  let cursor = from;
  for (;;) {
    const given = value(await ask(runs, "run", cursor, 4));
    if (given.tasks.length === 0 || given.tasks[0]?.batch !== (tasks[0] ?? given.tasks[0])?.batch)
      return { tasks, cursor };
    value(await runs.recordFeedback("run", results(given.tasks)));
    tasks.push(...given.tasks);
    cursor = given.nextCursor;
  }
}

async function groupsOf(runs: Runs, batch: number) {
  const { signal } = new AbortController();
  const wanted = { kind: "batch", batch } as const;
  return value(await runs.groups("run", { wanted, from: 0, limit: 100, waitMs: 0, signal })).groups;
}

describe("an update batch with a reserve", () => {
  test("gives one more task for each useless group, until enough are useful or the reserve is used up", async () => {
    const runs = await created({ lag: { kind: "batches", count: 0 } });
    let cursor = 0;
    const seen = { enough: 0, short: 0 };
    for (let batch = 0; batch < 30; batch++) {
      const { tasks, cursor: next } = await throughBatch(runs, cursor);
      expect(tasks.map((task) => task.cursor)).toEqual(tasks.map((_, i) => 10 * batch + i));
      const useful = tasks.filter(isMixed);
      if (useful.length === 4) {
        seen.enough++;
        expect(isMixed(tasks.at(-1) as Task) || tasks.length === 4).toBe(true);
      } else {
        seen.short++;
        expect(tasks).toHaveLength(10);
        expect(useful.length).toBeLessThan(4);
      }
      const groups = await groupsOf(runs, batch);
      expect(groups.map(({ task, useful: is, selected }) => [task.cursor, is, selected])).toEqual(
        tasks.map((task) => [task.cursor, isMixed(task), isMixed(task)]),
      );
      const [record] = (await batchesOf(runs, "run")).slice(batch, batch + 1);
      expect(record).toMatchObject({ prompts: 4, released: tasks.length, useful: useful.length, closed: true });
      expect(record?.counts.reduce((sum, count) => sum + count, 0)).toBe(10);
      cursor = next;
      // Prompts that were passed over have no tasks, so the next task belongs to the next batch.
      cursor = 10 * (batch + 1);
    }
    expect(Math.min(seen.enough, seen.short)).toBeGreaterThan(2);
  });

  test("comes to the same however feedback is ordered, cut and asked for, and batches overlap", async () => {
    const play = async (order: string) => {
      const runs = await created({ length: 40 });
      const waiting: FeedbackItem[] = [];
      const tasks = new Map<number, Task>();
      const rng = rngFor("order", order);
      for (;;) {
        const given = await ask(runs, "run", undefined, 1 + rng.int(0, 4));
        if (given.kind === "ok") {
          for (const task of given.value.tasks) tasks.set(task.cursor, task);
          waiting.push(...rng.shuffle([...results(given.value.tasks)]));
        }
        if (given.kind === "ok" && given.value.done && waiting.length === 0) break;
        const count = given.kind === "ok" ? rng.int(0, 7) : rng.int(1, 8);
        const sent = rng.shuffle([...waiting]).slice(0, count);
        for (const item of sent) waiting.splice(waiting.indexOf(item), 1);
        if (sent.length > 0) value(await runs.recordFeedback("run", sent));
      }
      const state = value(await runs.get("run")).state;
      const all = [...tasks.values()].sort((a, b) => a.cursor - b.cursor);
      return { all, batches: await batchesOf(runs, "run"), done: state.done, arms: state.arms };
    };
    const first = await play("first");
    expect(first.done).toBe(true);
    expect(first.batches).toHaveLength(10);
    for (const order of ["second", "third", "fourth"]) expect(await play(order)).toEqual(first);
  });

  test("tells what is selected as soon as it is settled, and nothing before", async () => {
    const runs = await created();
    const { tasks } = value(await ask(runs, "run", 0, 4));
    const mixed = tasks.map((task) => feedbackFor(task, 0, 1)).concat(tasks.map((task) => feedbackFor(task, 1, 0)));
    const rest = (task: Task) => [2, 3].map((sample) => feedbackFor(task, sample, 1));
    value(await runs.recordFeedback("run", mixed));
    value(await runs.recordFeedback("run", [...rest(tasks[0] as Task), ...rest(tasks[2] as Task)]));
    const selected = async () => (await groupsOf(runs, 0)).map((group) => group.selected);
    expect(await selected()).toEqual([true, false, false, false]);
    value(await runs.recordFeedback("run", rest(tasks[1] as Task)));
    expect(await selected()).toEqual([true, true, true, false]);
  });

  test("takes no feedback for a task that it has not given out", async () => {
    const runs = await created();
    const { tasks } = value(await ask(runs, "run", 0, 4));
    const ahead = feedbackFor({ ...(tasks[0] as Task), cursor: 5 }, 0, 1);
    expect(value(await runs.recordFeedback("run", [ahead]))).toEqual([
      { kind: "not_recorded", detail: "the task is a spare one (reserve) that was not handed out" },
    ]);
  });

  test("is short at the end of a run, and closes what time runs out for as useless", async () => {
    const { runs, clock } = bench();
    value(await runs.create("run", { ...config, length: 6, groupTimeoutMs: 1000, policy: banditPolicy() }));
    const first = value(await ask(runs, "run", 0, 4));
    const last = value(await ask(runs, "run", 10, 4));
    expect(last.tasks.map(({ cursor }) => cursor)).toEqual([10, 11]);
    expect(value(await ask(runs, "run", 15, 4))).toMatchObject({ done: true, tasks: [] });
    await clock.advance(2000);
    // Groups that are closed without rewards are useless: as many tasks come from the reserve.
    expect(value(await ask(runs, "run", first.nextCursor, 9)).tasks.map(({ cursor }) => cursor)).toEqual([4, 5, 6, 7]);
  });
});

test("without a cursor a task of the reserve is given alone, and none that others have", async () => {
  const runs = await created({ dynamicSampling: { oversampleMax: 1.25, alike: "rewards" }, policy: mixturePolicy() });
  const first = value(await ask(runs, "run", undefined, 4)).tasks;
  const second = value(await ask(runs, "run", undefined, 4)).tasks;
  expect([...first, ...second].map(({ cursor }) => cursor)).toEqual([0, 1, 2, 3, 5, 6, 7, 8]);
  const alike = [0, 1, 2, 3].map((sample) => feedbackFor(first[0] as Task, sample, 1));
  value(await runs.recordFeedback("run", alike));
  expect(value(await ask(runs, "run", undefined, 4)).tasks.map(({ cursor }) => cursor)).toEqual([4]);
  expect(value(await ask(runs, "run", undefined, 4)).tasks.map(({ cursor }) => cursor)).toEqual([10, 11, 12, 13]);
});

test("a task of the reserve that nobody asks for does not keep those behind it from timing out", async () => {
  const { runs, clock } = bench();
  const more = { groupTimeoutMs: 1000, policy: mixturePolicy() };
  value(await runs.create("run", { ...config, ...more }));
  const first = value(await ask(runs, "run", 0, 4)).tasks;
  value(await ask(runs, "run", 10, 4));
  const alike = first.flatMap((task) => [0, 1, 2, 3].map((sample) => feedbackFor(task, sample, 1)));
  value(await runs.recordFeedback("run", alike));
  await clock.advance(2000);
  expect((await groupsOf(runs, 1)).filter(({ closed }) => closed)).toHaveLength(4);
});

test("solved alike is another question than rewarded alike", async () => {
  const runs = await created({ dynamicSampling: { oversampleMax: 2, alike: "solved" } });
  const { tasks } = value(await ask(runs, "run", 0, 4));
  // All samples fail, with rewards that differ.
  const items = tasks.flatMap((task) => [0.1, 0.2, 0.3, 0.4].map((reward, i) => feedbackFor(task, i, reward)));
  value(await runs.recordFeedback("run", items));
  expect((await groupsOf(runs, 0)).map(({ useful }) => useful)).toEqual(new Array<boolean>(8).fill(false));
});

describe("groups that only rounding tells apart", () => {
  /** Plays one update batch in which every group has rewards of 0.1 + 0.2 and 0.3. */
  async function noisy(more: Partial<RunConfig>) {
    const { runs, store } = bench();
    const rows = { lag: { kind: "batches", count: 0 } as const, arms: [arm("a", { rewardRange: { min: 0, max: 1 } })] };
    value(await runs.create("run", { ...config, ...rows, policy: banditPolicy(), ...more }));
    const { tasks } = value(await ask(runs, "run", 0, 4));
    const rewards = [0.1 + 0.2, 0.3, 0.1 + 0.2, 0.3];
    const items = tasks.flatMap((task) => rewards.map((reward, sample) => feedbackFor(task, sample, reward)));
    value(await runs.recordFeedback("run", items));
    const groups = await groupsOf(runs, 0);
    return { runs, store, groups };
  }

  test("are of no use, are replaced, and move no arm", async () => {
    const { runs, groups } = await noisy({ ignoresRounding: true });
    expect(groups.map(({ closed, useful }) => closed && useful)).toEqual(new Array(8).fill(false));
    expect(groups.filter(({ closed }) => !closed)).toHaveLength(4);
    for (const { samples, statistics } of groups.slice(0, 4)) {
      expect(statistics?.std).toBe(0);
      expect(samples.flatMap(({ rloo, grpo }) => [rloo, grpo]).every((advantage) => advantage === 0)).toBe(true);
    }
    expect(value(await runs.get("run")).state.arms[0]?.value).toBe(0);
  });

  test("in a run of a server that told them apart, are as they were, and are so after a restart", async () => {
    for (const ignoresRounding of [undefined, true]) {
      const { runs, store, groups } = await noisy(ignoresRounding === undefined ? {} : { ignoresRounding });
      expect(groups).toHaveLength(ignoresRounding ? 8 : 4);
      const again = bench({ store }).runs;
      expect(await groupsOf(again, 0)).toEqual(groups);
      expect(value(await again.get("run"))).toEqual(value(await runs.get("run")));
      expect(value(await ask(again, "run", 4, 4))).toEqual(value(await ask(runs, "run", 4, 4)));
      // A trainer that creates its run again finds it, whichever server created it.
      const now = { ...value(await again.get("run")).config, ignoresRounding: true };
      expect(value(await again.create("run", now)).created).toBe(false);
    }
  });
});
