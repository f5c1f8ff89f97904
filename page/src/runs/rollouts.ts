/**
 * Converts cursors to rollouts, the horizontal axis of a run's charts. UpdateShape may change the number of completions
 * for each task.
 */
import type { HistoryRecord, RunConfig } from "../../../clients/ts/src/public.ts";

/**
 * Returns a function from a cursor to the number of completions before it. Each task counts the completions of the
 * shape at the time of its draw.
 */
export function rolloutsOf({ numGenerations }: Pick<RunConfig, "numGenerations">, records: readonly HistoryRecord[]) {
  const parts = [{ from: 0, before: 0, each: numGenerations }];
  const rollouts = (cursor: bigint): number => {
    const { from, before, each } = parts.findLast((part) => part.from <= Number(cursor)) ?? parts[0]!;
    return before + (Number(cursor) - from) * each;
  };
  for (const { kind, rolledBack } of records) {
    if (rolledBack || kind.case !== "control" || kind.value.shape === undefined) continue;
    const { cursor, shape } = kind.value;
    parts.push({ from: Number(cursor), before: rollouts(cursor), each: shape.numGenerations });
  }
  return rollouts;
}
