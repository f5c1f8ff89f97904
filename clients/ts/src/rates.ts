/** Reads files with pass rates of rows, for RunHandle.rateRows. */
import { GradusError } from "./errors.ts";

/** Pass rates of rows by row number in the pool's file, counted from 0. */
export type RowRates = ReadonlyMap<number, number> & {
  /** Digest of the pool in whose file the rows are numbered (PoolInfo.digest). Unset if the rates came without it. */
  readonly poolDigest?: string;
};

/**
 * Returns the rates with the digest of their pool, if a row of the file names one. Throws INVALID_ARGUMENT if rows name
 * different digests.
 */
function withDigest(rates: ReadonlyMap<number, number>, digests: ReadonlySet<unknown>): RowRates {
  const [poolDigest = "", ...others] = [...digests].filter((digest) => typeof digest === "string" && digest !== "");
  if (others.length > 0)
    throw wrong(`its rows are of two pools, with the digests ${String(poolDigest)} and ${String(others[0])}`);
  return poolDigest === "" ? rates : Object.assign(rates, { poolDigest: String(poolDigest) });
}

const COLUMNS = ["row", "pass_rate"] as const;
/** Name of the optional column of CSV files, and field of reports, with the digest of the pool. */
const DIGEST = "pool_digest";

/**
 * Reads pass rates from a CSV file or from a report.json.
 * A CSV file, e.g. from `gradus pools profile`, has the columns row, pass_rate and perhaps pool_digest. A report.json
 * comes from `gradus eval` of a suite with rows of a pool. `pool` selects a pool, if the report has rows of several.
 * Throws INVALID_ARGUMENT with the line or the field if the text is neither.
 */
export function readRates(text: string, pool?: string): RowRates {
  return text.trimStart().startsWith("{") ? ofReport(text, pool) : ofCsv(text);
}

function wrong(words: string): GradusError {
  return new GradusError("INVALID_ARGUMENT", `rates: ${words}`);
}

function isRate(row: unknown, rate: unknown): boolean {
  return Number.isInteger(row) && (row as number) >= 0 && typeof rate === "number" && rate >= 0 && rate <= 1;
}

function ofCsv(text: string): RowRates {
  const [header = "", ...lines] = text.split(/\r?\n/);
  const names = header.split(",").map((name) => name.trim());
  const [row, rate] = COLUMNS.map((name) => names.indexOf(name)) as [number, number];
  if (row < 0 || rate < 0) throw wrong(`line 1: wants the columns ${COLUMNS.join(",")}; got ${header.slice(0, 200)}`);
  const digest = names.indexOf(DIGEST);
  const rates = new Map<number, number>();
  const digests = new Set<string>();
  for (const [i, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const texts = line.split(",").map((cell) => cell.trim());
    const cells = texts.map((cell) => (cell === "" ? NaN : Number(cell)));
    // Refuse a line with another number of fields, e.g. a quoted field with commas, which would shift the columns after
    // it.
    if (cells.length !== names.length)
      throw wrong(`line ${i + 2}: it has ${cells.length} fields, and the first line names ${names.length} columns`);
    const [number, value] = [cells[row], cells[rate]] as [number, number];
    if (!isRate(number, value))
      throw wrong(`line ${i + 2}: wants a row from 0 and a rate in [0, 1]; got ${line.slice(0, 200)}`);
    if (rates.has(number)) throw wrong(`line ${i + 2}: row ${number} has a rate already`);
    rates.set(number, value);
    digests.add(texts[digest] ?? "");
  }
  return withDigest(rates, digests);
}

interface ReportedRow {
  readonly pool?: unknown;
  readonly row?: unknown;
  readonly pass_rate?: unknown;
  readonly pool_digest?: unknown;
}

function ofReport(text: string, pool: string | undefined): RowRates {
  const rows = rowsIn(text).filter((each) => pool === undefined || each.pool === pool);
  const pools = [...new Set(rows.map((each) => String(each.pool)))];
  if (rows.length === 0)
    throw wrong(
      `the report has no rows of ${pool === undefined ? "any pool" : `pool '${pool}'`}: evaluate a suite that has such rows`,
    );
  if (pools.length > 1) throw wrong(`the report has rows of several pools: name one of ${pools.join(", ")}`);
  const odd = rows.findIndex(({ row, pass_rate: rate }) => !isRate(row, rate));
  if (odd >= 0) throw wrong(`rows[${odd}]: wants a row from 0 and a pass_rate in [0, 1]`);
  const rates = new Map(rows.map(({ row, pass_rate: rate }) => [row as number, rate as number]));
  return withDigest(rates, new Set(rows.map((row) => row[DIGEST])));
}

function rowsIn(text: string): readonly ReportedRow[] {
  try {
    const { rows = [] } = JSON.parse(text) as { readonly rows?: unknown };
    if (Array.isArray(rows) && rows.every((each) => typeof each === "object" && each !== null))
      return rows as readonly ReportedRow[];
  } catch {
    throw wrong("the report is not JSON");
  }
  throw wrong("rows must be a list of objects");
}
