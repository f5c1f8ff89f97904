import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { FORMAT, readEvent } from "../../../server/curriculum/event-codec.ts";
import { piecesOf } from "../../../server/curriculum/state-codec.ts";
import { type Imported, SavedRunSchema, type StateHead } from "../../../proto/gen/gradus/internal/v1/run_pb.js";
import { memoryStore } from "../../../server/stores/memory.ts";
import type { Store } from "../../../server/stores/store.ts";
import {
  answer,
  ask,
  bench,
  fakeClock,
  feedbackFor,
  feedbackOf,
  incarnations,
  runConfig,
  type Runs,
  type Task,
  train,
  value,
  type Bench,
} from "./support.ts";

/** Returns a run in its third batch: half of the batch is answered, and two of its tasks are not given out. */
async function underWay(from: Bench = bench()) {
  const { runs } = from;
  value(await runs.create("run", runConfig()));
  await train(runs, "run", 2);
  const { tasks } = value(await ask(runs, "run", 12, 4));
  await answer(runs, "run", tasks.slice(0, 2));
  value(await runs.recordFeedback("run", [feedbackFor(tasks[2] as Task, 0)]));
  return { ...from, tasks };
}

/** Returns the tasks without the fields that depend on the run that issued them. */
function instances(tasks: readonly Task[]) {
  return tasks.map(({ incarnation: _named, epoch: _counted, ...task }) => task);
}

async function statuses(runs: Runs, runId: string, items: Parameters<Runs["recordFeedback"]>[1]) {
  return new Set(value(await runs.recordFeedback(runId, items)).map(({ kind }) => kind));
}

const stale = new Set(["stale_epoch"]);

async function told(runs: Runs): Promise<readonly string[]> {
  const { items } = value(await runs.history("run", 0, 100));
  return items.map((item) => {
    if (item.kind === "evaluation") throw new Error("the run has no evaluation arm");
    const marks = `${item.kind === "batch" && !item.closed ? " open" : ""}${item.rolledBack ? " undone" : ""}`;
    return `${item.epoch}: ${item.kind === "batch" ? item.batch : item.control}${marks}`;
  });
}

describe("import in place", () => {
  test("goes back to the exported state, in a new epoch and incarnation, and goes on as the run did", async () => {
    const { runs } = await underWay();
    const exported = value(await runs.export("run"));
    expect([exported.epoch, exported.cursor]).toEqual([0, 18]);
    await answer(runs, "run", value(await ask(runs, "run", 12, 6)).tasks);
    const before = await train(runs, "run", 3, 18);
    const { state } = value(await runs.get("run"));
    const { run, outstanding } = value(await runs.import(exported.state, undefined));
    expect([run.state.epoch, run.state.cursor, run.state.samplesRecorded]).toEqual([1, 18, 57]);
    expect([state.incarnation, run.state.incarnation]).toEqual(["i0", "i1"]);
    expect(run.state.version).toBeGreaterThan(state.version);
    expect(outstanding.map(({ cursor, incarnation }) => [cursor, incarnation])).toEqual([
      [14, "i1"],
      [15, "i1"],
    ]);
    await answer(runs, "run", value(await ask(runs, "run", 12, 6)).tasks);
    const after = await train(runs, "run", 3, 18);
    expect(instances(after.tasks)).toEqual(instances(before.tasks));
    expect(after.batches.slice(-3)).toEqual(before.batches.slice(-3).map((batch) => ({ ...batch, epoch: 1 })));
  });

  test("takes nothing for what was issued before: it is issued again, as outstanding or when it is asked for", async () => {
    const { runs, tasks } = await underWay();
    const { state } = value(await runs.export("run"));
    const whole = value(await ask(runs, "run", 12, 6)).tasks;
    const { outstanding } = value(await runs.import(state, undefined));
    expect(instances(outstanding)).toEqual(instances(tasks.slice(2)));
    expect(await statuses(runs, "run", feedbackOf(whole, 4))).toEqual(stale);
    expect(value(await runs.closeGroups("run", tasks.slice(2, 3), ""))).toEqual([{ kind: "stale_epoch" }]);
    expect(await statuses(runs, "run", feedbackOf(outstanding.slice(1), 4))).toEqual(new Set(["recorded"]));
    const again = value(await ask(runs, "run", 12, 6)).tasks;
    expect(instances(again)).toEqual(instances(whole));
    expect(await statuses(runs, "run", feedbackOf(again.slice(0, 2), 4))).toEqual(new Set(["duplicate"]));
    expect(await statuses(runs, "run", feedbackOf(again.slice(4), 4))).toEqual(new Set(["recorded"]));
  });

  test("twice opens two epochs; an older state forgets the epochs after it, but not their numbers", async () => {
    const { runs } = await underWay();
    const first = value(await runs.export("run")).state;
    expect(value(await runs.import(first, undefined)).run.state.epoch).toBe(1);
    const second = value(await runs.export("run")).state;
    expect(value(await runs.import(second, undefined)).run.state.epoch).toBe(2);
    expect(value(await runs.import(first, undefined)).run.state.epoch).toBe(3);
  });

  test("is told in the history behind what it has undone, which stays as it was", async () => {
    const { runs, clock } = await underWay();
    const { state } = value(await runs.export("run"));
    await answer(runs, "run", value(await ask(runs, "run", 12, 6)).tasks);
    await train(runs, "run", 1, 18);
    await clock.advance(5);
    value(await runs.import(state, undefined));
    expect(await told(runs)).toEqual(["0: 0", "0: 1", "0: 2 open", "0: 3 undone", "1: import"]);
    await answer(runs, "run", value(await ask(runs, "run", 12, 6)).tasks);
    const later = value(await runs.export("run")).state;
    await train(runs, "run", 2, 18);
    value(await runs.import(state, undefined));
    const twice = ["0: 0", "0: 1", "0: 2 open", "0: 3 undone", "1: import undone", "1: 3 undone", "1: 4 undone"];
    expect(await told(runs)).toEqual([...twice, "2: import"]);
    // The first import is in force again, and batch 2 closed with it.
    value(await runs.import(later, undefined));
    const back = ["0: 0", "0: 1", "0: 2", "0: 3 undone", "1: import", "1: 3 undone", "1: 4 undone"];
    expect(await told(runs)).toEqual([...back, "2: import undone", "3: import"]);
    const times = value(await runs.history("run", 0, 100)).items.map(({ atMs }) => atMs - 1_000_000);
    expect(times).toEqual([0, 0, 0, 0, 5, 5, 5, 5, 5]);
  });
});

describe("an incarnation is never another", () => {
  test("when a run is deleted and its export imported again", async () => {
    const { runs } = await underWay();
    const { state } = value(await runs.export("run"));
    value(await runs.import(state, undefined));
    const dead = value(await ask(runs, "run", 12, 6)).tasks;
    value(await runs.remove("run"));
    expect((await runs.get("run")).kind).toBe("not_found");
    const { run } = value(await runs.import(state, "run"));
    expect([run.state.epoch, run.state.cursor]).toEqual([1, 18]);
    const live = value(await ask(runs, "run", 12, 6)).tasks;
    expect(instances(live)).toEqual(instances(dead));
    expect(await statuses(runs, "run", feedbackOf(dead, 4))).toEqual(stale);
    expect(await statuses(runs, "run", feedbackOf(live.slice(3), 4))).toEqual(new Set(["recorded"]));
  });

  test("when a run is deleted and created again", async () => {
    const { runs } = bench();
    value(await runs.create("run", runConfig()));
    const dead = value(await ask(runs, "run", 0, 6)).tasks;
    value(await runs.remove("run"));
    value(await runs.create("run", runConfig()));
    const live = value(await ask(runs, "run", 0, 6)).tasks;
    expect(instances(live)).toEqual(instances(dead));
    expect(await statuses(runs, "run", feedbackOf(dead, 4))).toEqual(stale);
  });

  test("when an export is imported under another id twice", async () => {
    const { runs } = await underWay();
    const { state } = value(await runs.export("run"));
    const first = value(await runs.import(state, "copy")).outstanding;
    value(await runs.remove("copy"));
    const second = value(await runs.import(state, "copy")).outstanding;
    expect(instances(second)).toEqual(instances(first));
    expect(await statuses(runs, "copy", feedbackOf(first, 4))).toEqual(stale);
    expect(await statuses(runs, "copy", feedbackOf(second.slice(1), 4))).toEqual(new Set(["recorded"]));
  });

  test("when two servers import one export", async () => {
    const { runs } = await underWay();
    const { state } = value(await runs.export("run"));
    const [one, other] = ["one", "other"].map((name) => bench({ newIncarnation: incarnations(name) }).runs) as [
      Runs,
      Runs,
    ];
    const here = value(await one.import(state, undefined)).outstanding;
    const there = value(await other.import(state, undefined)).outstanding;
    expect(instances(there)).toEqual(instances(here));
    expect(await statuses(one, "run", feedbackOf(there, 4))).toEqual(stale);
    expect(await statuses(other, "run", feedbackOf(here, 4))).toEqual(stale);
  });
});

describe("import under another id", () => {
  test("issues the outstanding tasks again, and goes on as the first run would, with its history", async () => {
    const { runs, tasks } = await underWay();
    const { state } = value(await runs.export("run"));
    const { run, outstanding } = value(await runs.import(state, "copy"));
    expect([run.runId, run.state.epoch, run.state.version]).toEqual(["copy", 1, 0]);
    expect(instances(outstanding)).toEqual(instances(tasks.slice(2)));
    await answer(runs, "copy", value(await ask(runs, "copy", 12, 6)).tasks);
    await answer(runs, "run", value(await ask(runs, "run", 12, 6)).tasks);
    const copied = await train(runs, "copy", 3, 18);
    const original = await train(runs, "run", 3, 18);
    expect(instances(copied.tasks)).toEqual(instances(original.tasks));
    expect(copied.batches).toEqual(original.batches.map((batch, i) => ({ ...batch, epoch: i < 3 ? 0 : 1 })));
  });

  test("takes the place of a run that is another's, whose history is undone whole", async () => {
    const { runs } = await underWay();
    const { state } = value(await runs.export("run"));
    const elsewhere = bench({ newIncarnation: incarnations("other") }).runs;
    value(await elsewhere.create("run", runConfig({ seed: 8n })));
    await train(elsewhere, "run", 2);
    value(await elsewhere.import(state, undefined));
    expect(await told(elsewhere)).toEqual(["0: 0 undone", "0: 1 undone", "0: 0", "0: 1", "0: 2 open", "1: import"]);
    await answer(elsewhere, "run", value(await ask(elsewhere, "run", 12, 6)).tasks);
    expect((await told(elsewhere))[4]).toBe("0: 2");
  });

  test("needs a free id, and a state", async () => {
    const { runs } = await underWay();
    value(await runs.create("taken", runConfig()));
    const { state } = value(await runs.export("run"));
    expect(await runs.import(state, "taken")).toMatchObject({ kind: "already_exists", field: "run_id" });
    const whole = gunzipSync(state);
    const pieces = [...piecesOf(whole)];
    const records = whole.subarray(pieces.findLast(({ kind }) => kind === "part")?.end);
    const contents = [
      ...["", "{}", "null", '{"format":4}', "\u0000"],
      ...pieces
        .slice(0, -1)
        .map(({ end }) => whole.subarray(0, end))
        .filter((_, i) => pieces[i]?.kind === "part" && pieces[i + 1]?.kind === "part"),
      ...[Buffer.from("[]"), Buffer.of(10, 0), whole.subarray(0, pieces[0]?.end)].map((more) =>
        Buffer.concat([whole, more]),
      ),
      Buffer.concat([records, whole]),
      whole.subarray(0, -1),
    ];
    const bytes = [...contents.map((each) => gzipSync(each)), state.slice(0, -9), new TextEncoder().encode("{}")];
    for (const wrong of bytes) {
      expect(await runs.import(wrong, "new")).toMatchObject({ kind: "invalid", field: "state" });
    }
    expect((await runs.import(state, "no/slash")).kind).toBe("invalid");
  });
});

/** Returns runs, and a count of how often their work gave way to other work. */
function countingTurns() {
  let turns = 0;
  const nextTurn = (callback: () => void): void => {
    turns++;
    setImmediate(callback);
  };
  return { ...bench({ clock: { ...fakeClock(), nextTurn } }), turns: () => turns };
}

test("what a run may hold is bounded, and a large one is exported and imported, a little at a time", async () => {
  const { runs, turns } = countingTurns();
  const largest = { promptsPerUpdate: 1024, numGenerations: 512, lag: { kind: "batches", count: 1 } } as const;
  const over = await runs.create("run", runConfig({ ...largest, numGenerations: 513 }));
  expect(over).toMatchObject({ kind: "invalid", field: "prompts_per_update" });
  value(await runs.create("run", runConfig(largest)));
  // The value is a quarter of the limit.
  for (const cursor of [0, 256]) {
    const { tasks } = value(await ask(runs, "run", cursor, 256));
    // All samples but one of each group: they stay open.
    value(await runs.recordFeedback("run", feedbackOf(tasks, 511)));
  }
  const { state } = value(await runs.export("run"));
  // The state fits in a message of the contract: 64 MiB, unless configured.
  expect(state.length).toBeLessThan(8 * 2 ** 20);
  const before = turns();
  const { run, outstanding } = value(await runs.import(state, "copy"));
  // The server reads the state twice: as the caller sent it, and as it stands in the journal.
  expect(turns() - before).toBeGreaterThanOrEqual((2 * gunzipSync(state).length) / 2 ** 17);
  expect([run.state.samplesRecorded, outstanding.length]).toEqual([512 * 511, 512]);
});

test("a state says its format, and one of another is refused", async () => {
  const { runs } = await underWay();
  const { state } = value(await runs.export("run"));
  const { parts, records } = fromBinary(SavedRunSchema, gunzipSync(state));
  const head = parts[0]?.part.value as StateHead;
  expect(head.format).toBe(FORMAT);
  head.format++;
  const newer = toBinary(SavedRunSchema, create(SavedRunSchema, { parts, records }));
  expect(await runs.import(gzipSync(newer), undefined)).toEqual({
    kind: "invalid",
    field: "state",
    message: `the state is of format ${FORMAT + 1}, but this server reads format ${FORMAT}: use the version of Gradus that wrote it`,
  });
});

test("an export names the event that it was made at, and so does the journal of a run that it is imported as", async () => {
  const { runs, store } = await underWay();
  const { key = -1, version = 0 } = (await store.find("run")) ?? {};
  const { state } = value(await runs.export("run"));
  const journal = (await store.checksum(key, version)) ?? "";
  expect(journal).toMatch(/^[0-9a-f]{8}$/);
  const { parts } = fromBinary(SavedRunSchema, new Uint8Array(gunzipSync(state)));
  expect(parts[0]?.part.value).toMatchObject({ version, journal });
  value(await runs.import(state, "copy"));
  const copy = await store.find("copy");
  const [first = new Uint8Array()] = (await store.read(copy?.key ?? -1, 0)) ?? [];
  const { state: imported } = readEvent(first).kind.value as Imported;
  expect(fromBinary(SavedRunSchema, imported).parts).toEqual(parts);
});

test("an export of a run that is deleted while it is made is none, for its history is gone", async () => {
  const store = memoryStore();
  let removed = false;
  const removing: Store = {
    ...store,
    records: async (key, from, limit) => {
      if (removed) await store.remove(key);
      return store.records(key, from, limit);
    },
  };
  const { runs } = await underWay(bench({ store: removing }));
  removed = true;
  expect((await runs.export("run")).kind).toBe("not_found");
});

test("tasks that are outstanding after an import are looked up some at a time", async () => {
  const { runs, turns } = countingTurns();
  const config = runConfig({ promptsPerUpdate: 4096, numGenerations: 2, lag: { kind: "batches", count: 0 } });
  value(await runs.create("run", config));
  for (let cursor = 0; cursor < 4096; cursor += 1024) value(await ask(runs, "run", cursor, 1024));
  const { state } = value(await runs.export("run"));
  const before = turns();
  const { outstanding } = value(await runs.import(state, "copy"));
  expect(outstanding).toHaveLength(4096);
  // Looking tasks up takes eight turns; the others come from reading the state.
  expect(turns() - before).toBeGreaterThan(11);
});
