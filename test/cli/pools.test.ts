/** `gradus pools`, as its users start it. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, type SchemaElement } from "hyparquet";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { beforeAll, describe, expect, test } from "vitest";
import { countdown } from "../../envs/countdown/index.ts";
import { readCondition } from "../../cli/conditions.ts";
import { samplePool, type SampleOptions, type SampleReport } from "../../cli/pools/sample.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { type Ended, gradus } from "./gradus.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder.path, name);
const pools = (...args: readonly string[]): Promise<Ended> => gradus({ cwd: folder.path }, "pools", ...args);

/** Samples, in this process, the file with all rows. */
function sample(
  out: string,
  options: Partial<Omit<SampleOptions, "where">> = {},
  ...where: readonly string[]
): Promise<SampleReport> {
  return samplePool({
    path: at("all.jsonl"),
    out: at(out),
    chunkBytes: 4096,
    environment: undefined,
    columns: [],
    promptBytesMax: undefined,
    by: undefined,
    count: Infinity,
    seed: "0",
    where: where.flatMap((text) => readCondition(text) ?? []),
    onProgress: () => undefined,
    ...options,
  });
}
const lines = (name: string): readonly string[] => readFileSync(at(name), "utf8").trimEnd().split("\n");

/** 300 tasks in three disciplines, 3 : 2 : 1, and some rows that hold none. */
const DISCIPLINES = ["Law", "Law", "Law", "Science", "Science", "History"] as const;
const tasks = Array.from({ length: 300 }, (_, i) => ({
  nums: [(i % 30) + 1, Math.floor(i / 30) + 31, 3],
  target: (i % 30) + Math.floor(i / 30) + 35,
  discipline: DISCIPLINES[i % 6],
  source: { name: i % 2 === 0 ? "even" : "odd" },
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
      environment: "countdown",
      version: 2,
      rows: 300,
      rejected: 4,
      leftOut: 0,
      unchecked: 0,
      rejections: [
        { rows: 2, first: "line 302", reason: "column nums must be a list of 2 to 6 numbers, and is [1]" },
        { rows: 1, first: "line 304", reason: expect.stringMatching(/^not JSON/) as string },
        { rows: 1, first: "line 305", reason: "the same task as line 1" },
      ],
    });
    expect(report.groups.reduce((sum, { rows }) => sum + rows, 0)).toBe(300);
    const text = await pools("check", "countdown:all.jsonl@train[:10]");
    expect(text.out).toMatch(/^environment {2}countdown, version 2\nrows {9}10\nrejected {5}3\nleft out {5}291\n/);
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

  test("of a row that holds a task it is told what is left out of it, and why", async () => {
    const tests = [1, 2, 3, 4, 5].map((n) => ({ input: `${n}`, output: `${n}` }));
    const rows = [tests, [...tests, { input: "6", output: "6".repeat(1024 ** 2) }]].map((each, i) =>
      JSON.stringify({ prompt: `P${i}`, tests: each }),
    );
    writeFileSync(at("code.jsonl"), rows.join("\n"));
    const { out } = await pools("check", "code:code.jsonl@train", "--rows");
    expect(out.split("\n").slice(0, 2)).toEqual([
      "line 1: unrated, train",
      "line 2: unrated, train; 1 of its tests left out: an output of 1048577 bytes, and a program may print 1048576",
    ]);
  });

  test("tests in Python are read by a sandbox: row by row it is told why, and without one that it is wanted", async () => {
    const tests = [["assert f(1) == 1"], ["assert f(open('x')) == 1"], ["assert f(1) == 1"]];
    writeFileSync(at("python.jsonl"), tests.map((each) => JSON.stringify({ prompt: "P", tests: each })).join("\n"));
    const { out } = await pools("check", "python.jsonl@train", "--rows");
    expect(out.split("\n").slice(0, 3)).toEqual([
      "line 1: unrated, train",
      "line 2: rejected, tests: no test can be read: 'open' of Python",
      "line 3: rejected, the same task as line 1",
    ]);
    writeFileSync(at("other.jsonl"), JSON.stringify({ prompt: "P", tests: ["assert f(2) == 2"] }));
    const off = { cwd: folder.path, env: { GRADUS_SANDBOX: "off" } };
    const { code, err } = await gradus(off, "pools", "check", "other.jsonl");
    expect(code).toBe(1);
    expect(err).toMatch(
      /other\.jsonl: its rows have tests in Python, which only a sandbox reads: this server runs no programs: --sandbox is off/,
    );
  });

  test.each([
    [["countdown:none.jsonl"], 1, "no row holds a task"],
    [
      ["mine.jsonl"],
      1,
      "its columns are 'q', 'a'; if the column has another name in the file, give it: --column problem=NAME",
    ],
    [["mine.jsonl", "--environment", "math"], 1, "no row holds a task; if .*: --column problem=NAME"],
    [["mine.jsonl", "--environment", "countdown"], 1, "no row holds a task; if .*: --column nums=NAME"],
    [
      ["mine.jsonl", "--environment", "math", "--column", "problem=q"],
      1,
      "no row holds a task; .*: --column answer=NAME",
    ],
    [["mine.jsonl", "--environment", "code"], 1, "no row holds a task; if .*: --column \\w+=NAME"],
    [["nowhere.jsonl"], 3, "nowhere.jsonl: the file cannot be read \\(ENOENT\\)"],
    [["all.jsonl", "--environment", "countdwn"], 2, "--environment: no environment 'countdwn'; did you mean"],
  ])("%j ends with %i", async (args, expected, message) => {
    writeFileSync(at("mine.jsonl"), '{"q": "2 + 2?", "a": "4"}\n');
    const { code, err } = await pools("check", ...args);
    expect(code).toBe(expected);
    expect(err).toMatch(new RegExp(message));
  });

  test("a server's and a command's --pool say so, too, and what they name helps", async () => {
    writeFileSync(at("mine.jsonl"), '{"q": "2 + 2?", "a": "4"}\n');
    const asked = ["envs", "math", "--pool", "m=math:mine.jsonl"];
    const { code, err } = await gradus({ cwd: folder.path }, ...asked);
    expect([code, err]).toEqual([2, expect.stringContaining("give it: --column problem=NAME")]);
    const named = [...asked, "--column", "problem=q", "--column", "answer=a"];
    expect((await gradus({ cwd: folder.path }, ...named)).code).toBe(0);
  });
});

describe("sample", () => {
  test("takes rows by category in proportion, as they are, in their order, and says what it dropped", async () => {
    const args = ["sample", "all.jsonl", "--environment", "countdown", "--by", "discipline", "--json"];
    const { code, out, err } = await pools(...args, "--count", "100", "--out", "s.jsonl");
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject({
      rows: 304,
      taken: 100,
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
    const options = { environment: countdown, by: "discipline", count: 100 };
    await sample("same.jsonl", options);
    expect(lines("same.jsonl")).toEqual(lines("s.jsonl"));
    await sample("other.jsonl", { ...options, seed: "2" });
    expect(lines("other.jsonl")).not.toEqual(lines("s.jsonl"));
  });

  test("keeps rows by their fields and by the length of their prompts", async () => {
    const filters = ["source.name=even", "nums.length>=3", "discipline!~aw"];
    const { dropped } = await sample("f.jsonl", {}, ...filters);
    const kept = lines("f.jsonl").map((line) => JSON.parse(line) as (typeof tasks)[number]);
    expect(kept).toEqual(tasks.filter((row) => row.source.name === "even" && row.discipline !== "Law"));
    expect(dropped.map(({ why }) => why)).toEqual(["not discipline!~aw", "not source.name=even", "not JSON"]);
    const short = { environment: countdown, promptBytesMax: 100 };
    await expect(sample("p.jsonl", short)).rejects.toThrow("no row is left; 300: a prompt of over 100 bytes");
    expect((await sample("p.jsonl", { ...short, promptBytesMax: 5000 })).taken).toBe(300);
    expect(lines("p.jsonl").length).toBe(300);
  });

  test("of Parquet is Parquet of the same schema, or JSONL", async () => {
    writeParquet(at("all.parquet"));
    const options = { path: at("all.parquet"), environment: countdown, by: "discipline", count: 60 };
    const progress: number[] = [];
    let total = 0;
    await sample("s.parquet", { ...options, onProgress: (done, of) => void progress.push(done, (total = of)) });
    expect(total).toBeGreaterThan(2);
    expect(progress).toEqual(Array.from({ length: total }, (_, i) => [i + 1, total]).flat());
    await sample("p.jsonl", options);
    const [from, to] = await Promise.all([metadataOf("all.parquet"), metadataOf("s.parquet")]);
    expect(to.schema).toEqual(from.schema);
    expect(to.key_value_metadata).toEqual(expect.arrayContaining([{ key: "huggingface", value: "{}" }]));
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(at("s.parquet")) });
    const everything = await parquetReadObjects({ file: await asyncBufferFromFile(at("all.parquet")) });
    expect(rows.length).toBe(60);
    for (const row of rows) expect(everything).toContainEqual(row);
    const asJson = lines("p.jsonl").map((line) => JSON.parse(line) as unknown);
    const numbers = (row: Record<string, unknown>) => ({
      ...row,
      nums: (row["nums"] as bigint[]).map(Number),
      target: Number(row["target"]),
    });
    expect(asJson).toEqual(rows.map(numbers));
  });

  test("of Parquet keeps bytes that are no letters, and all digits of decimals, times and JSON", async () => {
    const decimal = { type: "INT64", converted_type: "DECIMAL", scale: 2, precision: 18 } as const;
    const schema: SchemaElement[] = [
      { name: "root", num_children: 4 },
      { name: "bytes", type: "BYTE_ARRAY", repetition_type: "OPTIONAL" },
      { name: "price", ...decimal, repetition_type: "OPTIONAL" },
      { name: "time", type: "INT64", converted_type: "TIMESTAMP_MICROS", repetition_type: "OPTIONAL" },
      { name: "json", type: "BYTE_ARRAY", converted_type: "JSON", repetition_type: "OPTIONAL" },
    ];
    const columns: Readonly<Record<string, readonly unknown[]>> = {
      bytes: [Uint8Array.of(0xff, 0, 0x80), null],
      price: [999_999_999_999_999_999n, null],
      time: [1_700_000_000_123_456n, null],
      json: [new TextEncoder().encode("{ }"), null],
    };
    const bare = schema.map(({ converted_type: _, ...element }) => element);
    const writer = new ParquetWriter({ writer: fileWriter(at("exact.parquet")), schema: bare });
    void writer.write({ columnData: Object.entries(columns).map(([name, data]) => ({ name, data: [...data] })) });
    writer.schema = schema;
    void writer.finish();
    await sample("copied.parquet", { path: at("exact.parquet") });
    const { schema: copied, ...metadata } = await metadataOf("copied.parquet");
    expect(copied).toEqual((await metadataOf("exact.parquet")).schema);
    const file = await asyncBufferFromFile(at("copied.parquet"));
    const [first] = await parquetReadObjects({ file, metadata: { ...metadata, schema: bare }, utf8: false });
    expect(first).toEqual(Object.fromEntries(Object.entries(columns).map(([name, [value]]) => [name, value])));
  });

  test.each([
    ["x.csv", {}, [], "--out must end in .jsonl or .parquet; got '"],
    ["x.parquet", {}, [], "--out must end in .jsonl, because "],
    ["all.jsonl", {}, [], "--out must not be the file that is read"],
    ["x.jsonl", { by: "disciplin" }, [], "has 'disciplin'; did you mean 'discipline'?"],
    ["x.jsonl", {}, ["source.nam=even"], "all.jsonl has 'source.nam'"],
    ["x.jsonl", { path: "/nowhere.jsonl" }, [], "/nowhere.jsonl: the file cannot be read (ENOENT)"],
  ])("to %s with %j and %j is refused, and nothing is written", async (out, options, where, message) => {
    const before = readFileSync(at("all.jsonl"), "utf8");
    await expect(sample(out, options, ...where)).rejects.toThrow(message);
    expect(readFileSync(at("all.jsonl"), "utf8")).toBe(before);
    expect(existsSync(at("x.jsonl"))).toBe(false);
  });

  test("a full disk is told of the file that is written", async () => {
    symlinkSync("/dev/full", at("full.jsonl"));
    await expect(sample("full.jsonl")).rejects.toThrow(/^--out must be a file that can be written; .*its disk is full/);
  });

  test.each([
    [["--where", "nums>many"], "Want a field, a comparison and a value"],
    [["--max-prompt-bytes", "9"], "give --environment"],
  ])("%j is refused", async (args, message) => {
    const { code, err } = await pools("sample", "all.jsonl", "--out", "x.jsonl", ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
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
