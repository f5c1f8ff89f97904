/** Reads Parquet: rows by their numbers, columns by their names, and numbers with all their digits. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import {
  asyncBufferFromFile,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
} from "hyparquet";
import type { RawRow } from "../../../envs/pool-columns.ts";
import { differing, PoolFileProblem } from "./bytes.ts";
import type { Stretch } from "./lines.ts";
import { decimalOf, floatOf, plain } from "./plain.ts";

const ROWS = 1 << 14;

/** Maximum uncompressed bytes of a unit: rows may hold long texts, and each thread holds a unit. */
const ROWS_BYTES = 64 << 20;

/** Maximum number of parts of a row group: each part reads the pages before it again. */
const PARTS_MAX = 8;

/** Returns units, none of which crosses the end of a row group. */
export async function rowStretches(path: string, unitBytes = ROWS_BYTES): Promise<readonly Stretch[]> {
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(path));
  const units: Stretch[] = [];
  let first = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const fitting = Math.floor((rows * unitBytes) / Math.max(1, Number(group.total_byte_size)));
    const size = Math.max(1, Math.min(ROWS, fitting), Math.ceil(rows / PARTS_MAX));
    for (let start = 0; start < rows; start += size)
      units.push({ start: first + start, end: first + Math.min(rows, start + size) });
    first += rows;
  }
  return units;
}

/** Decompressors for hyparquet, which reads Snappy and plain pages itself. */
export const compressors: Compressors = {
  GZIP: (input) => new Uint8Array(gunzipSync(input)),
  ZSTD: (input) => new Uint8Array(zstdDecompressSync(input)),
  BROTLI: (input) => new Uint8Array(brotliDecompressSync(input)),
};

/** Returns which of a file's columns are read; undefined: all. */
export type ColumnChoice = (there: readonly string[]) => readonly string[] | undefined;

export async function readParquet(
  path: string,
  { start, end }: Stretch,
  choose: ColumnChoice,
): Promise<Iterable<RawRow>> {
  const file = await asyncBufferFromFile(path);
  const found = await parquetMetadataAsync(file);
  const all = topLevel(found.schema);
  const columns = choose(all);
  // If no column is wanted, each row is an empty object.
  if (columns?.length === 0) return Array.from({ length: end - start }, (_, row) => ({ row, value: {} }));
  // Decimals come as the integers that they are stored as: as numbers they would lose digits.
  const metadata = { ...found, schema: found.schema.map(undecimal) };
  const options = { file, metadata, compressors, rowStart: start, rowEnd: end };
  const rows = await parquetReadObjects(columns === undefined ? options : { ...options, columns: [...columns] });
  const exact = exactReaders(found.schema);
  return rows.map((value, row) => ({
    row,
    value: Object.fromEntries(Object.entries(value).map(([name, part]) => [name, (exact.get(name) ?? plain)(part)])),
  }));
}

export async function parquetColumns(path: string): Promise<readonly string[]> {
  return topLevel((await parquetMetadataAsync(await asyncBufferFromFile(path))).schema);
}

type Element = FileMetaData["schema"][number];

const isDecimal = ({ converted_type: converted, logical_type: logical }: Element): boolean =>
  converted === "DECIMAL" || logical?.type === "DECIMAL";

function undecimal(element: Element): Element {
  if (!isDecimal(element)) return element;
  const { converted_type: _, logical_type: __, ...rest } = element;
  return rest;
}

type Reader = (value: unknown) => unknown;

/** Returns readers for each column that contains decimals or 32-bit floats. */
function exactReaders(schema: FileMetaData["schema"]): ReadonlyMap<string, Reader> {
  const readers = new Map<string, Reader>();
  for (const [at, end] of columnRanges(schema))
    if (schema.slice(at, end).some((element) => isDecimal(element) || element.type === "FLOAT"))
      readers.set(schema[at]?.name ?? "", readerAt(schema, at)[0]);
  return readers;
}

/** Returns the reader of an element's values, and the position of the next element. */
function readerAt(schema: FileMetaData["schema"], at: number): readonly [Reader, next: number] {
  const element = schema[at] as Element;
  const count = element.num_children ?? 0;
  if (count === 0) return [each(leafReader(element)), at + 1];
  const readers = new Map<string, Reader>();
  let next = at + 1;
  for (let child = 0; child < count; child++) {
    const [read, after] = readerAt(schema, next);
    readers.set(schema[next]?.name ?? "", read);
    next = after;
  }
  // A list has one child, the repeated group, which again has one child. The names of both are not in the values.
  const repeated = schema[at + 1];
  if (count === 1 && repeated?.repetition_type === "REPEATED")
    return [readerAt(schema, repeated.num_children === 1 ? at + 2 : at + 1)[0], next];
  return [each((value) => structOf(value, readers)), next];
}

/** Applies a reader to a value, or to each value of a list. */
function each(read: Reader): Reader {
  const all: Reader = (value) => {
    if (Array.isArray(value)) return value.map(all);
    return value === null || value === undefined ? null : read(value);
  };
  return all;
}

function structOf(value: unknown, readers: ReadonlyMap<string, Reader>): unknown {
  if (typeof value !== "object" || value === null) return plain(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, (readers.get(name) ?? plain)(part)]));
}

function leafReader(element: Element): Reader {
  if (!isDecimal(element)) return element.type === "FLOAT" ? (value) => plain(floatOf(value)) : plain;
  if (element.type === "BYTE_ARRAY")
    throw new PoolFileProblem(
      `column ${element.name} has decimals of any length, which are not read: save them as texts`,
    );
  return (value) => decimalOf(value, element.scale ?? 0);
}

/**
 * Returns the range of each column. A schema is a tree in pre-order: the root, then each column with the elements below
 * it.
 */
function columnRanges(schema: FileMetaData["schema"]): readonly (readonly [start: number, end: number])[] {
  const ranges: (readonly [number, number])[] = [];
  const skip = (at: number): number => {
    let next = at + 1;
    for (let child = 0; child < (schema[at]?.num_children ?? 0); child++) next = skip(next);
    return next;
  };
  for (let at = 1; at < schema.length; at = skip(at)) ranges.push([at, skip(at)]);
  return ranges;
}

export function topLevel(schema: FileMetaData["schema"]): readonly string[] {
  return differing(columnRanges(schema).map(([at]) => schema[at]?.name ?? ""));
}
