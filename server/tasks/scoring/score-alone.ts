/** Scores one completion that is no run's. */
import type { AsyncScorer, Caller } from "./async-scorer.ts";
import type { OpenTask, SampleResult, Scorer } from "./scorer.ts";
import { nextTurn } from "../../base/stretches.ts";

/** UTF-16 units of a completion that is scored without waiting for a turn. */
const UNITS_AT_ONCE_MAX = 16 * 1024;

export interface Scorers {
  readonly scorer: Scorer;
  readonly asyncScorer: AsyncScorer;
}

/** `stepAside` is told when all that is left is waiting for a resource. */
export async function scoreAlone(
  { scorer, asyncScorer }: Scorers,
  task: OpenTask,
  completion: string,
  caller: Caller,
  stepAside?: () => void,
): Promise<SampleResult> {
  if (task.kind === "sync") {
    // Those of a batch come here together.
    if (completion.length > UNITS_AT_ONCE_MAX) await nextTurn();
    return scorer.score(task, completion);
  }
  stepAside?.();
  return (await asyncScorer.score(task, completion, caller)).result;
}
