/** Tasks that are made ahead of their draw. Nothing depends on them but how long a draw takes. */
import { describe, expect, test } from "vitest";
import {
  answer,
  arm,
  ask,
  bench,
  freshTasks,
  mixturePolicy,
  runConfig,
  type RunConfig,
  settled,
  type TaskSource,
  train,
  value,
} from "./support.ts";
import type { NewShape } from "../../../server/curriculum/shape.ts";

/** A source that counts what it is asked to make. */
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

async function started(config: Partial<RunConfig> = {}, aheadMax = 1000) {
  const { source, made } = counting();
  const { runs } = bench({ source, aheadMax });
  value(await runs.create("run", runConfig(config)));
  return { runs, made };
}

describe("tasks made ahead", () => {
  test("are none before a run is asked for tasks, and then what the next draw wants, so that it makes none", async () => {
    const { runs, made } = await started();
    await settled();
    expect(made).toEqual([]);
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
    // None twice.
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
    // In chunks, the last of which begins below the limit.
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
