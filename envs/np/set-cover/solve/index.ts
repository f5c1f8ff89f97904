/** Minimum set cover: branch and bound on the rarest element, with dominance on both sides. */
import type { BitMatrix } from "../../../lib/bit-matrix.ts";
import { subsetsAtLeastOverall } from "./bound.ts";
import { coverGreedily } from "./greedy.ts";
import { explore } from "./search.ts";
import { searchOf } from "./state.ts";

export interface CoverSolution {
  /** Ascending. */
  readonly cover: readonly number[];
  readonly value: number;
  /** Certified: no cover is smaller. */
  readonly bound: number;
  readonly proven: boolean;
  /** Branch-and-bound nodes searched. */
  readonly nodes: number;
}

/** A smallest choice of rows with a one in every column; each column has one. */
export function solveSetCover(subsets: BitMatrix, nodesMax: number): CoverSolution {
  const search = searchOf(subsets, nodesMax);
  coverGreedily(search);
  explore(search, 0, 0, 1);
  const { best, size, openBound, nodes } = search;
  const cover = Array.from(best.subarray(0, size)).sort((a, b) => a - b);
  // Where nodes were left open, their bounds are hardly better than the root's, which more work can raise.
  const bound = openBound < size ? Math.min(size, Math.max(openBound, subsetsAtLeastOverall(search, size))) : size;
  return { cover, value: size, bound, proven: bound === size, nodes };
}
