/**
 * Decides by which measure the rows of a pool are ranked from easy to hard: by the environment's own measure, or by a
 * column of the file.
 */
import { numberText } from "./lib/exact-json.ts";

/** Columns with the share of some model's attempts that solved the row, in [0, 1]. A lower rate means a harder row. */
const RATE_COLUMNS = ["pass_rate", "solve_rate", "llama8b_solve_rate", "pass_rate_72b_tir"] as const;
/** Column with a number that is greater for harder rows. */
const DIFFICULTY = "difficulty";

/** Columns that can rank a row. The first one that a row has counts. */
export const RANK_COLUMNS: readonly string[] = [...RATE_COLUMNS, DIFFICULTY];

/** Value of `source` for a row without a difficulty. Other values are an index in RANK_COLUMNS, or OWN_MEASURE. */
export const UNRANKED = 255;
/** Value of `source` for a difficulty that the environment computes itself. */
export const OWN_MEASURE = 254;

export interface Difficulty {
  readonly source: number;
  /** Difficulty, greater for harder rows. NaN if the row is unranked. */
  readonly value: number;
}

const NONE: Difficulty = { source: UNRANKED, value: NaN };

/** Returns the difficulty that a row's columns give. */
export function difficultyIn(row: unknown): Difficulty {
  if (typeof row !== "object" || row === null) return NONE;
  for (const [source, column] of RANK_COLUMNS.entries()) {
    const number = numberIn((row as Readonly<Record<string, unknown>>)[column]);
    if (number === undefined) continue;
    if (column === DIFFICULTY) return { source, value: number };
    if (number >= 0 && number <= 1) return { source, value: 1 - number };
  }
  return NONE;
}

/**
 * Returns a value as a number, also if it is a string such as "0.5", as in tables that contain only strings. Returns
 * undefined for other values.
 */
export function numberIn(value: unknown): number | undefined {
  const text = typeof value === "string" && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value) ? value : numberText(value);
  const number = Number(text);
  return text !== undefined && Number.isFinite(number) ? number : undefined;
}

/**
 * Returns whether a measure (a column's name) is a pass rate in [0, 1]. A row's difficulty is then 1 minus its rate.
 */
export function isRate(measure: string | undefined): boolean {
  return RATE_COLUMNS.some((column) => column === measure);
}

export interface Ranking {
  /** Description of the measure that ranks the rows, or undefined if the rows have no ranks. */
  readonly source: string | undefined;
  /** Name of the measure in run configurations: a column's name, or the environment's name for its own measure. */
  readonly measure?: string | undefined;
  /** Reason why the rows have no ranks. */
  readonly reason?: string;
}

/**
 * Returns the measure by which the rows of a pool are ranked, given the number of rows for each `source` of a
 * difficulty. All rows must have the same source, because two measures give no common order.
 */
export function rankingOf(counts: ReadonlyMap<number, number>, own: OwnMeasure | undefined): Ranking {
  const sources = [...counts.keys()];
  const [only, ...others] = sources;
  if (only === undefined) return { source: undefined, reason: "it has no rows" };
  if (others.length === 0) {
    if (only !== UNRANKED)
      return { source: nameOf(only, own), measure: only === OWN_MEASURE ? own?.measure : RANK_COLUMNS[only] };
    return { source: undefined, reason: `no row has a column ${RANK_COLUMNS.slice(0, 2).join(", ")} or ${DIFFICULTY}` };
  }
  const parts = [...counts].map(([source, rows]) => `${rows} rows have ${nameOf(source, own) ?? "nothing"}`);
  return { source: undefined, reason: `${parts.join(", ")} to be ranked by: all rows must have the same measure` };
}

/** Measure by which an environment ranks its rows itself: its name in run configurations, and a description. */
interface OwnMeasure {
  readonly measure: string;
  readonly source: string;
}

function nameOf(source: number, own: OwnMeasure | undefined): string | undefined {
  if (source === OWN_MEASURE) return own?.source;
  const column = RANK_COLUMNS[source];
  if (column === undefined) return undefined;
  return column === DIFFICULTY ? `column ${column}` : `column ${column} (a pass rate)`;
}
