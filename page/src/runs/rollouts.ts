/** What a run's charts stand over: its completions, whose number per task UpdateShape may change. */
import type { HistoryRecord, RunConfig } from "../../../clients/ts/src/public.ts";

/** Gives the completions of the tasks up to a cursor: of each task as many as the run's shape had when it was drawn. */
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
