/**
 * Tests of calls that wait for a run: any number of them reads the store together, and all learn why their wait ends.
 */
import { expect, test } from "vitest";
import type { Result } from "../../../server/curriculum/types.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import { type Store, StoreUnavailable } from "../../../server/stores/store.ts";
import { ask, bench, type Bench, feedbackFor, feedbackOf, runConfig, settled, type Task, value } from "./support.ts";

const WAITERS = 100;
/** A wait that is longer than any call takes. */
const WAIT_MS = 60_000;

interface Counted {
  readonly store: Store;
  /** Returns the number of reads so far, of any kind. */
  readonly reads: () => number;
  /** Makes every later read of the store fail. */
  readonly fail: () => void;
}

function counted(kept = memoryStore()): Counted {
  let [reads, fails] = [0, false];
  const store: Store = {
    ...kept,
    read: async (...args) => {
      reads++;
      if (fails) throw new StoreUnavailable("the store is away");
      return kept.read(...args);
    },
    find: async (id) => {
      reads++;
      return kept.find(id);
    },
  };
  return { store, reads: () => reads, fail: () => (fails = true) };
}

/** Opens a run whose next update batch waits for feedback, on a server whose store counts its reads. */
async function started(kept = memoryStore()) {
  const { store, reads, fail } = counted(kept);
  const made = bench({ store });
  value(await made.runs.create("run", runConfig({ lag: { kind: "batches", count: 0 } })));
  const { tasks } = value(await ask(made.runs, "run", 0, 6));
  return { ...made, tasks, reads, fail };
}

type Started = Bench & { readonly tasks: readonly Task[] };
type Outcome = Result<unknown>["kind"] | "ended" | "rejected";

/** A call that waits; its outcome is pushed when it ends. */
type Call = (started: Started, signal: AbortSignal) => Promise<Outcome>;

const nextBatch: Call = async ({ runs }, signal) =>
  (await runs.nextBatch("run", { cursor: 6, count: 6, waitMs: WAIT_MS, signal })).kind;
const getGroups: Call = async ({ runs }, signal) => {
  const wanted = { kind: "batch", batch: 0 } as const;
  return (await runs.groups("run", { wanted, from: 0, limit: 100, waitMs: WAIT_MS, signal })).kind;
};
/** Watches until the version changes from the one that the call began with. */
const watchRun: Call = async ({ runs }, signal) => {
  let seen = 0;
  for await (const view of value(await runs.watch("run", signal))) {
    if (view.kind !== "ok") return view.kind;
    if (++seen === 2) return "ok";
  }
  return "ended";
};
const calls: readonly [string, Call][] = [
  ["NextBatch", nextBatch],
  ["GetGroups", getGroups],
  ["WatchRun", watchRun],
];

function waiting(started: Started, call: Call) {
  const leaving = new AbortController();
  const outcomes: Outcome[] = [];
  for (let i = 0; i < WAITERS; i++)
    call(started, leaving.signal).then(
      (outcome) => outcomes.push(outcome),
      () => outcomes.push("rejected"),
    );
  return { outcomes, leave: () => leaving.abort() };
}

/** Returns how many calls had each outcome. */
const tally = (outcomes: readonly Outcome[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(outcomes, (each) => each)].map(([outcome, { length }]) => [outcome, length]));

test.each(calls)("many %s calls that wait read the store as often as one", async (_, call) => {
  const run = await started();
  const { outcomes, leave } = waiting(run, call);
  await run.clock.advance(1000);
  const before = run.reads();
  await run.clock.advance(10_000);
  expect(run.reads() - before).toBeGreaterThan(30);
  expect(run.reads() - before).toBeLessThanOrEqual(41);
  expect(outcomes).toEqual([]);
  leave();
  await run.clock.advance(1000);
  const after = run.reads();
  await run.clock.advance(10_000);
  expect(run.reads()).toBe(after);
});

test("many calls that come at once read the store a few times", async () => {
  const run = await started();
  const before = run.reads();
  const { leave } = waiting(run, nextBatch);
  await settled();
  expect(run.reads() - before).toBeLessThanOrEqual(4);
  leave();
});

test("changes that end nobody's wait have nobody read the store", async () => {
  const run = await started();
  const { outcomes, leave } = waiting(run, nextBatch);
  await settled();
  const before = run.reads();
  const [first] = run.tasks as [Task];
  for (let sample = 0; sample < 4; sample++)
    value(await run.runs.recordFeedback("run", [feedbackFor(first, sample, sample % 2)]));
  await settled();
  expect(run.reads()).toBe(before);
  expect(outcomes).toEqual([]);
  leave();
});

test.each(calls)("many %s calls hear of what another server changes, at the next look", async (_, call) => {
  const kept = memoryStore();
  const run = await started(kept);
  const { outcomes } = waiting(run, call);
  await run.clock.advance(1000);
  const before = run.reads();
  value(await bench({ store: kept }).runs.recordFeedback("run", feedbackOf(run.tasks, 4)));
  await settled();
  expect(outcomes).toEqual([]);
  await run.clock.advance(250);
  expect(tally(outcomes)).toEqual({ ok: WAITERS });
  expect(run.reads() - before).toBeLessThan(WAITERS / 4);
});

test.each(calls)("many %s calls hear at once of what the store is told of, though no time passes", async (_, call) => {
  const kept = memoryStore();
  const listening = new Map<number, Set<() => void>>();
  const listen: Store["listen"] = (key, onChange) => {
    const ofRun = listening.get(key) ?? new Set();
    listening.set(key, ofRun.add(onChange));
    return () => ofRun.delete(onChange);
  };
  const run = await started({ ...kept, listen });
  const { outcomes } = waiting(run, call);
  await run.clock.advance(200);
  value(await bench({ store: kept }).runs.recordFeedback("run", feedbackOf(run.tasks, 4)));
  for (const ofRun of listening.values()) for (const onChange of ofRun) onChange();
  await settled();
  expect(tally(outcomes)).toEqual({ ok: WAITERS });
  await run.clock.advance(1000);
  expect([...listening.values()].map((ofRun) => ofRun.size)).toEqual([0]);
});

test.each(calls)("many %s calls are told where the store can no longer be read", async (_, call) => {
  const run = await started();
  const { outcomes } = waiting(run, call);
  await run.clock.advance(1000);
  run.fail();
  await run.clock.advance(250);
  expect(tally(outcomes)).toEqual({ rejected: WAITERS });
});

test.each([
  ["NextBatch", nextBatch, "not_found"],
  ["GetGroups", getGroups, "not_found"],
  ["WatchRun", watchRun, "ended"],
] as const)("many %s calls are told that another server deleted the run", async (_, call, outcome) => {
  const kept = memoryStore();
  const run = await started(kept);
  const { outcomes } = waiting(run, call);
  await run.clock.advance(1000);
  value(await bench({ store: kept }).runs.remove("run"));
  await run.clock.advance(250);
  expect(tally(outcomes)).toEqual({ [outcome]: WAITERS });
});
