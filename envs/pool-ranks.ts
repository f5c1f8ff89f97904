/** What the rows of a pool are ranked by, from easy to hard: the environment's own measure, or a column of the file. */
import { numberText } from "./lib/exact-json.ts";

/** The share of attempts that solved a row, in [0, 1]: the rarer, the harder. */
const RATE_COLUMNS = ["pass_rate", "solve_rate", "llama8b_solve_rate", "pass_rate_72b_tir"] as const;
/** A number that is greater for harder rows. */
const DIFFICULTY = "difficulty";

/** The first that a row has counts. */
export const RANK_COLUMNS: readonly string[] = [...RATE_COLUMNS, DIFFICULTY];

/** What ranks a row: a place in RANK_COLUMNS, or one of these. */
export const UNRANKED = 255;
export const OWN_MEASURE = 254;

export interface Difficulty {
  readonly source: number;
  /** Greater for harder ones; NaN where the row is unranked. */
  readonly value: number;
}

const NONE: Difficulty = { source: UNRANKED, value: NaN };

/** What a row's columns say of how hard it is. */
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

/** Of a table of texts a number is a text. */
export function numberIn(value: unknown): number | undefined {
  const text = typeof value === "string" && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value) ? value : numberText(value);
  const number = Number(text);
  return text !== undefined && Number.isFinite(number) ? number : undefined;
}

/** Whether a measure is a share of attempts that solved a row, of which its difficulty is what is left of 1. */
export function isRate(measure: string | undefined): boolean {
  return RATE_COLUMNS.some((column) => column === measure);
}

export interface Ranking {
  /** What rows are ranked by, in words; undefined: they have no ranks. */
  readonly source: string | undefined;
  /** The same as runs name it: a column's name, or what the environment calls its own measure. */
  readonly measure?: string | undefined;
  /** Why they have none. */
  readonly reason?: string;
}

/** How a pool is ranked whose rows have so many of each source. All must have the same: two measures are no order. */
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
  return { source: undefined, reason: `${parts.join(", ")} to be ranked by: all must have the same` };
}

/** What an environment ranks its rows by itself: its name for runs, and in words. */
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
