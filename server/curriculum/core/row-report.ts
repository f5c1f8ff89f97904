/** What is known of an arm's rows, for people. */
import { classOf, expectedRate, RATE_STEPS, recordAt, RETIRED, type RowTable, SAMPLE } from "./row-table.ts";

export interface ReportedRow {
  /** Expected, in [0, 1]. */
  readonly rate: number;
  /** That what is known is worth. */
  readonly samples: number;
  readonly streak: number;
  readonly retired: boolean;
}

export interface RowReport {
  readonly rows: readonly ReportedRow[];
  /** Rows of the arm. */
  readonly total: number;
  /** Rows that are not retired, by step of their pass rates. */
  readonly histogram: readonly number[];
  readonly retired: number;
}

/** So many rows from one on. */
export function rowReport(table: RowTable, from: number, limit: number): RowReport {
  const count = Math.max(0, Math.min(limit, table.size - from));
  const rows = Array.from({ length: count }, (_, i): ReportedRow => {
    const record = recordAt(table, from + i);
    const { seen, streak } = record;
    const retired = classOf(record, table.retireAfter) === RETIRED;
    return { rate: expectedRate(record), samples: seen / SAMPLE, streak, retired };
  });
  const { counts, size: total } = table;
  return { rows, total, histogram: counts.slice(0, RATE_STEPS), retired: counts[RETIRED] ?? 0 };
}
