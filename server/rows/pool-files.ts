/**
 * Reads pool files of any format in batches of rows, from beginning to end. The first bytes of a file tell its format.
 */
import { createHash } from "node:crypto";
import { closeSync, createReadStream, openSync, readSync, statSync } from "node:fs";
import { extname } from "node:path";
import type { RawRow } from "../../envs/pool-columns.ts";
import { arrowColumns, readArrow } from "./formats/arrow.ts";
import { CHUNK_BYTES, chunksOf, type Packing, PoolFileProblem } from "./formats/bytes.ts";
import { type CsvHead, csvHead, readCsv } from "./formats/csv.ts";
import { savedFiles } from "./formats/folder.ts";
import { readJson } from "./formats/json.ts";
import { type ColumnChoice, openParquet, parquetRanges, readParquet } from "./formats/parquet.ts";
import { csvSplitter, jsonSplitter, lineSplitter, type Splitter } from "./formats/split.ts";

/**
 * Format of a file: JSON rows as lines, as a list or one after another ("values"), a CSV table, Parquet or Arrow.
 * `packing` is the compression of a text.
 */
type Form =
  | { readonly kind: "lines" | "list" | "values"; readonly packing: Packing | undefined }
  | { readonly kind: "csv"; readonly packing: Packing | undefined; readonly head: CsvHead }
  | { readonly kind: "parquet" }
  | { readonly kind: "arrow" };

type TextForm = Extract<Form, { readonly packing: unknown }>;

interface SourceFile {
  readonly path: string;
  readonly form: Form;
}

/** A pool's file, or the files of a folder, opened but not yet read. */
export interface Source {
  readonly path: string;
  readonly files: readonly SourceFile[];
  readonly format: Form["kind"];
  /** Number of bytes that are read at a time (a chunk) from a text, i.e. from JSON or CSV. */
  readonly chunkBytes: number;
  /**
   * Number of parts in which the files are read, for showing progress. A part is a chunk of a text, a range of a
   * Parquet file, or a whole Arrow file.
   */
  readonly parts: number;
  /** Whether the source is one short, uncompressed text. Such a text is read without starting threads. */
  readonly isShort: boolean;
  /**
   * Inode numbers, sizes and times of the files. If they have changed after reading, a file was written to meanwhile.
   */
  readonly stamp: string;
}

/**
 * Some rows of a file: rows that end within one chunk of a text, a range of a Parquet file, or all rows of an Arrow
 * file.
 */
export type Batch = SourceFile & {
  /** Number of the source's parts that have been read, including this batch. */
  readonly part: number;
  /** Text of the rows. Empty if the file is Parquet or Arrow, which is then read by its path. */
  readonly bytes: Uint8Array;
  /**
   * Text: start and end of each row, as positions in `bytes`. Parquet: the index in the file of the batch's first row,
   * and the index after its last row. Arrow: empty.
   */
  readonly bounds: readonly number[];
};

/**
 * Opens a file or a folder. Throws if a file cannot be read. `chunkBytes` is the number of bytes that are read at a
 * time from a text.
 */
export async function openSource(path: string, chunkBytes = CHUNK_BYTES): Promise<Source> {
  const files: SourceFile[] = [];
  let parts = 0;
  for (const file of filesOf(path)) {
    const form = await formOf(file);
    files.push({ path: file, form });
    parts += await partsOf(file, form, chunkBytes);
  }
  const isShort = parts === 1 && files.every(({ form }) => "packing" in form && form.packing === undefined);
  const format = files.at(-1)?.form.kind ?? "lines";
  return { path, files, format, chunkBytes, parts, isShort, stamp: stampOf(path) };
}

/** Returns the path itself if it is a file, or the paths of the files with rows in a folder that save_to_disk wrote. */
function filesOf(path: string): readonly string[] {
  const stats = statSync(path);
  if (stats.isDirectory()) return savedFiles(path);
  // Reading a named pipe (FIFO) could wait for ever.
  if (!stats.isFile()) throw new PoolFileProblem("the file cannot be read (not a regular file)");
  return [path];
}

async function partsOf(path: string, form: Form, chunkBytes: number): Promise<number> {
  if (form.kind === "parquet") return (await parquetRanges(path)).length;
  return form.kind === "arrow" ? 1 : Math.max(1, Math.ceil(statSync(path).size / chunkBytes));
}

/** Returns the inode numbers, sizes and times of a file, or of the files of a folder. */
export function stampOf(path: string): string {
  const stamps = filesOf(path).map((file) => {
    const { size, mtimeMs, ino } = statSync(file);
    return `${ino} ${size} ${mtimeMs}`;
  });
  return stamps.join(" ");
}

export async function contentOf({ files }: Source): Promise<string> {
  const digest = createHash("sha256");
  for (const { path } of files)
    for await (const part of createReadStream(path, { highWaterMark: 1 << 20 })) digest.update(part as Buffer);
  return digest.digest("hex");
}

/** Binary formats by their first bytes, as Latin-1 text. */
const BINARY: readonly (readonly [start: string, kind: "parquet" | "arrow"])[] = [
  ["PAR1", "parquet"],
  ["ARRO", "arrow"],
  // An Arrow stream begins with a continuation marker, before its first message.
  ["\xff\xff\xff\xff", "arrow"],
];
const PACKED: readonly (readonly [start: string, packing: Packing])[] = [
  ["\x1f\x8b", "gzip"],
  ["\x28\xb5\x2f\xfd", "zstd"],
];
const OTHERS: readonly (readonly [start: string, problem: string])[] = [
  ["PK\x03\x04", "it is a zip archive, or a workbook: unpack it, or save it as CSV"],
  ["BZh", "it is packed by bzip2: unpack it, or pack it by gzip"],
  ["\xfd7zX", "it is packed by xz: unpack it, or pack it by gzip"],
  ["\xff\xfe", "it is UTF-16: save it as UTF-8"],
  ["\xfe\xff", "it is UTF-16: save it as UTF-8"],
  ["SQLi", "it is a database: save the table as Parquet or CSV"],
  ["Obj\x01", "it is Avro: save it as Parquet"],
  ["ORC", "it is ORC: save it as Parquet"],
];

async function formOf(path: string): Promise<Form> {
  const start = startOf(path);
  const begins = ([mark]: readonly [string, unknown]): boolean => start.startsWith(mark);
  const binary = BINARY.find(begins)?.[1];
  if (binary !== undefined) return { kind: binary };
  const other = OTHERS.find(begins)?.[1];
  if (other !== undefined) throw new PoolFileProblem(other);
  const packing = PACKED.find(begins)?.[1];
  const name = packing === undefined ? path : path.slice(0, -extname(path).length || undefined);
  let first = Buffer.alloc(0);
  for await (const { bytes } of chunksOf(path, packing)) {
    first = Buffer.concat([first, bytes]);
    if (first.length >= LOOKED_AT_BYTES) break;
  }
  return textForm(first.subarray(0, LOOKED_AT_BYTES), extname(name).toLowerCase(), packing);
}

function startOf(path: string): string {
  const start = Buffer.alloc(4);
  const descriptor = openSync(path, "r");
  try {
    return start.toString("latin1", 0, readSync(descriptor, start, 0, 4, 0));
  } finally {
    closeSync(descriptor);
  }
}

const LOOKED_AT_BYTES = 1 << 16;
const LINES = [".jsonl", ".ndjson"];

function textForm(bytes: Buffer, extension: string, packing: Packing | undefined): Form {
  const start = bytes.toString("latin1");
  const first = start.trimStart()[0];
  const isTable = extension === ".csv" || extension === ".tsv";
  if (first === "[" && !isTable) return { kind: "list", packing };
  if (first === "{" && !isTable) return { kind: isSpread(start, extension) ? "values" : "lines", packing };
  const head = LINES.includes(extension) ? undefined : csvHead(bytes, extension === ".tsv");
  if (head !== undefined) return { kind: "csv", packing, head };
  if (isTable && start.trim() !== "")
    throw new PoolFileProblem(
      "its first line does not name several columns, as the first line of a CSV or TSV file must",
    );
  return { kind: "lines", packing };
}

/** Returns whether rows span several lines, because the first line is not complete JSON. */
function isSpread(start: string, extension: string): boolean {
  if (/^\s*\{\s*\n/.test(start)) return true;
  const [line = "", ...others] = start.trimStart().split("\n", 2);
  if (LINES.includes(extension) || others.length === 0) return false;
  try {
    JSON.parse(line);
    return false;
  } catch {
    return true;
  }
}

/** Yields the rows of a source in order, in batches. Throws if the source cannot be read. */
export async function* batchesOf({ files, chunkBytes }: Source): AsyncGenerator<Batch> {
  let before = 0;
  for (const { path, form } of files) {
    if (form.kind === "parquet")
      for (const bounds of await parquetRanges(path)) yield { path, form, part: ++before, bytes: NO_BYTES, bounds };
    else if (form.kind === "arrow") yield { path, form, part: ++before, bytes: NO_BYTES, bounds: [] };
    else {
      const others = before;
      for await (const batch of textBatches(path, form, chunkBytes)) {
        before = others + batch.part;
        yield { ...batch, part: before };
      }
    }
  }
}

const NO_BYTES = new Uint8Array(0);

const ROW_BYTES_MAX = 64 << 20;

async function* textBatches(path: string, form: TextForm, chunkBytes: number): AsyncGenerator<Batch> {
  // `held`: bytes of the text that are in memory, from the start of a row on. `offset`: position of these bytes in the
  // text. `open`: position in `held` at which the last, incomplete row begins.
  let [held, offset, open, part] = [Buffer.alloc(0), 0, 0, 1];
  let bounds: number[] = [];
  const splitter = splitterOf(form, (start, end) => void bounds.push(start - offset, end - offset));
  let isHead = form.kind === "csv";
  const taken = (): Batch => {
    const own = isHead ? bounds.slice(2) : bounds;
    isHead &&= bounds.length === 0;
    return { path, form, part, bytes: held, bounds: own };
  };
  for await (const { bytes, bytesRead } of chunksOf(path, form.packing, chunkBytes)) {
    // A batch is yielded only when more bytes have arrived. If the last row has no line break, it joins the last batch
    // at the end of the text.
    if (bounds.length > 0) {
      yield taken();
      held = Buffer.from(held.subarray(open));
      offset += open;
      bounds = [];
    }
    open = splitter.take(bytes, offset + held.length) - offset;
    held = Buffer.concat([held, bytes]);
    part = Math.max(1, Math.ceil(bytesRead / chunkBytes));
    if (held.length - open > ROW_BYTES_MAX)
      throw new Error(`a row has over ${ROW_BYTES_MAX} bytes, the limit: shorten it, or remove it`);
  }
  splitter.end(offset + held.length);
  yield taken();
}

function splitterOf(form: TextForm, onRow: (start: number, end: number) => void): Splitter {
  if (form.kind === "csv") return csvSplitter(form.head.delimiter, onRow);
  return form.kind === "lines" ? lineSplitter(onRow) : jsonSplitter(form.kind === "list", onRow);
}

/**
 * Returns the rows of a batch. `choose` names the columns to read from Parquet and Arrow; rows of text formats are read
 * whole.
 */
export async function rowsOf({ path, form, bytes, bounds }: Batch, choose: ColumnChoice): Promise<Iterable<RawRow>> {
  if (form.kind === "parquet") return readParquet(path, bounds, choose);
  if (form.kind === "arrow") return readArrow(path, choose);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return form.kind === "csv" ? readCsv(text, bounds, form.head) : readJson(text, bounds, form.kind === "lines");
}

/** Returns the names of a source's columns. For JSON, these are the names in the first row that is not blank. */
export async function columnsOf(source: Source): Promise<readonly string[]> {
  const [first] = source.files;
  if (first === undefined) return [];
  if (first.form.kind === "parquet") return (await openParquet(first.path)).names;
  if (first.form.kind === "arrow") return arrowColumns(first.path);
  if (first.form.kind === "csv") return first.form.head.names;
  for await (const batch of batchesOf(source))
    for (const { json } of await rowsOf(batch, () => undefined)) {
      if (json?.trim() === "") continue;
      try {
        const row: unknown = JSON.parse(json ?? "");
        return typeof row === "object" && row !== null && !Array.isArray(row) ? Object.keys(row) : [];
      } catch {
        return [];
      }
    }
  return [];
}

/**
 * Returns a message that says why a file cannot be read. The Parquet library throws plain errors for files that are not
 * Parquet.
 */
export function problemText(error: unknown): string {
  if (error instanceof PoolFileProblem) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === "string") return `the file cannot be read (${code})`;
  return `the file cannot be read (${error instanceof Error ? error.message : String(error)})`;
}
