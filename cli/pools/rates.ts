/** Reads pass rates of a pool's rows from files, and shows them as a histogram. */
import { readRates, type RowRates } from "../../clients/ts/src/public.ts";
import { readFileOf } from "../files.ts";
import { CliProblem } from "../problem.ts";

/** Header line of the CSV with pass rates. */
export const HEADER = "row,pass_rate,pool_digest";

/**
 * Reads pass rates from an option's file: CSV, or a report.json of gradus eval. If a report has rows of several pools,
 * `pool` names the one to use.
 */
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

/** Counts the pass rates in each interval of width 0.1. The last interval includes 1. */
export function rateCounts(rates: readonly number[]): readonly number[] {
  const counts = new Array<number>(BINS).fill(0);
  for (const rate of rates) counts[Math.min(BINS - 1, Math.floor(rate * BINS))]!++;
  return counts;
}

/** Returns a text histogram of pass rates, with a line for each interval of width 0.1. */
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
