/** Verifies a cover, and returns facts only. */
import type { Facts } from "../../../../envs/facts.ts";
import { adjacent, type Graph, pairs } from "../../../../envs/lib/graph.ts";
import { type IndexList, indexProblem } from "../../../../envs/lib/parse-lists.ts";

/** Returns feasible if no vertex is listed twice and every edge has an end in the list, else the first fault. */
export function verify(graph: Graph, cover: IndexList): Facts {
  const violation = indexProblem(cover, graph.vertices, "vertex", "vertices") ?? openEdge(graph, cover);
  return violation === undefined ? { kind: "feasible", objective: cover.length } : { kind: "infeasible", violation };
}

export function openEdge(graph: Graph, cover: IndexList): string | undefined {
  const chosen = new Set(cover);
  for (const [a, b] of pairs(graph.vertices)) {
    if (adjacent(graph, a, b) && !chosen.has(a) && !chosen.has(b)) return `the edge of ${a} and ${b} is not covered`;
  }
  return undefined;
}
