/**
 * Colours a graph by saturation (Brélaz 1979), with which the papers' public code also begins. The next vertex is the
 * one whose neighbours have the most colours. If several have equally many, the one with the most neighbours is next.
 * The vertex gets the first colour that no neighbour has.
 */
import { type Graph, neighbours } from "../../lib/graph.ts";
import type { Coloring } from "./verify.ts";

export function heuristic(graph: Graph): Coloring {
  const lists = Array.from({ length: graph.vertices }, (_, v) => neighbours(graph, v));
  const colors = new Int32Array(graph.vertices);
  const seen = lists.map(() => new Set<number>());
  for (let colored = 0; colored < graph.vertices; colored++) {
    let next = -1;
    for (const [v, list] of lists.entries()) {
      if (colors[v] !== 0) continue;
      const more = next < 0 || sizeOf(seen, v) > sizeOf(seen, next);
      const tied = next >= 0 && sizeOf(seen, v) === sizeOf(seen, next);
      if (more || (tied && list.length > (lists[next]?.length ?? 0))) next = v;
    }
    let color = 1;
    while (seen[next]?.has(color) === true) color++;
    colors[next] = color;
    for (const u of lists[next] ?? []) seen[u]?.add(color);
  }
  return [...colors];
}

function sizeOf(seen: readonly ReadonlySet<number>[], v: number): number {
  return seen[v]?.size ?? 0;
}
