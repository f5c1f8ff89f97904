/** Samples that are known by keys: a run gives them indices as their episodes close, and no figure depends on the order. */
import { expect, test } from "vitest";
import { answer, ask, batchesOf, bench, feedbackFor, runConfig, type Task, value } from "./support.ts";

const SAMPLES = [
  { sampleKey: "aaaaaaaaaaaa", reward: 0.1 },
  { sampleKey: "bbbbbbbbbbbb", reward: 0.7 },
  { sampleKey: "cccccccccccc", reward: 0.2 },
  { sampleKey: "dddddddddddd", reward: 0.1 },
] as const;

type Sample = (typeof SAMPLES)[number];

function ordersOf(samples: readonly Sample[]): readonly (readonly Sample[])[] {
  if (samples.length <= 1) return [samples];
  return samples.flatMap((first) => ordersOf(samples.filter((each) => each !== first)).map((rest) => [first, ...rest]));
}

const itemOf = (task: Task, { sampleKey, reward }: Sample, digest = "0123456789ab") => ({
  ...feedbackFor(task, 0, reward),
  sampleKey,
  digest,
});

async function started() {
  const all = bench();
  value(await all.runs.create("run", runConfig({ promptsPerUpdate: 1, numGenerations: SAMPLES.length })));
  const { tasks } = value(await ask(all.runs, "run", 0, 1));
  return { ...all, task: (tasks as [Task])[0] };
}

async function outcomeOf(order: readonly Sample[]) {
  const { runs, task } = await started();
  for (const [index, sample] of order.entries())
    expect(value(await runs.recordFeedback("run", [itemOf(task, sample)]))).toEqual([{ kind: "recorded", index }]);
  const wanted = { kind: "groups", refs: [task] } as const;
  const { signal } = new AbortController();
  const [group] = value(await runs.groups("run", { wanted, from: 0, limit: 1, waitMs: 0, signal })).groups;
  const advantages = group?.samples.map(({ index, rloo, grpo }) => [order[index]?.sampleKey, rloo, grpo] as const);
  // The next draw folds the group into the policy.
  const { tasks } = value(await ask(runs, "run", 1, 1));
  await answer(runs, "run", tasks);
  const records = await batchesOf(runs, "run");
  return { statistics: group?.statistics, advantages: advantages?.toSorted(), records };
}

test("figures of a group are equal to the bit, in whatever order its episodes close", async () => {
  const first = await outcomeOf(SAMPLES);
  expect(first.statistics).toMatchObject({ count: 4 });
  for (const order of ordersOf(SAMPLES)) expect(await outcomeOf(order)).toEqual(first);
});

test("a key keeps its index over retries and branches, and surplus keys get none", async () => {
  const { runs, task } = await started();
  const [a, b, c, d] = SAMPLES;
  const record = async (sample: Sample, digest?: string) => {
    const [status] = value(await runs.recordFeedback("run", [itemOf(task, sample, digest)]));
    return status;
  };
  expect(await record(b)).toEqual({ kind: "recorded", index: 0 });
  // A sample with an index takes its place, and keys pass over it.
  expect(value(await runs.recordFeedback("run", [feedbackFor(task, 1, 1)]))).toEqual([{ kind: "recorded" }]);
  expect(await record(a)).toEqual({ kind: "recorded", index: 2 });
  expect(await record(b)).toEqual({ kind: "duplicate", index: 0 });
  expect(await record(b, "ba9876543210")).toEqual({ kind: "conflicting_completion", index: 0 });
  // Two keys of one message get different indices; the second is surplus.
  const statuses = value(await runs.recordFeedback("run", [itemOf(task, c), itemOf(task, d)]));
  expect(statuses).toEqual([
    { kind: "recorded", index: 3 },
    { kind: "not_recorded", detail: expect.stringContaining("sample_key") as string },
  ]);
  expect(await record(d)).toMatchObject({ kind: "not_recorded" });
  expect(await record(c)).toEqual({ kind: "duplicate", index: 3 });
});
