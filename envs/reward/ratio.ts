/** How good an answer is, measured against a baseline (FORGE 3.1; SPEC.md section 2). */
import type { Baseline, Goal } from "../environment.ts";

/**
 * Quality of a feasible answer, in [0, 1]: objective/baseline to maximise, baseline/objective to minimise. 0/0 is 1. An
 * answer better than the best known counts as 1, but one beyond the certified bound cannot be: the verifier or the
 * solver is wrong, so that throws.
 */
export function qualityRatio(goal: Exclude<Goal, "satisfy">, objective: number, baseline: Baseline): number {
  if (goal === "maximize" ? objective > baseline.bound : objective < baseline.bound) {
    throw new Error(`objective ${objective} to ${goal} beats the certified bound ${baseline.bound}`);
  }
  const [above, below] = goal === "maximize" ? [objective, baseline.value] : [baseline.value, objective];
  // Then the answer is at least as good as the best known: it is 0 to minimise, or that is 0 to maximise.
  if (below === 0) return 1;
  return Math.min(1, above / below);
}

/** Whether no answer can be better than one of this objective: it reaches the certified bound. */
export function isOptimal(objective: number, baseline: Baseline): boolean {
  return objective === baseline.bound;
}
