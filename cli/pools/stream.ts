/** The rows of a pool's file one after the other, a unit in memory at a time. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { RawRow } from "../../envs/pool-columns.ts";
import { parseExact } from "../../envs/lib/exact-json.ts";
import { rowsOf } from "../../server/rows/units.ts";
import type { ColumnChoice } from "../../server/rows/formats/parquet.ts";
import type { FilePlan } from "../../server/rows/work.ts";

export interface StreamOptions {
  /** Of formats that have columns; left out: all. */
  readonly choose?: ColumnChoice;
  /** Only these units, by their numbers. */
  readonly only?: ReadonlySet<number>;
  /** Told of each unit when its rows are gone through. */
  readonly onUnit?: () => void;
}

/** A row by its number in the file. Blank lines are rows too: they count. */
export interface FileRow extends RawRow {
  /** The number of its unit. */
  readonly unit: number;
}

/**
 * Units that are left out have to be counted to number the rows after them: `sizes` takes the number of rows of each unit
 * that is read, and gives it back for those that are not.
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
    // For Ctrl-C and the progress bar.
    await nextTurn();
  }
}

/** The value of a row: parsed, where it is a line. Undefined: it is no JSON. */
export function valueOf({ json, value }: RawRow): unknown {
  if (json === undefined) return value;
  try {
    return parseExact(json);
  } catch {
    return undefined;
  }
}

/** What a dotted name means in a row, e.g. "extra_info.split", "prompt.0.content" or "conversations.length". */
export function fieldOf(row: unknown, name: string): unknown {
  // A column may have a dot in its name.
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

/** Of a list its entries, of a text its bytes in UTF-8. */
function lengthOf(value: string | readonly unknown[]): number {
  return typeof value === "string" ? Buffer.byteLength(value) : value.length;
}
