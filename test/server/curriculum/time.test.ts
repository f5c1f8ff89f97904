/** Tests of what depends on the clock: waiting, timeouts and expiry. */
import { describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../server/base/system-clock.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import { type Store, StoreUnavailable } from "../../../server/stores/store.ts";
import {
  answer,
  arm,
  ask,
  bench,
  fakeClock,
  feedbackFor,
  kindOf,
  made,
  runConfig,
  settled,
  sourceOf,
  value,
} from "./support.ts";

const { signal } = new AbortController();

async function started(more: Parameters<typeof runConfig>[0] = {}) {
  const made = bench();
  value(await made.runs.create("run", runConfig(more)));
  const { tasks } = value(await ask(made.runs, "run", 0, 6));
  return { ...made, tasks };
}

describe("NextBatch", () => {
  const lag = { kind: "batches", count: 0 } as const;

  test("waits for feedback that is due", async () => {
    const { runs, clock, tasks } = await started({ lag });
    const waiting = runs.nextBatch("run", { cursor: 6, count: 6, waitMs: 10_000, signal });
    await clock.advance(9000);
    await answer(runs, "run", tasks);
    expect(value(await waiting).tasks).toHaveLength(6);
  });

  test("answers with a delay once it has waited", async () => {
    const { runs, clock } = await started({ lag });
    const waiting = runs.nextBatch("run", { cursor: 6, count: 6, waitMs: 10_000, signal });
    await clock.advance(10_000);
    expect(await waiting).toEqual({
      kind: "unavailable",
      message: "the next update batch waits for feedback on update batch 0: score its completions",
      retryDelayMs: 1000,
      wait: { reason: "FEEDBACK_DUE", metadata: { update_batch: "0" } },
    });
  });

  test("stops waiting when its caller goes away, or the run", async () => {
    const { runs, clock } = await started({ lag });
    const caller = new AbortController();
    const left = runs.nextBatch("run", { cursor: 6, count: 6, waitMs: 10_000, signal: caller.signal });
    const stayed = runs.nextBatch("run", { cursor: 6, count: 6, waitMs: 10_000, signal });
    await settled();
    caller.abort();
    expect((await left).kind).toBe("cancelled");
    value(await runs.remove("run"));
    expect((await stayed).kind).toBe("not_found");
    await clock.advance(0);
  });

  test("gives tasks with the configuration that they were drawn by, though another run has the id by then", async () => {
    const drawing = Promise.withResolvers<void>();
    const source = sourceOf(async ({ arm: { id }, ordinal }) => {
      if (id === "old") await drawing.promise;
      return made(`${id} ${ordinal}`);
    });
    const { runs } = bench({ source });
    value(await runs.create("run", runConfig({ arms: [arm("new"), arm("old")], promptsPerUpdate: 6 })));
    const waiting = runs.nextBatch("run", { cursor: undefined, count: undefined, waitMs: 0, signal });
    await settled();
    value(await runs.remove("run"));
    value(await runs.create("run", runConfig({ arms: [arm("new")], promptsPerUpdate: 2 })));
    drawing.resolve();
    const { config, tasks } = value(await waiting);
    expect(config.arms.map(({ id }) => id)).toEqual(["new"]);
    expect(tasks.map(({ arm: index, key }) => [config.arms[index]?.id, key.name])).toEqual([
      ["new", "new 0"],
      ["new", "new 1"],
    ]);
  });
});

describe("groups that time out", () => {
  test("are closed with what they have, counted from when they were given out", async () => {
    const made = bench();
    const { runs, clock } = made;
    value(await runs.create("run", runConfig({ groupTimeoutMs: 60_000 })));
    const early = value(await ask(runs, "run", 0, 2)).tasks;
    await clock.advance(30_000);
    const late = value(await ask(runs, "run", 2, 3)).tasks;
    value(await runs.recordFeedback("run", [feedbackFor(early[0] as (typeof early)[0], 0)]));
    await clock.advance(29_999);
    expect(value(await runs.get("run")).state.groupsOutstanding).toBe(6);
    await clock.advance(1);
    expect(value(await runs.get("run")).state.groupsOutstanding).toBe(4);
    await clock.advance(30_000);
    // The sixth task was drawn, but never given out.
    expect(value(await runs.get("run")).state.groupsOutstanding).toBe(1);
    const statuses = value(
      await runs.recordFeedback(
        "run",
        late.map((task) => feedbackFor(task, 0)),
      ),
    );
    expect(statuses[0]).toEqual({ kind: "not_recorded", detail: "the group was closed" });
    const { items } = value(await runs.history("run", 1, 10));
    expect(items).toMatchObject([
      { control: "close_groups", reason: "timeout", cursor: 6 },
      { control: "close_groups", reason: "timeout", cursor: 6 },
    ]);
  });

  test("are left alone by a server that has let go of the run, whatever it was at just then", async () => {
    const kept = memoryStore();
    const appending = Promise.withResolvers<void>();
    const closings: unknown[] = [];
    const append: Store["append"] = async (key, what) => {
      if (!what.events.some((event) => kindOf(event) === "closed")) return kept.append(key, what);
      closings.push(what);
      await appending.promise;
      throw new StoreUnavailable("it is closed");
    };
    const { runs, clock } = bench({ store: { ...kept, append } });
    value(await runs.create("run", runConfig({ groupTimeoutMs: 60_000 })));
    value(await ask(runs, "run", 0, 6));
    await clock.advance(60_000);
    runs.close();
    appending.resolve();
    await clock.advance(60_000);
    expect(closings).toHaveLength(1);
  });

  test("while no server held the run are closed when it is next asked for", async () => {
    const { store, clock, runs } = await started({ groupTimeoutMs: 60_000 });
    runs.close();
    await clock.advance(90_000);
    const again = bench({ store, clock });
    value(await again.runs.get("run"));
    await clock.advance(0);
    expect(value(await again.runs.get("run")).state).toMatchObject({ groupsOutstanding: 0, batchesClosed: 1 });
  });

  test("are closed even if the timer fires a little too early", async () => {
    const clock = fakeClock();
    const hasty = { ...clock, setTimer: (ms: number, callback: () => void) => clock.setTimer(ms * 0.99, callback) };
    const { runs } = bench({ clock: hasty });
    value(await runs.create("run", runConfig({ groupTimeoutMs: 60_000 })));
    value(await ask(runs, "run", 0, 6));
    await clock.advance(61_000);
    expect(value(await runs.get("run")).state.groupsOutstanding).toBe(0);
  });

  test("do not hurry a run that was imported: their time begins again", async () => {
    const { runs, clock } = await started({ groupTimeoutMs: 60_000 });
    const { state } = value(await runs.export("run"));
    await clock.advance(3_600_000);
    value(await runs.import(state, undefined));
    await clock.advance(59_000);
    expect(value(await runs.get("run")).state.groupsOutstanding).toBe(6);
    await clock.advance(1000);
    expect(value(await runs.get("run")).state.groupsOutstanding).toBe(0);
  });
});

describe("the machine's clock", () => {
  const DAY_MS = 86_400_000;
  const config = runConfig({ timeToLiveMs: 7 * DAY_MS });

  /** Returns a log, and its lines: each message with the runs that it names. */
  function logged() {
    const lines: (readonly [string, unknown])[] = [];
    const write = (details: object, message: string): void => {
      const { run, runs = run } = details as { readonly run?: string; readonly runs?: readonly string[] };
      lines.push([message, runs]);
    };
    return { lines, log: { info: write, warn: write, error: write } };
  }

  const announced = "runs are past their time to live and will be removed: if the clock is wrong, set it before that";
  const jumped = "the store's clock jumped: no run is removed for the next minutes";
  const removed = "a run past its time to live was removed";

  test("40 days ahead at a start removes nothing in the first minutes, says what it will, and logs each removal", async () => {
    const { store, clock, runs } = bench();
    for (const id of ["a", "b"]) value(await runs.create(id, config));
    runs.close();
    clock.jump(40 * DAY_MS);
    const { lines, log } = logged();
    bench({ store, clock, log });
    await clock.advance(299_000);
    expect(lines).toEqual([[announced, ["a", "b"]]]);
    expect((await store.list("", 10)).runs).toHaveLength(2);
    await clock.advance(60_000);
    expect(lines.slice(1)).toEqual([
      [removed, "a"],
      [removed, "b"],
    ]);
    expect((await store.list("", 10)).runs).toEqual([]);
  });

  test("that jumps ahead and is set right within minutes removes nothing", async () => {
    const { lines, log } = logged();
    const { store, clock, runs } = bench({ log });
    value(await runs.create("a", config));
    await clock.advance(600_000);
    clock.jump(40 * DAY_MS);
    await clock.advance(120_000);
    clock.jump(-40 * DAY_MS);
    await clock.advance(3_600_000);
    expect(lines).toEqual([
      [jumped, undefined],
      [announced, ["a"]],
      [jumped, undefined],
    ]);
    expect(await store.find("a")).toBeDefined();
  });

  test("that goes back by a day leaves time-outs as they were", async () => {
    const before = systemClock.now();
    const { Date: real } = globalThis;
    vi.setSystemTime(real.now() - DAY_MS);
    try {
      expect(Date.now()).toBeLessThan(before);
      expect(systemClock.now()).toBeGreaterThanOrEqual(before);
      expect(Number.isInteger(systemClock.now())).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  test("that goes back by a day leaves no group open for that long", async () => {
    const { runs, clock } = await started({ groupTimeoutMs: 60_000 });
    await clock.advance(30_000);
    clock.jump(-DAY_MS);
    await clock.advance(30_000);
    expect(value(await runs.get("run")).state.groupsOutstanding).toBe(0);
  });

  test("a run that a caller deletes is logged, too", async () => {
    const { lines, log } = logged();
    const { runs } = bench({ log });
    value(await runs.create("a", config));
    value(await runs.remove("a"));
    expect(lines).toEqual([["a run was deleted, as a caller asked", "a"]]);
  });
});

describe("a run of which nothing is asked", () => {
  test("is deleted after its time to live, and not before", async () => {
    const { runs, clock, store } = await started({ timeToLiveMs: 1_000_000 });
    for (let i = 0; i < 5; i++) {
      await clock.advance(900_000);
      expect((await runs.get("run")).kind).toBe("ok");
    }
    await clock.advance(1_000_000);
    expect(await store.find("run")).toBeDefined();
    await clock.advance(200_000);
    expect(await store.find("run")).toBeUndefined();
    expect((await runs.get("run")).kind).toBe("not_found");
  });

  test("lives on while it is watched", async () => {
    const { runs, clock, store } = await started({ timeToLiveMs: 1_000_000 });
    const watcher = new AbortController();
    const views = value(await runs.watch("run", watcher.signal))[Symbol.asyncIterator]();
    await views.next();
    const pending = views.next();
    for (let i = 0; i < 20; i++) await clock.advance(100_000);
    expect(await store.find("run")).toBeDefined();
    watcher.abort();
    expect((await pending).done).toBe(true);
  });

  test("leaves memory, and is read again when it is asked for", async () => {
    const { runs, clock, tasks } = await started();
    await clock.advance(3_600_000);
    await answer(runs, "run", tasks);
    expect(value(await runs.get("run")).state.samplesRecorded).toBe(24);
  });
});
