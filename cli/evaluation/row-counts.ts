/** How often the rows of pools are solved, by an evaluation's samples. */
import type { Sample } from "../../clients/ts/src/public.ts";

/** What an evaluation's samples say of the rows of pools. */
export interface RowCount {
  readonly pool: string;
  readonly row: number;
  /** The digest of the pool that numbers the row. */
  readonly pool_digest: string;
  samples: number;
  solved: number;
}

/** Counts a sample of a row; one that has no reward, by a failure of ours, says nothing of it. */
export function countRow(counts: Map<string, RowCount>, { pool = "", poolDigest = "", row, outcome }: Sample): void {
  if (row === undefined || outcome?.kind !== "scored") return;
  const key = `${pool} ${row}`;
  const count = counts.get(key) ?? { pool, row, pool_digest: poolDigest, samples: 0, solved: 0 };
  counts.set(key, count);
  count.samples++;
  if (outcome.solved) count.solved++;
}
