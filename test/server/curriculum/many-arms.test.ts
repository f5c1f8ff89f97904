/** Tests of runs with many arms: a draw's record has only the changes, and reading it back gives the same state. */
import { expect, test } from "vitest";
import { changed, changesOf, numbersToRecord } from "../../../server/curriculum/by-arm.ts";
import type { RunState } from "../../../server/curriculum/state.ts";
import { decodeState } from "../../support/follow.ts";
import { readState } from "../../../server/runs/journal.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import {
  answer,
  arm,
  ask,
  type BatchRecord,
  bench,
  freshTasks,
  frontierPolicy,
  type Key,
  kindOf,
  runConfig,
  type Runs,
  savedState,
  type Spec,
  value,
} from "./support.ts";

const ARMS = 1000;
const BATCHES = 70;
const PROMPTS = 8;
/** Bytes of a probability and a value, for each arm and batch. */
const TOLD_BYTES = 16;

const config = runConfig({
  arms: Array.from({ length: ARMS }, (_, i) => arm(`a${i}`)),
  policy: frontierPolicy(),
  promptsPerUpdate: PROMPTS,
  numGenerations: 2,
  length: 0,
});

/** Run for all tests. No test changes it. */
const trained = (async () => {
  const store = memoryStore();
  const { runs, clock } = bench({ store, source: freshTasks });
  value(await runs.create("run", config));
  await play(runs, BATCHES);
  const row = await store.find("run");
  if (row === undefined) throw new Error("the run is gone");
  return { store, runs, clock, row };
})();

async function play(runs: Runs, batches: number, from = 0): Promise<void> {
  let cursor = from;
  for (let i = 0; i < batches; i++) {
    const batch = value(await ask(runs, "run", cursor, PROMPTS));
    await answer(runs, "run", batch.tasks);
    cursor = batch.nextCursor;
  }
}

/** Reads the batches by pages of `size` records. */
async function batchesByPages(runs: Runs, size = 10_000): Promise<readonly BatchRecord[]> {
  const records: BatchRecord[] = [];
  let from: number | undefined = 0;
  while (from !== undefined) {
    const { items, next }: { items: readonly { kind: string }[]; next: number | undefined } = value(
      await runs.history("run", from, size),
    );
    records.push(...items.filter((item): item is BatchRecord => item.kind === "batch"));
    from = next;
  }
  return records;
}

test("a batch of a thousand arms costs what it changes, in the journal and in the history", async () => {
  const { store, row } = await trained;
  const records = await store.records(row.key, 0, 1000);
  const written = records.reduce((sum, { body }) => sum + body.length, 0) / BATCHES;
  expect(written).toBeLessThan((records[0]?.body.length ?? 0) / 8);
  const events = (await store.read(row.key, 0)) ?? [];
  const drawn = events.filter((event) => kindOf(event) === "drawn").map(({ length }) => length);
  expect(drawn.reduce((sum, length) => sum + length, 0) / BATCHES).toBeLessThan((drawn[0] ?? 0) / 8);
});

test("a history of many arms is the same however it is cut into pages, and near to what was drawn by", async () => {
  const { runs } = await trained;
  const all = await batchesByPages(runs);
  expect(all).toHaveLength(BATCHES);
  for (const { probabilities, counts } of all) {
    expect(probabilities).toHaveLength(ARMS);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(PROMPTS);
    expect(Math.abs(probabilities.reduce((sum, p) => sum + p, 0) - 1)).toBeLessThan(1 / 16);
  }
  for (const size of [1, 7, 100]) expect(await batchesByPages(runs, size)).toEqual(all);
});

test("pages of a history that go on where the one before ended are what they are by themselves", async () => {
  const { runs } = await trained;
  const isSentWhole = false;
  const all = value(await runs.history("run", 0, 10_000, { isSentWhole })).items;
  for (const isByArm of [true, false]) {
    const items: unknown[] = [];
    let page = value(await runs.history("run", 0, 50, { isByArm, isSentWhole }));
    items.push(...page.items);
    while (page.next !== undefined) {
      page = value(await runs.history("run", page.next, 50, { isByArm, isSentWhole, place: page.place }));
      items.push(...page.items);
    }
    const bare = { probabilities: [], values: [], counts: [] };
    expect(items).toEqual(isByArm ? all : all.map((item) => (item.kind === "batch" ? { ...item, ...bare } : item)));
  }
  // A place from elsewhere in the history changes nothing.
  const { place } = value(await runs.history("run", 0, 50, { isSentWhole }));
  expect(value(await runs.history("run", 70, 1, { place })).items).toEqual(all.slice(70, 71));
});

test("a run of many arms is read back from its journal, and from an export, as it is", async () => {
  const { store, runs, clock, row } = await trained;
  const before = value(await runs.get("run")).state;
  const read = (await readState(store, row, freshTasks, clock)) as RunState<Spec, Key>;
  expect(read.batchesDrawn).toBe(BATCHES);
  const { state } = value(await runs.export("run"));
  const other = bench({ store: memoryStore(), source: freshTasks });
  value(await other.runs.import(state, undefined));
  const { arms } = value(await other.runs.get("run")).state;
  expect(arms).toEqual(before.arms);
  expect(await batchesByPages(other.runs)).toEqual(await batchesByPages(runs));
  // Training goes on, in a history whose next record has its draw whole.
  await play(other.runs, 3, BATCHES * PROMPTS);
  expect(await batchesByPages(other.runs)).toHaveLength(BATCHES + 3);
  const saved = savedState(read, freshTasks);
  expect(savedState(decodeState(saved, freshTasks), freshTasks)).toEqual(saved);
  expect(saved.length).toBeLessThan((TOLD_BYTES * ARMS * BATCHES) / 2);
});

test("a run of many arms is told in a list by a summary that is short", async () => {
  const { runs, store } = await trained;
  const { runs: rows } = await store.list("", 1);
  expect((rows[0]?.summary?.state.length ?? 0) + (rows[0]?.summary?.head.length ?? 0)).toBeLessThan(100 * 1024);
  const { items } = await runs.list("", 1);
  expect(items[0]).toMatchObject({ kind: "run", view: { state: { batchesDrawn: BATCHES } } });
});

test("numbers that hardly move stay as they were told, but for those drawn from, and changes tell the rest", () => {
  const before = [0.5, 0.25, 0.125, 0];
  const now = [0.5, 0.251, 0.126, 0.01];
  const told = numbersToRecord(before, now, new Set([2]));
  expect(told).toEqual([0.5, 0.25, 0.126, 0.01]);
  const changes = changesOf(before, told);
  expect(changes).toEqual({ all: [], scale: 1, at: [2, 3], to: [0.126, 0.01] });
  expect(changed(before, changes)).toEqual(told);
  expect(changed(null, changes)).toBeUndefined();
  expect(numbersToRecord([0.5], now, new Set())).toBe(now);
});
