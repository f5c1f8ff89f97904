/** Writes rows as JSONL or Parquet. */
import { appendFileSync } from "node:fs";
import type { SchemaElement } from "hyparquet";
import { ParquetWriter, fileWriter } from "hyparquet-writer";
import type { RescoredRow } from "../rescore/report.ts";
import type { PairRow } from "./pairs.ts";
import type { ExportRow } from "./rows.ts";

export type ExportFormat = "jsonl" | "parquet";

/**
 * Returns the format that the ending of a file name stands for. Undefined if the ending is neither .jsonl nor .parquet.
 */
export function formatOf(path: string): ExportFormat | undefined {
  if (path.endsWith(".jsonl")) return "jsonl";
  return path.endsWith(".parquet") ? "parquet" : undefined;
}

export interface RowWriter<Row = ExportRow> {
  add(row: Row): void;
  /** Writes the remaining rows and closes the file. */
  finish(): void;
}

/** Number of rows written together. Larger groups take more memory, also in programs that read the Parquet file. */
const GROUP = 1000;

/**
 * Makes a writer that collects rows and writes them in groups, so that never all rows are in memory. `of` lists the
 * columns of the rows, e.g. `rowColumns`.
 */
export function createWriter<Row>(path: string, format: ExportFormat, of: Columns<Row>): RowWriter<Row> {
  const write = format === "jsonl" ? jsonlGroups<Row>(path) : parquetGroups(path, of);
  let waiting: Row[] = [];
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

interface Groups<Row> {
  group(rows: readonly Row[]): void;
  end(): void;
}

function jsonlGroups<Row>(path: string): Groups<Row> {
  return {
    group: (rows) => appendFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join("")),
    end: () => undefined,
  };
}

const text = (name: string): SchemaElement => ({
  name,
  type: "BYTE_ARRAY",
  converted_type: "UTF8",
  logical_type: { type: "STRING" },
  repetition_type: "REQUIRED",
});
const plain = (name: string, type: "INT32" | "DOUBLE" | "BOOLEAN"): SchemaElement => ({
  name,
  type,
  repetition_type: "REQUIRED",
});

/** Returns a column whose values may be null. */
const optional = (element: SchemaElement): SchemaElement => ({ ...element, repetition_type: "OPTIONAL" });

/** Columns of a row type: the name of each, with its elements in the Parquet schema. */
type Columns<Row> = readonly (readonly [keyof Row & string, readonly SchemaElement[]])[];

/** Returns the Parquet schema of a list of {role, content}, the form in which data loaders read chats. */
const chat = (name: string): readonly SchemaElement[] => [
  {
    name,
    repetition_type: "REQUIRED",
    num_children: 1,
    converted_type: "LIST",
    logical_type: { type: "LIST" },
  },
  { name: "list", repetition_type: "REPEATED", num_children: 1 },
  { name: "element", repetition_type: "REQUIRED", num_children: 2 },
  text("role"),
  text("content"),
];

export const rowColumns: Columns<ExportRow> = [
  ["messages", chat("messages")],
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

export const pairColumns: Columns<PairRow> = [
  ["prompt", chat("prompt")],
  ["chosen", chat("chosen")],
  ["rejected", chat("rejected")],
  ["environment", [text("environment")]],
  ["version", [plain("version", "INT32")]],
  ["level", [text("level")]],
  ["split", [text("split")]],
  ["group_id", [text("group_id")]],
  ["chosen_index", [plain("chosen_index", "INT32")]],
  ["rejected_index", [plain("rejected_index", "INT32")]],
  ["chosen_reward", [plain("chosen_reward", "DOUBLE")]],
  ["rejected_reward", [plain("rejected_reward", "DOUBLE")]],
  ["kind", [text("kind")]],
  ["source", [text("source")]],
];

export const rescoredColumns: Columns<RescoredRow> = [
  ["sample", [text("sample")]],
  ["arm", [text("arm")]],
  ["environment", [text("environment")]],
  ["version", [plain("version", "INT32")]],
  ["level", [text("level")]],
  ["group_id", [text("group_id")]],
  ["sample_index", [plain("sample_index", "INT32")]],
  ["reward_before", [optional(plain("reward_before", "DOUBLE"))]],
  ["reward", [optional(plain("reward", "DOUBLE"))]],
  ["verdict_before", [optional(text("verdict_before"))]],
  ["verdict", [optional(text("verdict"))]],
  ["solved_before", [optional(plain("solved_before", "BOOLEAN"))]],
  ["solved", [optional(plain("solved", "BOOLEAN"))]],
  ["rloo_advantage_before", [optional(plain("rloo_advantage_before", "DOUBLE"))]],
  ["rloo_advantage", [optional(plain("rloo_advantage", "DOUBLE"))]],
  ["grpo_advantage_before", [optional(plain("grpo_advantage_before", "DOUBLE"))]],
  ["grpo_advantage", [optional(plain("grpo_advantage", "DOUBLE"))]],
  ["no_reward", [optional(text("no_reward"))]],
  ["detail", [optional(text("detail"))]],
];

/** Probability of one arm at one draw of a run. */
export interface ComparedRow {
  readonly update_batch: number;
  readonly arm: string;
  /** Probability that the run recorded. */
  readonly recorded: number;
  /** Probability under the other policy. Null: that policy can draw no arm. */
  readonly compared: number | null;
}

export const comparedColumns: Columns<ComparedRow> = [
  ["update_batch", [plain("update_batch", "INT32")]],
  ["arm", [text("arm")]],
  ["recorded", [plain("recorded", "DOUBLE")]],
  ["compared", [optional(plain("compared", "DOUBLE"))]],
];

/** Writes row groups of a Parquet file, compressed with Snappy. */
function parquetGroups<Row>(path: string, of: Columns<Row>): Groups<Row> {
  const schema = [{ name: "root", num_children: of.length }, ...of.flatMap(([, elements]) => elements)];
  const writer = new ParquetWriter({ writer: fileWriter(path), schema });
  return {
    group: (rows) => {
      const columnData = of.map(([name]) => ({ name, data: rows.map((row) => row[name]) }));
      void writer.write({ columnData, rowGroupSize: GROUP });
    },
    end: () => void writer.finish(),
  };
}
