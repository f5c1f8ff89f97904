/** Reads Parquet files by ranges of rows. Converts numbers without losing digits. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import {
  asyncBufferFromFile,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  type SchemaTree,
} from "hyparquet";
import type { RawRow } from "../../../envs/pool-columns.ts";
import { differing, PoolFileProblem } from "./bytes.ts";
import { decimalOf, floatOf, plain } from "./plain.ts";

const ROWS = 1 << 14;

/**
 * Maximum uncompressed bytes of a range of rows. Each thread holds a whole range in memory, and rows may have long
 * texts.
 */
const ROWS_BYTES = 64 << 20;

/**
 * Maximum number of ranges per row group. More ranges would be slow, because reading a range also reads the pages
 * before it in the row group.
 */
const PARTS_MAX = 8;

/** Range of rows: the index of the first one, and the index after the last one. */
export type Range = readonly [start: number, end: number];

/** Splits a file's rows into ranges. No range crosses the end of a row group. */
export async function parquetRanges(path: string, rangeBytes = ROWS_BYTES): Promise<readonly Range[]> {
  const ranges: Range[] = [];
  let first = 0;
  for (const group of (await openParquet(path)).metadata.row_groups) {
    const end = first + Number(group.num_rows);
    const fitting = Math.floor(((end - first) * rangeBytes) / Math.max(1, Number(group.total_byte_size)));
    const size = Math.max(1, Math.min(ROWS, fitting), Math.ceil((end - first) / PARTS_MAX));
    for (let start = first; start < end; start += size) ranges.push([start, Math.min(end, start + size)]);
    first = end;
  }
  return ranges;
}

/** Opens a file, and returns it with its metadata and its columns. */
export async function openParquet(path: string) {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const columns = parquetSchema(metadata).children;
  return { file, metadata, columns, names: differing(columns.map(({ element }) => element.name)) };
}

/** Decompressors for the hyparquet library, which without them reads only Snappy and uncompressed pages. */
export const compressors: Compressors = {
  GZIP: (input) => new Uint8Array(gunzipSync(input)),
  ZSTD: (input) => new Uint8Array(zstdDecompressSync(input)),
  BROTLI: (input) => new Uint8Array(brotliDecompressSync(input)),
};

/** Returns the names of the columns to read, given the names that the file has. Undefined: all columns are read. */
export type ColumnChoice = (there: readonly string[]) => readonly string[] | undefined;

export async function readParquet(
  path: string,
  [rowStart, rowEnd]: readonly number[],
  choose: ColumnChoice,
): Promise<Iterable<RawRow>> {
  const { file, metadata: found, columns: all, names } = await openParquet(path);
  const columns = choose(names);
  // If no column is wanted, each row is an empty object.
  if (columns?.length === 0) return Array.from({ length: rowEnd! - rowStart! }, (_, row) => ({ row, value: {} }));
  // Decimals are read as the integers that the file stores, because as floating-point numbers they would lose digits.
  const metadata = { ...found, schema: found.schema.map(undecimal) };
  const options = { file, metadata, compressors, rowStart: rowStart!, rowEnd: rowEnd! };
  const rows = await parquetReadObjects(columns === undefined ? options : { ...options, columns: [...columns] });
  const readers = new Map(all.map((column) => [column.element.name, readerOf(column)]));
  return rows.map((value, row) => ({ row, value: structOf(value, readers) }));
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

/** Returns a function that converts the values of a column, or of a field within a column. */
function readerOf({ element, children }: SchemaTree): Reader {
  const [repeated] = children;
  if (repeated === undefined) return each(leafReader(element));
  // A list in Parquet's schema is a group with one repeated child, which may have one child itself. hyparquet's values
  // omit these levels, so the list is read by the reader of its items.
  if (children.length === 1 && repeated.element.repetition_type === "REPEATED")
    return readerOf(repeated.children.length === 1 ? repeated.children[0]! : repeated);
  const readers = new Map(children.map((child) => [child.element.name, readerOf(child)]));
  return each((value) => structOf(value, readers));
}

/** Returns a reader that also works on lists: it applies `read` to each item. */
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
