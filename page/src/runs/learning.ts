/** Computes the solved share of each line of a run's charts, over a window of its last rollouts. */
import type { Spot } from "../ui/marks.ts";

/**
 * Windows that a reader may choose, in rollouts of one line. The first one is the default. 0: each step of the chart
 * stands alone.
 */
export const WINDOWS = [64, 256, 1024, 0] as const;

/** Rollouts of a line in one step of a chart. */
export interface Tally {
  /** Number of rollouts with a reward. */
  readonly scored: number;
  readonly solved: number;
}

/**
 * Returns the solved share at each step in which the line has rollouts. It covers this step and as many steps before it
 * as are needed for `window` rollouts; early in a run there may be fewer.
 */
export function solvedShares(steps: readonly (Tally & { readonly x: number })[], window: number): readonly Spot[] {
  const known = steps.filter(({ scored }) => scored > 0);
  let [from, solved, scored] = [0, 0, 0];
  return known.map((step, at) => {
    solved += step.solved;
    scored += step.scored;
    for (let oldest = known[from]; oldest !== undefined && from < at; oldest = known[from]) {
      if (scored - oldest.scored < window) break;
      solved -= oldest.solved;
      scored -= oldest.scored;
      from++;
    }
    return { x: step.x, y: solved / scored };
  });
}
