/** Reads the rows of a pool's file one after the other, with one batch in memory at a time. */
import type { RawRow } from "../../envs/pool-columns.ts";
import { parseExact } from "../../envs/lib/exact-json.ts";
import type { ColumnChoice } from "../../server/rows/formats/parquet.ts";
import { batchesOf, rowsOf, type Source } from "../../server/rows/pool-files.ts";

/**
 * Yields the rows of a file, each with its row number in the file. Blank lines count as rows. `choose` says which
 * columns are read, by default all. `onPart` receives the number of parts of the file that have been read.
 */
export async function* fileRows(
  source: Source,
  choose: ColumnChoice = () => undefined,
  onPart?: (part: number) => void,
): AsyncGenerator<RawRow, void, undefined> {
  let first = 0;
  for await (const batch of batchesOf(source)) {
    let size = 0;
    for (const raw of await rowsOf(batch, choose)) {
      size = raw.row + 1;
      yield { ...raw, row: first + raw.row };
    }
    first += size;
    onPart?.(batch.part);
  }
}

/** Returns the value of a row, parsed if the row is a line. Returns undefined if the line is no JSON. */
export function valueOf({ json, value }: RawRow): unknown {
  if (json === undefined) return value;
  try {
    return parseExact(json);
  } catch {
    return undefined;
  }
}

/**
 * Returns the value of a dotted name in a row, e.g. "extra_info.split", "prompt.0.content" or "conversations.length".
 */
export function fieldOf(row: unknown, name: string): unknown {
  // Try the whole name first, because a column's name may contain a dot.
  if (isObject(row) && Object.hasOwn(row, name)) return row[name];
  let at: unknown = row;
  for (const part of name.split(".")) {
    if (part === "length" && (typeof at === "string" || Array.isArray(at))) at = lengthOf(at);
    else if (isObject(at) && Object.hasOwn(at, part)) at = at[part];
    else return undefined;
  }
  return at;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Returns the number of items of a list, or of UTF-8 bytes of a text. */
function lengthOf(value: string | readonly unknown[]): number {
  return typeof value === "string" ? Buffer.byteLength(value) : value.length;
}
