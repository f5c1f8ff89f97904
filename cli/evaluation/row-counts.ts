/** Counts how often an evaluation's samples solve each row of a pool. */
import type { Sample } from "../../clients/ts/src/public.ts";

/** Counts of an evaluation's samples of one pool row. */
export interface RowCount {
  readonly pool: string;
  readonly row: number;
  /** Digest of the pool's content. `row` is the row's number in this content. */
  readonly pool_digest: string;
  samples: number;
  solved: number;
}

/**
 * Counts a sample of a row. Leaves out a sample without a reward, which is a failure of the server and not of the
 * model.
 */
export function countRow(counts: Map<string, RowCount>, { pool = "", poolDigest = "", row, outcome }: Sample): void {
  if (row === undefined || outcome?.kind !== "scored") return;
  const key = `${pool} ${row}`;
  const count = counts.get(key) ?? { pool, row, pool_digest: poolDigest, samples: 0, solved: 0 };
  counts.set(key, count);
  count.samples++;
  if (outcome.solved) count.solved++;
}
