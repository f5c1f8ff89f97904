/** Writes rows as JSONL or Parquet. */
import { appendFileSync } from "node:fs";
import type { SchemaElement } from "hyparquet";
import { ParquetWriter, fileWriter } from "hyparquet-writer";
import type { ExportRow } from "./rows.ts";

export type ExportFormat = "jsonl" | "parquet";

/** By the file's ending; undefined: it has neither. */
export function formatOf(path: string): ExportFormat | undefined {
  if (path.endsWith(".jsonl")) return "jsonl";
  return path.endsWith(".parquet") ? "parquet" : undefined;
}

export interface RowWriter {
  add(row: ExportRow): void;
  /** Writes what is left. */
  finish(): void;
}

/** Rows that are written together; more would be held, and a Parquet file's readers take its groups whole. */
const GROUP = 1000;

/** Writes rows as they come, so that they need not be held all at once. */
export function createRowWriter(path: string, format: ExportFormat): RowWriter {
  const write = format === "jsonl" ? jsonlGroups(path) : parquetGroups(path);
  let waiting: ExportRow[] = [];
  const flush = (): void => {
    if (waiting.length > 0) write.group(waiting);
    waiting = [];
  };
  return {
    add(row) {
      waiting.push(row);
      if (waiting.length >= GROUP) flush();
    },
    finish() {
      flush();
      write.end();
    },
  };
}

interface Groups {
  group(rows: readonly ExportRow[]): void;
  end(): void;
}

function jsonlGroups(path: string): Groups {
  return {
    group: (rows) => appendFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join("")),
    end: () => undefined,
  };
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

const schema = [{ name: "root", num_children: columns.length }, ...columns.flatMap(([, elements]) => elements)];

/** Snappy-compressed. */
function parquetGroups(path: string): Groups {
  const writer = new ParquetWriter({ writer: fileWriter(path), schema });
  return {
    group: (rows) => {
      const columnData = columns.map(([name]) => ({ name, data: rows.map((row) => row[name]) }));
      void writer.write({ columnData, rowGroupSize: GROUP });
    },
    end: () => void writer.finish(),
  };
}
