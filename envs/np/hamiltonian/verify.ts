/** What holds of a cycle: facts only. */
import { type Facts, infeasible } from "../../facts.ts";
import { adjacent, type Graph } from "../../lib/graph.ts";
import { type CycleList, indexProblem } from "../../lib/lists.ts";

/** The vertices in the order they are visited, without the return to the first. */
export type Cycle = CycleList;

/** Feasible if at least three different vertices are each joined to the next, and the last to the first. */
export function verify(graph: Graph, cycle: Cycle): Facts {
  const violation = indexProblem(cycle, graph.vertices, "vertex", "vertices") ?? cycleProblem(graph, cycle);
  return violation === undefined ? { kind: "feasible", objective: cycle.length } : infeasible(violation);
}

/** What is wrong with a list of different vertices as a cycle; undefined: nothing. */
function cycleProblem(graph: Graph, cycle: Cycle): string | undefined {
  if (cycle.length < 3) return `a cycle has at least 3 vertices, and this list has ${cycle.length}`;
  for (const [i, from] of cycle.entries()) {
    const to = cycle[(i + 1) % cycle.length] as number;
    if (!adjacent(graph, from, to)) return `no edge joins vertices ${from} and ${to}`;
  }
  return undefined;
}
