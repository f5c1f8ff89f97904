/** Reads tables of texts: CSV and TSV with a line of names; a quoted field may span several lines. */
import { isUtf8 } from "node:buffer";
import { parse } from "csv-parse/sync";
import type { RawRow } from "../../../envs/pool-columns.ts";
import { type Bytes, differing, PoolFileProblem, textOf, textStart } from "./bytes.ts";
import { ROW_BYTES_MAX, type Stretch, STRETCH_BYTES } from "./lines.ts";

export interface CsvHead {
  readonly names: readonly string[];
  readonly delimiter: string;
}

const DELIMITERS = [",", "\t", ";", "|"] as const;
const HEAD_BYTES_MAX = 1 << 16;
const CHUNK_BYTES = 1 << 20;
const [NEWLINE, QUOTE] = [10, 34];

/** Returns the names of a table's columns and its delimiter; undefined: the file is no table. */
export function csvHead(bytes: Bytes, isTsv: boolean): { readonly head: CsvHead; readonly end: number } | undefined {
  const start = textStart(bytes);
  const first = bytes.read(start, HEAD_BYTES_MAX);
  for (const delimiter of isTsv ? (["\t"] as const) : byCount(first)) {
    const end = firstRecordEnd(first, delimiter);
    const read = textOf(first.subarray(0, end));
    const [names, ...others] = "text" in read ? (parsed(read.text, delimiter, ANY_LINE_ENDS) ?? []) : [];
    if (names === undefined || names.length < 2) continue;
    if (others.length > 0) throw new PoolFileProblem("its lines end in a carriage return alone: save it with LF");
    return { head: { names: differing(names.map((name) => name.trim())), delimiter }, end: start + end };
  }
  return undefined;
}

/** Returns the delimiters found in the first line, the most frequent one first. */
function byCount(first: Buffer): readonly string[] {
  const line = first.subarray(0, Math.max(0, first.indexOf(NEWLINE)) || first.length).toString("utf8");
  const counts = DELIMITERS.map((delimiter) => ({ delimiter, count: line.split(delimiter).length - 1 }));
  const found = counts.filter(({ count }) => count > 0);
  return found.sort((a, b) => b.count - a.count).map(({ delimiter }) => delimiter);
}

function firstRecordEnd(bytes: Buffer, delimiter: string): number {
  let end = bytes.length;
  new RecordScanner(delimiter, (at) => (end = Math.min(end, at))).take(bytes, 0);
  return end;
}

/**
 * Finds the ends of records. A line break within quotes, which open at the start of a field, belongs to the field's
 * text.
 */
class RecordScanner {
  readonly #delimiter: number;
  readonly #onEnd: (end: number) => void;
  #inQuotes = false;
  #atFieldStart = true;

  constructor(delimiter: string, onEnd: (end: number) => void) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#onEnd = onEnd;
  }

  take(bytes: Buffer, offset: number): void {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]!;
      const wasInQuotes = this.#inQuotes;
      // Two quotes for one close and open again.
      if (wasInQuotes) this.#inQuotes = byte !== QUOTE;
      else if (byte === QUOTE) this.#inQuotes = this.#atFieldStart;
      else if (byte === NEWLINE) this.#onEnd(offset + i + 1);
      this.#atFieldStart = byte === this.#delimiter || byte === NEWLINE || (wasInQuotes && !this.#inQuotes);
    }
  }

  get isOpen(): boolean {
    return this.#inQuotes;
  }
}

/** Returns stretches of whole records, from an offset on. */
export function csvStretches(
  bytes: Bytes,
  { delimiter }: CsvHead,
  start: number,
  stretchBytes = STRETCH_BYTES,
): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let [first, last] = [start, start];
  const close = (): void => {
    if (last > first) stretches.push({ start: first, end: last });
    first = last;
  };
  const scanner = new RecordScanner(delimiter, (end) => {
    if (end - first > stretchBytes) close();
    if (end - last > ROW_BYTES_MAX) throw new Error(`a row has over ${ROW_BYTES_MAX} bytes`);
    last = end;
  });
  for (let at = start; at < bytes.size; at += CHUNK_BYTES) scanner.take(bytes.read(at, CHUNK_BYTES), at);
  if (scanner.isOpen) throw new PoolFileProblem("a quote of its last row is not closed: it is cut off");
  close();
  last = bytes.size;
  close();
  return stretches;
}

export function* readCsv(bytes: Bytes, { names, delimiter }: CsvHead, { start, end }: Stretch): Iterable<RawRow> {
  const stretch = bytes.read(start, end - start);
  const ends: number[] = [];
  new RecordScanner(delimiter, (at) => void ends.push(at)).take(stretch, 0);
  if (ends.at(-1) !== stretch.length) ends.push(stretch.length);
  const records = isUtf8(stretch) ? parsed(stretch.toString("utf8"), delimiter) : undefined;
  for (const [row, to] of ends.entries()) {
    const own = stretch.subarray(ends[row - 1] ?? 0, to);
    yield rowOf(row, names, records?.length === ends.length ? records[row] : alone(own, delimiter), own);
  }
}

/** Returns a record read by itself, when another record of its stretch is broken; a text says what is wrong with it. */
function alone(bytes: Buffer, delimiter: string): readonly string[] | string {
  const read = textOf(bytes);
  if ("problem" in read) return read.problem;
  // An unclosed quote swallows the lines up to the next quote, and those rows would go missing silently.
  const lines = read.text.trimEnd().split("\n").length;
  const over = lines === 1 ? "" : `: it goes over ${lines} lines`;
  return parsed(read.text, delimiter)?.[0] ?? `its quotes are not those of CSV${over}`;
}

function rowOf(row: number, names: readonly string[], fields: readonly string[] | string = [], own: Buffer): RawRow {
  if (typeof fields === "string") return { row, problem: fields };
  if (own.toString("latin1").trim() === "") return { row, json: "" };
  if (fields.length !== names.length)
    return { row, problem: `it has ${fields.length} fields, and the first line names ${names.length} columns` };
  const entries = fields.flatMap((field, i) => (field === "" ? [] : [[names[i] ?? "", field] as const]));
  return { row, value: Object.fromEntries(entries) };
}

/** Line ends of records, the same as in the scanner: a lone carriage return belongs to a field's text. */
const LINE_ENDS = ["\r\n", "\n"];

/** Line ends to try on the first line, to detect other kinds. */
const ANY_LINE_ENDS = [...LINE_ENDS, "\r"];

type Records = readonly (readonly string[])[];

function parsed(text: string, delimiter: string, lineEnds = LINE_ENDS): Records | undefined {
  try {
    return parse(text, { delimiter, record_delimiter: lineEnds, relax_column_count: true, skip_empty_lines: false });
  } catch {
    return undefined;
  }
}
