/** What a server makes of a pool's file, in plain values: the line of its log, and what `gradus pools check` says. */
import { groupCounts, type Pool } from "../../envs/pool.ts";
import { nameRow } from "../../envs/pool-finish.ts";

export interface PoolReportView {
  readonly pool: string;
  readonly environment: string;
  readonly version: number;
  /** That hold a task. */
  readonly rows: number;
  /** Of these, by level and split, where there are any. */
  readonly groups: readonly { readonly level: string; readonly split: string; readonly rows: number }[];
  readonly rejected: number;
  /** Rejected rows by the kind of reason, in the order of their first rows. */
  readonly rejections: readonly { readonly rows: number; readonly first: string; readonly reason: string }[];
  /** Rows that the selection leaves out. */
  readonly leftOut: number;
  /** Rows that hold a task as far as is known: what checks them could not be asked. */
  readonly unchecked: number;
}

/** Rejected rows by kind, each where its first one stands: "qa.jsonl:3: … (and 2 more rows)"; rows of Parquet have no lines. */
export function rejectionLines(path: string, { lines, rejections }: Pool): readonly string[] {
  return rejections.map(({ row, reason, count }) => {
    const place = lines ? `${path}:${row + 1}` : `${path}: ${nameRow(lines, row)}`;
    return `${place}: ${reason}${count > 1 ? ` (and ${count - 1} more rows)` : ""}`;
  });
}

export function reportOf(pool: Pool): PoolReportView {
  const { name, definition, size, rejected, rejections, leftOut, unchecked, lines } = pool;
  return {
    ...{ pool: name, environment: definition.id, version: definition.version, rows: size, groups: groupCounts(pool) },
    rejected,
    rejections: rejections.map(({ row, reason, count }) => ({ rows: count, first: nameRow(lines, row), reason })),
    ...{ leftOut, unchecked },
  };
}
