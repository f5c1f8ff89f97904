/**
 * Maximum cliques: branch and bound over bitsets, with colourings as bounds (San Segundo, Rodríguez-Losada and Jiménez,
 * "An exact bit-parallel algorithm for the maximum clique problem", 2011).
 */
import type { Graph } from "../graph.ts";
import { cliqueGreedily } from "./greedy.ts";
import { coreFirst } from "./order.ts";
import { explore } from "./search.ts";
import { searchOf } from "./state.ts";

export interface CliqueSolution {
  /** Pairwise adjacent vertices, ascending. */
  readonly clique: readonly number[];
  /** Certified: no clique is larger. Equal to the clique's size when proven. */
  readonly bound: number;
  readonly proven: boolean;
  /** Branch-and-bound nodes searched. */
  readonly nodes: number;
}

/** About a second at 200 vertices, and never reached at 50. */
export const CLIQUE_NODES_MAX = 300_000;

/** A maximum clique of a graph with at least one vertex; the largest found with a bound where the nodes run out. */
export function maxClique(graph: Graph, nodesMax: number): CliqueSolution {
  const order = coreFirst(graph);
  const search = searchOf(graph, order, nodesMax);
  cliqueGreedily(search);
  explore(search, 0, graph.vertices);
  const { best, size, openBound, nodes } = search;
  const clique = Array.from(best.subarray(0, size), (v) => order[v] as number).sort((a, b) => a - b);
  const bound = Math.max(size, openBound);
  return { clique, bound, proven: bound === size, nodes };
}
