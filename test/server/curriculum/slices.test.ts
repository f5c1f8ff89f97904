/** Tests of slices of ranked pools, and of instances that are passed over because of their results. */
import { describe, expect, test } from "vitest";
import type { TaskFilter } from "../../../server/curriculum/types.ts";
import {
  answer,
  arm,
  ask,
  bench,
  feedbackFor,
  mixturePolicy,
  runConfig,
  type Runs,
  sourceOf,
  stage,
  stagedPolicy,
  type Task,
  value,
} from "./support.ts";

const ROWS = 1000;

/** A pool that is gone through again and again, row i of rank i / 1000, in an order that a prime makes. */
const pool = sourceOf(({ ordinal }) => {
  const row = (ordinal * 617) % ROWS;
  return { kind: "task", key: { hash: `row${row}`, name: `${ordinal}`, rank: row / ROWS } };
});

const base = runConfig({
  arms: [arm("pool", { source: "real" })],
  length: 0,
  promptsPerUpdate: 5,
  numGenerations: 2,
  lag: { kind: "batches", count: 0 },
});
const ranks = (tasks: readonly Task[]): readonly number[] => tasks.map(({ key }) => key.rank ?? NaN);
const rows = (tasks: readonly Task[]): readonly string[] => tasks.map(({ key }) => key.hash);

describe("a slice of a ranked pool", () => {
  test("of 1% gives each of its rows once before it repeats one", async () => {
    const { runs } = bench({ source: pool });
    const policy = stagedPolicy(stage({ kind: "open" }, {}, { min: 0.5, max: 0.51 }));
    value(await runs.create("run", { ...base, policy }));
    const { tasks } = value(await ask(runs, "run", 0, 10));
    expect(rows(tasks).toSorted()).toEqual(Array.from({ length: 10 }, (_, i) => `row${500 + i}`));
    const again = value(await ask(runs, "run", 10, 10)).tasks;
    expect(again.every(({ repeat }) => repeat)).toBe(true);
    expect(new Set(rows(again)).size).toBe(10);
  });

  test("widens with the stages, and the whole pool holds its hardest row", async () => {
    const { runs } = bench({
      source: sourceOf(() => ({ kind: "task", key: { hash: "last", name: "last", rank: 1 } })),
    });
    const policy = stagedPolicy(stage({ kind: "open" }, {}, { min: 0.7, max: 1 }));
    value(await runs.create("run", { ...base, policy }));
    expect(rows(value(await ask(runs, "run", 0, 1)).tasks)).toEqual(["last"]);
    const wide = bench({ source: pool }).runs;
    const stages = [0.3, 0.7, 1].map((max, i) =>
      stage({ kind: "tasks", tasks: 10 * (i + 1) }, {}, max === 1 ? undefined : { min: 0, max }),
    );
    value(await wide.create("run", { ...base, policy: stagedPolicy(...stages) }));
    const { tasks } = value(await ask(wide, "run", 0, 60));
    expect(Math.max(...ranks(tasks.slice(0, 10)))).toBeLessThan(0.3);
    expect(Math.max(...ranks(tasks.slice(10, 30)))).toBeLessThan(0.7);
    expect(Math.max(...ranks(tasks.slice(10, 30)))).toBeGreaterThanOrEqual(0.3);
    expect(Math.max(...ranks(tasks.slice(30)))).toBeGreaterThanOrEqual(0.7);
  });

  test("does not touch tasks without a rank, and one that holds no row says so", async () => {
    const { runs } = bench();
    const policy = stagedPolicy(stage({ kind: "open" }, {}, { min: 0.5, max: 0.51 }));
    value(await runs.create("run", { ...base, policy }));
    expect(value(await ask(runs, "run", 0, 5)).tasks).toHaveLength(5);
    const ranked = bench({ source: pool }).runs;
    const none = stagedPolicy(stage({ kind: "open" }, {}, { min: 0.5001, max: 0.5002 }));
    value(await ranked.create("run", { ...base, policy: none }));
    expect(await ask(ranked, "run", 0, 5)).toEqual({
      kind: "failed_precondition",
      message: 'arm "pool" gave no task that the policy accepts in 16385 tries: widen the filter of the policy',
    });
  });
});

describe("a filter", () => {
  /** Ten rows, gone through again and again: epochs of two update batches. */
  const ten = sourceOf(({ ordinal }) => ({ kind: "task", key: { hash: `row${ordinal % 10}`, name: `${ordinal}` } }));
  const filtered = (filter: Partial<TaskFilter>) => ({
    ...base,
    policy: { ...mixturePolicy(), filter: { skipSolved: false, skipFailedAfter: 0, ranks: undefined, ...filter } },
  });
  const pay = async (runs: Runs, tasks: readonly Task[], reward: (row: string, sample: number) => number) => {
    const items = tasks.flatMap((task) => [0, 1].map((i) => feedbackFor(task, i, reward(task.key.hash, i))));
    value(await runs.recordFeedback("run", items));
  };
  /** Even rows are solved by all, row 1 by one sample, the others by none. */
  const reward = (row: string, sample: number): number =>
    Number(row.slice(3)) % 2 === 0 || (row === "row1" && sample === 0) ? 1 : 0;
  const epoch = async (runs: Runs, cursor: number): Promise<readonly Task[]> => {
    const tasks: Task[] = [];
    for (const at of [cursor, cursor + 5]) {
      const batch = value(await ask(runs, "run", at, 5)).tasks;
      await pay(runs, batch, reward);
      tasks.push(...batch);
    }
    return tasks;
  };

  test("passes over what was solved by all, under a policy that takes no feedback, in a new process and an import too", async () => {
    const { runs, store, clock } = bench({ source: ten });
    value(await runs.create("run", filtered({ skipSolved: true })));
    expect(new Set(rows(await epoch(runs, 0))).size).toBe(10);
    const other = bench({ source: ten });
    value(await other.runs.import(value(await runs.export("run")).state, undefined));
    const odd = ["row1", "row3", "row5", "row7", "row9"];
    for (const where of [other.runs, bench({ source: ten, store, clock }).runs, runs])
      expect(rows(value(await ask(where, "run", 10, 5)).tasks).every((row) => odd.includes(row))).toBe(true);
  });

  test("passes over what failed so many times in a row, and takes it back once it is solved by some", async () => {
    const { runs } = bench({ source: ten });
    value(await runs.create("run", filtered({ skipFailedAfter: 2 })));
    const first = [...(await epoch(runs, 0)), ...(await epoch(runs, 10))];
    expect(rows(first).filter((row) => row === "row3")).toHaveLength(2);
    const { tasks } = value(await ask(runs, "run", 20, 5));
    expect(rows(tasks).every((row) => ["row0", "row1", "row2", "row4", "row6", "row8"].includes(row))).toBe(true);
  });

  test("waits for feedback that is due, as draws depend on it", async () => {
    const { runs } = bench({ source: ten });
    value(await runs.create("run", filtered({ skipSolved: true })));
    const { tasks } = value(await ask(runs, "run", 0, 5));
    expect((await ask(runs, "run", 5, 5)).kind).toBe("unavailable");
    await answer(runs, "run", tasks);
    expect((await ask(runs, "run", 5, 5)).kind).toBe("ok");
  });

  test("never ends a run: where all is passed over the first is given", async () => {
    const { runs } = bench({ source: ten });
    value(await runs.create("run", filtered({ skipSolved: true })));
    for (const cursor of [0, 5]) {
      const { tasks } = value(await ask(runs, "run", cursor, 5));
      await pay(runs, tasks, () => 1);
    }
    const { tasks } = value(await ask(runs, "run", 10, 5));
    expect(tasks).toHaveLength(5);
    expect(tasks.every(({ repeat }) => repeat)).toBe(true);
  });

  test("needs to know what was solved", async () => {
    const { runs } = bench({ source: ten });
    const config = { ...filtered({ skipSolved: true }), feedbackSource: "reported" } as const;
    expect(await runs.create("run", config)).toMatchObject({ kind: "invalid", field: "policy.filter" });
  });
});
