/** Scores one completion that belongs to no run. */
import type { AsyncScorer, Caller } from "./async-scorer.ts";
import type { SampleResult } from "./results.ts";
import type { OpenTask, Scorer } from "./scorer.ts";
import { nextTurn } from "../../base/time-slices.ts";

/**
 * Maximum number of UTF-16 units of a completion that is scored at once. A longer one waits for a turn of the event
 * loop.
 */
const UNITS_AT_ONCE_MAX = 16 * 1024;

export interface Scorers {
  readonly scorer: Scorer;
  readonly asyncScorer: AsyncScorer;
}

/** Scores a completion. `stepAside` is called when the caller only waits for an external resource from now on. */
export async function scoreAlone(
  { scorer, asyncScorer }: Scorers,
  task: OpenTask,
  completion: string,
  caller: Caller,
  stepAside?: () => void,
): Promise<SampleResult> {
  if (task.kind === "sync") {
    // Many completions may arrive together, so long ones let other work run in between.
    if (completion.length > UNITS_AT_ONCE_MAX) await nextTurn();
    return scorer.score(task, completion);
  }
  stepAside?.();
  return (await asyncScorer.score(task, completion, caller)).result;
}
