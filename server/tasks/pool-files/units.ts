/** Files of pools in units, which threads read one by one: stretches of JSONL, rows of Parquet. */
import { closeSync, openSync, readSync } from "node:fs";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import {
  asyncBufferFromFile,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
} from "hyparquet";
import type { RawRow } from "../../../envs/pool-columns.ts";

export type Unit =
  /** The lines that begin in [start, end) bytes. */
  | { readonly kind: "lines"; readonly start: number; readonly end: number }
  /** Rows [start, end) of a Parquet file. */
  | { readonly kind: "rows"; readonly start: number; readonly end: number };

const LINES_BYTES = 1 << 18;

/** A line has at most so many bytes. */
const LINE_BYTES_MAX = 64 << 20;

const ROWS = 1 << 14;

/** Of a unit of Parquet, uncompressed: rows may hold long texts, and each thread holds a unit. */
const ROWS_BYTES = 64 << 20;

/** Of a row group that is read in parts the pages before a part are read again: so it has few parts. */
const PARTS_MAX = 8;

export function isParquet(path: string): boolean {
  const start = Buffer.alloc(4);
  const descriptor = openSync(path, "r");
  try {
    return readSync(descriptor, start, 0, 4, 0) === 4 && start.toString("latin1") === "PAR1";
  } finally {
    closeSync(descriptor);
  }
}

export function lineUnits(bytes: number, unitBytes = LINES_BYTES): readonly Unit[] {
  const count = Math.ceil(bytes / unitBytes);
  return Array.from({ length: count }, (_, i) => ({
    ...{ kind: "lines", start: i * unitBytes },
    end: Math.min(bytes, (i + 1) * unitBytes),
  }));
}

/** Units of a Parquet file, none of which goes over the end of a row group. */
export async function rowUnits(path: string, unitBytes = ROWS_BYTES): Promise<readonly Unit[]> {
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(path));
  const units: Unit[] = [];
  let first = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const fitting = Math.floor((rows * unitBytes) / Math.max(1, Number(group.total_byte_size)));
    const size = Math.max(1, Math.min(ROWS, fitting), Math.ceil(rows / PARTS_MAX));
    for (let start = 0; start < rows; start += size)
      units.push({ kind: "rows", start: first + start, end: first + Math.min(rows, start + size) });
    first += rows;
  }
  return units;
}

/** The lines that begin in a stretch. Its first bytes may belong to a line that began before. */
export function* readLines(path: string, start: number, end: number): Iterable<RawRow> {
  const descriptor = openSync(path, "r");
  try {
    const bytes = readStretch(descriptor, start, end);
    const text = bytes.toString("utf8");
    let row = 0;
    for (let from = 0; from < text.length;) {
      const to = text.indexOf("\n", from);
      yield { row: row++, json: to < 0 ? text.slice(from) : text.slice(from, to) };
      from = to < 0 ? text.length : to + 1;
    }
  } finally {
    closeSync(descriptor);
  }
}

const NEWLINE = 10;

/** From the start of the first line that begins in [start, end) to the end of the last one. */
function readStretch(descriptor: number, start: number, end: number): Buffer {
  // A byte before, which tells whether a line begins at the start.
  const before = Math.max(0, start - 1);
  let bytes = readBytes(descriptor, before, end - before);
  const first = start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
  if (start > 0 && first === 0) return Buffer.alloc(0);
  // The stretch ends with a line that begins in it.
  while (bytes.at(-1) !== NEWLINE) {
    if (bytes.length > LINE_BYTES_MAX) throw new Error(`a line has over ${LINE_BYTES_MAX} bytes`);
    const more = readBytes(descriptor, before + bytes.length, LINES_BYTES);
    const newline = more.indexOf(NEWLINE);
    bytes = Buffer.concat([bytes, newline < 0 ? more : more.subarray(0, newline + 1)]);
    if (more.length === 0) break;
  }
  return bytes.subarray(first);
}

function readBytes(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(descriptor, bytes, filled, length - filled, position + filled);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}

/** Snappy and plain pages hyparquet reads itself. */
export const compressors: Compressors = {
  GZIP: (input) => new Uint8Array(gunzipSync(input)),
  ZSTD: (input) => new Uint8Array(zstdDecompressSync(input)),
  BROTLI: (input) => new Uint8Array(brotliDecompressSync(input)),
};

export interface ReadRows {
  readonly rows: readonly RawRow[];
  /** Columns that were asked for and are not there, in words; undefined: none. */
  readonly missing: string | undefined;
}

/** Columns that are not there are left out: a reader may know several schemas. */
export async function readRows(
  path: string,
  start: number,
  end: number,
  columns: readonly string[] | undefined,
): Promise<ReadRows> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const found = topLevel(metadata.schema);
  const there = columns?.filter((name) => found.includes(name));
  const missing = missingColumns(found, columns ?? []);
  if (there?.length === 0 && missing !== undefined) throw new PoolFileProblem(missing);
  const options = { file, metadata, compressors, rowStart: start, rowEnd: end };
  const rows = await parquetReadObjects(there === undefined ? options : { ...options, columns: there });
  return { rows: rows.map((value, row) => ({ row, value: plain(value) })), missing };
}

/** What the operator has to mend in a file. */
export class PoolFileProblem extends Error {}

function missingColumns(found: readonly string[], columns: readonly string[]): string | undefined {
  const missing = columns.filter((name) => !found.includes(name));
  if (missing.length === 0) return undefined;
  return `it has no column ${missing.map((name) => `'${name}'`).join(" and ")}; its columns are ${found.map((name) => `'${name}'`).join(", ")}`;
}

/** The names of a file's columns; of lines those of the first. */
export async function columnsOf(path: string): Promise<readonly string[]> {
  if (isParquet(path)) return topLevel((await parquetMetadataAsync(await asyncBufferFromFile(path))).schema);
  const [first] = readLines(path, 0, 1);
  try {
    const row: unknown = JSON.parse(first?.json ?? "");
    return typeof row === "object" && row !== null && !Array.isArray(row) ? Object.keys(row) : [];
  } catch {
    return [];
  }
}

/** A schema is a tree in pre-order: the root, then each column with what is below it. */
export function topLevel(schema: FileMetaData["schema"]): readonly string[] {
  const names: string[] = [];
  const skip = (at: number): number => {
    let next = at + 1;
    for (let child = 0; child < (schema[at]?.num_children ?? 0); child++) next = skip(next);
    return next;
  };
  for (let at = 1; at < schema.length; at = skip(at)) names.push(schema[at]?.name ?? "");
  return names;
}

/**
 * A value as JSON has it, so that a row is the same when it is read again. Whole numbers of 64 bits come as bigints: as
 * numbers, where those are exact.
 */
export function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(plain);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView))
    return Array.from(value as unknown as ArrayLike<unknown>, plain);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value === undefined) return null;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}
