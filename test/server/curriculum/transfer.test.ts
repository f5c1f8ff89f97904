import { describe, expect, test } from "vitest";
import { answer, ask, bench, feedbackFor, feedbackOf, runConfig, train, value, type Bench } from "./support.ts";

/** A run in its third batch, of which half is answered and two tasks are not given out. */
async function underWay(from: Bench = bench()) {
  const { runs } = from;
  value(await runs.create("run", runConfig()));
  await train(runs, "run", 2);
  const { tasks } = value(await ask(runs, "run", 12, 4));
  await answer(runs, "run", tasks.slice(0, 2));
  value(await runs.recordFeedback("run", [feedbackFor(tasks[2] as (typeof tasks)[0], 0)]));
  return { ...from, tasks };
}

describe("import in place", () => {
  test("goes back to the exported state, in a new epoch, and goes on as the run did", async () => {
    const { runs } = await underWay();
    const exported = value(await runs.export("run"));
    expect([exported.epoch, exported.cursor]).toEqual([0, 18]);
    await answer(runs, "run", value(await ask(runs, "run", 12, 6)).tasks);
    const before = await train(runs, "run", 3, 18);
    const { state } = value(await runs.get("run"));
    const { run, outstanding } = value(await runs.import(exported.state, undefined));
    expect([run.state.epoch, run.state.cursor, run.state.samplesRecorded]).toEqual([1, 18, 57]);
    expect(run.state.version).toBeGreaterThan(state.version);
    expect(outstanding.map(({ cursor, epoch }) => [cursor, epoch])).toEqual([
      [14, 0],
      [15, 0],
    ]);
    await answer(runs, "run", value(await ask(runs, "run", 12, 6)).tasks);
    const after = await train(runs, "run", 3, 18);
    expect(after.tasks).toEqual(before.tasks.map((task) => ({ ...task, epoch: 1 })));
    expect(after.batches.slice(-3)).toEqual(before.batches.slice(-3));
  });

  test("ignores what was issued later under the old epoch, and takes what was issued before", async () => {
    const { runs, tasks } = await underWay();
    const { state } = value(await runs.export("run"));
    const whole = value(await ask(runs, "run", 12, 6)).tasks;
    await answer(runs, "run", whole);
    const later = value(await ask(runs, "run", 18, 6)).tasks;
    value(await runs.import(state, undefined));
    const statuses = async (items: Parameters<typeof runs.recordFeedback>[1]) =>
      new Set(value(await runs.recordFeedback("run", items)).map(({ kind }) => kind));
    expect(await statuses(feedbackOf(later, 4))).toEqual(new Set(["stale_epoch"]));
    // Positions 16 and 17 were drawn before the export, though not given out: they are the same tasks.
    expect(await statuses(feedbackOf(whole.slice(3), 4))).toEqual(new Set(["recorded"]));
    expect(await statuses(feedbackOf(tasks.slice(0, 2), 4))).toEqual(new Set(["duplicate"]));
    await answer(runs, "run", whole);
    const again = value(await ask(runs, "run", 18, 6)).tasks;
    expect(again.map(({ epoch }) => epoch)).toEqual(new Array(6).fill(1));
    // Still stale once the position is issued anew; the new ones count, and closing goes by epoch too.
    expect(await statuses(feedbackOf(later, 4))).toEqual(new Set(["stale_epoch"]));
    expect(value(await runs.closeGroups("run", later.slice(0, 1), ""))).toEqual([{ kind: "stale_epoch" }]);
    expect(await statuses(feedbackOf(again, 4))).toEqual(new Set(["recorded"]));
  });

  test("twice opens two epochs; an older state forgets the epochs after it, but not their numbers", async () => {
    const { runs } = await underWay();
    const first = value(await runs.export("run")).state;
    expect(value(await runs.import(first, undefined)).run.state.epoch).toBe(1);
    const second = value(await runs.export("run")).state;
    expect(value(await runs.import(second, undefined)).run.state.epoch).toBe(2);
    expect(value(await runs.import(first, undefined)).run.state.epoch).toBe(3);
  });

  test("brings back a run that was deleted", async () => {
    const { runs, tasks } = await underWay();
    const { state } = value(await runs.export("run"));
    value(await runs.remove("run"));
    expect((await runs.get("run")).kind).toBe("not_found");
    const { run } = value(await runs.import(state, "run"));
    expect([run.state.epoch, run.state.cursor]).toEqual([1, 18]);
    expect(value(await runs.recordFeedback("run", [feedbackFor(tasks[3] as (typeof tasks)[0], 0)]))).toEqual([
      { kind: "recorded" },
    ]);
  });

  test("is told in the history, before the batches that are open again", async () => {
    const { runs } = await underWay();
    const { state } = value(await runs.export("run"));
    await answer(runs, "run", value(await ask(runs, "run", 12, 6)).tasks);
    await train(runs, "run", 1, 18);
    value(await runs.import(state, undefined));
    const { items } = value(await runs.history("run", 0, 100));
    const told = items.map((item) =>
      item.kind === "batch" ? `${item.batch}${item.closed ? "" : " open"}` : item.control,
    );
    expect(told).toEqual(["0", "1", "2", "3", "import", "2 open"]);
    await answer(runs, "run", value(await ask(runs, "run", 12, 6)).tasks);
    expect(value(await runs.history("run", 5, 100)).items[0]).toMatchObject({ batch: 2, closed: true });
  });
});

describe("import under another id", () => {
  test("issues the outstanding tasks again, and goes on as the first run would", async () => {
    const { runs, tasks } = await underWay();
    const { state } = value(await runs.export("run"));
    const { run, outstanding } = value(await runs.import(state, "copy"));
    expect([run.runId, run.state.epoch, run.state.version]).toEqual(["copy", 0, 0]);
    expect(outstanding).toEqual(tasks.slice(2));
    await answer(runs, "copy", value(await ask(runs, "copy", 12, 6)).tasks);
    await answer(runs, "run", value(await ask(runs, "run", 12, 6)).tasks);
    const copied = await train(runs, "copy", 3, 18);
    const original = await train(runs, "run", 3, 18);
    expect(copied.tasks).toEqual(original.tasks);
    expect(copied.batches.slice(-3)).toEqual(original.batches.slice(-3));
  });

  test("on another server", async () => {
    const { runs } = await underWay();
    const { state } = value(await runs.export("run"));
    const elsewhere = bench().runs;
    value(await elsewhere.import(state, undefined));
    const here = value(await ask(runs, "run", 12, 6)).tasks;
    const there = value(await ask(elsewhere, "run", 12, 6)).tasks;
    expect(there).toEqual(here);
  });

  test("needs a free id, and a state", async () => {
    const { runs } = await underWay();
    value(await runs.create("taken", runConfig()));
    const { state } = value(await runs.export("run"));
    expect(await runs.import(state, "taken")).toMatchObject({ kind: "already_exists", field: "run_id" });
    for (const bytes of ["", "{}", "null", '{"format":2}', "\u0000"]) {
      const result = await runs.import(new TextEncoder().encode(bytes), "new");
      expect(result).toMatchObject({ kind: "invalid", field: "state" });
    }
    expect((await runs.import(state, "no/slash")).kind).toBe("invalid");
  });
});
