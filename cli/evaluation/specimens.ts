/**
 * Selects answers for the report's pictures. For each part of the suite these are the first that is infeasible or
 * wrong, and the feasible one with the lowest ratio to the best.
 */
import type { Sample } from "../../clients/ts/src/public.ts";

/** Selected answer that shows why the results of a part of the suite are not better. */
export interface Specimen {
  readonly part: string;
  readonly sample: Sample;
  /** Words that say what is wrong with the answer, e.g. "87.5% of the best". */
  readonly words: string;
  /** Ratio of the answer to the best one. Undefined if the answer is infeasible or wrong. */
  readonly ratio: number | undefined;
}

/** Maximum number of specimens. A page with more pictures is too large to read. */
export const SPECIMENS_MAX = 40;

/**
 * Makes a collector of answers for the report's pictures. The samples must be added in the suite's order. Of equally
 * bad answers, the collector keeps the first, so that a resumed evaluation selects the same answers.
 */
export function createSpecimens() {
  const infeasible = new Map<string, Specimen>();
  const short = new Map<string, Specimen>();
  return {
    add(sample: Sample): void {
      const { part, outcome } = sample;
      if (outcome?.kind !== "scored") return;
      const { verdict, violation, ratio, solved } = outcome;
      const isWrong = verdict === "infeasible" || (verdict === "graded" && !solved);
      if (isWrong && !infeasible.has(part)) infeasible.set(part, { part, sample, words: violation, ratio: undefined });
      if (verdict !== "feasible" || solved || ratio === undefined) return;
      const shortest = short.get(part)?.ratio ?? Number.POSITIVE_INFINITY;
      if (ratio < shortest) short.set(part, { part, sample, words: `${(100 * ratio).toFixed(1)}% of the best`, ratio });
    },
    all(): readonly Specimen[] {
      const parts = [...new Set([...infeasible.keys(), ...short.keys()])];
      const both = parts.flatMap((part) => [infeasible.get(part), short.get(part)]);
      return both.filter((specimen) => specimen !== undefined).slice(0, SPECIMENS_MAX);
    },
  };
}
