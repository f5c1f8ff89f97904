/** Shows an evaluation's progress, and failures of requests to the model, on standard error. */
import { createBar } from "../bar.ts";
import { note } from "../notes.ts";
import type { Step } from "./play-sample.ts";

export type Progress = ReturnType<typeof createProgress>;

const FORMAT = "{bar} {value}/{total}  {left}  right or feasible {good}  reward {reward}  failed {failed}{trouble}";

/** Maximum number of different failures that are printed as lines. */
const TROUBLES_MAX = 10;

export function createProgress(done: number, total: number, shown: boolean) {
  const counts = { scored: 0, good: 0, reward: 0, failed: 0 };
  const troubles = new Set<string>();
  let last = "";
  const payload = () => ({
    good: counts.scored === 0 ? "–" : `${Math.round((100 * counts.good) / counts.scored)}%`,
    reward: counts.scored === 0 ? "–" : (counts.reward / counts.scored).toFixed(3),
    failed: counts.failed,
    trouble: last === "" ? "" : `  trying again: ${last}`,
  });
  const bar = createBar({ done, total, format: FORMAT, payload: payload(), shown });
  return {
    step(step: Step): void {
      count(counts, step);
      if (step.kind === "scored") last = "";
      bar.update(step.kind === "scored" ? 1 : 0, payload());
    },
    /**
     * Shows the failure of a request to the model that will be retried: beside the bar, or once as a line if there is
     * no bar.
     */
    trouble(words: string): void {
      last = words;
      bar.update(0, payload());
      // Without a bar, print the failure as a line, so that a user who waits for an unreachable endpoint knows why.
      if (!bar.visible && !troubles.has(words) && troubles.size < TROUBLES_MAX) {
        troubles.add(words);
        note(`a request to the model failed: ${words}`);
      }
    },
    stop: (): void => bar.stop(),
  };
}

/**
 * Counts a sample for the bar's percentage and its mean reward. The bar has no mean ratio to the best answer, because
 * not all tasks have such a ratio.
 */
function count(counts: { scored: number; good: number; reward: number; failed: number }, step: Step): void {
  if (step.kind === "failed") {
    counts.failed++;
    return;
  }
  const { outcome } = step;
  if (outcome.kind !== "scored") return;
  counts.scored++;
  counts.reward += outcome.reward;
  if (outcome.verdict === "feasible" || outcome.solved) counts.good++;
}
