/** Reads the rows of a pool's file one after the other, with one unit in memory at a time. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { RawRow } from "../../envs/pool-columns.ts";
import { parseExact } from "../../envs/lib/exact-json.ts";
import { rowsOf } from "../../server/rows/units.ts";
import type { ColumnChoice } from "../../server/rows/formats/parquet.ts";
import type { FilePlan } from "../../server/rows/work.ts";

export interface StreamOptions {
  /** Columns to read, for formats that have columns. Unset means all. */
  readonly choose?: ColumnChoice;
  /** Numbers of the units to read. Unset means all. */
  readonly only?: ReadonlySet<number>;
  /** Called after the rows of each unit. */
  readonly onUnit?: () => void;
}

/** A row with its number in the file. Blank lines count as rows. */
export interface FileRow extends RawRow {
  /** The number of the row's unit. */
  readonly unit: number;
}

/**
 * Yields the rows of a file. Rows are numbered over all units, so the sizes of skipped units must be known. `sizes`
 * records the number of rows of each unit that is read, and supplies that of skipped ones.
 */
export async function* fileRows(
  { units }: Pick<FilePlan, "units">,
  { choose = () => undefined, only, onUnit }: StreamOptions,
  sizes: number[],
): AsyncGenerator<FileRow, void, undefined> {
  let first = 0;
  for (const [unit, of] of units.entries()) {
    if (only === undefined || only.has(unit)) {
      let size = 0;
      for (const raw of await rowsOf(of, choose)) {
        size = raw.row + 1;
        yield { ...raw, row: first + raw.row, unit };
      }
      sizes[unit] = size;
    }
    first += sizes[unit] ?? 0;
    onUnit?.();
    // A pause lets Ctrl-C and the progress bar work.
    await nextTurn();
  }
}

/** Returns the value of a row, parsed if the row is a line. Undefined if it is no JSON. */
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
  // A column's name may contain a dot.
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
