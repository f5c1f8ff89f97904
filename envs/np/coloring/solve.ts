/** The exact solver, in the environment's words. */
import type { Solver } from "../../environment.ts";
import type { Graph } from "../../lib/graph.ts";
import type { Coloring } from "./parse.ts";
import { solveColoring } from "./solve/index.ts";

/** About a second at 200 vertices, and never reached at 40. */
const NODES_MAX = 500_000;

export const solver: Solver<Graph, Coloring> = {
  solve(graph, nodesMax = NODES_MAX) {
    const { colours, ...rest } = solveColoring(graph, nodesMax);
    return { answer: colours.map((colour) => colour + 1), ...rest };
  },
  /** A colour for each vertex. */
  trivial: ({ vertices }) => vertices,
};
