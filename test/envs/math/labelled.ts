/** What a pair of the labelled suite is: pairs/ holds them by class, and labelled.test.ts asks for the verdict on each. */

export type Label = "equal" | "different" | "unread" | "undecided";

export interface LabelledPair {
  readonly gold: string;
  readonly answer: string;
  /** What is right. */
  readonly verdict: Label;
  readonly why: string;
  /** The problem, where it decides. */
  readonly problem?: string;
  /** What is found today where that is something else; never "equal" for what is not. */
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
