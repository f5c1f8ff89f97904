/** Tests of curricula over an arm's rows: the draws, the record of each row, and that a run goes on after a restart. */
import { gunzipSync, gzipSync } from "node:zlib";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { ratedEvent } from "../../../server/curriculum/row-arms.ts";
import { chooseRows } from "../../../server/curriculum/row-choice.ts";
import { expectedRate, recordAt, rowTable, withGroups, withRates } from "../../../server/curriculum/row-table.ts";
import type { RowRule } from "../../../server/curriculum/types.ts";
import { SavedRunSchema } from "../../../proto/gen/gradus/internal/v1/run_pb.js";
import { arm, ask, bench, feedbackFor, made, runConfig, type Runs, sourceOf, type Task, value } from "./support.ts";

const rule: RowRule = {
  rows: 2500,
  by: { kind: "learnability", sharpness: 6 },
  floor: 0.05,
  kept: 192,
  retireAfter: 2,
};
const nothing: ReadonlySet<number> = new Set();
const draws = (of: RowRule, table: ReturnType<typeof rowTable>, count: number, share = 0, taken = nothing) =>
  chooseRows(of, table, { count, share, taken }, rngFor("rows.test"));

describe("what is known of a row", () => {
  test("fades as groups come, by hand", () => {
    const known = withGroups(rowTable(rule), [{ row: 7, samples: 8, solved: 2 }], rule.kept);
    expect(recordAt(known, 7)).toEqual({ seen: 8 * 64, solved: 2 * 64, streak: 0, gone: 0 });
    const later = withGroups(known, [{ row: 7, samples: 8, solved: 8 }], rule.kept);
    // Three quarters of 8 and 2 samples, and 8 more.
    expect(recordAt(later, 7)).toEqual({ seen: 14 * 64, solved: 9.5 * 64, streak: 1, gone: 0 });
    expect(expectedRate(recordAt(later, 7))).toBeCloseTo(10 / 15, 12);
    expect(recordAt(known, 7).streak).toBe(0);
  });

  test("is counted by page and in all, whatever is told of it and in whatever order", () => {
    const told = withRates(rowTable(rule), { rows: [2499, 0], first: 0, rateAt: (i) => 1 - i, count: 2, samples: 8 });
    expect([0, 2499].map((row) => recordAt(told, row).solved)).toEqual([0, 512]);
    expect(told.counts.reduce((sum, count) => sum + count, 0)).toBe(2500);
    expect(told.pages.map(({ counts }) => counts.reduce((sum, count) => sum + count, 0))).toEqual([1024, 1024, 452]);
  });
});

describe("rows are drawn", () => {
  const rates = { rows: [], first: 0, rateAt: (row: number) => row / 2499, count: 2500, samples: 16 };
  const rated = withRates(rowTable(rule), rates);

  test("near a half by learnability, near the target by a target, and each once in a batch", () => {
    const rows = draws({ ...rule, floor: 0 }, rated, 400);
    expect(new Set(rows).size).toBe(400);
    expect(rows.every((row) => row > 250 && row < 2250)).toBe(true);
    const at = (share: number): number => {
      const by = { kind: "target", from: 0.8, to: 0.2, width: 0.05 } as const;
      const some = draws({ ...rule, by, floor: 0 }, rated, 400, share);
      return some.reduce((sum, row) => sum + row / 2499, 0) / some.length;
    };
    expect(at(0)).toBeCloseTo(0.8, 1);
    expect(at(1)).toBeCloseTo(0.2, 1);
  });

  test("by a floor all alike, and never while they are sampled or once they are retired", () => {
    const small = { ...rule, rows: 8, floor: 1 };
    const solved = Array.from({ length: 3 }, (_, row) => ({ row, samples: 4, solved: 4 }));
    const table = withGroups(rowTable(small), [...solved, ...solved], small.kept);
    expect(new Set(draws(small, table, 4, 0, new Set([3])))).toEqual(new Set([4, 5, 6, 7]));
    const all = Array.from({ length: 8 }, (_, row) => ({ row, samples: 4, solved: 4 }));
    const done = withGroups(rowTable(small), [...all, ...all], small.kept);
    expect(new Set(draws(small, done, 8)).size).toBe(8);
    const many = Array.from({ length: rule.rows }, (_, row) => ({ row, samples: 4, solved: 4 }));
    const retired = withGroups(rowTable(rule), [...many, ...many], rule.kept);
    expect(new Set(draws(rule, retired, rule.rows)).size).toBe(rule.rows);
  });
});

describe("a run with rows", () => {
  const source = sourceOf(({ arm: { id }, row, ordinal }) => made(`${id}:${row ?? ordinal}`));
  const config = runConfig({
    arms: [arm("rows", { rows: { ...rule, rows: 60 } }), arm("plain")],
    length: 0,
    promptsPerUpdate: 8,
    numGenerations: 4,
    lag: { kind: "batches", count: 1 },
  });
  const isSolved = (name: string, i: number): boolean => i < Number(name.split(":")[1]) % 5;
  const train = async (runs: Runs, from: number, batches: number): Promise<readonly Task[]> => {
    const all: Task[] = [];
    for (let batch = from; batch < from + batches; batch++) {
      const { tasks } = value(await ask(runs, "run", 8 * batch, 8));
      all.push(...tasks);
      const items = tasks.flatMap((task) =>
        [0, 1, 2, 3].map((i) => feedbackFor(task, i, Number(isSolved(task.key.name, i)))),
      );
      value(await runs.recordFeedback("run", items));
    }
    return all;
  };
  const names = (tasks: readonly Task[]) => tasks.map(({ key, row }) => [key.name, row]);

  test("goes on in the same way in another process, and from an export", async () => {
    const first = bench({ source });
    value(await first.runs.create("run", config));
    await train(first.runs, 0, 12);
    const other = bench({ source });
    value(await other.runs.import(value(await first.runs.export("run")).state, undefined));
    const again = bench({ source, store: first.store, clock: first.clock });
    const there = names(await train(other.runs, 12, 4));
    expect(names(await train(again.runs, 12, 4))).toEqual(there);
    expect(there.some(([, row]) => row !== undefined)).toBe(true);
    const report = value(await other.runs.rows("run", 0, 0, 60));
    expect(report.rows.filter(({ samples }) => samples > 0).length).toBeGreaterThan(20);
    expect(value(await again.runs.rows("run", 0, 0, 60))).toEqual(report);
  });

  test.each([undefined, { oversampleMax: 2, alike: "rewards" } as const])(
    "draws rows that do not depend on what was scored before it was due, with dynamic sampling %o",
    async (dynamicSampling) => {
      const drawn = async (early: boolean) => {
        const { runs } = bench({ source });
        const few = [arm("rows", { rows: { ...rule, rows: 40 } })];
        value(await runs.create("run", { ...config, arms: few, dynamicSampling }));
        const first = value(await ask(runs, "run", undefined, 8)).tasks;
        const second = value(await ask(runs, "run", 8 * (dynamicSampling?.oversampleMax ?? 1), 8)).tasks;
        const mixed = (tasks: readonly Task[]) =>
          tasks.flatMap((task) => [0, 1, 2, 3].map((i) => feedbackFor(task, i, i % 2)));
        value(await runs.recordFeedback("run", mixed(first)));
        // The draw after the next folds in this feedback.
        if (early) value(await runs.recordFeedback("run", mixed(second)));
        const at = second[0]!.cursor + 8 * (dynamicSampling?.oversampleMax ?? 1);
        return { second, third: value(await ask(runs, "run", at, 8)).tasks };
      };
      const early = await drawn(true);
      const late = await drawn(false);
      expect(names(early.third)).toEqual(names(late.third));
      const sampled = new Set(early.second.flatMap(({ row }) => row ?? []));
      expect(early.third.filter(({ row }) => row !== undefined && sampled.has(row))).toEqual([]);
    },
  );

  test("is not taken from an export whose pages of rows are of another length, or of no arm", async () => {
    const { runs } = bench({ source });
    value(await runs.create("run", config));
    await train(runs, 0, 12);
    const { state } = value(await runs.export("run"));
    for (const change of [{ streak: new Uint8Array(3) }, { seen: new Uint8Array(2) }, { page: 1 }, { arm: 9 }]) {
      const saved = fromBinary(SavedRunSchema, gunzipSync(state));
      const rows = saved.parts.flatMap(({ part }) => (part.case === "rows" ? [part.value] : []));
      expect(rows.length).toBeGreaterThan(0);
      Object.assign(rows[0] ?? {}, change);
      const wrong = gzipSync(toBinary(SavedRunSchema, saved));
      expect(await runs.import(wrong, "new"), Object.keys(change)[0]).toMatchObject({
        kind: "invalid",
        field: "state",
      });
    }
  });

  test("begins with what it is told, and takes what is told later from the next draw on", async () => {
    const { runs } = bench({ source });
    // All but row 5 are known to be hopeless.
    const rates = Array.from({ length: 60 }, (_, row) => (row === 5 ? 0.5 : 0));
    const told = { arm: 0, rows: [], first: 0, rates, samples: 500 };
    const [first] = config.arms;
    const alone = { ...config, arms: [{ ...first!, rows: { ...rule, rows: 60, floor: 0 } }], promptsPerUpdate: 1 };
    value(await runs.create("run", alone, [ratedEvent(told)]));
    expect(value(await ask(runs, "run", 0, 1)).tasks[0]?.row).toBe(5);
    value(await runs.rateRows("run", { arm: 0, rows: [9, 5], first: 0, rates: [0.5, 0], samples: 500 }));
    expect(value(await ask(runs, "run", 1, 1)).tasks[0]?.row).toBe(9);
  });

  test("is refused where it cannot be", async () => {
    const { runs } = bench({ source });
    const field = async (more: Partial<typeof config>) => {
      const result = await runs.create("run", { ...config, ...more });
      return result.kind === "invalid" ? result.field : result.kind;
    };
    expect(await field({ feedbackSource: "reported" })).toBe("arms[0].rows");
    const filter = { skipSolved: true, skipFailedAfter: 0, ranks: undefined };
    expect(await field({ policy: { ...config.policy, filter } })).toBe("policy.filter");
    expect(await field({ arms: [arm("rows", { rows: { ...rule, floor: 2 } })] })).toBe("arms[0].rows.floor");
  });
});
