/** Instances as plain JSON, for solvers outside: what the scripts in cpsat/ read. */
import { onesOf } from "../../envs/lib/bit-matrix.ts";
import { adjacent, pairs } from "../../envs/lib/graph.ts";
import type { Graph } from "../../envs/lib/graph.ts";
import type { SetCoverInstance } from "../../envs/np/set-cover/instance.ts";

function plainGraph(graph: Graph): unknown {
  return { vertices: graph.vertices, edges: [...pairs(graph.vertices)].filter(([a, b]) => adjacent(graph, a, b)) };
}

function plainCover({ subsets }: SetCoverInstance): unknown {
  return { elements: subsets.columns, subsets: Array.from({ length: subsets.rows }, (_, row) => onesOf(subsets, row)) };
}

/** By environment; the script has the same name. */
export const plain: Readonly<Record<string, (instance: never) => unknown>> = {
  "np/clique": plainGraph,
  "np/independent-set": plainGraph,
  "np/coloring": plainGraph,
  "np/set-cover": plainCover,
};
