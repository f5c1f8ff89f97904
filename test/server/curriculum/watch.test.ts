import { expect, test } from "vitest";
import type { Result } from "../../../server/curriculum/types.ts";
import type { StateView } from "../../../server/curriculum/run-view.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import type { Store } from "../../../server/stores/store.ts";
import {
  answer,
  ask,
  banditPolicy,
  batchesOf,
  bench,
  feedbackFor,
  runConfig,
  train,
  value,
  type Runs,
  mixturePolicy,
  listedViews,
} from "./support.ts";

async function started(more: Parameters<typeof runConfig>[0] = {}) {
  const made = bench();
  value(await made.runs.create("run", runConfig(more)));
  return made;
}

test("a watcher sees the state at once, then the newest after changes, versions rising, until the run is deleted", async () => {
  const { runs, clock } = await started();
  const seen: StateView[] = [];
  const { signal } = new AbortController();
  const watching = (async (views: AsyncIterable<Result<StateView>>) => {
    for await (const view of views) seen.push(value(view));
  })(value(await runs.watch("run", signal)));
  await clock.advance(0);
  expect(seen.map(({ version, cursor }) => [version, cursor])).toEqual([[0, 0]]);
  await train(runs, "run", 4);
  await clock.advance(1000);
  // Twelve changes, one after the other without a pause: one view.
  expect(seen.map(({ version, cursor }) => [version, cursor])).toEqual([
    [0, 0],
    [12, 24],
  ]);
  value(await runs.pause("run"));
  await clock.advance(1000);
  expect(seen.at(-1)).toMatchObject({ version: 13, paused: true });
  value(await runs.remove("run"));
  value(await runs.create("run", runConfig()));
  await clock.advance(1000);
  await watching;
  expect(seen).toHaveLength(3);
});

test("a watcher who asks for it sees no state sooner after another than that", async () => {
  const { runs, clock } = await started();
  const seen: number[] = [];
  const watcher = new AbortController();
  const watching = (async (views: AsyncIterable<Result<StateView>>) => {
    for await (const view of views) seen.push(value(view).version);
  })(value(await runs.watch("run", watcher.signal, 5_000)));
  await clock.advance(0);
  value(await runs.pause("run"));
  await clock.advance(4_000);
  value(await runs.resume("run"));
  await clock.advance(900);
  expect(seen).toEqual([0]);
  await clock.advance(200);
  expect(seen).toEqual([0, 2]);
  watcher.abort();
  await watching;
});

test("a watcher that goes away ends, and a run that is not there is refused", async () => {
  const { runs, clock } = await started();
  const watcher = new AbortController();
  const views = value(await runs.watch("run", watcher.signal))[Symbol.asyncIterator]();
  expect((await views.next()).done).toBe(false);
  const next = views.next();
  watcher.abort();
  await clock.advance(0);
  expect((await next).done).toBe(true);
  expect((await runs.watch("other", watcher.signal)).kind).toBe("not_found");
});

test("a watcher of a run that can no longer be read is told so, and not that it was deleted", async () => {
  const { store, clock } = await started();
  let damaged = false;
  const read: Store["read"] = async (key, ...rest) => (damaged ? [Buffer.of(0)] : store.read(key, ...rest));
  const { runs } = bench({ store: { ...store, read }, clock });
  const views = value(await runs.watch("run", new AbortController().signal))[Symbol.asyncIterator]();
  expect((await views.next()).value).toMatchObject({ kind: "ok" });
  damaged = true;
  const next = views.next();
  await clock.advance(1000);
  expect((await next).value).toMatchObject({ kind: "failed_precondition" });
  expect((await views.next()).done).toBe(true);
});

test("the state shows what the contract says", async () => {
  const { runs } = await started({ length: 20 });
  const fresh = value(await runs.get("run")).state;
  expect(fresh.arms).toEqual(
    ["a", "b", "c"].map((armId) => ({
      armId,
      probability: expect.closeTo(1 / 3, 12) as number,
      value: 0,
      weight: 1,
      issued: 0,
      groups: 0,
      repeats: 0,
      removed: false,
      recentRewardMean: undefined,
      recentSolvedShare: undefined,
      maskedReason: undefined,
    })),
  );
  const { tasks } = value(await ask(runs, "run", 0, 6));
  const [first, second] = tasks as [(typeof tasks)[0], (typeof tasks)[0]];
  const rewards = [1, 1, 0, 0.5].map((reward, sample) => feedbackFor(first, sample, reward));
  value(await runs.recordFeedback("run", [...rewards, feedbackFor(second, 0, 1)]));
  const { state } = value(await runs.get("run"));
  expect(state).toMatchObject({
    runId: "run",
    epoch: 0,
    version: 3,
    cursor: 6,
    batchesDrawn: 1,
    batchesClosed: 0,
    groupsOutstanding: 5,
    samplesRecorded: 5,
    paused: false,
    done: false,
  });
  expect(state.arms[first.arm]).toMatchObject({ groups: 1, recentRewardMean: 0.625, recentSolvedShare: 0.5 });
  expect(state.arms.reduce((sum, { issued }) => sum + issued, 0)).toBe(6);
});

test("recent means look back on 256 groups", async () => {
  const { runs } = await started({
    arms: runConfig().arms.slice(0, 1),
    policy: mixturePolicy(),
    numGenerations: 1,
    promptsPerUpdate: 10,
  });
  let cursor = 0;
  for (let batch = 0; batch < 30; batch++) {
    const { tasks, nextCursor } = value(await ask(runs, "run", cursor, 10));
    value(
      await runs.recordFeedback(
        "run",
        tasks.map((task) => feedbackFor(task, 0, task.cursor < 44 ? 0 : 1)),
      ),
    );
    cursor = nextCursor;
  }
  expect(value(await runs.get("run")).state.arms[0]).toMatchObject({ groups: 300, recentRewardMean: 1 });
});

test("the history has each batch with its draw and its means, and the control changes, in order and in pages", async () => {
  const { runs } = await started();
  await train(runs, "run", 2);
  value(await runs.setWeights("run", { a: 2 }));
  const policy = banditPolicy({ tau: 1 });
  value(await runs.updatePolicy("run", policy));
  value(await runs.pause("run"));
  value(await runs.resume("run"));
  const { tasks } = value(await ask(runs, "run", 12, 6));
  value(await runs.closeGroups("run", tasks.slice(0, 1), "too long"));
  value(
    await runs.recordFeedback(
      "run",
      [0, 1, 2, 3].map((sample) => feedbackFor(tasks[1] as (typeof tasks)[0], sample, 1)),
    ),
  );
  const { items, next } = value(await runs.history("run", 0, 100));
  expect(next).toBeUndefined();
  const base = { kind: "control", reason: "", cursor: 12, epoch: 0, atMs: 1_000_000, rolledBack: false };
  expect(items.slice(2, 6)).toMatchObject([
    { ...base, control: "weights", weights: { a: 2, b: 1, c: 1 } },
    { ...base, control: "policy", policy },
    { ...base, control: "pause" },
    { ...base, control: "resume" },
  ]);
  expect(items[7]).toMatchObject({ ...base, control: "close_groups", reason: "too long", cursor: 18 });
  expect(items[6]).toMatchObject({ kind: "batch", batch: 2, cursor: 12, closed: false, rewardMean: 1, solvedShare: 1 });
  for (const batch of (await batchesOf(runs, "run")).slice(0, 2)) {
    expect(batch.closed).toBe(true);
    expect(batch.counts.reduce((sum, count) => sum + count, 0)).toBe(6);
    expect(batch.probabilities.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
  }
  expect(await paged(runs, 3)).toEqual(items);
});

async function paged(runs: Runs, size: number) {
  const items = [];
  let from: number | undefined = 0;
  while (from !== undefined) {
    const page: Awaited<ReturnType<Runs["history"]>> = await runs.history("run", from, size);
    items.push(...value(page).items);
    from = value(page).next;
  }
  return items;
}

test("a history whose run is deleted by another server while it is read is none, though the name is taken again", async () => {
  for (const isMadeAgain of [false, true]) {
    const store = memoryStore();
    const { runs } = bench({ store });
    value(await runs.create("run", runConfig({ policy: mixturePolicy() })));
    await train(runs, "run", 6);
    const { next = 0, place } = value(await runs.history("run", 0, 2));
    const other = bench({ store }).runs;
    value(await other.remove("run"));
    if (isMadeAgain) {
      value(await other.create("run", runConfig({ policy: mixturePolicy() })));
      await train(other, "run", 6);
    }
    expect((await runs.history("run", next, 2, { place })).kind).toBe("not_found");
    expect((await runs.history("run", 0, 2)).kind).toBe(isMadeAgain ? "ok" : "not_found");
  }
});

test("the history of a long run keeps what memory does not", async () => {
  const { runs } = await started({ policy: mixturePolicy() });
  await train(runs, "run", 40);
  const batches = await batchesOf(runs, "run");
  expect(batches.map(({ batch }) => batch)).toEqual(Array.from({ length: 40 }, (_, i) => i));
  expect(batches.every(({ closed, rewardMean }) => closed && rewardMean !== undefined)).toBe(true);
});

test("runs are listed by id, in pages", async () => {
  const { runs } = bench();
  for (const id of ["b", "a", "C", "a-1"]) value(await runs.create(id, runConfig()));
  const first = await runs.list("", 3);
  expect(listedViews(first).map(({ runId }) => runId)).toEqual(["C", "a", "a-1"]);
  expect(first.next).toBe("a-1");
  const second = await runs.list("a-1", 3);
  expect([listedViews(second).map(({ runId }) => runId), second.next]).toEqual([["b"], undefined]);
  await answer(runs, "b", value(await ask(runs, "b", 0, 6)).tasks);
  expect(listedViews(await runs.list("a-1", 3))[0]?.state.samplesRecorded).toBe(24);
});
