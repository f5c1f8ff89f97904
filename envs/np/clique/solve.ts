/** The exact solver, in the environment's words. */
import type { Solver } from "../../environment.ts";
import type { Graph } from "../../lib/graph.ts";
import { CLIQUE_NODES_MAX, maxClique } from "../../lib/max-clique/index.ts";
import type { Clique } from "./parse.ts";

export const solver: Solver<Graph, Clique> = {
  solve(graph, nodesMax = CLIQUE_NODES_MAX) {
    const { clique, ...rest } = maxClique(graph, nodesMax);
    return { answer: clique, value: clique.length, ...rest };
  },
  /** Any one vertex. */
  trivial: () => 1,
};
