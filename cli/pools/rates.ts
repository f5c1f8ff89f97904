/** Pass rates of a pool's rows: from files, and as a picture of how many rows pass how often. */
import { readRates, type RowRates } from "../../clients/ts/src/public.ts";
import { readFileOf } from "../files.ts";
import { CliProblem } from "../problem.ts";

/** Of CSV. */
export const HEADER = "row,pass_rate,pool_digest";

/** Of the file that an option names: CSV, or a report.json of gradus eval, of which `pool` says whose rows are meant. */
export function ratesIn(option: string, path: string, pool?: string): RowRates {
  const text = readFileOf(option, path);
  try {
    return readRates(text, pool);
  } catch (error) {
    throw new CliProblem("usage", (error as Error).message.replace(/^rates:/, `${option} '${path}':`));
  }
}

export const BINS = 10;
const BAR_MAX = 40;

/** How many rates lie in each tenth; the last one also holds 1. */
export function rateCounts(rates: readonly number[]): readonly number[] {
  const counts = new Array<number>(BINS).fill(0);
  for (const rate of rates) counts[Math.min(BINS - 1, Math.floor(rate * BINS))]!++;
  return counts;
}

/** A line for each tenth, with a bar. */
export function rateHistogram(rates: readonly number[]): string {
  const counts = rateCounts(rates);
  const most = Math.max(1, ...counts);
  return counts
    .map((count, i) => {
      const range = `${(i / BINS).toFixed(1)}-${((i + 1) / BINS).toFixed(1)}`;
      return `${range}  ${"█".repeat(Math.ceil((BAR_MAX * count) / most))} ${count}`;
    })
    .join("\n");
}
