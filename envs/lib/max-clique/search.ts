import { colour } from "./colour.ts";
import { narrow, record } from "./state.ts";
import type { Search } from "./state.ts";

/** Explores the node of the `depth` vertices chosen; no clique that contains them is larger than `bound`. */
export function explore(s: Search, depth: number, bound: number): void {
  if (s.nodes >= s.nodesMax) {
    s.openBound = Math.max(s.openBound, bound);
    return;
  }
  s.nodes++;
  const start = depth * s.vertices;
  for (let at = start + colour(s, depth) - 1; at >= start; at--) {
    // All candidates up to this one are coloured with so many colours, and a clique takes one of each.
    const reach = depth + s.colours[at]!;
    if (reach <= s.size) return;
    const v = s.branches[at]!;
    s.chosen[depth] = v;
    if (narrow(s, depth, v)) explore(s, depth + 1, reach);
    else if (depth + 1 > s.size) record(s, depth + 1);
    s.candidates[depth * s.words + (v >>> 5)]! &= ~(1 << (v & 31));
  }
}
