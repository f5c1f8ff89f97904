/** What holds of an independent set: facts only. */
import type { Facts } from "../../facts.ts";
import { adjacent, type Graph } from "../../lib/graph.ts";
import { type IndexList as IndependentSet, indexProblem } from "../../lib/lists.ts";

/** Feasible if there is a vertex, none is listed twice, and no two are joined. Else the first thing wrong. */
export function verify(graph: Graph, set: IndependentSet): Facts {
  const violation = indexProblem(set, graph.vertices, "vertex", "vertices") ?? problem(graph, set);
  return violation === undefined ? { kind: "feasible", objective: set.length } : { kind: "infeasible", violation };
}

function problem(graph: Graph, set: IndependentSet): string | undefined {
  if (set.length === 0) return "an independent set has at least one vertex";
  for (const [i, b] of set.entries()) {
    for (let before = 0; before < i; before++) {
      const a = set[before] as number;
      if (adjacent(graph, a, b)) return `vertices ${a} and ${b} are joined`;
    }
  }
  return undefined;
}
