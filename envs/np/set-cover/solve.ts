/** The exact solver, in the environment's words. */
import type { Solver } from "../../environment.ts";
import type { SetCoverInstance } from "./instance.ts";
import type { Cover } from "./parse.ts";
import { solveSetCover } from "./solve/index.ts";

export const solver: Solver<SetCoverInstance, Cover> = {
  solve(instance, nodesMax = nodesMaxDefault(instance)) {
    const { cover, ...rest } = solveSetCover(instance.subsets, nodesMax);
    return { answer: cover, ...rest };
  },
  /** All subsets. */
  trivial: ({ subsets }) => subsets.rows,
};

/** A node costs about subsets × elements: this keeps 200 of each to about a second, and is never reached at 30 and 40. */
function nodesMaxDefault({ subsets }: SetCoverInstance): number {
  return Math.ceil(5e8 / (subsets.rows * subsets.columns));
}
