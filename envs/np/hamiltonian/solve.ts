/** The exact solver, in the environment's words. */
import type { Solver } from "../../environment.ts";
import type { Graph } from "../../lib/graph.ts";
import type { Cycle } from "./parse.ts";
import { longestCycle } from "./solve/index.ts";

export const solver: Solver<Graph, Cycle> = {
  solve(graph, nodesMax) {
    const { cycle, ...rest } = longestCycle(graph, nodesMax === undefined ? {} : { nodesMax });
    return { answer: cycle, ...rest };
  },
  trivial: () => 0,
};
