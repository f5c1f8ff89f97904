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

export function reportOf(pool: Pool): PoolReportView {
  const { name, definition, size, rejected, rejections, leftOut, unchecked, lines } = pool;
  return {
    ...{ pool: name, environment: definition.id, version: definition.version, rows: size, groups: groupCounts(pool) },
    rejected,
    rejections: rejections.map(({ row, reason, count }) => ({ rows: count, first: nameRow(lines, row), reason })),
    ...{ leftOut, unchecked },
  };
}
