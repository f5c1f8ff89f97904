/** Tests of the lengths of completions that a run sums: in tokens where the trainer reports them. */
import { describe, expect, test } from "vitest";
import { addLengths, lengthOfSample, lengthsOf } from "../../../server/curriculum/lengths.ts";
import { joining, mergingOf, type BatchEntry } from "../../../server/rpc/curriculum/merge-history.ts";
import type { FeedbackItem } from "../../../server/curriculum/feedback.ts";
import { ask, bench, batchesOf, feedbackFor, runConfig, type Runs, type Task, value } from "./support.ts";

const GENERATIONS = 2;
const config = runConfig({ numGenerations: GENERATIONS, promptsPerUpdate: 3, lag: { kind: "batches", count: 4 } });

/** Feedback for a sample, with a length. `tokens` undefined: the trainer reports none. */
function sampleOf(task: Task, sample: number, tokens: number | undefined, characters = 0): FeedbackItem {
  return { ...feedbackFor(task, sample), lengths: lengthOfSample(tokens, characters) };
}

async function started(): Promise<{ readonly runs: Runs; readonly tasks: readonly Task[] } & ReturnType<typeof bench>> {
  const all = bench();
  value(await all.runs.create("run", config));
  const { tasks } = value(await ask(all.runs, "run", 0, 3));
  return { ...all, tasks };
}

async function lengthsByArm(runs: Runs) {
  const { state } = value(await runs.get("run"));
  return state.arms.map(({ lengths }) => lengths);
}

const none = { tokens: 0, tokenSamples: 0, characters: 0, characterSamples: 0 };

test("sums keep tokens and characters apart", () => {
  const both = lengthsOf([{ lengths: lengthOfSample(5, 90) }, {}, { lengths: lengthOfSample(undefined, 40) }]);
  expect(both).toEqual({ tokens: 5, tokenSamples: 1, characters: 40, characterSamples: 1 });
  expect(addLengths(both, lengthOfSample(5, 90), -1)).toEqual({ ...none, characters: 40, characterSamples: 1 });
  expect(addLengths(undefined, undefined)).toBeUndefined();
  expect(lengthsOf([])).toBeUndefined();
});

describe("a run", () => {
  test("counts a completion's length once, in its batch at once and in its arm when the group closes", async () => {
    const { runs, tasks } = await started();
    const [first, second] = tasks as [Task, Task, Task];
    const [one, other] = [sampleOf(first, 0, 7, 100), sampleOf(first, 1, undefined, 60)];
    value(await runs.recordFeedback("run", [one]));
    expect((await lengthsByArm(runs))[first.arm]).toBeUndefined();
    expect((await batchesOf(runs, "run"))[0]?.lengths).toEqual({ ...none, tokens: 7, tokenSamples: 1 });
    const again = { ...one, lengths: lengthOfSample(9, 100) };
    const repeated = value(await runs.recordFeedback("run", [again, other, sampleOf(second, 0, 3)]));
    expect(repeated.map(({ kind }) => kind)).toEqual(["duplicate", "recorded", "recorded"]);
    const closed = { tokens: 7, tokenSamples: 1, characters: 60, characterSamples: 1 };
    expect((await lengthsByArm(runs))[first.arm]).toEqual(closed);
    expect((await batchesOf(runs, "run"))[0]?.lengths).toEqual({ ...closed, tokens: 10, tokenSamples: 2 });
  });

  test("counts what was spent in a group that closes early, and takes it back while the group is open again", async () => {
    const { runs, tasks } = await started();
    const [task] = tasks as [Task];
    value(await runs.recordFeedback("run", [sampleOf(task, 0, 7)]));
    value(await runs.closeGroups("run", [task], "too slow"));
    const spent = { ...none, tokens: 7, tokenSamples: 1 };
    expect((await lengthsByArm(runs))[task.arm]).toEqual(spent);
    value(await runs.reopenGroups("run", [task]));
    expect((await lengthsByArm(runs))[task.arm]).toEqual(none);
    value(await runs.recordFeedback("run", [sampleOf(task, 1, 4)]));
    expect((await lengthsByArm(runs))[task.arm]).toEqual({ ...none, tokens: 11, tokenSamples: 2 });
  });

  test("counts a completion that gets no reward", async () => {
    const { runs, tasks } = await started();
    const [task] = tasks as [Task];
    const lost = { ...sampleOf(task, 0, 7), result: { kind: "terminal", reason: "timeout" } } as const;
    value(await runs.recordFeedback("run", [lost, { ...sampleOf(task, 1, 5), result: lost.result }]));
    expect((await lengthsByArm(runs))[task.arm]).toEqual({ ...none, tokens: 12, tokenSamples: 2 });
  });

  test("knows the same lengths after a restart, an import, and an import under another id", async () => {
    const { runs, tasks, store, clock } = await started();
    value(
      await runs.recordFeedback(
        "run",
        tasks.flatMap((task, i) => [sampleOf(task, 0, i), sampleOf(task, 1, undefined, 10 * i)]),
      ),
    );
    const [open] = value(await ask(runs, "run", 3, 3)).tasks as [Task];
    value(await runs.recordFeedback("run", [sampleOf(open, 0, 50)]));
    const [arms, batches] = [await lengthsByArm(runs), await batchesOf(runs, "run")];
    const { state } = value(await runs.export("run"));
    const restarted = bench({ store, clock }).runs;
    expect([await lengthsByArm(restarted), await batchesOf(restarted, "run")]).toEqual([arms, batches]);
    value(await restarted.recordFeedback("run", [sampleOf(open, 1, 1)]));
    value(await restarted.import(state, undefined));
    expect(await lengthsByArm(restarted)).toEqual(arms);
    const elsewhere = bench().runs;
    const { outstanding } = value(await elsewhere.import(state, "run"));
    expect(await lengthsByArm(elsewhere)).toEqual(arms);
    const again = outstanding.find(({ cursor }) => cursor === open.cursor) as Task;
    value(await elsewhere.recordFeedback("run", [sampleOf(again, 1, 1)]));
    expect((await lengthsByArm(elsewhere))[open.arm]?.tokens).toBe((arms[open.arm]?.tokens ?? 0) + 51);
  });

  test("without lengths has none, as a journal of an older server", async () => {
    const { runs, tasks } = await started();
    value(
      await runs.recordFeedback(
        "run",
        tasks.flatMap((task) => [0, 1].map((sample) => feedbackFor(task, sample))),
      ),
    );
    expect(await lengthsByArm(runs)).toEqual([undefined, undefined, undefined]);
    expect((await batchesOf(runs, "run"))[0]).not.toHaveProperty("lengths");
  });

  test("draws the same, whatever the lengths", async () => {
    const drawn = async (tokens: (task: Task) => number | undefined) => {
      const { runs } = bench();
      value(await runs.create("run", config));
      for (let cursor = 0; cursor < 60; cursor += 3) {
        const { tasks } = value(await ask(runs, "run", cursor, 3));
        const items = tasks.flatMap((task) => [0, 1].map((sample) => sampleOf(task, sample, tokens(task), 10)));
        value(await runs.recordFeedback("run", items));
      }
      return (await batchesOf(runs, "run")).map(({ probabilities, counts }) => ({ probabilities, counts }));
    };
    expect(await drawn(({ arm }) => 1000 ** arm)).toEqual(await drawn(() => undefined));
  });
});

function entry(index: number, tokens: number | undefined): BatchEntry {
  return {
    kind: "batch",
    epoch: 0,
    atMs: 0,
    rolledBack: false,
    batch: index,
    cursor: index,
    probabilities: [0.5, 0.5],
    values: [0, 0],
    counts: [1, 0],
    closed: true,
    prompts: 1,
    released: 1,
    useful: 0,
    ...(tokens !== undefined && { lengths: lengthOfSample(tokens, 0) }),
  };
}

test("a merged record of the history has the sum, also with lists by group", () => {
  const merging = mergingOf();
  const join = joining([0, 0]);
  for (const each of [entry(0, 3), entry(1, undefined), entry(2, 4)]) merging.add(join(each) as BatchEntry);
  expect(merging.entry()?.lengths).toEqual({ ...none, tokens: 7, tokenSamples: 2 });
});

test("a merged record has no solved samples by arm if a batch has none", () => {
  const merged = (...batches: readonly (readonly number[] | undefined)[]) => {
    const merging = mergingOf();
    for (const [index, solvedCounts] of batches.entries())
      merging.add({ ...entry(index, undefined), rewardSums: [1, 2], rewardCounts: [2, 2], solvedCounts });
    return merging.entry();
  };
  expect(merged([1, 2], [1, 0])).toMatchObject({ rewardCounts: [4, 4], solvedCounts: [2, 2] });
  expect(merged([1, 2], undefined)).toMatchObject({ rewardCounts: [4, 4], solvedCounts: undefined });
});
