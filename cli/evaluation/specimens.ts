/**
 * Answers worth looking at: of each part the first that breaks a constraint or is graded as wrong, and the feasible one that
 * falls shortest.
 */
import type { Sample } from "../../clients/ts/src/public.ts";

/** An answer that shows why its part did not do better. */
export interface Specimen {
  readonly part: string;
  readonly sample: Sample;
  /** What it shows, in words. */
  readonly words: string;
  /** Undefined: it is infeasible, or graded as wrong. */
  readonly ratio: number | undefined;
}

/** A page with more pictures is too large to read. */
export const SPECIMENS_MAX = 40;

/**
 * Keeps the specimens of samples that come in the suite's order. Of equal ones the first stays, so that an evaluation
 * that was interrupted and taken up again has the same.
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
