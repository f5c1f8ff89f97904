/** Makes the report of what a run knows about an arm's data rows, for clients. */
import { classOf, expectedRate, GONE, RATE_STEPS, recordAt, RETIRED, type RowTable, SAMPLE } from "./row-table.ts";

export type RowReport = ReturnType<typeof rowReport>;

/** Returns the records of at most `limit` rows, from row `from` on, and totals over all rows of the arm. */
export function rowReport(table: RowTable, from: number, limit: number) {
  const count = Math.max(0, Math.min(limit, table.size - from));
  const rows = Array.from({ length: count }, (_, i) => {
    const record = recordAt(table, from + i);
    const { seen, streak } = record;
    const of = classOf(record, table.retireAfter);
    // `rate` is the pass rate that is expected of the row's next group. `samples` is the number of samples from which
    // it was estimated, where old samples count less.
    return { rate: expectedRate(record), samples: seen / SAMPLE, streak, retired: of === RETIRED, gone: of === GONE };
  });
  const { counts, size: total } = table;
  return {
    rows,
    total,
    /**
     * Number of rows in each step of pass rates, from 0 to 1. Retired rows and rows that were removed from the pool are
     * left out.
     */
    histogram: counts.slice(0, RATE_STEPS),
    retired: counts[RETIRED] ?? 0,
    /** Number of rows that were removed from the pool. */
    gone: counts[GONE] ?? 0,
  };
}
