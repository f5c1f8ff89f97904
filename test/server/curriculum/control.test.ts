import { describe, expect, test } from "vitest";
import { memoryStore } from "../../../server/stores/memory.ts";
import {
  answer,
  arm,
  ask,
  banditPolicy,
  batchesOf,
  bench,
  fakeClock,
  runConfig,
  train,
  value,
  made,
  mixturePolicy,
  noConstraints,
  settled,
  sourceOf,
} from "./support.ts";

const mixture = mixturePolicy();

async function started(more: Parameters<typeof runConfig>[0] = {}) {
  const { runs } = bench();
  value(await runs.create("run", runConfig(more)));
  return runs;
}

describe("creating a run", () => {
  test("again gives the run as it is; with another configuration it names the field", async () => {
    const runs = await started();
    await train(runs, "run", 1);
    const again = value(await runs.create("run", runConfig({ given: "told in another way" })));
    expect(again.created).toBe(false);
    expect(again.run.state.cursor).toBe(6);
    const other = async (more: Parameters<typeof runConfig>[0]) => {
      const result = await runs.create("run", runConfig(more));
      return result.kind === "already_exists" ? result.field : result.kind;
    };
    expect(await other({ seed: 8n })).toBe("seed");
    expect(await other({ promptsPerUpdate: 7 })).toBe("prompts_per_update");
    expect(await other({ lag: { kind: "unbounded" } })).toBe("feedback_lag");
    expect(await other({ groupTimeoutMs: 5 })).toBe("group_timeout");
    expect(await other({ policy: banditPolicy({ alpha: 0.2 }) })).toBe("policy.bandit.ema_softmax.alpha");
    expect(await other({ arms: [arm("a"), arm("b", { weight: 2 }), arm("c")] })).toBe("arms[1].weight");
    expect(await other({ arms: [arm("a")] })).toBe("arms");
  });

  test("is refused where the configuration cannot be, naming the field", async () => {
    const { runs } = bench();
    const refused = async (more: Parameters<typeof runConfig>[0], id = "new") => {
      const result = await runs.create(id, runConfig(more));
      return result.kind === "invalid" ? result.field : result.kind;
    };
    expect(await refused({}, "no/slash")).toBe("run_id");
    expect(await refused({ arms: [] })).toBe("arms");
    expect(await refused({ arms: [arm("a"), arm("a")] })).toBe("arms[1].id");
    expect(await refused({ arms: [arm("a b")] })).toBe("arms[0].id");
    expect(await refused({ arms: [arm("a", { weight: -1 })] })).toBe("arms[0].weight");
    expect(await refused({ arms: [arm("a", { weight: NaN })] })).toBe("arms[0].weight");
    expect(await refused({ arms: [arm("a", { weight: 0 })], policy: mixture })).toBe("weights");
    expect(await refused({ numGenerations: 0 })).toBe("num_generations");
    expect(await refused({ length: 1.5 })).toBe("length");
    expect(await refused({ promptsPerUpdate: 4097 })).toBe("prompts_per_update");
    expect(await refused({ lag: { kind: "batches", count: 65 } })).toBe("feedback_lag");
    expect(await refused({ policy: banditPolicy({ alpha: 0 }) })).toBe("policy.bandit.ema_softmax.alpha");
    expect(await refused({ policy: banditPolicy({ tau: 0 }) })).toBe("policy.bandit.ema_softmax.tau");
    expect(await refused({ policy: banditPolicy({ epsilon: 1.1 }) })).toBe("policy.bandit.epsilon");
    const shares = { ...noConstraints, realShareMin: 0.3 };
    expect(await refused({ policy: banditPolicy({}, shares) })).toBe("policy.constraints.real_share_min");
    expect((await runs.get("new")).kind).toBe("not_found");
  });
});

describe("NextBatch", () => {
  test("gives the same tasks for the same cursor, however it cuts them", async () => {
    const runs = await started();
    const whole = value(await ask(runs, "run", 0, 12));
    expect(whole.nextCursor).toBe(12);
    const parts = [];
    for (const [cursor, count] of [
      [0, 5],
      [5, 2],
      [7, 5],
    ] as const) {
      parts.push(...value(await ask(runs, "run", cursor, count)).tasks);
    }
    expect(parts).toEqual(whole.tasks);
    expect(whole.tasks.map(({ cursor }) => cursor)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  test("answers what is there where the next batch is not due, and without a cursor goes on", async () => {
    const runs = await started();
    const given = [];
    for (const count of [4, 4, 100]) given.push(value(await ask(runs, "run", undefined, count)).tasks.length);
    expect(given).toEqual([4, 4, 4]);
    const late = await ask(runs, "run", undefined, 1);
    expect(late).toMatchObject({ kind: "unavailable", retryDelayMs: 1000 });
  });

  test("gives callers without a cursor different tasks", async () => {
    const runs = await started();
    const answers = await Promise.all([0, 1, 2, 3].map(() => ask(runs, "run", undefined, 3)));
    const cursors = answers.flatMap((result) => value(result).tasks.map(({ cursor }) => cursor));
    expect(cursors.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  test("ends with the length, in a short last batch", async () => {
    const runs = await started({ length: 15 });
    await train(runs, "run", 2);
    const last = value(await ask(runs, "run", 12, 6));
    expect([last.tasks.length, last.nextCursor, last.done]).toEqual([3, 15, true]);
    expect(value(await runs.get("run")).state.done).toBe(false);
    await answer(runs, "run", last.tasks);
    expect(value(await runs.get("run")).state.done).toBe(true);
    const none = value(await ask(runs, "run", 15, 6));
    expect([none.tasks.length, none.nextCursor, none.done]).toEqual([0, 15, true]);
    expect(value(await ask(runs, "run", undefined, 6)).done).toBe(true);
  });

  test("refuses a cursor that only a slip explains", async () => {
    const runs = await started();
    expect((await ask(runs, "run", 1_000_000, 1)).kind).toBe("out_of_range");
  });

  test("does not wait under a policy that takes no feedback", async () => {
    const runs = await started({ policy: mixture });
    expect(value(await ask(runs, "run", 0, 60)).tasks).toHaveLength(60);
  });
});

test("a trainer that never answers under a policy that does not wait costs bounded memory", async () => {
  const runs = await started({ policy: mixture, promptsPerUpdate: 4096, numGenerations: 1 });
  for (let cursor = 0; cursor < 9 * 4096; cursor += 4096) value(await ask(runs, "run", cursor, 4096));
  expect(value(await runs.get("run")).state).toMatchObject({ cursor: 9 * 4096, groupsOutstanding: 8 * 4096 });
  const { items } = value(await runs.history("run", 8, 1));
  expect(items).toMatchObject([{ control: "close_groups", reason: "too many open groups" }]);
});

describe("control changes apply from the first batch not yet issued", () => {
  test("weights", async () => {
    const runs = await started({ policy: mixture });
    value(await ask(runs, "run", 0, 6));
    expect(value(await runs.setWeights("run", { a: 0, b: 3 }))).toMatchObject({ appliesFromCursor: 6 });
    value(await ask(runs, "run", 6, 6));
    const probabilities = (await batchesOf(runs, "run")).map((batch) => batch.probabilities);
    expect(probabilities).toEqual([
      [1 / 3, 1 / 3, 1 / 3],
      [0, 0.75, 0.25],
    ]);
    const { state } = value(await runs.get("run"));
    expect(state.arms.map(({ weight }) => weight)).toEqual([0, 3, 1]);
    expect((await runs.setWeights("run", { d: 1 })).kind).toBe("invalid");
    expect((await runs.setWeights("run", { b: 0, c: 0 })).kind).toBe("invalid");
  });

  test("weights of some arms leave those of others, whatever their names", async () => {
    const runs = await started({ arms: [arm("a"), arm("constructor"), arm("toString")] });
    value(await runs.setWeights("run", { a: 2, toString: 3 }));
    expect(value(await runs.get("run")).state.arms.map(({ weight }) => weight)).toEqual([2, 1, 3]);
  });

  test("a weight of 0 takes an arm out, whatever the policy, and Q of the others stays", async () => {
    const runs = await started({ lag: { kind: "batches", count: 0 } });
    await train(runs, "run", 2);
    value(await ask(runs, "run", 12, 6));
    const { state: before } = value(await runs.get("run"));
    expect(before.arms.filter((one) => one.value > 0).length).toBeGreaterThan(1);
    value(await runs.setWeights("run", { b: 0 }));
    await answer(runs, "run", value(await ask(runs, "run", 12, 6)).tasks);
    const { tasks } = value(await ask(runs, "run", 18, 6));
    expect(tasks.some((task) => task.arm === 1)).toBe(false);
    const { state: after } = value(await runs.get("run"));
    expect(after.arms[1]).toMatchObject({ probability: 0, weight: 0 });
    expect(after.arms.reduce((sum, one) => sum + one.probability, 0)).toBeCloseTo(1, 12);
    value(await runs.setWeights("run", { b: 5 }));
    await answer(runs, "run", tasks);
    value(await ask(runs, "run", 24, 6));
    const { state: back } = value(await runs.get("run"));
    // The arm goes on with what the policy had learned of it: no batch in between had tasks of the arm.
    expect(back.arms[1]?.value).toBe(after.arms[1]?.value);
    expect(back.arms[1]?.probability).toBeGreaterThan(0);
  });

  test("a policy; a bandit keeps its values, and folds with the parameters in force at the draw", async () => {
    const runs = await started({ lag: { kind: "batches", count: 0 } });
    await train(runs, "run", 2);
    const { state: before } = value(await runs.get("run"));
    const applied = value(await runs.updatePolicy("run", banditPolicy({ alpha: 1, tau: 1 })));
    expect(applied).toMatchObject({ appliesFromCursor: 12 });
    const { state: between } = value(await runs.get("run"));
    expect(between.arms.map((one) => one.value)).toEqual(before.arms.map((one) => one.value));
    value(await ask(runs, "run", 12, 6));
    const { state: after } = value(await runs.get("run"));
    // α is 1: batch 1's means stand alone, and batch 0's are left where batch 1 had no task of the arm.
    const changed = after.arms.filter((one, i) => one.value !== before.arms[i]?.value);
    expect(changed.length).toBeGreaterThan(0);
    expect(after.policy).toEqual(banditPolicy({ alpha: 1, tau: 1 }));
    const refused = await runs.updatePolicy("run", {
      ...mixture,
      constraints: { ...noConstraints, hardShareMin: 0.5 },
    });
    expect(refused).toMatchObject({ kind: "invalid", field: "policy.constraints.hard_share_min" });
  });

  test("a bandit that takes over from a mixture learns from the batches due then, not from all before", async () => {
    const runs = await started({ policy: mixture });
    await train(runs, "run", 5);
    value(await runs.updatePolicy("run", banditPolicy({ alpha: 1 })));
    value(await ask(runs, "run", 30, 6));
    const { state } = value(await runs.get("run"));
    const batches = await batchesOf(runs, "run");
    expect(batches[5]?.values).toEqual(state.arms.map((one) => one.value));
    // Lag 1: the draw of batch 5 folds batch 3, in which not every arm has tasks of mixed outcomes; batch 2 is past.
    expect(state.arms.some((one) => one.value > 0)).toBe(true);
    const drawnIn3 = batches[3]?.counts ?? [];
    expect(state.arms.every((one, i) => one.value === 0 || (drawnIn3[i] ?? 0) > 0)).toBe(true);
  });

  test("when they come while a batch is being drawn", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow = bench({
      source: sourceOf(async (place) => {
        await held;
        return made(`${place.arm.id}${place.ordinal}`);
      }),
    });
    value(await slow.runs.create("run", runConfig({ policy: mixture })));
    const drawing = ask(slow.runs, "run", 0, 6);
    expect(value(await slow.runs.setWeights("run", { a: 0, b: 0 }))).toMatchObject({ appliesFromCursor: 0 });
    release();
    expect(value(await drawing).tasks.map((task) => task.arm)).toEqual(new Array(6).fill(2));
  });
});

test("a pause that comes while a batch is being drawn stops the draw", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const { runs } = bench({
    source: sourceOf(async (place) => {
      await held;
      return made(`${place.arm.id}${place.ordinal}`);
    }),
  });
  value(await runs.create("run", runConfig()));
  const drawing = ask(runs, "run", 0, 6);
  value(await runs.pause("run"));
  release();
  expect(await drawing).toMatchObject({ kind: "unavailable", wait: { reason: "PAUSED" } });
  expect(value(await runs.get("run")).state.cursor).toBe(0);
});

test("a paused run gives what is issued, and goes on after", async () => {
  const runs = await started();
  const { tasks } = value(await ask(runs, "run", 0, 6));
  expect(value(await runs.pause("run"))).toMatchObject({ appliesFromCursor: 6 });
  expect(value(await runs.pause("run"))).toMatchObject({ appliesFromCursor: 6 });
  expect(value(await runs.get("run")).state.paused).toBe(true);
  expect(value(await ask(runs, "run", 0, 12)).tasks).toEqual(tasks);
  expect(await ask(runs, "run", 6)).toMatchObject({ kind: "unavailable", wait: { reason: "PAUSED" } });
  await answer(runs, "run", tasks);
  value(await runs.resume("run"));
  expect(value(await ask(runs, "run", 6, 6)).tasks).toHaveLength(6);
});

describe("a pause is a wait", () => {
  const { signal } = new AbortController();
  const sinceMs = fakeClock().now();
  const since = "1970-01-01T00:16:40Z";
  const asked = { cursor: 0, count: 6, waitMs: 10_000, signal };

  test("that ends with Resume, at once", async () => {
    const { runs } = bench();
    value(await runs.create("run", runConfig()));
    value(await runs.pause("run", "ops"));
    const waiting = runs.nextBatch("run", asked);
    await settled();
    value(await runs.resume("run", "ops"));
    // The clock stands still: nothing but the change wakes the caller.
    expect(value(await waiting).tasks).toHaveLength(6);
  });

  test("that says who paused the run, since when and how it goes on", async () => {
    const { runs, clock } = bench();
    value(await runs.create("run", runConfig()));
    value(await runs.pause("run", "ops"));
    await clock.advance(1000);
    // The second pause changes nothing.
    expect(value(await runs.pause("run", "somebody")).noEffect).toEqual(["the run is already paused"]);
    const waiting = runs.nextBatch("run", asked);
    await clock.advance(10_000);
    expect(await waiting).toEqual({
      kind: "unavailable",
      message: `run "run" was paused by "ops" at ${since}, and draws no update batch until \`gradus run resume run\``,
      retryDelayMs: 1000,
      wait: { reason: "PAUSED", metadata: { paused_by: "ops", paused_since: since } },
    });
    expect(value(await runs.get("run")).state).toMatchObject({ paused: true, pausedBy: "ops", pausedAtMs: sinceMs });
    value(await runs.resume("run"));
    expect(value(await runs.resume("run")).noEffect).toEqual(["the run is not paused"]);
    const { paused, pausedBy, pausedAtMs } = value(await runs.get("run")).state;
    expect([paused, pausedBy, pausedAtMs]).toEqual([false, "", 0]);
  });

  test("that a server which reads the journal anew tells in the same words", async () => {
    const store = memoryStore();
    const one = bench({ store });
    value(await one.runs.create("run", runConfig()));
    value(await one.runs.pause("run", "ops"));
    const { wait } = (await ask(one.runs, "run", 0)) as { wait?: unknown };
    expect(wait).toEqual({ reason: "PAUSED", metadata: { paused_by: "ops", paused_since: since } });
    expect(await ask(bench({ store }).runs, "run", 0)).toMatchObject({ wait });
  });
});
