/** Scores one completion that belongs to no run. */
import type { AsyncScorer, Caller } from "./async-scorer.ts";
import type { SampleResult } from "./results.ts";
import type { OpenTask, Scorer } from "./scorer.ts";
import { nextTurn } from "../../base/time-slices.ts";

/** Maximum number of UTF-16 units of a completion that is scored without waiting for a turn. */
const UNITS_AT_ONCE_MAX = 16 * 1024;

export interface Scorers {
  readonly scorer: Scorer;
  readonly asyncScorer: AsyncScorer;
}

/** Scores a completion. Calls `stepAside` when only a resource is awaited. */
export async function scoreAlone(
  { scorer, asyncScorer }: Scorers,
  task: OpenTask,
  completion: string,
  caller: Caller,
  stepAside?: () => void,
): Promise<SampleResult> {
  if (task.kind === "sync") {
    // Completions of a batch arrive together, so long ones wait for a turn.
    if (completion.length > UNITS_AT_ONCE_MAX) await nextTurn();
    return scorer.score(task, completion);
  }
  stepAside?.();
  return (await asyncScorer.score(task, completion, caller)).result;
}
