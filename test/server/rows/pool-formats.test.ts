/**
 * Tests that the same rows are read from every format, in batches of any size.
 * Files of no known format, and files that are cut off, are refused in words.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync, zstdCompressSync } from "node:zlib";
import {
  DateMillisecond,
  Field,
  Float16,
  LargeList,
  Table,
  tableFromJSON,
  tableToIPC,
  Vector,
  vectorFromArray,
  makeData,
  Int64,
} from "apache-arrow";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRawNumber, numberText } from "../../../envs/lib/exact-json.ts";
import { rowOf } from "../../../envs/pool.ts";
import type { Question } from "../../../envs/qa/question.ts";
import { createRegistry, environments } from "../../../envs/registry.ts";
import { batchesOf, openSource, problemText, rowsOf } from "../../../server/rows/pool-files.ts";
import { loadPools } from "../../../server/rows/pools.ts";

const SAVED = fileURLToPath(new URL("saved", import.meta.url));
const rows = Array.from({ length: 40 }, (_, i) => ({
  problem: `What is ${i}, "said" so,\n in ${"many ".repeat(i % 7)}words; or é?`,
  answer: `${i}`,
}));

/** A table of two columns with one name, which none writes here. */
const twoAlike = Buffer.from(tableToIPC(tableFromJSON([{ aaaa: "1", bbbb: "2" }])));
twoAlike.write("aaaa", twoAlike.indexOf("bbbb"));

let folder: string;
const at = (name: string): string => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-formats-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const table = (delimiter: string, end: string): string =>
  ["problem", "answer"].join(delimiter) +
  end +
  rows.map(({ problem, answer }) => [quoted(problem), answer].join(delimiter)).join(end);
const lines = (end: string): string => rows.map((row) => JSON.stringify(row)).join(end);

/** Returns the rows of all batches, in the file's order, each with its number in its batch. */
async function rawRows(path: string, chunkBytes?: number) {
  const batches = batchesOf(await openSource(path, chunkBytes));
  return (await Array.fromAsync(batches, async (batch) => [...(await rowsOf(batch, () => undefined))])).flat();
}

async function valuesOf(path: string, chunkBytes?: number): Promise<readonly unknown[]> {
  return (await rawRows(path, chunkBytes)).flatMap(({ json, value, problem }) => {
    if (json?.trim() === "") return [];
    return [problem ?? (json === undefined ? value : (JSON.parse(json) as unknown))];
  });
}

const refused = async (path: string): Promise<string> => {
  try {
    return `read as ${(await valuesOf(path)).length} rows`;
  } catch (error) {
    return problemText(error);
  }
};

describe("the same rows", () => {
  test.each<readonly [string, string | Buffer]>([
    ["rows.jsonl", lines("\n")],
    ["crlf.jsonl", lines("\r\n")],
    ["marked.jsonl", `\ufeff${lines("\n")}\n`],
    ["list.json", JSON.stringify(rows)],
    ["list.jsonl", ` ${JSON.stringify(rows)}\n`],
    ["pretty.json", `\ufeff${JSON.stringify(rows, undefined, 2)}\n`],
    ["one-by-one.json", rows.map((row) => JSON.stringify(row, undefined, 2)).join("\n")],
    ["rows.csv", table(",", "\n")],
    ["crlf.csv", `\ufeff${table(",", "\r\n")}\r\n`],
    ["semicolons.csv", table(";", "\n")],
    ["rows.tsv", table("\t", "\n")],
    ["no-name", table("\t", "\n")],
    ["rows.jsonl.gz", gzipSync(lines("\n"))],
    ["rows.json.zst", zstdCompressSync(JSON.stringify(rows))],
    ["rows.csv.gz", gzipSync(table(",", "\n"))],
    ["file.arrow", Buffer.from(tableToIPC(tableFromJSON(rows), "file"))],
    ["stream.arrow", Buffer.from(tableToIPC(tableFromJSON(rows), "stream"))],
  ])("from %s", async (name, content) => {
    writeFileSync(at(name), content);
    expect(await valuesOf(at(name))).toEqual(rows);
    for (const bytes of [1, 100, 1000]) expect(await valuesOf(at(name), bytes)).toEqual(rows);
  });

  test("from a folder of save_to_disk with two files, in threads, with column names of its own", async () => {
    const named = [{ name: "saved", path: SAVED }];
    const options = { threads: 2, environmentFiles: [], folder: at("cache") };
    for (const from of ["read", "kept"]) {
      const result = await loadPools(createRegistry(environments), named, options);
      if (result.kind === "invalid") throw new Error(result.message);
      const pool = result.pools.get("saved");
      expect([pool?.environment, pool?.size, pool?.rejected], from).toEqual(["qa", 8, 0]);
      const rights = Array.from({ length: 8 }, (__, place) => rowOf(pool!, place).instance as Question);
      expect(rights.map(({ options: texts, right }) => texts[right])).toEqual(
        [0, 1, 2, 3, 4, 5, 6, 7].map((n) => `${n + (n % 4)} cups`),
      );
    }
  });
});

describe("a row that is broken is refused, and not its neighbours", () => {
  test.each<readonly [string, string | Buffer, readonly number[]]>([
    ["few.csv", 'problem,answer\na,1\nb,2,3\n"c,4"\nd,5\n', [1, 2]],
    ["quotes.csv", 'problem,answer\na,1\nb"c,2\nd,3\n', [1]],
    ["doubled.csv", 'problem,answer\na,1\nb ""c,2\nd,3\n', [1]],
    [
      "latin.jsonl",
      Buffer.concat([Buffer.from('{"a":1}\n{"a":"'), Buffer.from([0xe9]), Buffer.from('"}\n{"a":2}\n')]),
      [1],
    ],
    ["latin.csv", Buffer.concat([Buffer.from("a,b\n1,"), Buffer.from([0xe9]), Buffer.from("\n2,x\n")]), [0]],
  ])("%s", async (name, content, broken) => {
    writeFileSync(at(name), content);
    const rows = await rawRows(at(name));
    expect(rows.flatMap(({ row, problem }) => (problem === undefined ? [] : [row]))).toEqual(broken);
  });
});

test("each empty place of a list is a row, however the file is read", async () => {
  writeFileSync(at("empty-places.json"), '[{"a":1},,\n,{"a":2}, ,{"a":3}]');
  for (const bytes of [1, 2, 3, 1000])
    expect((await rawRows(at("empty-places.json"), bytes)).map(({ json }) => json)).toEqual([
      '{"a":1}',
      ...[",", ",", '{"a":2}', ",", '{"a":3}'],
    ]);
});

test("a packed file is unpacked and read in batches", async () => {
  const many = Array.from({ length: 20_000 }, (_, i) => ({ problem: `${i} `.repeat(20), answer: `${i}` }));
  writeFileSync(at("many.jsonl.gz"), gzipSync(many.map((row) => JSON.stringify(row)).join("\n")));
  const source = await openSource(at("many.jsonl.gz"));
  const batches = await Array.fromAsync(batchesOf(source));
  expect(batches.length).toBeGreaterThan(4);
  expect(batches.at(-1)?.part).toBe(source.parts);
  expect(await valuesOf(at("many.jsonl.gz"))).toEqual(many);
});

test("a row of CSV that a quote makes out of several lines says so", async () => {
  writeFileSync(at("open.tsv"), 'problem\tanswer\n"a\t1\nb\t2\n"c\t3\nd\t4\n');
  const [first, ...others] = await rawRows(at("open.tsv"));
  expect(first?.problem).toBe("its quotes do not keep the rules of CSV: it spans 3 lines");
  expect(others).toEqual([{ row: 1, value: { problem: "d", answer: "4" } }]);
});

test("a carriage return within a line of CSV is of its text, and line ends may differ from line to line", async () => {
  writeFileSync(at("returns-within.csv"), "problem,answer\na,1\rone\nb,2\r\nc,3\n");
  expect(await valuesOf(at("returns-within.csv"))).toEqual([
    { problem: "a", answer: "1\rone" },
    { problem: "b", answer: "2" },
    { problem: "c", answer: "3" },
  ]);
});

describe("what is no file of rows is said to be so", () => {
  test.each<readonly [string, string | Buffer, string]>([
    ["cut.json", '[{"a":1},{"a":', "the file may be cut off"],
    ["more.json", '[{"a":1}] {"b":2}', "more text follows its list of rows"],
    ["cut.csv", 'a,b\n1,"2', "the file may be cut off"],
    ["twice.csv", "a,a\n1,2", "names the column 'a' twice"],
    ["one.csv", "hello\nworld", "does not name several columns"],
    ["returns.csv", "a,b\r1,2\r", "a carriage return alone"],
    ["cut.jsonl.gz", gzipSync('{"a":1}\n'.repeat(99)).subarray(0, 30), "it is cut off"],
    ["twice.arrow", twoAlike, "names the column 'aaaa' twice"],
    ["book.csv", Buffer.from("PK\u0003\u0004"), "a workbook"],
    ["wide.csv", Buffer.from("\ufeffa,b\n", "utf16le"), "it is UTF-16"],
    ["rows.jsonl.xz", Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a]), "packed by xz"],
    ["rows.jsonl.bz2", Buffer.from("BZh9"), "packed by bzip2"],
    ["bad.jsonl.gz", Buffer.from([0x1f, 0x8b, 1, 2, 3]), "cannot be read"],
    ["bad.arrow", Buffer.from("ARROW1\0\0nonsense"), "cannot be read"],
  ])("%s", async (name, content, reason) => {
    writeFileSync(at(name), content);
    expect(await refused(at(name))).toContain(reason);
  });

  test("folders", async () => {
    mkdirSync(at("splits/train"), { recursive: true });
    writeFileSync(at("splits/train/state.json"), "{}");
    expect(await refused(at("splits"))).toContain(`give one of them, ${at("splits/train")}`);
    expect(await refused(at("splits/train"))).toContain("its state.json names no files of rows");
    mkdirSync(at("shards"));
    writeFileSync(at("shards/a.parquet"), "");
    expect(await refused(at("shards"))).toContain("give one of its files as a pool, a.parquet");
  });
});

test("numbers of Parquet keep their digits: decimals, 64 bits, and floats of 32", async () => {
  const writer = new ParquetWriter({
    writer: fileWriter(at("numbers.parquet")),
    schema: [
      { name: "root", num_children: 3 },
      { name: "long", type: "INT64", repetition_type: "REQUIRED" },
      { name: "price", type: "INT64", converted_type: "DECIMAL", scale: 2, precision: 18, repetition_type: "REQUIRED" },
      { name: "share", type: "FLOAT", repetition_type: "REQUIRED" },
    ],
  });
  void writer.write({
    columnData: [
      { name: "long", data: [9_007_199_254_740_993n, 7n] },
      { name: "price", data: [1_234_567_890_123_456.5, -4.35] },
      { name: "share", data: [Math.fround(0.1), 2.5] },
    ],
  });
  void writer.finish();
  const [first, second] = (await valuesOf(at("numbers.parquet"))) as Record<string, unknown>[];
  expect(isRawNumber(first?.["long"]) && numberText(first["long"])).toBe("9007199254740993");
  expect([first?.["share"], second]).toEqual([0.1, { long: 7, price: -4.35, share: 2.5 }]);
});

test("values of Arrow are those of Parquet: lists of any size, dates as texts, and floats of 16 bits in full", async () => {
  const int = new Int64();
  const child = vectorFromArray([9_007_199_254_740_993n, 7n], int).data[0]!;
  const type = new LargeList(new Field("item", int, true));
  const valueOffsets = new BigInt64Array([0n, 2n]);
  const long = new Vector([makeData({ type, length: 1, nullCount: 0, valueOffsets, child })]);
  const day = vectorFromArray([new Date(86_400_000)], new DateMillisecond());
  const half = vectorFromArray([0.0999755859375], new Float16());
  writeFileSync(at("values.arrow"), tableToIPC(new Table({ long, day, half })));
  const [row] = (await valuesOf(at("values.arrow"))) as Record<string, unknown>[];
  expect(JSON.stringify(row)).toBe(
    '{"long":[9007199254740993,7],"day":"1970-01-02T00:00:00.000Z","half":0.0999755859375}',
  );
});
