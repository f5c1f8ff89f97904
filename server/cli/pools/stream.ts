/** The rows of a pool's file one after the other, a unit in memory at a time. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { RawRow } from "../../../envs/pool-columns.ts";
import { readLines, readRows, type Unit } from "../../tasks/pool-files/units.ts";
import type { FilePlan } from "../../tasks/pool-files/work.ts";

export interface StreamOptions {
  /** Of Parquet; left out: all. */
  readonly columns?: readonly string[] | undefined;
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
  path: string,
  { units }: Pick<FilePlan, "units">,
  { columns, only, onUnit }: StreamOptions,
  sizes: number[],
): AsyncGenerator<FileRow, void, undefined> {
  let first = 0;
  for (const [unit, of] of units.entries()) {
    if (only === undefined || only.has(unit)) {
      let size = 0;
      for (const raw of await rowsOf(path, of, columns)) {
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

async function rowsOf(path: string, unit: Unit, columns: readonly string[] | undefined): Promise<Iterable<RawRow>> {
  if (unit.kind === "lines") return readLines(path, unit.start, unit.end);
  return (await readRows(path, unit.start, unit.end, columns)).rows;
}

/** The value of a row: parsed, where it is a line. Undefined: it is no JSON. */
export function valueOf({ json, value }: RawRow): unknown {
  if (json === undefined) return value;
  try {
    return JSON.parse(json);
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
