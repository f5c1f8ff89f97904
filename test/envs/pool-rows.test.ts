/** Tests which rows a pool keeps, and the report on rows that hold no task. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defineEnvironment } from "../../envs/define.ts";
import { loadPool, type Pool, rowOf } from "../../envs/pool.ts";
import { examineRow } from "../../envs/pool-columns.ts";
import { removeRows } from "../../envs/pool-finish.ts";
import { createReasonCounter } from "../../envs/pool-reasons.ts";
import { rowsOnly } from "../support/environments/rows.ts";
import { type Sum, sums } from "../support/environments/sums.ts";
import { judged } from "../support/environments/slow.ts";

/** Reads two columns, which may be of any size, and ranks rows by their sum. */
const wide = defineEnvironment<Sum & { readonly note: string }, number>({
  ...sums,
  id: "test/wide",
  version: 1,
  description: "Add the numbers of a row.",
  rows: {
    columns: ["a", "b", "note"],
    read: (row) => {
      const { a, b, note = "", ...rest } = row as Sum & { readonly note?: string };
      if (Object.keys(rest).length > 0)
        return { kind: "malformed", reason: `${Object.keys(rest).join()}: not asked for` };
      return typeof a === "number" ? { kind: "answer", answer: { a, b, note } } : { kind: "malformed", reason: "no a" };
    },
    difficulty: { measure: "sum", source: "the sum", of: ({ a, b }) => a + b },
  },
  verify: judged,
});

const pool = (rows: readonly object[]): Pool =>
  loadPool(wide, "wide", rows.map((row) => JSON.stringify(row)).join("\n"));

describe("of a row is kept", () => {
  test("what its reader looks at, and no other column", () => {
    const { columns, size } = pool([{ generations: "g".repeat(100_000), a: 1, tests: [[1]], b: 2 }]);
    expect(size).toBe(1);
    expect(new TextDecoder().decode(columns.bytes.subarray(1))).toBe('{"a":1,"b":2}');
  });

  test("four megabytes at most", () => {
    const { reasons, size } = pool([
      { a: 1, b: 2, note: "n".repeat(4 << 20) },
      { a: 2, b: 2, note: "n".repeat((4 << 20) - 50) },
    ]);
    expect([size, reasons]).toEqual([
      1,
      [`line 1: its task takes ${(4 << 20) + 23} bytes, and the limit is ${4 << 20}`],
    ]);
  });

  test("the whole where the reader does not say what it looks at", () => {
    const examined = examineRow(rowsOnly, { row: 0, json: '{"b":2, "a":1, "c":3}' });
    expect(examined.kind === "task" && new TextDecoder().decode(examined.bytes)).toBe('{"b":2, "a":1, "c":3}');
  });
});

describe("reasons", () => {
  test("of one kind differ in numbers, quoted text and lists alone", () => {
    const counter = createReasonCounter();
    const kinds = [
      ['answer "4" equals option 3', 'answer "x is 5" equals option 12', 'answer "cut'],
      ["the row's level is wrong", "the row's answer is wrong"],
      ["column a is [1,2]", "column a is [[3", "column a is {}"],
      ["test 'x' failed", "test 'y z' failed"],
    ] as const;
    for (const [row, reason] of kinds.flat().entries()) counter.add({ row, reason, count: 1 });
    expect(counter.counted().map(({ row, count }) => [row, count])).toEqual([
      [0, 2],
      [2, 1],
      [3, 1],
      [4, 1],
      [5, 3],
      [8, 2],
    ]);
  });

  test("of more kinds than are told apart are counted all the same", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 600 }), { maxLength: 200 }), (reasons) => {
        const counter = createReasonCounter();
        for (const [row, reason] of reasons.entries()) counter.add({ row, reason, count: 1 });
        const counted = counter.counted();
        expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(reasons.length);
        expect(counted.length).toBeLessThanOrEqual(33);
        expect(counted.map(({ row }) => row)).toEqual(counted.map(({ row }) => row).toSorted((a, b) => a - b));
      }),
    );
  });
});

test("rows that are removed leave the pool that the file without them has", () => {
  const row = fc.record({ a: fc.nat(50), b: fc.nat(50), gone: fc.boolean() });
  fc.assert(
    fc.property(fc.uniqueArray(row, { selector: ({ a, b }) => `${a}+${b}`, maxLength: 30 }), (rows) => {
      const whole = pool(rows.map(({ a, b }) => ({ a, b })));
      const places = rows.flatMap(({ gone }, place) => (gone ? [[place, "it is wrong"] as const] : []));
      const { columns, summary } = removeRows(
        wide,
        { columns: whole.columns, summary: { ...whole, rejections: whole.rejections } },
        new Map(places),
      );
      // Blank lines keep the numbers of the rows as they are.
      const rest = loadPool(
        wide,
        "wide",
        rows.map(({ a, b, gone }) => (gone ? "" : JSON.stringify({ a, b }))).join("\n"),
      );
      expect(columns).toEqual(rest.columns);
      expect(summary.rejected).toBe(places.length);
      expect(summary.rejections.map(({ count }) => count)).toEqual(places.length === 0 ? [] : [places.length]);
    }),
  );
});

test("a row is read again as it was read, whatever is left out of it", () => {
  const kept = pool([{ a: 3, b: 4, note: "n", more: { deep: [1] } }]);
  expect(rowOf(kept, 0).instance).toEqual({ a: 3, b: 4, note: "n" });
});
