/** The exact solver, in the environment's words. */
import type { Solver } from "../../environment.ts";
import { complement } from "../../lib/graph.ts";
import type { Graph } from "../../lib/graph.ts";
import { CLIQUE_NODES_MAX, maxClique } from "../../lib/max-clique/index.ts";
import type { IndependentSet } from "./parse.ts";

export const solver: Solver<Graph, IndependentSet> = {
  /** The independent sets of a graph are the cliques of its complement. */
  solve(graph, nodesMax = CLIQUE_NODES_MAX) {
    const { clique, ...rest } = maxClique(complement(graph), nodesMax);
    return { answer: clique, value: clique.length, ...rest };
  },
  /** Any one vertex. */
  trivial: () => 1,
};
