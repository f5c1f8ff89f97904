/** What of a file's row an environment's reader sees: columns by the names that it knows them by, and no others. */
import type { RowReader } from "./environment.ts";
import { RANK_COLUMNS } from "./pool-ranks.ts";
import { isThere } from "./row-columns.ts";

/** Columns that the operator gave another name: [what the reader calls it, the file's own, which may be dotted]. */
export type ColumnNames = readonly (readonly [name: string, column: string])[];

export interface View {
  /** The row by the reader's names. */
  row(whole: unknown): unknown;
  /** What is wrong with a row of which two columns have names that are one to the reader; undefined: nothing. */
  alike(whole: unknown): string | undefined;
  /** What is kept of that: without what only ranks it. */
  kept(row: unknown): unknown;
  /** How many rows had each of the columns that were given another name. */
  readonly found: Uint32Array<ArrayBuffer>;
}

type Row = Readonly<Record<string, unknown>>;
/** What a view is made by. */
export type Reader = Pick<RowReader<never>, "columns" | "fields">;

/** A reader's columns, and those that any rows are ranked by; undefined: all. */
export function columnsOfReader({ columns }: Reader): readonly string[] | undefined {
  return columns && [...new Set([...columns, ...RANK_COLUMNS])];
}

/** How names are compared that differ in no more than case, blanks and hyphens: "Correct Answer" is correct_answer. */
export function nameKey(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
}

/** What is wrong with names that were given; undefined: nothing. */
export function namesProblem(id: string, reader: Reader, names: ColumnNames): string | undefined {
  const known = columnsOfReader(reader);
  const unknown = names.find(([name]) => known !== undefined && !known.includes(name))?.[0];
  if (unknown === undefined) return undefined;
  const fields = Object.keys(reader.fields ?? {});
  const listed = fields.length > 0 ? [...fields, ...RANK_COLUMNS] : (known ?? []);
  return `${id} reads no column '${unknown}'; it reads ${[...new Set(listed)].join(", ")}`;
}

/** The file's columns that have to be read of it; undefined: all. */
export function wantedColumns(
  reader: Reader,
  names: ColumnNames,
  there: readonly string[],
): readonly string[] | undefined {
  const known = columnsOfReader(reader);
  if (known === undefined) return undefined;
  const keys = new Set(known.map(nameKey));
  const named = new Set(names.flatMap(([, column]) => [column, column.split(".")[0] ?? ""]));
  return there.filter((column) => keys.has(nameKey(column)) || named.has(column));
}

/** One view goes with one unit of rows. */
export function createView(reader: Reader, names: ColumnNames): View {
  const { fields = {} } = reader;
  const columns = columnsOfReader(reader);
  const own = columns && new Set(columns);
  const byKey = new Map(columns?.map((name) => [nameKey(name), name]));
  /** The reader's name for each of the file's that came up. */
  const renamed = new Map<string, string | undefined>();
  const nameOf = (column: string): string | undefined => {
    if (own === undefined || own.has(column)) return column;
    if (!renamed.has(column)) renamed.set(column, byKey.get(nameKey(column)));
    return renamed.get(column);
  };
  // Who says where a field is means no other column that it could be in.
  const replaced = new Set(names.flatMap(([name]) => groupOf(name, fields)));
  // A column of the very name goes before one that is like it, and one that is like it counts where something is in it.
  const isPassedOver = (row: Row, column: string, name: string): boolean =>
    (name !== column && (Object.hasOwn(row, name) || !isThere(row[column]))) || replaced.has(name);
  const found = new Uint32Array(names.length);
  const ranking = RANK_COLUMNS.filter((name) => reader.columns?.includes(name) === false);
  return {
    found,
    alike(whole) {
      if (typeof whole !== "object" || whole === null || Array.isArray(whole)) return undefined;
      return alikeIn(whole as Row, (column) => {
        const name = nameOf(column);
        return name === undefined || isPassedOver(whole as Row, column, name) ? undefined : name;
      });
    },
    kept(row) {
      if (typeof row !== "object" || row === null || !ranking.some((name) => Object.hasOwn(row, name))) return row;
      return Object.fromEntries(Object.entries(row).filter(([name]) => !ranking.includes(name)));
    },
    row(whole) {
      const isWhole = own === undefined && names.length === 0;
      if (isWhole || typeof whole !== "object" || whole === null || Array.isArray(whole)) return whole;
      const row = whole as Row;
      const seen: Record<string, unknown> = {};
      for (const column of Object.keys(row)) {
        const name = nameOf(column);
        if (name === undefined || isPassedOver(row, column, name)) continue;
        define(seen, name, row[column]);
      }
      for (const [i, [name, column]] of names.entries()) {
        const value = valueAt(row, column);
        if (value === undefined) continue;
        found[i]!++;
        define(seen, name, value);
      }
      return seen;
    },
  };
}

/** Of two columns that are one to the reader, as "Answer" and "ANSWER" are, nobody knows which is meant. */
function alikeIn(row: Row, nameOf: (column: string) => string | undefined): string | undefined {
  const taken = new Map<string, string>();
  for (const column of Object.keys(row)) {
    const name = nameOf(column);
    if (name === undefined) continue;
    const other = taken.get(name);
    if (other !== undefined)
      return `columns '${other}' and '${column}' are both its ${name}: say --column ${name}=${other} or --column ${name}=${column}`;
    taken.set(name, column);
  }
  return undefined;
}

/** As JSON.parse does it: a column may be called "__proto__". */
function define(row: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") Object.defineProperty(row, name, { value, enumerable: true, configurable: true });
  else row[name] = value;
}

function groupOf(name: string, fields: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return Object.values(fields).find((columns) => columns.includes(name)) ?? [name];
}

/** A column, or what lies in one: "reward_model.ground_truth", "choices.text". */
export function valueAt(row: Row, column: string): unknown {
  if (Object.hasOwn(row, column)) return row[column];
  let at: unknown = row;
  for (const part of column.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Row)[part];
  }
  return at;
}
