/** Divides files of pools into units, which threads read one by one, in any format. The first bytes tell the format. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { extname } from "node:path";
import type { RawRow } from "../../envs/pool-columns.ts";
import { arrowColumns, readArrow } from "./formats/arrow.ts";
import { type Bytes, openBytes, type Packing, PoolFileProblem, textStart } from "./formats/bytes.ts";
import { type CsvHead, csvHead, csvStretches, readCsv } from "./formats/csv.ts";
import { savedFiles } from "./formats/folder.ts";
import { readValues, valueStretches } from "./formats/json-values.ts";
import { lineStretches, readLines, type Stretch } from "./formats/lines.ts";
import { type ColumnChoice, parquetColumns, readParquet, rowStretches } from "./formats/parquet.ts";

/** Format of a file's bytes. */
type Form =
  | { readonly kind: "lines" | "list" | "values"; readonly packing: Packing | undefined }
  | { readonly kind: "csv"; readonly packing: Packing | undefined; readonly head: CsvHead; readonly end: number }
  | { readonly kind: "parquet" }
  | { readonly kind: "arrow" };

/** Some rows of a file: bytes of a text, rows of a Parquet file, or the whole of an Arrow file. */
export interface Unit extends Stretch {
  readonly path: string;
  readonly form: Form;
}

export type Layout = Awaited<ReturnType<typeof layOut>>;

/** Divides a file into units. `unitBytes` is the size of a text's unit; left out: the usual size. */
export async function layOut(path: string, unitBytes?: number) {
  const files = filesOf(path);
  const units: Unit[] = [];
  let format: Form["kind"] = "lines";
  for (const file of files) {
    const form = formOf(file);
    format = form.kind;
    units.push(...(await stretchesOf(file, form, unitBytes)).map((stretch) => ({ path: file, form, ...stretch })));
  }
  return { format, files, units };
}

/** Returns the file itself, or the files of a folder. */
export function filesOf(path: string): readonly string[] {
  const stats = statSync(path);
  if (stats.isDirectory()) return savedFiles(path);
  // Reading a FIFO would wait for a writer that never comes.
  if (!stats.isFile()) throw new PoolFileProblem("the file cannot be read (not a regular file)");
  return [path];
}

/** Returns whether a file is uncompressed text, which takes no more memory than the file has bytes. */
export function isPlain(path: string): boolean {
  const start = startOf(path).toString("latin1");
  return [...BINARY, ...PACKED].every(([mark]) => !start.startsWith(mark));
}

function startOf(path: string): Buffer {
  const start = Buffer.alloc(4);
  const descriptor = openSync(path, "r");
  try {
    return start.subarray(0, readSync(descriptor, start, 0, 4, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** Formats by their first bytes, in Latin-1. */
const BINARY: readonly (readonly [start: string, kind: "parquet" | "arrow"])[] = [
  ["PAR1", "parquet"],
  ["ARRO", "arrow"],
  // An Arrow stream begins with a mark that a message follows.
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

function formOf(path: string): Form {
  const start = startOf(path).toString("latin1");
  const begins = ([mark]: readonly [string, unknown]): boolean => start.startsWith(mark);
  const binary = BINARY.find(begins)?.[1];
  if (binary !== undefined) return { kind: binary };
  const other = OTHERS.find(begins)?.[1];
  if (other !== undefined) throw new PoolFileProblem(other);
  const packing = PACKED.find(begins)?.[1];
  const name = packing === undefined ? path : path.slice(0, -extname(path).length || undefined);
  return withBytes(path, packing, (bytes) => textForm(bytes, extname(name).toLowerCase(), packing));
}

function withBytes<T>(path: string, packing: Packing | undefined, work: (bytes: Bytes) => T): T {
  const bytes = openBytes(path, packing);
  try {
    return work(bytes);
  } finally {
    bytes.close();
  }
}

const LOOKED_AT_BYTES = 1 << 16;
const LINES = [".jsonl", ".ndjson"];

function textForm(bytes: Bytes, extension: string, packing: Packing | undefined): Form {
  const start = bytes.read(textStart(bytes), LOOKED_AT_BYTES).toString("latin1");
  const first = start.trimStart()[0];
  const isTable = extension === ".csv" || extension === ".tsv";
  if (first === "[" && !isTable) return { kind: "list", packing };
  if (first === "{" && !isTable) {
    return { kind: isSpread(start, extension) ? "values" : "lines", packing };
  }
  const table = LINES.includes(extension) ? undefined : csvHead(bytes, extension === ".tsv");
  if (table !== undefined) return { kind: "csv", packing, ...table };
  if (isTable && start.trim() !== "")
    throw new PoolFileProblem("its first line does not name several columns, as that of a table does");
  return { kind: "lines", packing };
}

/** Returns whether a row spans several lines: its first line ends in the middle. */
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

async function stretchesOf(path: string, form: Form, unitBytes: number | undefined): Promise<readonly Stretch[]> {
  if (form.kind === "parquet") return rowStretches(path);
  if (form.kind === "arrow") return [{ start: 0, end: statSync(path).size }];
  return withBytes(path, form.packing, (bytes) => {
    // A compressed file is one unit, because it would be unpacked again for each unit.
    const size = form.packing === undefined ? unitBytes : Infinity;
    if (form.kind === "csv") return csvStretches(bytes, form.head, form.end, size);
    if (form.kind === "lines") return lineStretches(bytes.size, size === Infinity ? bytes.size || 1 : size);
    return valueStretches(bytes, form.kind === "list", size);
  });
}

/** Returns the rows of a unit. `choose` says which columns are read, in formats that have columns. */
export async function rowsOf(unit: Unit, choose: ColumnChoice): Promise<Iterable<RawRow>> {
  const { path, form } = unit;
  if (form.kind === "parquet") return readParquet(path, unit, choose);
  if (form.kind === "arrow") return readArrow(path, choose);
  return textRows(unit, form);
}

function* textRows({ path, ...stretch }: Unit, form: Extract<Form, { readonly packing: unknown }>) {
  const bytes = openBytes(path, form.packing);
  try {
    if (form.kind === "csv") yield* readCsv(bytes, form.head, stretch);
    else if (form.kind === "lines") yield* readLines(bytes, stretch);
    else yield* readValues(bytes, form.kind === "list", stretch);
  } finally {
    bytes.close();
  }
}

/** Returns the names of a file's columns; for JSON the names in the first row. */
export async function columnsOf(path: string): Promise<readonly string[]> {
  const { units } = await layOut(path);
  const [first] = units;
  if (first === undefined) return [];
  if (first.form.kind === "parquet") return parquetColumns(first.path);
  if (first.form.kind === "arrow") return arrowColumns(first.path);
  if (first.form.kind === "csv") return first.form.head.names;
  for (const { json } of await rowsOf(first, () => undefined)) {
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
