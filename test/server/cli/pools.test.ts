/** gradus pools, as its users start it. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../support/server-process.ts";
import { type Ended, gradus } from "./gradus.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder.path, name);
const pools = (...args: readonly string[]): Promise<Ended> => gradus({ cwd: folder.path }, "pools", ...args);
const lines = (name: string): readonly string[] => readFileSync(at(name), "utf8").trimEnd().split("\n");

/** 300 tasks in three disciplines, 3 : 2 : 1, and some rows that hold none. */
const DISCIPLINES = ["Law", "Law", "Law", "Science", "Science", "History"] as const;
const tasks = Array.from({ length: 300 }, (_, i) => ({
  ...{ nums: [(i % 30) + 1, Math.floor(i / 30) + 31, 3], target: (i % 30) + Math.floor(i / 30) + 35 },
  ...{ discipline: DISCIPLINES[i % 6], source: { name: i % 2 === 0 ? "even" : "odd" } },
}));

beforeAll(() => {
  const others = ['{"nums": [1], "target": 1}', '{"nums": [2], "target": 1}', "{", JSON.stringify(tasks[0])];
  // Written in a way that no JSON writer has, for a sample copies rows as they are.
  const odd = (row: object): string => JSON.stringify(row).replace('"target":', '"target" : ');
  writeFileSync(at("all.jsonl"), [...tasks.map(odd), "", ...others].join("\r\n"));
  writeFileSync(at("none.jsonl"), "{}\n{}\n");
});

describe("check", () => {
  test("says whose the rows are, how many of which level and split, and why others are none", async () => {
    const { code, out, err } = await pools("check", "all.jsonl", "--json");
    expect([code, err]).toEqual([0, ""]);
    const report = JSON.parse(out) as { readonly groups: readonly { readonly rows: number }[] };
    expect(report).toMatchObject({
      ...{ environment: "countdown", version: 1, rows: 300, rejected: 4, leftOut: 0, unchecked: 0 },
      rejections: [
        { rows: 2, first: "line 302", reason: "column nums must be a list of 2 to 6 numbers, and is [1]" },
        { rows: 1, first: "line 304", reason: expect.stringMatching(/^not JSON/) as string },
        { rows: 1, first: "line 305", reason: "the same task as line 1" },
      ],
    });
    expect(report.groups.reduce((sum, { rows }) => sum + rows, 0)).toBe(300);
    const text = await pools("check", "countdown:all.jsonl@train[:10]");
    expect(text.out).toMatch(/^environment {2}countdown, version 1\nrows {9}10\nrejected {5}3\nleft out {5}291\n/);
  });

  test("row by row says the same", async () => {
    const { code, out } = await pools("check", "all.jsonl@train[5:],eval[:3]", "--rows", "--json");
    expect(code).toBe(0);
    const printed = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const report = printed.pop();
    expect(printed.length).toBe(304);
    expect(printed[0]).toEqual({ row: "line 1", kind: "task", level: "T1", split: "eval" });
    expect(printed[3]).toEqual({ row: "line 4", kind: "left_out" });
    expect(printed.at(-1)).toEqual({ row: "line 305", kind: "rejected", reason: "the same task as line 1" });
    const count = (kind: string): number => printed.filter((row) => row["kind"] === kind).length;
    expect(report).toMatchObject({ rows: count("task"), rejected: count("rejected"), leftOut: count("left_out") });
  });

  test.each([
    [["none.jsonl"], 1, "its beginning has no columns|column nums must be"],
    [["countdown:none.jsonl"], 1, "countdown:none.jsonl|none.jsonl: no row holds a task"],
    [["nowhere.jsonl"], 1, "nowhere.jsonl: the file cannot be read \\(ENOENT\\)"],
    [
      ["all.jsonl", "--environment", "countdwn"],
      2,
      "--environment: no environment 'countdwn'; did you mean 'countdown'",
    ],
    [["np/tsp:all.jsonl"], 2, "np/tsp has no data pools"],
  ])("%j ends with %i", async (args, expected, message) => {
    const { code, err } = await pools("check", ...args);
    expect(code).toBe(expected);
    expect(err).toMatch(new RegExp(message));
  });
});

describe("sample", () => {
  test("takes rows by category in proportion, as they are, in their order, and says what it dropped", async () => {
    const args = ["sample", "all.jsonl", "--environment", "countdown", "--by", "discipline", "--json"];
    const { code, out, err } = await pools(...args, "--count", "100", "--out", "s.jsonl");
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject({
      ...{ rows: 304, taken: 100 },
      dropped: [
        { rows: 2, first: "line 302" },
        { rows: 1, first: "line 304" },
        { rows: 1, first: "line 305", why: "the same task as line 1" },
      ],
      categories: [
        { category: "History", rows: 50, taken: 17 },
        { category: "Law", rows: 150, taken: 50 },
        { category: "Science", rows: 100, taken: 33 },
      ],
    });
    const all = readFileSync(at("all.jsonl"), "utf8").split("\r\n");
    const places = lines("s.jsonl").map((line) => all.indexOf(line));
    expect(places.length).toBe(100);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThanOrEqual(0);
    await pools(...args, "--count", "100", "--out", "same.jsonl");
    expect(lines("same.jsonl")).toEqual(lines("s.jsonl"));
    await pools(...args, "--count", "100", "--out", "other.jsonl", "--seed", "2");
    expect(lines("other.jsonl")).not.toEqual(lines("s.jsonl"));
  });

  test("keeps rows by their fields and by the length of their prompts", async () => {
    const filters = ["--where", "source.name=even", "--where", "nums.length>=3", "--where", "discipline!~aw"];
    const { out } = await pools("sample", "all.jsonl", "--out", "f.jsonl", ...filters, "--json");
    const kept = lines("f.jsonl").map((line) => JSON.parse(line) as (typeof tasks)[number]);
    expect(kept).toEqual(tasks.filter((row) => row.source.name === "even" && row.discipline !== "Law"));
    const { dropped } = JSON.parse(out) as { readonly dropped: readonly { readonly why: string }[] };
    expect(dropped.map(({ why }) => why)).toEqual(["not discipline!~aw", "not source.name=even", "not JSON"]);
    const short = ["--environment", "countdown", "--prompt-bytes-max"];
    const { err } = await pools("sample", "all.jsonl", "--out", "p.jsonl", ...short, "100");
    expect(err).toContain("no row is left; 300: a prompt of over 100 bytes");
    expect((await pools("sample", "all.jsonl", "--out", "p.jsonl", ...short, "5000")).code).toBe(0);
    expect(lines("p.jsonl").length).toBe(300);
  });

  test("of Parquet is Parquet of the same schema, or JSONL", async () => {
    writeParquet(at("all.parquet"));
    const args = ["sample", "all.parquet", "--by", "discipline", "--count", "60", "--environment", "countdown"];
    expect((await pools(...args, "--out", "s.parquet")).err).toBe("");
    expect((await pools(...args, "--out", "p.jsonl")).err).toBe("");
    const [from, to] = await Promise.all([metadataOf("all.parquet"), metadataOf("s.parquet")]);
    expect(to.schema).toEqual(from.schema);
    expect(to.key_value_metadata).toEqual(expect.arrayContaining([{ key: "huggingface", value: "{}" }]));
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(at("s.parquet")) });
    const everything = await parquetReadObjects({ file: await asyncBufferFromFile(at("all.parquet")) });
    expect(rows.length).toBe(60);
    for (const row of rows) expect(everything).toContainEqual(row);
    const asJson = lines("p.jsonl").map((line) => JSON.parse(line) as unknown);
    expect(asJson).toEqual(
      rows.map(({ target, ...row }) => ({
        ...row,
        nums: (row["nums"] as bigint[]).map(Number),
        target: Number(target),
      })),
    );
    const checked = JSON.parse((await pools("check", "s.parquet", "--json")).out) as unknown;
    expect(checked).toMatchObject({ rows: 60, rejected: 0 });
  });

  test.each([
    [["--out", "x.csv"], "--out must end in .jsonl or .parquet; got 'x.csv'"],
    [["--out", "x.parquet"], "--out must end in .jsonl, for all.jsonl is JSONL"],
    [["--out", "all.jsonl"], "--out must be another file"],
    [
      ["--out", "x.jsonl", "--by", "disciplin"],
      "--by: no row of all.jsonl has 'disciplin'; did you mean 'discipline'?",
    ],
    [["--out", "x.jsonl", "--where", "source.nam=even"], "--where: no row of all.jsonl has 'source.nam'"],
    [["--out", "x.jsonl", "--where", "nums>many"], "Want a field, a comparison and a value"],
    [["--out", "x.jsonl", "--prompt-bytes-max", "9"], "give --environment"],
    [["--out", "x.jsonl", "--environment", "qq"], "--environment: no environment 'qq'"],
  ])("%j is refused, and nothing is written", async (args, message) => {
    const before = statSync(at("all.jsonl")).size;
    const { code, err } = await pools("sample", "all.jsonl", ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(statSync(at("all.jsonl")).size).toBe(before);
    expect(statSync(at("x.jsonl"), { throwIfNoEntry: false })).toBeUndefined();
  });
});

function writeParquet(path: string): void {
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: [
      { name: "root", num_children: 4 },
      { name: "discipline", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" },
      { name: "nums", repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST" },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { name: "element", type: "INT64", repetition_type: "OPTIONAL" },
      { name: "source", repetition_type: "OPTIONAL", num_children: 1 },
      { name: "name", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" },
      { name: "target", type: "INT64", repetition_type: "REQUIRED" },
    ],
    kvMetadata: [{ key: "huggingface", value: "{}" }],
  });
  void writer.write({
    columnData: [
      { name: "discipline", data: tasks.map(({ discipline }) => discipline) },
      { name: "nums", data: tasks.map(({ nums }) => nums.map(BigInt)) },
      { name: "source", data: tasks.map(({ source }) => source) },
      { name: "target", data: tasks.map(({ target }) => BigInt(target)) },
    ],
    rowGroupSize: 128,
  });
  void writer.finish();
}

async function metadataOf(name: string) {
  return parquetMetadataAsync(await asyncBufferFromFile(at(name)));
}
