/** Tasks that are made ahead of their draw. Nothing depends on them but how long a draw takes. */
import { describe, expect, test } from "vitest";
import {
  answer,
  arm,
  ask,
  bench,
  fakeClock,
  type FakeClock,
  feedbackFor,
  freshTasks,
  frontierPolicy,
  mixturePolicy,
  runConfig,
  type RunConfig,
  settled,
  type Task,
  type TaskSource,
  train,
  value,
} from "./support.ts";
import type { NewShape } from "../../../server/curriculum/decide-shape.ts";

/** Returns a source that counts the tasks that it is asked to make. */
function counting() {
  const made: string[] = [];
  const source: TaskSource = {
    ...freshTasks,
    make: (places, signal, runId) => {
      made.push(...places.map((place) => `${place.arm.id}:${place.ordinal}`));
      return freshTasks.make(places, signal, runId);
    },
  };
  return { source, made };
}

/** Returns a clock on which short delays take no time, because tasks are made ahead shortly after a draw. */
function quickClock(): FakeClock {
  const clock = fakeClock();
  const setTimer: FakeClock["setTimer"] = (delayMs, callback) => {
    if (delayMs > 100) return clock.setTimer(delayMs, callback);
    callback();
    return () => undefined;
  };
  return { ...clock, setTimer };
}

async function started(config: Partial<RunConfig> = {}, aheadMax = 1000) {
  const { source, made } = counting();
  const { runs } = bench({ source, clock: quickClock(), aheadMax });
  value(await runs.create("run", runConfig(config)));
  return { runs, made };
}

describe("tasks made ahead", () => {
  test("are what the next draw wants, so that it makes none", async () => {
    const { runs, made } = await started();
    for (const cursor of [0, 6, 12, 18]) {
      const { tasks } = value(await ask(runs, "run", cursor, 6));
      await answer(runs, "run", tasks);
      await settled();
      const before = made.length;
      const next = value(await ask(runs, "run", cursor + 6, 6));
      expect(next.tasks).toHaveLength(6);
      const drawn = next.tasks.map(({ key }) => key.name.split(":").slice(0, 2).join(":"));
      expect(made.slice(0, before)).toEqual(expect.arrayContaining(drawn));
    }
    // The source made no task twice.
    expect(new Set(made).size).toBe(made.length);
  });

  test.each([0, 1])("are presented as the next draw issues them, with a feedback lag of %i", async (count) => {
    const presented: unknown[][] = [];
    const source: TaskSource = {
      ...freshTasks,
      present: async (runId, tasks) => void presented.push([runId, ...tasks]),
    };
    const { runs } = bench({ source, clock: quickClock(), aheadMax: 1000 });
    value(await runs.create("run", runConfig({ lag: { kind: "batches", count } })));
    const { tasks } = value(await ask(runs, "run", 0, 6));
    await answer(runs, "run", tasks);
    await settled();
    const before = presented.length;
    const next = value(await ask(runs, "run", 6, 6));
    expect(["run", ...next.tasks]).toEqual(presented[before - 1]);
  });

  test("are all that the next draw wants, once its feedback has arrived, however far that moves the levels", async () => {
    const grow = { axis: "size", start: 0, step: 1, cap: 9, guess: 0 };
    const arms = ["a", "b", "c"].map((id) => arm(id, { grow }));
    const { runs, made } = await started({ arms, policy: frontierPolicy(), promptsPerUpdate: 60, numGenerations: 2 });
    for (let batch = 0; batch < 8; batch++) {
      const before = made.length;
      const drawn = value(await ask(runs, "run", 60 * batch, 60));
      if (batch > 0) expect(made.slice(0, before)).toEqual(expect.arrayContaining([...drawnIn(drawn)]));
      await settled();
      // One arm after the other is solved, and opens a level.
      const solved = (task: Task): number => Number(task.arm === batch % 3);
      const items = drawn.tasks.flatMap((task) => [0, 1].map((sample) => feedbackFor(task, sample, solved(task))));
      value(await runs.recordFeedback("run", items));
      await settled();
    }
    expect(new Set(made).size).toBe(made.length);
  });

  test.each<[string, Partial<RunConfig>]>([
    ["a bandit", {}],
    ["a bandit that waits for every batch", { lag: { kind: "batches", count: 0 } }],
    ["an unbounded lag", { lag: { kind: "unbounded" } }],
    ["a mixture", { policy: mixturePolicy() }],
    ["a reserve", { dynamicSampling: { oversampleMax: 2, alike: "rewards" } }],
  ])("leave the run of %s as it is without them", async (_name, config) => {
    const [with_, without] = [await started(config), await started(config, 0)];
    const traces = await Promise.all([with_, without].map(({ runs }) => train(runs, "run", 12)));
    expect(traces[0]).toEqual(traces[1]);
    expect(with_.made.length).toBeGreaterThan(without.made.length);
  });

  test("are as many as the limit says", async () => {
    const { runs, made } = await started({ promptsPerUpdate: 400, policy: mixturePolicy() }, 100);
    value(await ask(runs, "run", 0, 400));
    await settled();
    // The server makes tasks in chunks, and the last chunk begins below the limit.
    expect(made.length - 400).toBeGreaterThan(99);
    expect(made.length - 400).toBeLessThan(100 + 16);
  });

  test("are forgotten where the shape changes, and none are made for a run that is paused", async () => {
    const { runs, made } = await started({ policy: mixturePolicy() });
    value(await ask(runs, "run", 0, 6));
    await settled();
    const same = { numGenerations: undefined, promptsPerUpdate: undefined, length: undefined, policy: undefined };
    const shape: NewShape<{ readonly id: string }> = { ...same, addArms: [arm("d")], removeArms: ["a", "b", "c"] };
    value(await runs.updateShape("run", shape));
    expect(value(await ask(runs, "run", 6, 6)).tasks.map((task) => task.arm)).toEqual([3, 3, 3, 3, 3, 3]);
    value(await runs.pause("run"));
    await settled();
    const before = made.length;
    value(await runs.setWeights("run", { d: 2 }));
    await settled();
    expect(made).toHaveLength(before);
  });
});

/** Returns the tasks of a batch by arm and ordinal, in the form in which the source is asked for them. */
const drawnIn = ({ tasks }: { readonly tasks: readonly Task[] }): readonly string[] =>
  tasks.map(({ key }) => key.name.split(":").slice(0, 2).join(":"));

describe("the first update batch of a new run", () => {
  test.each<[string, Partial<RunConfig>]>([
    ["a bandit", {}],
    ["a mixture", { policy: mixturePolicy(), promptsPerUpdate: 256 }],
    ["a reserve", { dynamicSampling: { oversampleMax: 2, alike: "rewards" } }],
  ])("is made once CreateRun is answered, and its draw makes nothing: %s", async (_name, config) => {
    const { runs, made } = await started(config);
    expect(made).toEqual([]);
    await settled();
    const before = made.toSorted();
    const prompts = config.promptsPerUpdate ?? 6;
    const first = value(await ask(runs, "run", 0, prompts));
    expect(first.tasks).toHaveLength(prompts);
    expect(before).toEqual(expect.arrayContaining([...drawnIn(first)]));
    expect(made.slice(0, before.length).toSorted()).toEqual(before);
    expect(new Set(made).size).toBe(made.length);
  });

  test("has no task ahead that something outside makes, that costs money, or whose row is chosen by the draw", async () => {
    const arms = [arm("outside", { resource: "mount" }), arm("teacher", { source: "teacher" }), arm("threads")];
    const { runs, made } = await started({ arms, policy: mixturePolicy(), promptsPerUpdate: 60 });
    await settled();
    const before = [...made];
    const drawn = drawnIn(value(await ask(runs, "run", 0, 60)));
    expect(new Set(drawn.map((name) => name.split(":")[0]))).toEqual(new Set(["outside", "teacher", "threads"]));
    expect(before.toSorted()).toEqual(drawn.filter((name) => name.startsWith("threads:")).toSorted());
  });

  test("keeps nobody waiting: CreateRun is answered while it is made, and a deleted run's is called off", async () => {
    const signals: AbortSignal[] = [];
    const source: TaskSource = {
      ...freshTasks,
      make: (_places, signal) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    };
    const { runs } = bench({ source, clock: quickClock(), aheadMax: 1000 });
    expect(value(await runs.create("run", runConfig())).created).toBe(true);
    await settled();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false]);
    value(await runs.remove("run"));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  });

  test("is made for one of many new runs at a time, and kept for the newest", async () => {
    const made = new Map<string, number>();
    let [making, makingMax] = [0, 0];
    const source: TaskSource = {
      ...freshTasks,
      make: async (places, signal, runId) => {
        making += places.length;
        makingMax = Math.max(makingMax, making);
        made.set(runId, (made.get(runId) ?? 0) + places.length);
        await settled();
        making -= places.length;
        return freshTasks.make(places, signal, runId);
      },
    };
    const { runs } = bench({ source, clock: quickClock(), aheadMax: 1000 });
    const config = runConfig({ policy: mixturePolicy(), promptsPerUpdate: 40, length: 40 });
    const ids = Array.from({ length: 60 }, (_, i) => `run-${i}`);
    for (const id of ids) value(await runs.create(id, config));
    for (let quiet = 0; quiet < 3; quiet = making === 0 ? quiet + 1 : 0) await settled();
    expect(makingMax).toBeLessThanOrEqual(16);
    for (const [i, id] of ids.entries()) {
      const before = made.get(id) ?? 0;
      value(await ask(runs, id, 0, 40));
      const isKept = i >= ids.length - 16;
      expect([id, (made.get(id) ?? 0) - before]).toEqual([id, isKept ? 0 : 40]);
    }
  });
});
