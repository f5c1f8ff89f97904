import { forbid, forbidden, free, require, required } from "./sparse-graph.ts";
import type { SparseGraph } from "./sparse-graph.ts";

/**
 * Draws the consequences of every new decision: a vertex with two required edges has no
 * other, a vertex with two allowed edges has both, and the ends of a required path are not
 * joined before the path holds every city. False when no tour is left.
 */
export function propagate(graph: SparseGraph): boolean {
  const { trail, tail, head, status } = graph;
  while (graph.drawn < graph.trailLength) {
    const at = graph.drawn++;
    const edge = trail[at]!;
    const isRequired = status[edge] === required;
    if (isRequired && !keepPathOpen(graph, at)) return false;
    if (!settle(graph, tail[edge]!, isRequired) || !settle(graph, head[edge]!, isRequired)) return false;
  }
  return true;
}

/** Forces the rest of a vertex once two of its edges are required, or only two are left. */
function settle(graph: SparseGraph, v: number, isRequired: boolean): boolean {
  const { first, incident, status, requiredAt, allowedAt } = graph;
  if (isRequired ? requiredAt[v] !== 2 : allowedAt[v] !== 2) return true;
  for (let k = first[v]!; k < first[v + 1]!; k++) {
    const edge = incident[k]!;
    if (status[edge] !== free) continue;
    if (!(isRequired ? forbid(graph, edge) : require(graph, edge))) return false;
  }
  return true;
}

/** Forbids the edge that would close the path made by the decision at this place of the trail. */
function keepPathOpen(graph: SparseGraph, at: number): boolean {
  const { n, trailEnds, first, incident, tail, head, status } = graph;
  if (graph.requiredCount >= n - 1) return true;
  const a = trailEnds[2 * at]!;
  const b = trailEnds[2 * at + 1]!;
  for (let k = first[a]!; k < first[a + 1]!; k++) {
    const edge = incident[k]!;
    if (status[edge] === forbidden || tail[edge]! + head[edge]! - a !== b) continue;
    if (status[edge] === free && !forbid(graph, edge)) return false;
  }
  return true;
}

/** Draws the consequences of the graph's shape itself; false when it has no tour. */
export function settleAll(graph: SparseGraph): boolean {
  for (let v = 0; v < graph.n; v++) {
    if (graph.allowedAt[v]! < 2 || !settle(graph, v, false)) return false;
  }
  return propagate(graph);
}
