/** Journals and states say which format they are of, and one that this server does not read is refused, not misread. */
import { describe, expect, test } from "vitest";
import { create, toBinary } from "@bufbuild/protobuf";
import { FORMAT, readEvent } from "../../../server/curriculum/event-codec.ts";
import { decodeState, follow } from "../../support/follow.ts";
import { RunEventSchema } from "../../../proto/gen/gradus/internal/v1/run_pb.js";
import { drawing } from "../../../server/runs/drawing.ts";
import { readState } from "../../../server/runs/journal.ts";
import { liveRun } from "../../../server/runs/live-run.ts";
import { nextBatch } from "../../../server/runs/next-batch.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import { type ListedRun, type Store, StoreDamaged } from "../../../server/stores/store.ts";
import { answer, ask, bench, codecs, freshTasks, kindOf, runConfig, savedState, train, value } from "./support.ts";

async function trained() {
  const store = memoryStore();
  const { runs } = bench({ store });
  value(await runs.create("run", runConfig()));
  await train(runs, "run", 3);
  const key = (await store.find("run"))?.key ?? -1;
  return { runs, store, key, events: (await store.read(key, 0)) ?? [] };
}

/** Returns a store with a changed journal, whose list reports another format. */
function changed(store: Store, change: (event: Uint8Array) => Uint8Array): Store {
  const otherFormat = (run: ListedRun): ListedRun => {
    const { head = "", state = "" } = run.summary ?? {};
    return { ...run, summary: { head: head.replace(`"format":${FORMAT}`, '"format":0'), state } };
  };
  return {
    ...store,
    read: async (key, from) => (await store.read(key, from))?.map(change),
    list: async (after, limit) => {
      const { runs, more } = await store.list(after, limit);
      return { runs: runs.map(otherFormat), more };
    },
  };
}

test("a summary from before it told the shape is passed over for the journal", async () => {
  const { store, runs: before } = await trained();
  const list: Store["list"] = async (after, limit) => {
    const found = await store.list(after, limit);
    const shapeless = ({ summary, ...run }: ListedRun): ListedRun => {
      if (summary === undefined) throw new Error("the run has no summary");
      const { shape: _, ...state } = JSON.parse(summary.state) as Record<string, unknown>;
      return { ...run, summary: { ...summary, state: JSON.stringify(state) } };
    };
    return { ...found, runs: found.runs.map(shapeless) };
  };
  const { runs } = bench({ store: { ...store, list } });
  const { items } = await runs.list("", 10);
  expect(items).toMatchObject([{ kind: "run", view: { state: value(await before.get("run")).state } }]);
});

describe("a journal of another format", () => {
  const message = (found: string): string =>
    `run "run" cannot be read: event 1: an event of the run's journal is ${found}, but this server reads format ${FORMAT}: ` +
    "use the version of Gradus that wrote it";

  test.each([
    [
      "newer",
      (event: Uint8Array) => toBinary(RunEventSchema, { ...readEvent(event), format: FORMAT + 1 }),
      `of format ${FORMAT + 1}`,
    ],
    ["older", () => Buffer.from('[4,"created","run"]'), "in an unknown format"],
  ])("%s is refused by every call, with what it is and what this server reads", async (_name, change, found) => {
    const { store } = await trained();
    const { runs } = bench({ store: changed(store, change) });
    const refusal = { kind: "failed_precondition", message: message(found) };
    expect(await runs.get("run")).toEqual(refusal);
    expect(await runs.pause("run")).toEqual(refusal);
    const unreadable = { kind: "unreadable", runId: "run", message: refusal.message };
    expect(await runs.list("", 10)).toEqual({ items: [unreadable], next: undefined });
  });

  test("is not taken for one that is damaged", async () => {
    const { store } = await trained();
    const unknown = bench({
      store: changed(store, () => toBinary(RunEventSchema, create(RunEventSchema, { format: FORMAT }))),
    });
    const message =
      'run "run" cannot be read: event 1: its kind is not known to this server: use the version of Gradus that wrote it';
    expect(await unknown.runs.get("run")).toEqual({ kind: "failed_precondition", message });
  });
});

const missing = (): never => {
  throw new StoreDamaged("event 3 of its journal is missing");
};

test.each([
  ["damaged", "lacks an event", missing],
  [
    "failed_precondition",
    "has an event that was cut off",
    (events: readonly Uint8Array[]) => events.with(2, (events[2] as Uint8Array).slice(0, -1)),
  ],
  [
    "failed_precondition",
    "has an event that lacks what it needs",
    (events: readonly Uint8Array[]) =>
      events.with(
        2,
        toBinary(RunEventSchema, create(RunEventSchema, { format: FORMAT, kind: { case: "drawn", value: {} } })),
      ),
  ],
] as const)(
  "%s: a run whose journal %s is marked in the list and named by each call, and the others are served",
  async (kind, _n, change) => {
    const { store, key } = await trained();
    const { runs: healthy } = bench({ store });
    value(await healthy.create("other", runConfig()));
    const read: Store["read"] = async (asked, from) => {
      const events = await store.read(asked, 0);
      return asked === key ? events && change(events).slice(from) : events?.slice(from);
    };
    const list: Store["list"] = async (after, limit) => {
      const { runs, more } = await store.list(after, limit);
      return { runs: runs.map((run) => (run.key === key ? { ...run, summary: undefined } : run)), more };
    };
    const { runs } = bench({ store: { ...store, read, list } });
    // No call before this list has found the damage.
    const { items: first } = await runs.list("", 10);
    const refusal = await runs.get("run");
    expect(refusal.kind).toBe(kind);
    const message = "message" in refusal ? refusal.message : "";
    expect(message).toMatch(/^run "run" cannot be read: event 3/);
    const { signal } = new AbortController();
    const wanted = { kind: "open" } as const;
    expect(await runs.groups("run", { wanted, from: 0, limit: 1, waitMs: 0, signal })).toEqual(refusal);
    const { items } = await runs.list("", 10);
    const unreadable = { kind: "unreadable", runId: "run", message };
    expect(items).toMatchObject([{ kind: "run", view: { runId: "other" } }, unreadable]);
    expect(first).toEqual(items);
    expect((await runs.get("other")).kind).toBe("ok");
  },
);

test("every event has the format and its kind", async () => {
  const { events } = await trained();
  expect(events.every((event) => readEvent(event).format === FORMAT)).toBe(true);
  expect(new Set(events.map(kindOf))).toEqual(new Set(["created", "drawn", "handedOut", "feedback"]));
});

describe("a state", () => {
  test("is saved and read unchanged, wherever the run stands", async () => {
    const { events } = await trained();
    for (let count = 1; count <= events.length; count++) {
      const state = follow(undefined, events.slice(0, count), freshTasks);
      if (state === undefined) throw new Error("no state");
      const saved = savedState(state, freshTasks);
      const read = decodeState(saved, freshTasks);
      expect(savedState(read, freshTasks)).toEqual(saved);
      expect({ ...read, issued: null }).toEqual({ ...state, issued: null });
      // The remaining events lead both states to the same state.
      const rest = events.slice(count);
      const [one, other] = [follow(state, rest, freshTasks), follow(read, rest, freshTasks)];
      if (one === undefined || other === undefined) throw new Error("no state");
      expect(savedState(other, freshTasks)).toEqual(savedState(one, freshTasks));
    }
  });

  test("of a newer format is, as a snapshot, left aside for the journal", async () => {
    const { runs, store } = await trained();
    const beside: Store = { ...store, snapshot: async () => ({ version: 3, body: Buffer.from("of another format") }) };
    expect(value(await bench({ store: beside }).runs.get("run")).state).toEqual(value(await runs.get("run")).state);
  });
});

describe("what is written of an update batch", () => {
  /** Returns a run, and the kinds of the events in each write since then. */
  async function watched() {
    const store = memoryStore();
    const writes: unknown[][] = [];
    const { runs } = bench({
      store: {
        ...store,
        append: (key, change) => {
          writes.push(change.events.map(kindOf));
          return store.append(key, change);
        },
      },
    });
    value(await runs.create("run", runConfig()));
    return { runs, writes };
  }

  test("is one write where its cursor was named: the draw and the handing out", async () => {
    const { runs, writes } = await watched();
    const { tasks } = value(await ask(runs, "run", 0, 4));
    expect(writes).toEqual([["drawn", "handedOut"]]);
    // The rest of the batch needs no draw, and tasks that others have are not written again.
    value(await ask(runs, "run", 4, 2));
    value(await ask(runs, "run", 0, 4));
    expect(writes).toEqual([["drawn", "handedOut"], ["handedOut"]]);
    await answer(runs, "run", tasks);
  });

  test("folds the draw once: what was issued is added to, and never copied", async () => {
    const { store, clock, runs } = bench();
    value(await runs.create("run", runConfig()));
    const stored = await store.find("run");
    const state = stored && (await readState(store, stored, codecs, clock));
    if (!stored || !state) throw new Error("the run was not stored");
    const ports = { store, source: freshTasks, clock, newIncarnation: () => "i" };
    const run = liveRun(ports, stored, state);
    const draws = drawing(run, ports);
    const logs: unknown[] = [];
    for (const cursor of [0, 6]) {
      const { signal } = new AbortController();
      await nextBatch(run, draws, { clock }, { cursor, count: 6, waitMs: 0, signal });
      logs.push(run.state().issued.recent.log);
    }
    expect(logs[0]).toHaveLength(12);
    expect(logs[1]).toBe(logs[0]);
  });

  test("gives out what was drawn once where no cursor was named", async () => {
    const { runs, writes } = await watched();
    const { signal } = new AbortController();
    const first = value(await runs.nextBatch("run", { cursor: undefined, count: 4, waitMs: 0, signal }));
    const second = value(await runs.nextBatch("run", { cursor: undefined, count: 4, waitMs: 0, signal }));
    expect([first, second].map(({ tasks }) => tasks.map(({ cursor }) => cursor))).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
    expect(writes).toEqual([["drawn"], ["handedOut"], ["drawn"], ["handedOut"]]);
  });
});
