/** A certified bound without search. */
import { matrixFor, provesAbove } from "./certificate.ts";
import type { Node } from "./node.ts";
import { sumVectors, sweep } from "./relaxation.ts";
import type { Relaxation } from "./relaxation.ts";

const SWEEPS = 300;

/** The best whole bound up to `most` that a node's relaxation proves for its cuts. */
export function rootBound(relaxation: Relaxation, root: Node, most: number): number {
  const { problem } = root;
  for (let sweeps = 0; sweeps < SWEEPS; sweeps++) {
    if (sweeps % 5 === 0) sumVectors(relaxation, root);
    sweep(relaxation, root);
  }
  const matrix = matrixFor(problem.n);
  // No cut is below 0.
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    // A cut above middle − 1 is at least middle.
    const agreement = problem.total - 2 * (middle - 1);
    if (provesAbove(relaxation, root, -2 * (agreement - root.agreement), matrix)) low = middle;
    else high = middle - 1;
  }
  return low;
}
