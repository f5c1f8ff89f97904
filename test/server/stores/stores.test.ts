/** Tests that every store must pass. */
import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { memoryStore } from "../../../server/stores/memory.ts";
import { sqliteStore } from "../../../server/stores/sqlite.ts";
import { LIST_CHARACTERS_MAX, type NewRun, type Store } from "../../../server/stores/store.ts";
import { bytes } from "./bytes.ts";
import { onPostgres } from "./postgres/support.ts";

const directories: string[] = [];
afterAll(() => directories.forEach((made) => rmSync(made, { recursive: true })));

function inDirectory(synchronous: "normal" | "full"): Promise<Store> {
  const directory = mkdtempSync(join(tmpdir(), "gradus-"));
  directories.push(directory);
  return sqliteStore({ directory, synchronous });
}

/** `inOrder`: requests take effect in the order in which they were made; otherwise they run side by side. */
const stores: readonly { name: string; open: () => Store | Promise<Store>; inOrder?: false }[] = [
  { name: "memory", open: memoryStore },
  { name: "sqlite", open: () => inDirectory("normal") },
  { name: "sqlite, synchronous", open: () => inDirectory("full") },
  { name: "postgres", open: async () => (await onPostgres()).store, inOrder: false },
];

const HOUR_MS = 3_600_000;

const newRun = (id: string, more: Partial<NewRun> = {}): NewRun => ({
  id,
  timeToLiveMs: HOUR_MS,
  events: [bytes("created")],
  records: [],
  summary: { head: `head of ${id}`, state: "created" },
  ...more,
});

const summary = { state: "later" };

describe.each(stores)("the store: $name", ({ open, inOrder = true }) => {
  let store: Store;
  const begin = async (...ids: string[]): Promise<number[]> => {
    store = await open();
    for (const id of ids) expect(await store.create(newRun(id))).toBe("created");
    return Promise.all(ids.map(async (id) => (await store.find(id))?.key ?? -1));
  };
  afterEach(() => store.close());

  test("keeps what it is given, text of any kind included", async () => {
    const [key = -1] = await begin("run");
    const events = ["", 'quote " and \u0000 and \u{1F600}', "x".repeat(100_000)].map(bytes);
    expect(await store.append(key, { expectedVersion: 1, events, records: [], summary })).toBe("appended");
    expect(await store.read(key, 0)).toEqual([bytes("created"), ...events]);
    expect(await store.read(key, 3)).toEqual(events.slice(2));
    expect(await store.read(key, 4)).toEqual([]);
    expect(await store.find("run")).toEqual({ id: "run", key, version: 4 });
  });

  test("takes an id once", async () => {
    await begin("run");
    expect(await store.create(newRun("run", { events: [bytes("other")] }))).toBe("exists");
    expect(await store.find("other")).toBeUndefined();
    expect((await store.find("run"))?.version).toBe(1);
  });

  test("appends only at the version that its caller has seen, all of it or nothing", async () => {
    const [key = -1] = await begin("run");
    const records = [{ seq: 0, body: "r" }];
    for (const expectedVersion of [0, 2]) {
      expect(await store.append(key, { expectedVersion, events: [bytes("no")], records, summary })).toBe("conflict");
    }
    expect(await store.read(key, 0)).toEqual([bytes("created")]);
    expect(await store.records(key, 0, 10)).toEqual([]);
  });

  test("lets one of many writers at a version through", async () => {
    const [key = -1] = await begin("run");
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        store.append(key, { expectedVersion: 1, events: [bytes(String(i))], records: [], summary }),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === "appended")).toHaveLength(1);
    expect(await store.read(key, 0)).toHaveLength(2);
  });

  test("writes records by place, again in place of the old, and reads them in pages", async () => {
    const [key = -1] = await begin("run");
    const record = (seq: number, body: string) => ({ seq, body });
    const write = async (version: number, ...records: { seq: number; body: string }[]) =>
      store.append(key, { expectedVersion: version, events: [bytes("e")], records, summary });
    await write(1, record(0, "a"), record(1, "b"));
    await write(2, record(2, "c"), record(0, "A"));
    expect(await store.records(key, 0, 2)).toEqual([record(0, "A"), record(1, "b")]);
    expect(await store.records(key, 2, 2)).toEqual([record(2, "c")]);
  });

  test("keeps the newest snapshot", async () => {
    const [key = -1] = await begin("run");
    expect(await store.snapshot(key)).toBeUndefined();
    await store.append(key, {
      expectedVersion: 1,
      events: [bytes("2"), bytes("3"), bytes("4"), bytes("5")],
      records: [],
      summary,
    });
    await store.saveSnapshot(key, { version: 5, body: bytes("five") });
    await store.saveSnapshot(key, { version: 3, body: bytes("three") });
    expect(await store.snapshot(key)).toEqual({ version: 5, body: bytes("five") });
  });

  test("lists runs in the order of their ids' bytes, in pages", async () => {
    await begin("b", "a", "B", "a.b", "a-b", "1");
    const ids = async (after: string, limit: number) => (await store.list(after, limit)).runs.map(({ id }) => id);
    expect(await ids("", 10)).toEqual(["1", "B", "a", "a-b", "a.b", "b"]);
    expect(await ids("B", 2)).toEqual(["a", "a-b"]);
    expect(await ids("b", 2)).toEqual([]);
  });

  test("lists with each run its summary as it was written last, the head only where it was written again", async () => {
    const [key = -1] = await begin("a", "b");
    const write = (version: number, written: { head?: string; state: string }) =>
      store.append(key, { expectedVersion: version, events: [bytes("e")], records: [], summary: written });
    await write(1, { state: "one" });
    const summaries = async () => (await store.list("", 10)).runs.map((run) => run.summary);
    const ofB = { head: "head of b", state: "created" };
    expect(await summaries()).toEqual([{ head: "head of a", state: "one" }, ofB]);
    await write(2, { head: "another", state: "two" });
    await write(2, { head: "late", state: "late" });
    expect(await summaries()).toEqual([{ head: "another", state: "two" }, ofB]);
  });

  test("lists in pages that end early where their summaries are large", async () => {
    store = await open();
    const head = "x".repeat(LIST_CHARACTERS_MAX / 2);
    for (const id of ["a", "b", "c", "d", "e"]) await store.create(newRun(id, { summary: { head, state: "" } }));
    const page = async (after: string, limit: number) => {
      const { runs, more } = await store.list(after, limit);
      return [runs.map(({ id }) => id).join(""), more];
    };
    expect(await page("", 10)).toEqual(["ab", true]);
    expect(await page("b", 1)).toEqual(["c", true]);
    expect(await page("d", 1)).toEqual(["e", false]);
    expect(await page("e", 1)).toEqual(["", false]);
  });

  test("reads a long journal in stretches", async () => {
    const [key = -1] = await begin("run");
    const events = ["aaaa", "bbbb", "cccc"].map(bytes);
    await store.append(key, { expectedVersion: 1, events, records: [], summary });
    expect(await store.read(key, 1, 8)).toEqual(["aaaa", "bbbb"].map(bytes));
    expect(await store.read(key, 1, 1)).toEqual([bytes("aaaa")]);
    expect(await store.read(key, 3, 8)).toEqual([bytes("cccc")]);
  });

  test("a long run is gone at the first moment, for all that is asked", async () => {
    const [key = -1] = await begin("run");
    const many = Array.from({ length: 3000 }, (_, i) => String(i));
    const records = many.map((body, seq) => ({ seq, body }));
    await store.append(key, { expectedVersion: 1, events: many.map(bytes), records, summary });
    await store.saveSnapshot(key, { version: 3001, body: bytes("s") });
    const removed = store.remove(key);
    if (!inOrder) await removed;
    const later = Promise.all([
      store.find("run"),
      store.read(key, 0),
      store.records(key, 0, 10),
      store.snapshot(key),
      store.list("", 10),
      store.append(key, { expectedVersion: 3001, events: [bytes("late")], records: [], summary }),
      store.create(newRun("run")),
    ]);
    expect(await removed).toBe(true);
    // Requests that are made in one go may be answered in another order, writes first.
    const [found, events, history, snapshot, , appended, created] = await later;
    expect([found?.key === key, events, history, snapshot, appended]).toEqual([
      false,
      undefined,
      [],
      undefined,
      "gone",
    ]);
    expect(created).toBe("created");
    expect((await store.list("", 10)).runs.map((run) => run.version)).toEqual([1]);
  });

  test("removes all of a run, and never gives its key again", async () => {
    const [key = -1, other = -1] = await begin("run", "other");
    await store.append(key, { expectedVersion: 1, events: [bytes("e")], records: [{ seq: 0, body: "r" }], summary });
    await store.saveSnapshot(key, { version: 2, body: bytes("s") });
    expect(await store.remove(key)).toBe(true);
    expect(await store.remove(key)).toBe(false);
    expect(await store.find("run")).toBeUndefined();
    expect(await store.read(key, 0)).toBeUndefined();
    expect(await store.append(key, { expectedVersion: 2, events: [bytes("late")], records: [], summary })).toBe("gone");
    await store.saveSnapshot(key, { version: 3, body: bytes("late") });
    expect(await store.snapshot(key)).toBeUndefined();
    expect(await store.records(key, 0, 10)).toEqual([]);
    await store.create(newRun("run"));
    expect((await store.find("run"))?.key).not.toBe(key);
    expect(await store.read(other, 0)).toEqual([bytes("created")]);
  });

  test("removes runs that expired by its own clock, unless they were touched", async () => {
    store = await open();
    for (const id of ["a", "b", "c"]) await store.create(newRun(id, { timeToLiveMs: -HOUR_MS }));
    const [a, b, c] = await Promise.all(["a", "b", "c"].map(async (id) => (await store.find(id))?.key ?? -1));
    await store.touch(b ?? -1, HOUR_MS);
    await store.touch(b ?? -1, -2 * HOUR_MS);
    await store.touch(c ?? -1, -HOUR_MS / 2);
    const { nowMs, runs } = await store.expired();
    expect(runs.map(({ id, key }) => [id, key])).toEqual([["a", a], ["c", c]]); // prettier-ignore
    const agesMs = runs.map(({ expiresAtMs }) => Math.round((nowMs - expiresAtMs) / 60_000) * 60_000);
    expect(agesMs).toEqual([HOUR_MS, HOUR_MS / 2]);
    expect(await store.removeExpired(nowMs - 1.5 * HOUR_MS)).toEqual([]);
    expect(await store.removeExpired(nowMs - 0.75 * HOUR_MS)).toEqual(runs.slice(0, 1));
    expect(await store.removeExpired(nowMs)).toEqual(runs.slice(1));
    expect((await store.expired()).runs).toEqual([]);
    expect((await store.list("", 10)).runs.map(({ id }) => id)).toEqual(["b"]);
    expect((await store.removeExpired(nowMs + 2 * HOUR_MS)).map(({ id }) => id)).toEqual(["b"]);
  });

  test("refuses a reader that knows of more events than there are", async () => {
    const [key = -1] = await begin("run");
    await expect(store.read(key, 2)).rejects.toThrow("its journal ends at event 1, but 2 events were written");
  });

  test("behaves as a list of events, whatever is done to it", async () => {
    const [key = -1] = await begin("run");
    const expected = [bytes("created")];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: -1, max: 1 }),
        async (events, off) => {
          const expectedVersion = expected.length + off;
          const outcome = await store.append(key, { expectedVersion, events, records: [], summary });
          expect(outcome).toBe(off === 0 ? "appended" : "conflict");
          if (off === 0) expected.push(...events);
          expect(await store.read(key, 0)).toEqual(expected);
        },
      ),
      { numRuns: 30 },
    );
  });
});
