/** How far an evaluation is, on standard error, and what goes wrong with attempts. */
import { createBar } from "../bar.ts";
import type { Step } from "./run.ts";

export interface Progress {
  step(step: Step): void;
  /** Says what goes wrong with attempts that are made again: beside the bar, or once on a line of its own. */
  trouble(words: string): void;
  stop(): void;
}

const FORMAT =
  "{bar} {value}/{total}  {eta_formatted} left  feasible {feasible}  ratio {ratio}  failed {failed}{trouble}";

/** Lines about troubles, each different. */
const TROUBLES_MAX = 10;

export function createProgress(done: number, total: number, shown: boolean): Progress {
  const counts = { scored: 0, feasible: 0, ratio: 0, failed: 0 };
  const troubles = new Set<string>();
  let last = "";
  const payload = () => ({
    feasible: counts.scored === 0 ? "–" : `${Math.round((100 * counts.feasible) / counts.scored)}%`,
    ratio: counts.scored === 0 ? "–" : (counts.ratio / counts.scored).toFixed(3),
    failed: counts.failed,
    trouble: last === "" ? "" : `  trying again: ${last}`,
  });
  const bar = createBar({ done, total, format: FORMAT, payload: payload(), shown });
  return {
    step(step) {
      count(counts, step);
      if (step.kind === "scored") last = "";
      bar.update(step.kind === "scored" ? 1 : 0, payload());
    },
    trouble(words) {
      last = words;
      if (bar.visible) bar.update(0, payload());
      else if (shown && !troubles.has(words) && troubles.size < TROUBLES_MAX) {
        troubles.add(words);
        console.error(`an attempt failed: ${words}`);
      }
    },
    stop: () => bar.stop(),
  };
}

function count(counts: { scored: number; feasible: number; ratio: number; failed: number }, step: Step): void {
  if (step.kind === "failed") {
    counts.failed++;
    return;
  }
  counts.scored++;
  const { outcome } = step;
  if (outcome.kind !== "scored" || outcome.verdict !== "feasible") return;
  counts.feasible++;
  // An answer that is right or not has no ratio.
  counts.ratio += outcome.ratio ?? 1;
}
