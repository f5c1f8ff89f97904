/** What holds of a clique: facts only. */
import type { Facts } from "../../facts.ts";
import { adjacent, type Graph } from "../../lib/graph.ts";
import { type IndexList as Clique, indexProblem } from "../../lib/lists.ts";

/** Feasible if there is a vertex, none is listed twice, and every two are joined. Else the first thing wrong. */
export function verify(graph: Graph, clique: Clique): Facts {
  const violation = indexProblem(clique, graph.vertices, "vertex", "vertices") ?? problem(graph, clique);
  return violation === undefined ? { kind: "feasible", objective: clique.length } : { kind: "infeasible", violation };
}

function problem(graph: Graph, clique: Clique): string | undefined {
  if (clique.length === 0) return "a clique has at least one vertex";
  for (const [i, b] of clique.entries()) {
    const a = clique.slice(0, i).find((other) => !adjacent(graph, other, b));
    if (a !== undefined) return `vertices ${a} and ${b} are not joined`;
  }
  return undefined;
}
