/** Writes rows of a pool's file unchanged. */
import { appendFileSync } from "node:fs";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, type SchemaElement } from "hyparquet";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import type { FilePlan } from "../../server/rows/work.ts";
import { compressors, topLevel } from "../../server/rows/formats/parquet.ts";
import { fileRows, valueOf } from "./stream.ts";

export interface CopyOptions {
  readonly from: string;
  readonly plan: Pick<FilePlan, "units" | "lines" | "format">;
  /** Numbers of the rows to write. */
  readonly rows: ReadonlySet<number>;
  /** Number of rows of each unit. */
  readonly sizes: readonly number[];
  readonly to: string;
  readonly onUnit: () => void;
}

const ROWS_AT_ONCE = 1000;

/** Writes JSONL. Lines stay as they are; rows of other formats become JSON in a line. */
export async function copyLines({ plan, rows, sizes, to, onUnit }: CopyOptions): Promise<void> {
  let waiting: string[] = [];
  const flush = (): void => {
    if (waiting.length > 0) appendFileSync(to, waiting.join(""));
    waiting = [];
  };
  const options = { only: unitsWith(rows, sizes), onUnit };
  for await (const raw of fileRows(plan, options, [...sizes])) {
    if (!rows.has(raw.row)) continue;
    const line = plan.lines ? raw.json?.replace(/\r$/, "") : JSON.stringify(valueOf(raw));
    waiting.push(`${line}\n`);
    if (waiting.length >= ROWS_AT_ONCE) flush();
  }
  flush();
}

/** Returns the units that contain one of the rows. */
function unitsWith(rows: ReadonlySet<number>, sizes: readonly number[]): ReadonlySet<number> {
  const found = new Set<number>();
  const sorted = [...rows].sort((a, b) => a - b);
  let [first, next] = [0, 0];
  for (const [unit, size] of sizes.entries()) {
    const end = first + size;
    if ((sorted[next] ?? Infinity) < end) found.add(unit);
    while ((sorted[next] ?? Infinity) < end) next++;
    first = end;
  }
  return found;
}

/**
 * Returns a schema element whose values are read as stored: bytes, and whole numbers for decimals and times. Decoded
 * values would lose digits, and bytes that are no text.
 */
function stored(element: SchemaElement): SchemaElement {
  if ((element.num_children ?? 0) > 0) return element;
  const { converted_type: _, logical_type: __, ...rest } = element;
  return rest;
}

/** Writes Parquet with the schema of the file, which is Parquet too. The file's key-value metadata is copied. */
export async function copyParquet({ from, plan, rows, sizes, to, onUnit }: CopyOptions): Promise<void> {
  const file = await asyncBufferFromFile(from);
  const found = await parquetMetadataAsync(file);
  const names = topLevel(found.schema);
  const metadata = { ...found, schema: found.schema.map(stored) };
  const kvMetadata = found.key_value_metadata ?? [];
  const { schema } = metadata;
  // Statistics are left out, because the order of values depends on their decoded form.
  const writer = new ParquetWriter({ writer: fileWriter(to), schema, kvMetadata, statistics: false });
  const wanted = unitsWith(rows, sizes);
  let first = 0;
  for (const [i, { start, end }] of plan.units.entries()) {
    if (wanted.has(i)) {
      const part = { rowStart: start, rowEnd: end };
      const read = await parquetReadObjects({ file, metadata, compressors, utf8: false, ...part });
      const kept = read.filter((_, row) => rows.has(first + row));
      const columnData = names.map((name) => ({ name, data: kept.map((row): unknown => row[name]) }));
      void writer.write({ columnData, rowGroupSize: ROWS_AT_ONCE });
    }
    first += sizes[i] ?? 0;
    onUnit();
  }
  writer.schema = found.schema;
  void writer.finish();
}
