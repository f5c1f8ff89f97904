/** What holds of a colouring: facts only. */
import type { Facts } from "../../environment.ts";
import { neighbours } from "../../lib/graph.ts";
import type { Graph } from "../../lib/graph.ts";
import type { Coloring } from "./parse.ts";

/** Feasible if each vertex has a colour and none has a neighbour's. Else the first thing wrong. */
export function verify(graph: Graph, coloring: Coloring): Facts {
  const violation = problem(graph, coloring);
  if (violation !== undefined) return { kind: "infeasible", violation };
  return { kind: "feasible", objective: new Set(coloring).size };
}

function problem(graph: Graph, coloring: Coloring): string | undefined {
  const { vertices } = graph;
  if (coloring.length !== vertices) return `the list has ${coloring.length} colors, and the graph ${vertices} vertices`;
  for (let v = 0; v < vertices; v++) {
    const w = neighbours(graph, v).find((other) => coloring[other] === coloring[v]);
    if (w !== undefined) return `vertices ${v} and ${w} are joined, and both have color ${coloring[v]}`;
  }
  return undefined;
}
