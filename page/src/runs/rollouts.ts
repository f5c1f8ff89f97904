/**
 * Converts cursors to rollouts or tokens, the horizontal axis of a run's charts. UpdateShape may change the number of
 * completions for each task.
 */
import { type HistoryRecord, lengthAxis, lengthWords, type RunConfig } from "../../../clients/ts/src/public.ts";

/** Horizontal axis of charts. "tokens" are characters if the trainer reports no tokens. */
export type Over = "rollouts" | "tokens";

export interface Axis {
  /** Name of the axis, e.g. "rollouts". */
  readonly words: string;
  readonly at: (cursor: bigint) => number;
  /** Whether lengths of completions are known, so that charts can be over tokens. */
  readonly hasLengths: boolean;
}

/** Returns the axis of a run's charts. It is in rollouts if the history has no lengths. */
export function axisOf(config: Pick<RunConfig, "numGenerations">, records: readonly HistoryRecord[], over: Over): Axis {
  const lengths = lengthAxis(records);
  if (over === "tokens" && lengths !== undefined)
    return { words: lengthWords(lengths), at: lengths.at, hasLengths: true };
  return { words: "rollouts", at: rolloutsOf(config, records), hasLengths: lengths !== undefined };
}

/**
 * Returns a function from a cursor to the number of completions before it. A task counts as many completions as the run
 * asked for when the task was drawn.
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
