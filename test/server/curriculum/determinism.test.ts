/** A run is a pure function of its seed, its control changes and its feedback, however the trainer is scheduled. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { trainBySchedule } from "./scheduled.ts";
import {
  adscArms,
  adscConstraints,
  answer,
  ask,
  banditPolicy,
  batchesOf,
  bench,
  runConfig,
  train,
  value,
  type Trace,
} from "./support.ts";

const BATCHES = 7;

describe.each([0, 1, 3])("with a lag of %i", (lag) => {
  const config = runConfig({
    arms: adscArms,
    policy: banditPolicy({}, adscConstraints),
    lag: { kind: "batches", count: lag },
  });

  test("tasks, probabilities and values do not depend on the order, cuts, repeats and delays of feedback", async () => {
    const plain = bench();
    value(await plain.runs.create("run", config));
    const expected = await train(plain.runs, "run", BATCHES);
    const distinct = new Set(expected.batches.map(({ probabilities }) => JSON.stringify(probabilities)));
    expect(distinct.size).toBe(BATCHES - lag);

    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const { runs } = bench();
        value(await runs.create("run", config));
        const trace = await trainBySchedule(() => runs, "run", BATCHES * config.promptsPerUpdate, seed);
        expect(trace).toEqual(expected);
      }),
      { numRuns: 15 },
    );
  });

  test("batch k needs every batch up to k − 1 − lag closed, and no more", async () => {
    const { runs } = bench();
    value(await runs.create("run", config));
    const { promptsPerUpdate } = config;
    const batches = [];
    for (let k = 0; k <= lag; k++) batches.push(value(await ask(runs, "run", k * promptsPerUpdate, promptsPerUpdate)));
    const next = (lag + 1) * promptsPerUpdate;
    expect((await ask(runs, "run", next)).kind).toBe("unavailable");
    // Answers to later batches do not replace those to the first.
    for (const batch of batches.slice(1)) await answer(runs, "run", batch.tasks);
    expect((await ask(runs, "run", next)).kind).toBe("unavailable");
    const first = batches[0]?.tasks ?? [];
    await answer(runs, "run", first.slice(1));
    expect((await ask(runs, "run", next)).kind).toBe("unavailable");
    await answer(runs, "run", first.slice(0, 1));
    expect(value(await ask(runs, "run", next, promptsPerUpdate)).tasks).toHaveLength(promptsPerUpdate);
  });
});

test("what closes early does not leak into a draw that is due before it", async () => {
  const config = runConfig({ lag: { kind: "batches", count: 2 } });
  const early = bench();
  value(await early.runs.create("run", config));
  const batches = [];
  for (let k = 0; k < 3; k++) batches.push(value(await ask(early.runs, "run", k * 6, 6)).tasks);
  // All three are closed when batch 3 is drawn; only batch 0 may count.
  for (const tasks of batches) await answer(early.runs, "run", tasks);
  const { state: afterAll } = value(await early.runs.get("run"));
  expect(afterAll.batchesClosed).toBe(3);
  value(await ask(early.runs, "run", 18, 6));

  const late = bench();
  value(await late.runs.create("run", config));
  for (let k = 0; k < 3; k++) value(await ask(late.runs, "run", k * 6, 6));
  await answer(late.runs, "run", batches[0] ?? []);
  value(await ask(late.runs, "run", 18, 6));

  const last = async (runs: typeof early.runs) => value(await runs.history("run", 3, 1)).items[0];
  expect(await last(early.runs)).toEqual(await last(late.runs));
});

test("instances belong to the run's seed, the arm and the ordinal, whatever the policy does", async () => {
  const instances = async (policy: ReturnType<typeof runConfig>["policy"]) => {
    const { runs } = bench();
    value(await runs.create("run", runConfig({ policy })));
    const { tasks } = await train(runs, "run", 6);
    return new Map(tasks.map(({ key }) => [key.name, key.hash]));
  };
  const bandit = await instances(banditPolicy());
  const even = await instances(banditPolicy({ epsilon: 1 }));
  const common = [...bandit.keys()].filter((name) => even.has(name));
  expect(common.length).toBeGreaterThan(20);
  for (const name of common) expect(bandit.get(name)).toBe(even.get(name));
});

test("other seeds give other runs", async () => {
  const keys = async (seed: bigint) => {
    const { runs } = bench();
    value(await runs.create("run", runConfig({ seed })));
    return (await train(runs, "run", 2)).tasks.map(({ key }) => key);
  };
  expect(await keys(1n)).not.toEqual(await keys(2n));
  expect(await keys(2n ** 64n - 1n)).toEqual(await keys(2n ** 64n - 1n));
});

describe("an unbounded lag", () => {
  const config = runConfig({ lag: { kind: "unbounded" } });

  test("never waits, and folds what is there as one update, in cursor order", async () => {
    const outcomes: Trace[] = [];
    for (const order of ["forward", "backward"] as const) {
      const { runs } = bench();
      value(await runs.create("run", config));
      const first = value(await ask(runs, "run", 0, 18)).tasks;
      expect(first).toHaveLength(18);
      const some = first.filter((_, i) => i % 3 === 0);
      for (const task of order === "forward" ? some : some.toReversed()) await answer(runs, "run", [task]);
      const second = value(await ask(runs, "run", 18, 6)).tasks;
      // A straggler counts once, with the next draw.
      await answer(runs, "run", first.slice(1, 2));
      const third = value(await ask(runs, "run", 24, 6)).tasks;
      const fourth = value(await ask(runs, "run", 30, 6)).tasks;
      outcomes.push({ tasks: [...first, ...second, ...third, ...fourth], batches: await batchesOf(runs, "run") });
    }
    expect(outcomes[0]).toEqual(outcomes[1]);
    const values = outcomes[0]?.batches.map((batch) => batch.values) ?? [];
    expect(values[0]).toEqual(values[2]);
    expect(values[2]).not.toEqual(values[3]);
    expect(values[3]).not.toEqual(values[4]);
    expect(values[4]).toEqual(values[5]);
  });
});
