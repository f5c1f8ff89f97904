/** Lists the values of a chart, for its text at the pointer, its table and its CSV file. */
import { count } from "../words.ts";
import type { Curve } from "./marks.ts";

export interface Figures {
  /** Title of the chart. Its files are named after it. */
  readonly name: string;
  /** Name of the horizontal axis. */
  readonly axis: string;
  readonly curves: readonly Curve[];
}

export interface FigureRow {
  /** Position on the horizontal axis. */
  readonly x: number;
  /** Value of each curve at this position, in the order of the curves. Undefined: the curve has none here. */
  readonly values: readonly (number | undefined)[];
}

/** Returns a row for each position at which a curve has a value, in the order of the axis. */
export function rowsOf(curves: readonly Curve[]): readonly FigureRow[] {
  const rows = new Map<number, (number | undefined)[]>();
  for (const [at, { spots }] of curves.entries()) {
    for (const { x, y } of spots) {
      if (y === undefined || !Number.isFinite(y)) continue;
      const row = rows.get(x) ?? new Array<number | undefined>(curves.length).fill(undefined);
      row[at] = y;
      rows.set(x, row);
    }
  }
  return [...rows].map(([x, values]) => ({ x, values })).sort((one, other) => one.x - other.x);
}

/** Returns the index of the row that is nearest to a position. 0 if there is no row. */
export function nearest(rows: readonly FigureRow[], x: number): number {
  const distances = rows.map((row) => Math.abs(row.x - x));
  return Math.max(0, distances.indexOf(Math.min(...distances)));
}

/** Maximum number of curves whose values are shown at the pointer. */
const READ = 12;

export interface Reading {
  /** Position, with the name of the axis, e.g. "1,024 rollouts". */
  readonly at: string;
  /** Curves with their values, the greatest value first. */
  readonly values: readonly { readonly curve: Curve; readonly words: string }[];
  /** Number of further curves with a value. */
  readonly more: number;
}

export function readingOf({ axis, curves }: Figures, { x, values }: FigureRow): Reading {
  const known = curves
    .flatMap((curve, at) => (values[at] === undefined ? [] : [{ curve, value: values[at] }]))
    .sort((one, other) => other.value - one.value)
    .map(({ curve, value }) => ({ curve, words: curve.words(value) }));
  return { at: `${count(Math.round(x))} ${axis}`, values: known.slice(0, READ), more: known.slice(READ).length };
}

/** Returns a reading as one line of text, for screen readers. */
export function readingWords({ at, values, more }: Reading): string {
  const parts = values.map(({ curve, words }) => `${curve.name} ${words}`);
  return `${at}: ${[...parts, ...(more > 0 ? [`and ${more} more`] : [])].join(", ")}`;
}

/** Returns the values as CSV (RFC 4180) with all digits. A missing value is an empty field. */
export function csvOf({ axis, curves }: Figures): string {
  const lines = [
    [axis, ...curves.map(({ name }) => name)].map(quoted),
    ...rowsOf(curves).map(({ x, values }) => [x, ...values].map((value) => String(value ?? ""))),
  ];
  return lines.map((fields) => `${fields.join(",")}\r\n`).join("");
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns the name of a chart's file, e.g. "my-run-mean-reward.csv". */
export function fileName(name: string, ending: string): string {
  return `${name.toLowerCase().replaceAll(/[^a-z0-9._]+/g, "-")}.${ending}`;
}
