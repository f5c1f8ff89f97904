/** The exact solver. The vertices outside a largest independent set are a smallest cover (Gallai 1959). */
import type { Solution } from "../../../../envs/environment.ts";
import { complement, type Graph } from "../../../../envs/lib/graph.ts";
import type { IndexList } from "../../../../envs/lib/parse-lists.ts";
import { CLIQUE_NODES_MAX, maxClique } from "../../../../envs/lib/max-clique.ts";

export function solve(graph: Graph, nodesMax = CLIQUE_NODES_MAX): Solution<IndexList> {
  const { answer: independent, bound, proven, nodes } = maxClique(complement(graph), nodesMax);
  const answer = Array.from({ length: graph.vertices }, (_, v) => v).filter((v) => !independent.includes(v));
  return { answer, value: answer.length, bound: graph.vertices - bound, proven, nodes };
}
