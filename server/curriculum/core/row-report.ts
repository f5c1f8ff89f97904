/** What is known of an arm's rows, for people. */
import { classOf, expectedRate, GONE, RATE_STEPS, recordAt, RETIRED, type RowTable, SAMPLE } from "./row-table.ts";

export interface ReportedRow {
  /** Expected, in [0, 1]. */
  readonly rate: number;
  /** That what is known is worth. */
  readonly samples: number;
  readonly streak: number;
  readonly retired: boolean;
  /** The pool has it no longer. */
  readonly gone: boolean;
}

export interface RowReport {
  readonly rows: readonly ReportedRow[];
  /** Rows of the arm. */
  readonly total: number;
  /** Rows that are not retired, by step of their pass rates. */
  readonly histogram: readonly number[];
  readonly retired: number;
  readonly gone: number;
}

/** So many rows from one on. */
export function rowReport(table: RowTable, from: number, limit: number): RowReport {
  const count = Math.max(0, Math.min(limit, table.size - from));
  const rows = Array.from({ length: count }, (_, i): ReportedRow => {
    const record = recordAt(table, from + i);
    const { seen, streak } = record;
    const of = classOf(record, table.retireAfter);
    return { rate: expectedRate(record), samples: seen / SAMPLE, streak, retired: of === RETIRED, gone: of === GONE };
  });
  const { counts, size: total } = table;
  return {
    rows,
    total,
    histogram: counts.slice(0, RATE_STEPS),
    retired: counts[RETIRED] ?? 0,
    gone: counts[GONE] ?? 0,
  };
}
