/** Pools from files: the same rows in whatever format, pieces and threads they are read, and from the cache. */
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countdown } from "../../../envs/countdown/index.ts";
import { loadPool, placesOf, type Pool, rowCount, rowOf } from "../../../envs/pool.ts";
import { readUnit } from "../../../envs/pool-columns.ts";
import { finishPool, rejectionText } from "../../../envs/pool-finish.ts";
import { createRegistry } from "../../../envs/registry.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { loadPools, type PoolOptions, type PoolsResult } from "../../../server/rows/pools.ts";
import { batchesOf, openSource, rowsOf as rawRows } from "../../../server/rows/pool-files.ts";

const registry = createRegistry([countdown]);

interface Row {
  readonly nums: readonly number[];
  readonly target: number;
}

/** Sums of three or four numbers: each row is a task. */
function rowsOf(count: number): readonly Row[] {
  const rng = rngFor("pools test");
  return Array.from({ length: count }, () => {
    const nums = Array.from({ length: rng.int(3, 4) }, () => rng.int(1, 99));
    return { nums, target: nums.reduce((sum, each) => sum + each, 0) };
  });
}

const rows = rowsOf(12_000);
const jsonl = rows.map((row) => JSON.stringify(row)).join("\n");
let folder: string;
let options: PoolOptions;
const at = (name: string): string => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-pools-"));
  options = { threads: 2, environmentFiles: [], folder: at("cache") };
  writeFileSync(at("rows.jsonl"), jsonl);
  writeParquet(at("rows.parquet"), rows, 5000);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes the rows as the public set has them: 64-bit integers, the numbers as a list. */
function writeParquet(path: string, all: readonly Row[], rowGroupSize: number): void {
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: [
      { name: "root", num_children: 2 },
      { name: "target", type: "INT64", repetition_type: "REQUIRED" },
      { name: "nums", repetition_type: "REQUIRED", num_children: 1, converted_type: "LIST" },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { name: "element", type: "INT64", repetition_type: "REQUIRED" },
    ],
  });
  const target = { name: "target", data: all.map((row) => BigInt(row.target)) };
  const nums = { name: "nums", data: all.map((row) => row.nums.map(BigInt)) };
  void writer.write({ columnData: [target, nums], rowGroupSize });
  void writer.finish();
}

async function load(path: string, more: Partial<PoolOptions> = {}): Promise<Pool> {
  const result = await loadPools(registry, [{ name: "mine", path }], { ...options, ...more });
  if (result.kind === "invalid") throw new Error(result.message);
  return result.pools.get("mine") as Pool;
}

function problem(result: PoolsResult): string {
  return result.kind === "invalid" ? result.message : "";
}

async function refused(path: string): Promise<string> {
  return problem(await loadPools(registry, [{ name: "mine", path }], options));
}

describe("a pool is the same", () => {
  const expected = loadPool(countdown, "mine", jsonl);

  test("from JSONL in threads, from Parquet, and from the cache", async () => {
    const told: string[] = [];
    const onProgress = (name: string, done: number, total: number): void => void told.push(`${name} ${done}/${total}`);
    const fromLines = await load(at("rows.jsonl"), { onProgress });
    expect(fromLines.columns).toEqual(expected.columns);
    expect([fromLines.rejected, fromLines.leftOut]).toEqual([expected.rejected, 0]);
    expect(told[0]).toMatch(/^mine 1\//);
    const total = told[0]?.split("/")[1];
    expect(Number(total)).toBeGreaterThan(1);
    expect(told.at(-1)).toBe(`mine ${total}/${total}`);
    const fromParquet = await load(at("rows.parquet"));
    expect(fromParquet.columns).toEqual(expected.columns);
    const [kept = "", ...others] = readdirSync(at("cache"));
    expect(others.length).toBe(1);
    utimesSync(join(at("cache"), kept), 0, 0);
    told.length = 0;
    const again = await load(at("rows.jsonl"), { onProgress });
    expect(again.columns).toEqual(expected.columns);
    expect(again.reasons).toEqual(fromLines.reasons);
    expect(told).toEqual([]);
  });

  test("in batches of any size", async () => {
    const lines = jsonl.slice(0, 5000);
    writeFileSync(at("part.jsonl"), lines);
    for (const bytes of [7, 64, 1000, 1 << 20]) {
      const units = await Array.fromAsync(batchesOf(await openSource(at("part.jsonl"), bytes)), async (batch) =>
        readUnit(countdown, await rawRows(batch, () => undefined)),
      );
      const { columns, summary } = finishPool(countdown, units, [], true);
      const whole = loadPool(countdown, "mine", lines);
      expect(columns).toEqual(whole.columns);
      expect(summary.rejections.map((each) => rejectionText(true, each))).toEqual(whole.reasons);
    }
  });

  test("where the cache is spoilt, or the file changes", async () => {
    for (const name of readdirSync(at("cache"))) appendFileSync(join(at("cache"), name), "x");
    expect((await load(at("rows.jsonl"))).columns).toEqual(expected.columns);
    writeFileSync(at("changed.jsonl"), jsonl);
    await load(at("changed.jsonl"));
    writeFileSync(at("changed.jsonl"), `${jsonl}\n{"nums":[1,2,3],"target":6}\n`);
    expect((await load(at("changed.jsonl"))).size).toBe(expected.size + 1);
  });
});

test("a kept pool is the owner's alone", async () => {
  await load(at("rows.jsonl"));
  for (const name of readdirSync(at("cache"))) expect(statSync(join(at("cache"), name)).mode & 0o077).toBe(0);
});

test("rows are ranked within their level and split: more solutions first, then smaller targets", async () => {
  const pool = await load(at("rows.parquet"));
  const { ranks, difficulties } = pool.columns;
  const places = [...placesOf(pool, "T1", "train")].sort((a, b) => ranks[a]! - ranks[b]!);
  expect(places.map((place) => ranks[place])).toEqual(places.map((_, i) => i));
  const kept = places.map((place) => difficulties[place]);
  const own = places.map((place) => countdown.rows?.difficulty?.of(rowOf(pool, place).instance as never));
  expect(kept).toEqual(own);
  expect(kept).toEqual(kept.toSorted((a, b) => a! - b!));
});

describe("a selection", () => {
  const lines = rowsOf(100).map((row) => JSON.stringify(row));

  test("declares splits of rows, whatever their hash", async () => {
    writeFileSync(at("few.jsonl"), lines.join("\n"));
    const pool = await load(`${at("few.jsonl")}@train[20:],eval[:20]`);
    const all = Array.from({ length: pool.size }, (_, place) => rowOf(pool, place));
    for (const { index, split } of all) expect(split).toBe(index < 20 ? "eval" : "train");
    expect([pool.size, pool.leftOut]).toEqual([100, 0]);
    const bench = await load(`${at("rows.parquet")}@bench`);
    expect(rowCount(bench, "T1", "bench") + rowCount(bench, "T1", "train")).toBe(rowCount(bench, "T1", "bench"));
  });

  test("leaves other rows out, and without a split the hash decides", async () => {
    const pool = await load(`${at("few.jsonl")}@[10:30]`);
    const whole = await load(at("few.jsonl"));
    const all = Array.from({ length: pool.size }, (_, place) => rowOf(pool, place));
    expect(all.map(({ index }) => index)).toEqual(Array.from({ length: 20 }, (_, i) => i + 10));
    expect(pool.leftOut).toBe(80);
    for (const { index, split } of all) expect(split).toBe(rowOf(whole, index).split);
  });

  test.each([
    ["@trian[5:]", "'trian' is no split: there are train, eval, bench; did you mean 'train'?"],
    ["@train[5:5]", "'train[5:5]' has no rows"],
    ["@train[:9],eval[8:]", "'eval[8:]' repeats rows of an earlier part"],
    ["@eval[1000:]", "its selection has no rows that hold a task"],
  ])("%s is refused", async (selection, message) => {
    expect(await refused(`${at("few.jsonl")}${selection}`)).toContain(message);
  });

  test("is no part of a path that has an '@' of its own", async () => {
    writeFileSync(at("rows@v1.2.jsonl"), lines.join("\n"));
    expect((await load(at("rows@v1.2.jsonl"))).size).toBe(100);
    expect((await load(`${at("rows@v1.2.jsonl")}@train`)).size).toBe(100);
  });
});

describe("what cannot be read is named", () => {
  test("by line and column", async () => {
    writeFileSync(
      at("bad.jsonl"),
      '{"nums":[1,2,3],"target":6}\n{"nums":[1,2,3],"target":"6"}\n{"nums":"1 2","target":3}',
    );
    expect((await load(at("bad.jsonl"))).reasons).toEqual([
      'line 2: column target must be a whole number from 1 to 100000, and is "6"',
      'line 3: column nums must be a list of 2 to 6 numbers, and is "1 2"',
    ]);
  });

  test("by row and column of Parquet", async () => {
    writeParquet(
      at("bad.parquet"),
      [
        { nums: [1, 2, 3], target: 6 },
        { nums: [1, 2, 3], target: 2 ** 40 },
        { nums: [1], target: 1 },
      ],
      2,
    );
    expect((await load(at("bad.parquet"))).reasons).toEqual([
      "row 1: column target must be a whole number from 1 to 100000, and is 1099511627776",
      "row 2: column nums must be a list of 2 to 6 numbers, and is [1]",
    ]);
  });

  test("a column that is not there, with those that are", async () => {
    const writer = new ParquetWriter({
      writer: fileWriter(at("other.parquet")),
      schema: [
        { name: "root", num_children: 2 },
        { name: "target", type: "INT64", repetition_type: "REQUIRED" },
        { name: "numbers", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
      ],
    });
    void writer.write({
      columnData: [
        { name: "target", data: [1n] },
        { name: "numbers", data: ["1"] },
      ],
    });
    void writer.finish();
    expect(await refused(at("other.parquet"))).toContain(
      "column nums must be a list of 2 to 6 numbers, and is not there; its columns are 'target', 'numbers'",
    );
  });

  test("a file that is none, that is empty, or that only says it is Parquet", async () => {
    expect(await refused(at("none.jsonl"))).toContain("the file cannot be read (ENOENT)");
    expect(await refused(folder)).toContain("it is a folder without state.json: give one of its files");
    expect(await refused("/dev/null")).toContain("the file cannot be read (not a regular file)");
    writeFileSync(at("empty.jsonl"), "");
    expect(await refused(at("empty.jsonl"))).toContain("it is empty");
    writeFileSync(at("not.parquet"), `PAR1${"x".repeat(1000)}`);
    expect(await refused(at("not.parquet"))).toContain("the file cannot be read (");
    writeFileSync(at("none-of-them.jsonl"), '{"a":1}\n');
    expect(await refused(at("none-of-them.jsonl"))).toContain(
      "no environment can read its rows: countdown: line 1: column nums must be",
    );
  });
});
