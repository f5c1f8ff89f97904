/** Reports the knowledge of an arm's rows for people. */
import { classOf, expectedRate, GONE, RATE_STEPS, recordAt, RETIRED, type RowTable, SAMPLE } from "./row-table.ts";

export type RowReport = ReturnType<typeof rowReport>;

/** Returns at most `limit` rows, from `from` on, with totals of all rows. */
export function rowReport(table: RowTable, from: number, limit: number) {
  const count = Math.max(0, Math.min(limit, table.size - from));
  const rows = Array.from({ length: count }, (_, i) => {
    const record = recordAt(table, from + i);
    const { seen, streak } = record;
    const of = classOf(record, table.retireAfter);
    // The rate is the expected one. `samples` is the number of samples that the knowledge is worth.
    return { rate: expectedRate(record), samples: seen / SAMPLE, streak, retired: of === RETIRED, gone: of === GONE };
  });
  const { counts, size: total } = table;
  return {
    rows,
    total,
    /** Number of rows by step of their pass rates, without retired ones. */
    histogram: counts.slice(0, RATE_STEPS),
    retired: counts[RETIRED] ?? 0,
    /** Number of rows that the pool no longer has. */
    gone: counts[GONE] ?? 0,
  };
}
