/** Computes the solved share of a line of a run's charts over a window of its last rollouts. */

/**
 * Windows that a reader may choose, in rollouts of one line. The first one is the default. 0: each step of the chart
 * stands alone.
 */
export const WINDOWS = [64, 256, 1024, 0] as const;

/**
 * Returns a function to call for each step of a chart, with the line's number of rollouts that have a reward, and of
 * solved ones. The function returns the solved share of this step and of as many earlier steps as are needed for
 * `window` rollouts. Undefined: the step has no such rollouts, or the server does not send how many are solved.
 */
export function solvedShares(window: number): (scored: number, solved: number | undefined) => number | undefined {
  const steps: { readonly scored: number; readonly solved: number }[] = [];
  const total = { scored: 0, solved: 0 };
  return (scored, solved) => {
    if (scored === 0 || solved === undefined) return undefined;
    steps.push({ scored, solved });
    total.scored += scored;
    total.solved += solved;
    for (let [oldest] = steps; oldest && steps.length > 1 && total.scored - oldest.scored >= window; [oldest] = steps) {
      total.scored -= oldest.scored;
      total.solved -= oldest.solved;
      steps.shift();
    }
    return total.solved / total.scored;
  };
}
