/** A progress bar on standard error, where that is a terminal. */
import { Presets, SingleBar } from "cli-progress";
import { Verdict } from "../../../clients/ts/src/public.ts";
import type { Step } from "./run.ts";

export interface Progress {
  step(step: Step): void;
  stop(): void;
}

const FORMAT = "{bar} {value}/{total}  {eta_formatted} left  feasible {feasible}  ratio {ratio}  failed {failed}";

export function createProgress(done: number, total: number, shown: boolean): Progress {
  const counts = { scored: 0, feasible: 0, ratio: 0, failed: 0 };
  const payload = () => ({
    feasible: counts.scored === 0 ? "–" : `${Math.round((100 * counts.feasible) / counts.scored)}%`,
    ratio: counts.scored === 0 ? "–" : (counts.ratio / counts.scored).toFixed(3),
    failed: counts.failed,
  });
  const bar =
    shown && process.stderr.isTTY
      ? new SingleBar({ format: FORMAT, stream: process.stderr }, Presets.shades_classic)
      : undefined;
  bar?.start(total, done, payload());
  return {
    step(step) {
      count(counts, step);
      if (step.kind === "scored") bar?.increment(1, payload());
      else bar?.update(payload());
    },
    stop: () => bar?.stop(),
  };
}

function count(counts: { scored: number; feasible: number; ratio: number; failed: number }, step: Step): void {
  if (step.kind === "failed") {
    counts.failed++;
    return;
  }
  counts.scored++;
  const { result } = step.outcome;
  if (result.case !== "score" || result.value.verdict !== Verdict.FEASIBLE) return;
  counts.feasible++;
  // An answer that is right or not has no ratio.
  counts.ratio += result.value.ratio ?? 1;
}
