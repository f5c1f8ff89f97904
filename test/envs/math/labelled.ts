/** Types of the labelled suite: pairs/ holds the pairs by class, and labelled.test.ts checks the verdict on each. */

export type Label = "equal" | "different" | "unread" | "undecided";

export interface LabelledPair {
  readonly gold: string;
  readonly answer: string;
  /** The right verdict. */
  readonly verdict: Label;
  readonly why: string;
  /** The problem, where it decides. */
  readonly problem?: string;
  /** The verdict that math gives today, if it differs from the right one; never "equal" for a different pair. */
  readonly found?: Label;
}

type Row = readonly [gold: string, answer: string, verdict: Label, found?: Label];

/** Pairs that stand there for the same reason. */
export function labelled(why: string, ...rows: readonly Row[]): readonly LabelledPair[] {
  return ofProblem(undefined, why, ...rows);
}

/** Pairs whose verdict depends on their problem. */
export function ofProblem(problem: string | undefined, why: string, ...rows: readonly Row[]): readonly LabelledPair[] {
  return rows.map(([gold, answer, verdict, found]) => ({
    gold,
    answer,
    verdict,
    why,
    ...(problem && { problem }),
    ...(found && { found }),
  }));
}
