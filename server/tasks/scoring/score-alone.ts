/** Scores one completion that belongs to no run. */
import type { AsyncScorer, Caller } from "./async-scorer.ts";
import type { CompletionForm, PlayedCompletion } from "./play-turn.ts";
import type { StepResult } from "./results.ts";
import { asCut, type OpenTask, type Scorer } from "./scorer.ts";
import { nextTurn } from "../../base/time-slices.ts";

/**
 * Maximum length, in UTF-16 units, of a completion that is scored immediately. A longer one first waits for a turn of
 * the event loop.
 */
const UNITS_AT_ONCE_MAX = 16 * 1024;

export interface Scorers {
  readonly scorer: Scorer;
  readonly asyncScorer: AsyncScorer;
}

/**
 * Scores a completion, or plays one of a task with turns. Calls `stepAside` when the completion only waits for an
 * external resource, so that the caller may start other work.
 */
export async function scoreAlone(
  { scorer, asyncScorer }: Scorers,
  task: OpenTask,
  completion: PlayedCompletion,
  form: CompletionForm,
  caller: Caller,
  stepAside?: () => void,
): Promise<StepResult> {
  const { text } = completion;
  if (task.kind === "sync") {
    // Many completions may arrive together, so other work of the event loop runs before each long one.
    if (text.length > UNITS_AT_ONCE_MAX) await nextTurn();
    if (task.token.calls !== undefined) return scorer.play(task, completion, form);
    return scorer.score(form.isCut ? asCut(task) : task, text);
  }
  stepAside?.();
  if (task.kind === "asking") return (await asyncScorer.play(task, completion, form, caller)).result;
  return (await asyncScorer.score(form.isCut ? asCut(task) : task, text, caller)).result;
}
