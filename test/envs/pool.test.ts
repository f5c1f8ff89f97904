/** Rows of three numbers with targets to 30: tier T0. */
import { describe, expect, test } from "vitest";
import { countdown } from "../../envs/countdown/index.ts";
import { restore } from "../../envs/instances.ts";
import { tsp } from "../../envs/np/tsp/index.ts";
import { loadPool, pickRow, type Pool, rowAt, rowCount, rowCounts, rowOf } from "../../envs/pool.ts";

const LINES = Array.from({ length: 60 }, (_, i) => JSON.stringify({ nums: [i + 1, i + 2, 3], target: 6 + (i % 3) }));

function load(lines: readonly string[]): Pool {
  return loadPool(countdown, "test", lines.join("\n"));
}

function rowsOf(pool: Pool) {
  return Array.from({ length: pool.size }, (_, place) => rowOf(pool, place));
}

/** A level and split of the pool with several rows. */
function group(pool: Pool) {
  const row = rowsOf(pool).find(({ split }) => split === "train");
  if (row === undefined) throw new Error("the pool has no rows");
  return { level: row.level, split: row.split };
}

describe("loadPool", () => {
  test("reads rows, counts those that are none, and says why", () => {
    const good = '{"nums":[1,2,3],"target":6}';
    const pool = load([
      good,
      "",
      "{",
      '{"nums":[1,2]}',
      '{"nums":[3,2,1],"target":6}',
      '{"nums":[1,1,1],"target":99}',
      "7",
    ]);
    expect(rowsOf(pool).map(({ index, level }) => [index, level])).toEqual([[0, "T0"]]);
    expect(pool.rejected).toBe(5);
    expect(pool.reasons[0]).toMatch(/^line 3: not JSON: .*position 1/);
    expect(pool.reasons[1]).toBe("line 4: column target must be a whole number from 1 to 100000, and is not there");
    expect(pool.reasons[2]).toBe("line 5: the same task as line 1");
    expect(pool.reasons[3]).toBe("line 6: its task belongs to no level of the environment");
    expect(rowCounts(pool)).toEqual({ T0: 1, T1: 0, T2: 0, T3: 0, OOD: 0 });
  });

  test("counts rows with one kind of reason together", () => {
    const pool = load([
      "no",
      "nil",
      ...Array.from({ length: 98 }, (_, i) => JSON.stringify({ nums: [1, 2], target: -i, note: "it's" })),
      '{"nums":[1],"target":1}',
      '{"nums":"[1, 2, 3","target":1}',
    ]);
    expect([pool.rejected, pool.size]).toEqual([102, 0]);
    expect(pool.rejections).toEqual([
      { row: 0, count: 2, reason: expect.stringMatching(/^not JSON/) as string },
      { row: 2, count: 98, reason: "column target must be a whole number from 1 to 100000, and is 0" },
      { row: 100, count: 2, reason: "column nums must be a list of 2 to 6 numbers, and is [1]" },
    ]);
    expect(pool.reasons[1]).toBe("line 3 and 97 more: column target must be a whole number from 1 to 100000, and is 0");
  });

  test("is refused by an environment without rows", () => {
    expect(() => loadPool(tsp, "test", "")).toThrow("np/tsp has no data pools");
  });
});

test("a seed picks a row, and different seeds all of them", () => {
  const pool = load(LINES);
  const { level, split } = group(pool);
  expect(pickRow(pool, level, split, 5n)).toEqual(pickRow(pool, level, split, 5n));
  const picked = new Set<string>();
  for (let seed = 0n; seed < 1000n; seed++) {
    const result = pickRow(pool, level, split, seed);
    if (result.kind === "made") picked.add(result.key.hash);
  }
  expect(picked.size).toBe(rowCount(pool, level, split));
});

test("ordinals walk through a permutation of the rows, then through another", () => {
  const pool = load(LINES);
  const { level, split } = group(pool);
  const size = rowCount(pool, level, split);
  const walk = Array.from({ length: 2 * size }, (_, ordinal) => {
    const result = rowAt(pool, level, split, 9n, ordinal);
    if (result.kind !== "made" || result.key.origin.kind !== "row") throw new Error("no row");
    return result.key.origin.row;
  });
  const [first, second] = [walk.slice(0, size), walk.slice(size)];
  expect(new Set(first).size).toBe(size);
  expect(new Set(second)).toEqual(new Set(first));
  expect(second).not.toEqual(first);
});

test("rows that are not there are exhausted", () => {
  const pool = load(LINES);
  const none = {
    kind: "exhausted",
    message: expect.stringMatching(/no rows of level 'OOD' in split eval; it has '.+' in .+ \(\d+ rows\)/) as string,
  };
  expect(pickRow(pool, "OOD", "eval", 1n)).toEqual(none);
  expect(rowAt(pool, "OOD", "eval", 1n, 0)).toEqual(none);
});

test("a row is restored from the pool it came from, as it was, and from no other", () => {
  const pool = load(LINES);
  const { level, split } = group(pool);
  const result = pickRow(pool, level, split, 1n);
  if (result.kind !== "made" || result.key.origin.kind !== "row") throw new Error("no row");
  const { instance } = result;
  const { origin } = result.key;
  expect(restore(countdown, origin, new Map([["test", pool]]))).toEqual({ kind: "ok", instance });
  const changed = load(LINES.map((line) => line.replace('"target":', '"target":1')));
  for (const pools of [new Map(), new Map([["test", changed]])]) {
    expect(restore(countdown, origin, pools).kind).toBe("invalid");
  }
  expect(restore(countdown, { ...origin, contentHash: "0".repeat(16) }, new Map([["test", pool]])).kind).toBe(
    "invalid",
  );
  expect(restore(tsp, origin, new Map([["test", pool]])).kind).toBe("invalid");
});
