/**
 * Shows an environment's row reader the columns of a file under the names that the reader knows. Other columns are
 * hidden.
 */
import type { RowReader } from "./environment.ts";
import { RANK_COLUMNS } from "./pool-ranks.ts";
import { hasValue } from "./row-columns.ts";

/**
 * Columns that the operator named with --column: [the reader's name, the file's name]. The file's name may be a dotted
 * path.
 */
export type ColumnNames = readonly (readonly [name: string, column: string])[];

export interface View {
  /**
   * Returns the row with its columns renamed for the environment's row reader. Omits columns that the reader does not
   * know.
   */
  row(whole: unknown): unknown;
  /** Returns an error text if two columns of the row would get the same name. Otherwise returns undefined. */
  alike(whole: unknown): string | undefined;
  /** Returns the part of a renamed row that is stored. Omits columns that only rank the row. */
  kept(row: unknown): unknown;
  /** Number of rows that had each of the columns that the operator named. */
  readonly found: Uint32Array<ArrayBuffer>;
}

type Row = Readonly<Record<string, unknown>>;
/** Part of a row reader that a view needs. */
export type Reader = Pick<RowReader<never>, "columns" | "fields">;

/**
 * Returns the columns that a row reader uses, and the columns that may rank rows. Returns undefined if the reader uses
 * all columns.
 */
export function columnsOfReader({ columns }: Reader): readonly string[] | undefined {
  return columns && [...new Set([...columns, ...RANK_COLUMNS])];
}

/** Returns a key for comparing names regardless of case, blanks and hyphens: "Correct Answer" gives correct_answer. */
export function nameKey(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
}

/**
 * Returns an error text if the operator named a column for a name that the row reader does not know. Otherwise returns
 * undefined.
 */
export function namesProblem(id: string, reader: Reader, names: ColumnNames): string | undefined {
  const known = columnsOfReader(reader);
  const unknown = names.find(([name]) => known !== undefined && !known.includes(name))?.[0];
  if (unknown === undefined) return undefined;
  const fields = Object.keys(reader.fields ?? {});
  const listed = fields.length > 0 ? [...fields, ...RANK_COLUMNS] : (known ?? []);
  return `${id} reads no column '${unknown}'; it reads ${[...new Set(listed)].join(", ")}`;
}

/** Returns the columns of the file that must be read, or undefined for all columns. */
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

/** Creates the view of one unit of rows, i.e. of a part of the file that is read at once. */
export function createView(reader: Reader, names: ColumnNames): View {
  const { fields = {} } = reader;
  const columns = columnsOfReader(reader);
  const own = columns && new Set(columns);
  const byKey = new Map(columns?.map((name) => [nameKey(name), name]));
  /** Caches the reader's name for each column of the file, or undefined if the reader does not know the column. */
  const renamed = new Map<string, string | undefined>();
  const nameOf = (column: string): string | undefined => {
    if (own === undefined || own.has(column)) return column;
    if (!renamed.has(column)) renamed.set(column, byKey.get(nameKey(column)));
    return renamed.get(column);
  };
  // If the operator names a column for a field, no other column is used for that field.
  const replaced = new Set(names.flatMap(([name]) => groupOf(name, fields)));
  // An exact name takes precedence over a similar one. A column with a similar name counts only if it has a value.
  const isPassedOver = (row: Row, column: string, name: string): boolean =>
    (name !== column && (Object.hasOwn(row, name) || !hasValue(row[column]))) || replaced.has(name);
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

/**
 * Returns an error text if two columns have one name for the reader, such as "Answer" and "ANSWER", because it is
 * unclear which one is meant.
 */
function alikeIn(row: Row, nameOf: (column: string) => string | undefined): string | undefined {
  const taken = new Map<string, string>();
  for (const column of Object.keys(row)) {
    const name = nameOf(column);
    if (name === undefined) continue;
    const other = taken.get(name);
    if (other !== undefined)
      return `columns '${other}' and '${column}' may both be its ${name}: choose one with --column ${name}=${other} or --column ${name}=${column}`;
    taken.set(name, column);
  }
  return undefined;
}

/** Sets a property as JSON.parse does, because a column may be called "__proto__". */
function define(row: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") Object.defineProperty(row, name, { value, enumerable: true, configurable: true });
  else row[name] = value;
}

function groupOf(name: string, fields: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return Object.values(fields).find((columns) => columns.includes(name)) ?? [name];
}

/**
 * Returns the value of a column, or the value at a dotted path within one: "reward_model.ground_truth", "choices.text".
 */
export function valueAt(row: Row, column: string): unknown {
  if (Object.hasOwn(row, column)) return row[column];
  let at: unknown = row;
  for (const part of column.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Row)[part];
  }
  return at;
}
