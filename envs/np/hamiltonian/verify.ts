/** Verifies a cycle. Returns facts such as its length; rewards are computed elsewhere. */
import { type Facts, infeasible } from "../../facts.ts";
import { adjacent, type Graph } from "../../lib/graph.ts";
import { type CycleList, indexProblem } from "../../lib/parse-lists.ts";

/** Answer: vertices in the order of the visit, without the return to the first. */
export type Cycle = CycleList;

/**
 * Verifies a cycle. It is feasible if it has at least three different vertices, an edge joins each to the next, and one
 * joins the last to the first.
 */
export function verify(graph: Graph, cycle: Cycle): Facts {
  const violation = indexProblem(cycle, graph.vertices, "vertex", "vertices") ?? cycleProblem(graph, cycle);
  return violation === undefined ? { kind: "feasible", objective: cycle.length } : infeasible(violation);
}

/** Returns an error text if a list of different vertices is not a cycle, or undefined if it is one. */
function cycleProblem(graph: Graph, cycle: Cycle): string | undefined {
  if (cycle.length < 3) return `a cycle has at least 3 vertices, and this list has ${cycle.length}`;
  for (const [i, from] of cycle.entries()) {
    const to = cycle[(i + 1) % cycle.length] as number;
    if (!adjacent(graph, from, to)) return `no edge joins vertices ${from} and ${to}`;
  }
  return undefined;
}
