/** An independent exact method for small graphs, to check the solver against. */
import { neighbours } from "../../../../envs/lib/graph.ts";
import type { Graph } from "../../../../envs/lib/graph.ts";

/**
 * The vertices of a longest cycle, 0 if there is none, by dynamic programming over subsets: where paths that start at
 * the subset's highest vertex can end. 2^n · n steps.
 */
export function longestBySubsets(graph: Graph): number {
  const n = graph.vertices;
  const near = Array.from({ length: n }, (_, v) => neighbours(graph, v).reduce((mask, u) => mask | (1 << u), 0));
  const ends = new Uint32Array(2 ** n);
  let best = 0;
  for (let set = 1; set < 2 ** n; set++) {
    const first = 31 - Math.clz32(set);
    if (set === 1 << first) ends[set] = set;
    let size = 0;
    for (let v = 0; v < n; v++) {
      if (((set >> v) & 1) === 0) continue;
      size++;
      if (v !== first && (ends[set & ~(1 << v)]! & near[v]!) !== 0) ends[set]! |= 1 << v;
    }
    if (size >= 3 && (ends[set]! & near[first]!) !== 0) best = Math.max(best, size);
  }
  return best;
}
