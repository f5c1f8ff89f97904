/** Reads CSV and TSV tables. The first line names the columns, and a quoted field may contain line breaks. */
import { parse } from "csv-parse/sync";
import type { RawRow } from "../../../envs/pool-columns.ts";
import { differing, PoolFileProblem, textOf } from "./bytes.ts";
import { csvSplitter } from "./split.ts";

export interface CsvHead {
  readonly names: readonly string[];
  readonly delimiter: string;
}

const DELIMITERS = [",", "\t", ";", "|"] as const;
const NEWLINE = 10;

/** Returns a table's column names and delimiter from the file's first bytes. Undefined: the file is no table. */
export function csvHead(first: Buffer, isTsv: boolean): CsvHead | undefined {
  for (const delimiter of isTsv ? (["\t"] as const) : byCount(first)) {
    const read = textOf(first.subarray(0, firstRecordEnd(first, delimiter)));
    const [names, ...others] = "text" in read ? (parsed(read.text, delimiter, ANY_LINE_ENDS) ?? []) : [];
    if (names === undefined || names.length < 2) continue;
    if (others.length > 0) throw new PoolFileProblem("its lines end in a carriage return alone: save it with LF");
    return { names: differing(names.map((name) => name.trim())), delimiter };
  }
  return undefined;
}

/** Returns the delimiters that occur in the first line, the most frequent one first. */
function byCount(first: Buffer): readonly string[] {
  const line = first.subarray(0, Math.max(0, first.indexOf(NEWLINE)) || first.length).toString("utf8");
  const counts = DELIMITERS.map((delimiter) => ({ delimiter, count: line.split(delimiter).length - 1 }));
  const found = counts.filter(({ count }) => count > 0);
  return found.sort((a, b) => b.count - a.count).map(({ delimiter }) => delimiter);
}

function firstRecordEnd(bytes: Buffer, delimiter: string): number {
  let first = bytes.length;
  csvSplitter(delimiter, (_, end) => (first = Math.min(first, end))).take(bytes, 0);
  return first;
}

/** Yields the rows of a text. `bounds` alternates between the start and the end of each row, in bytes. */
export function* readCsv(bytes: Buffer, bounds: readonly number[], { names, delimiter }: CsvHead): Iterable<RawRow> {
  const rows = Array.from({ length: bounds.length / 2 }, (_, i) => bytes.subarray(bounds[2 * i], bounds[2 * i + 1]));
  const read = textOf(bytes.subarray(bounds[0], bounds.at(-1)));
  const records = "text" in read ? parsed(read.text, delimiter) : undefined;
  for (const [row, own] of rows.entries())
    yield rowOf(row, names, records?.length === rows.length ? records[row] : alone(own, delimiter), own);
}

/**
 * Parses a single row. Used if the whole batch cannot be parsed, because one of its rows is broken. Returns the row's
 * fields, or what is wrong with the row.
 */
function alone(bytes: Buffer, delimiter: string): readonly string[] | string {
  const read = textOf(bytes);
  if ("problem" in read) return read.problem;
  // The message says how many lines the row spans, because an unclosed quote swallows the rows up to the next quote.
  const lines = read.text.trimEnd().split("\n").length;
  const over = lines === 1 ? "" : `: it spans ${lines} lines`;
  return parsed(read.text, delimiter)?.[0] ?? `its quotes do not keep the rules of CSV${over}`;
}

function rowOf(row: number, names: readonly string[], fields: readonly string[] | string = [], own: Buffer): RawRow {
  if (typeof fields === "string") return { row, problem: fields };
  if (own.toString("latin1").trim() === "") return { row, json: "" };
  if (fields.length !== names.length)
    return { row, problem: `it has ${fields.length} fields, and the first line names ${names.length} columns` };
  const entries = fields.flatMap((field, i) => (field === "" ? [] : [[names[i] ?? "", field] as const]));
  return { row, value: Object.fromEntries(entries) };
}

/** Line ends of rows, as in csvSplitter. A carriage return alone is part of a field's text. */
const LINE_ENDS = ["\r\n", "\n"];

/** Line ends to try on the first line, to detect files that use a carriage return alone. */
const ANY_LINE_ENDS = [...LINE_ENDS, "\r"];

type Records = readonly (readonly string[])[];

function parsed(text: string, delimiter: string, lineEnds = LINE_ENDS): Records | undefined {
  try {
    return parse(text, { delimiter, record_delimiter: lineEnds, relax_column_count: true, skip_empty_lines: false });
  } catch {
    return undefined;
  }
}
