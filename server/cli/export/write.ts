/** Writes rows as JSONL or Parquet. */
import { writeFileSync } from "node:fs";
import type { SchemaElement } from "hyparquet";
import { ByteWriter, parquetWrite } from "hyparquet-writer";
import type { ExportRow } from "./rows.ts";

export type ExportFormat = "jsonl" | "parquet";

/** By the file's ending; undefined: it has neither. */
export function formatOf(path: string): ExportFormat | undefined {
  if (path.endsWith(".jsonl")) return "jsonl";
  return path.endsWith(".parquet") ? "parquet" : undefined;
}

export async function writeRows(path: string, format: ExportFormat, rows: readonly ExportRow[]): Promise<void> {
  writeFileSync(path, format === "jsonl" ? toJsonl(rows) : await toParquet(rows));
}

export function toJsonl(rows: readonly ExportRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

const text = (name: string): SchemaElement => ({
  ...{ name, type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  repetition_type: "REQUIRED",
});
const plain = (name: string, type: "INT32" | "DOUBLE" | "BOOLEAN"): SchemaElement => ({
  ...{ name, type, repetition_type: "REQUIRED" },
});

/** Column by column, as data loaders read chat data: `messages` is a list of {role, content}. */
const columns: readonly (readonly [keyof ExportRow, readonly SchemaElement[]])[] = [
  [
    "messages",
    [
      {
        ...{ name: "messages", repetition_type: "REQUIRED", num_children: 1 },
        ...{ converted_type: "LIST", logical_type: { type: "LIST" } },
      },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { name: "element", repetition_type: "REQUIRED", num_children: 2 },
      text("role"),
      text("content"),
    ],
  ],
  ["environment", [text("environment")]],
  ["version", [plain("version", "INT32")]],
  ["level", [text("level")]],
  ["split", [text("split")]],
  ["group_id", [text("group_id")]],
  ["sample_index", [plain("sample_index", "INT32")]],
  ["ratio", [plain("ratio", "DOUBLE")]],
  ["reward", [plain("reward", "DOUBLE")]],
  ["solved", [plain("solved", "BOOLEAN")]],
  ["source", [text("source")]],
];

/** A Parquet file, snappy-compressed. */
export async function toParquet(rows: readonly ExportRow[]): Promise<Uint8Array> {
  const writer = new ByteWriter();
  await parquetWrite({
    writer,
    columnData: columns.map(([name]) => ({ name, data: rows.map((row) => row[name]) })),
    schema: [{ name: "root", num_children: columns.length }, ...columns.flatMap(([, elements]) => elements)],
  });
  return new Uint8Array(writer.getBuffer());
}
