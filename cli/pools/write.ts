/** Writes rows of a pool's file unchanged. */
import { appendFileSync } from "node:fs";
import { parquetReadObjects, type SchemaElement } from "hyparquet";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { compressors, openParquet, parquetRanges } from "../../server/rows/formats/parquet.ts";
import type { Source } from "../../server/rows/pool-files.ts";
import { fileRows, valueOf } from "./stream.ts";

export interface CopyOptions {
  readonly source: Source;
  readonly rows: ReadonlySet<number>;
  readonly to: string;
  /** Receives the number of parts of the file that have been copied. */
  readonly onPart: (part: number) => void;
}

const ROWS_AT_ONCE = 1000;

/**
 * Writes the chosen rows as JSONL. Lines of a JSONL file stay as they are; rows of other formats become a line of JSON.
 */
export async function copyLines({ source, rows, to, onPart }: CopyOptions): Promise<void> {
  let waiting: string[] = [];
  const flush = (): void => {
    if (waiting.length > 0) appendFileSync(to, waiting.join(""));
    waiting = [];
  };
  for await (const raw of fileRows(source, undefined, onPart)) {
    if (!rows.has(raw.row)) continue;
    const line = source.format === "lines" ? raw.json?.replace(/\r$/, "") : JSON.stringify(valueOf(raw));
    waiting.push(`${line}\n`);
    if (waiting.length >= ROWS_AT_ONCE) flush();
  }
  flush();
}

/**
 * Returns a Parquet schema element that reads values as they are stored: texts as bytes, and decimals and times as
 * whole numbers. Decoding would lose digits, and bytes that are no valid text.
 */
function stored(element: SchemaElement): SchemaElement {
  if ((element.num_children ?? 0) > 0) return element;
  const { converted_type: _, logical_type: __, ...rest } = element;
  return rest;
}

/**
 * Writes the chosen rows as Parquet. The file must be Parquet too, and its schema and key-value metadata are copied.
 */
export async function copyParquet({ source, rows, to, onPart }: CopyOptions): Promise<void> {
  const { file, metadata: found, names } = await openParquet(source.path);
  const metadata = { ...found, schema: found.schema.map(stored) };
  const kvMetadata = found.key_value_metadata ?? [];
  const { schema } = metadata;
  // Leave out the statistics (minimum and maximum of a column), because they would be computed from stored values,
  // whose order differs from that of decoded values.
  const writer = new ParquetWriter({ writer: fileWriter(to), schema, kvMetadata, statistics: false });
  for (const [i, [rowStart, rowEnd]] of (await parquetRanges(source.path)).entries()) {
    const read = await parquetReadObjects({ file, metadata, compressors, utf8: false, rowStart, rowEnd });
    const kept = read.filter((_, row) => rows.has(rowStart + row));
    const columnData = names.map((name) => ({ name, data: kept.map((row): unknown => row[name]) }));
    if (kept.length > 0) void writer.write({ columnData, rowGroupSize: ROWS_AT_ONCE });
    onPart(i + 1);
  }
  writer.schema = found.schema;
  void writer.finish();
}
