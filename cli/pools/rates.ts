/** Pass rates of a pool's rows: from CSV, and as a picture of how many rows pass how often. */
import { CliProblem } from "../problem.ts";

/** By row: its number in the pool's file. */
export type Rates = ReadonlyMap<number, number>;

const HEADER = "row,pass_rate";

/** CSV with a header that names both columns, and no others need be there. */
export function readRates(text: string, path: string): Rates {
  const [header = "", ...lines] = text.split(/\r?\n/);
  const columns = header.split(",").map((name) => name.trim());
  const [row, rate] = [columns.indexOf("row"), columns.indexOf("pass_rate")];
  if (row < 0 || rate < 0) throw new CliProblem("usage", `${path}:1: wants the columns ${HEADER}; got ${header}`);
  const rates = new Map<number, number>();
  for (const [i, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const cells = line.split(",");
    const [number, value] = [cells[row], cells[rate]].map((cell) => (cell?.trim() ? Number(cell) : NaN)) as [
      number,
      number,
    ];
    if (!Number.isInteger(number) || number < 0 || !(value >= 0 && value <= 1))
      throw new CliProblem("usage", `${path}:${i + 2}: wants a row from 0 and a rate in [0, 1]; got ${line}`);
    rates.set(number, value);
  }
  return rates;
}

const BINS = 10;
const BAR_MAX = 40;

/** A line for each tenth, with a bar. */
export function rateHistogram(rates: readonly number[]): string {
  const counts = new Array<number>(BINS).fill(0);
  for (const rate of rates) counts[Math.min(BINS - 1, Math.floor(rate * BINS))]!++;
  const most = Math.max(1, ...counts);
  return counts
    .map((count, i) => {
      const range = `${(i / BINS).toFixed(1)}-${((i + 1) / BINS).toFixed(1)}`;
      return `${range}  ${"█".repeat(Math.ceil((BAR_MAX * count) / most))} ${count}`;
    })
    .join("\n");
}
