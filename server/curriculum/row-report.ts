/** What is known of an arm's rows, for people. */
import { classOf, expectedRate, GONE, RATE_STEPS, recordAt, RETIRED, type RowTable, SAMPLE } from "./row-table.ts";

export type RowReport = ReturnType<typeof rowReport>;

/** So many rows from one on. */
export function rowReport(table: RowTable, from: number, limit: number) {
  const count = Math.max(0, Math.min(limit, table.size - from));
  const rows = Array.from({ length: count }, (_, i) => {
    const record = recordAt(table, from + i);
    const { seen, streak } = record;
    const of = classOf(record, table.retireAfter);
    // The rate is the expected one, and the samples are those that what is known is worth.
    return { rate: expectedRate(record), samples: seen / SAMPLE, streak, retired: of === RETIRED, gone: of === GONE };
  });
  const { counts, size: total } = table;
  return {
    rows,
    total,
    /** Rows that are not retired, by step of their pass rates. */
    histogram: counts.slice(0, RATE_STEPS),
    retired: counts[RETIRED] ?? 0,
    /** The pool has them no longer. */
    gone: counts[GONE] ?? 0,
  };
}
