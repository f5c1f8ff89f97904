/** Parquet files of the public sets' schemas: nested columns come as JSON has them, and no others are read. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SchemaElement } from "hyparquet";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rowOf } from "../../../envs/pool.ts";
import { createRegistry } from "../../../envs/registry.ts";
import { loadPools } from "../../../server/rows/pools.ts";
import { parquetRanges, readParquet } from "../../../server/rows/formats/parquet.ts";
import { twoSchemas } from "../../support/environments/schemas.ts";

const SCHEMAS = fileURLToPath(new URL("../../support/environments/schemas.ts", import.meta.url));

let folder: string;
const at = (name: string): string => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-nested-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const text = (name: string): SchemaElement => ({
  name,
  type: "BYTE_ARRAY",
  converted_type: "UTF8",
  repetition_type: "OPTIONAL",
});
const struct = (name: string, ...fields: readonly SchemaElement[]): readonly SchemaElement[] => [
  { name, repetition_type: "OPTIONAL", num_children: fields.length },
  ...fields,
];
const list = (name: string, ...element: readonly SchemaElement[]): readonly SchemaElement[] => [
  { name, repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST" },
  { name: "list", repetition_type: "REPEATED", num_children: 1 },
  ...element,
];

type Columns = Readonly<Record<string, readonly SchemaElement[]>>;

function write(path: string, columns: Columns, rows: readonly Readonly<Record<string, unknown>>[], size = 100): void {
  const names = Object.keys(columns);
  const schema = [{ name: "root", num_children: names.length }, ...Object.values(columns).flat()];
  const writer = new ParquetWriter({ writer: fileWriter(path), schema });
  const columnData = names.map((name) => ({ name, data: rows.map((row) => row[name]) }));
  void writer.write({ columnData, rowGroupSize: size });
  void writer.finish();
}

/** Columns of DAPO-Math-17k. */
const dapo: Columns = {
  data_source: [text("data_source")],
  prompt: list("prompt", ...struct("element", text("content"), text("role"))),
  ability: [text("ability")],
  reward_model: struct("reward_model", text("ground_truth"), text("style")),
  extra_info: struct("extra_info", text("index")),
};
const dapoRows = [0, 1, 2].map((i) => ({
  data_source: "math_dapo",
  prompt: [{ content: `What is ${i} + 1?`, role: "user" }],
  ability: "MATH",
  reward_model: { ground_truth: `${i + 1}`, style: "rule-lighteval/MATH_v2" },
  extra_info: { index: `${i}` },
}));

const shareGpt: Columns = {
  id: [text("id")],
  conversations: list("conversations", ...struct("element", text("from"), text("value"))),
};
const shareGptRows = [
  {
    id: "a",
    conversations: [
      { from: "human", value: "Hello" },
      { from: "gpt", value: "Good day" },
    ],
  },
  { id: "b", conversations: [] },
  { id: "c", conversations: [{ from: "human", value: null }] },
];

/** Columns of code-r1-12k: the tests are JSON in a text. */
const codeR1: Columns = {
  prompt: list("prompt", ...struct("element", text("content"), text("role"))),
  reward_model: struct("reward_model", text("ground_truth"), text("style")),
  extra_info: [
    { name: "extra_info", repetition_type: "OPTIONAL", num_children: 2 },
    { name: "index", type: "INT64", repetition_type: "OPTIONAL" },
    text("reference"),
  ],
};
const codeR1Rows = [0, 1].map((i) => ({
  prompt: [
    { content: "You are helpful.", role: "system" },
    { content: `Add ${i}.`, role: "user" },
  ],
  reward_model: { ground_truth: JSON.stringify({ inputs: ["1"], outputs: [`${1 + i}`] }), style: "rule" },
  extra_info: { index: BigInt(i), reference: "" },
}));

const values = async (path: string, columns?: readonly string[]): Promise<readonly unknown[]> =>
  Array.from(
    await readParquet(path, [0, 100], (there) => columns && there.filter((name) => columns.includes(name))),
    ({ value }) => value,
  );

describe("nested columns", () => {
  test.each([
    ["DAPO-Math-17k", dapo, dapoRows],
    ["ShareGPT", shareGpt, shareGptRows],
  ] as const)("of %s", async (name, columns, rows) => {
    write(at(`${name}.parquet`), columns, rows);
    expect(await values(at(`${name}.parquet`))).toEqual(rows);
  });

  test("of code-r1-12k, with whole numbers as numbers", async () => {
    write(at("code.parquet"), codeR1, codeR1Rows);
    expect(await values(at("code.parquet"))).toEqual(
      codeR1Rows.map((row, i) => ({ ...row, extra_info: { index: i, reference: "" } })),
    );
  });

  test("are read alone, by the name of the whole", async () => {
    write(at("dapo.parquet"), dapo, dapoRows);
    expect(await values(at("dapo.parquet"), ["reward_model", "prompt", "problem"])).toEqual(
      dapoRows.map(({ prompt, reward_model }) => ({ prompt, reward_model })),
    );
  });

  test("are JSON: what is not there, no number or a date comes as it would from there", async () => {
    const columns: Columns = {
      score: [{ name: "score", type: "DOUBLE", repetition_type: "OPTIONAL" }],
      at: [{ name: "at", type: "INT64", converted_type: "TIMESTAMP_MILLIS", repetition_type: "OPTIONAL" }],
      note: [text("note")],
    };
    write(at("odd.parquet"), columns, [{ score: NaN, at: new Date(0), note: undefined }]);
    const [value] = await values(at("odd.parquet"));
    expect(value).toEqual({ score: null, at: "1970-01-01T00:00:00.000Z", note: null });
    expect(JSON.parse(JSON.stringify(value))).toEqual(value);
  });
});

test("an environment reads files of each schema that it knows", async () => {
  const registry = createRegistry([twoSchemas]);
  const openR1: Columns = { problem: [text("problem")], answer: [text("answer")], generations: [text("generations")] };
  const rows = [4, 5].map((i) => ({ problem: `${i} + 1`, answer: `${i + 1}`, generations: "g".repeat(5000) }));
  write(at("openr1.parquet"), openR1, rows);
  write(at("dapo-again.parquet"), dapo, dapoRows);
  const result = await loadPools(
    registry,
    [
      { name: "openr1", path: at("openr1.parquet") },
      { name: "dapo", path: at("dapo-again.parquet") },
    ],
    { threads: 1, environmentFiles: [SCHEMAS], folder: undefined },
  );
  expect(result).toMatchObject({ kind: "ok" });
  if (result.kind !== "ok") return;
  const sumsOf = (name: string) => {
    const pool = result.pools.get(name);
    return Array.from({ length: pool?.size ?? 0 }, (_, i) => rowOf(pool as never, i).instance);
  };
  expect(sumsOf("openr1")).toEqual([4, 5].map((a) => ({ a, b: 1 })));
  expect(sumsOf("dapo")).toEqual([0, 1, 2].map((a) => ({ a, b: 1 })));
});

test("rows of long texts are read in smaller parts, a few for each row group", async () => {
  const rows = Array.from({ length: 96 }, (_, i) => ({ note: `${i} `.repeat(1000) }));
  write(at("long.parquet"), { note: [text("note")] }, rows, 48);
  const sizes = async (bytes: number): Promise<readonly number[]> =>
    (await parquetRanges(at("long.parquet"), bytes)).map(([start, end]) => end - start);
  expect(await sizes(1 << 30)).toEqual([48, 48]);
  expect((await sizes(64 * 1024))[0]).toBeLessThan(48);
  // The reader does not go row by row: each part would read the pages before it again.
  expect(await sizes(1)).toEqual(Array.from({ length: 16 }, () => 6));
});
