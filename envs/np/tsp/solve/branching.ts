import type { Search } from "./search.ts";

/**
 * Of the 1-tree's free edges at vertices with too many: one where branches were closed most
 * often and most is decided already, and of those the one the bound can spare least. Without
 * the count of closed branches, a search whose obstacle lies in one corner (ties make such
 * instances) enumerates every other corner first: 20,000 nodes and more instead of hundreds.
 */
export function chooseEdge(s: Search): number {
  const { tree, graph, blame } = s;
  const { rise } = s.rises;
  const { requiredAt, tail, head } = graph;
  let best = -1;
  let bestWeight = -1;
  for (let k = 0; k < tree.freeCount; k++) {
    const edge = tree.order[k]!;
    if (tree.inTree[edge] === 0) continue;
    const u = tail[edge]!;
    const v = head[edge]!;
    if (tree.degree[u]! < 3 && tree.degree[v]! < 3) continue;
    const weight = blame[u]! + blame[v]! + requiredAt[u]! + requiredAt[v]!;
    if (weight < bestWeight || (weight === bestWeight && rise[edge]! <= rise[best]!)) continue;
    bestWeight = weight;
    best = edge;
  }
  return best;
}

/** Remembers that a decision on this edge closed its branch at once. */
export function blameEdge(s: Search, edge: number): void {
  const u = s.graph.tail[edge]!;
  const v = s.graph.head[edge]!;
  s.blame[u] = s.blame[u]! + 1;
  s.blame[v] = s.blame[v]! + 1;
}
