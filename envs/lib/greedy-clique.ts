/** Finds large cliques without search. Adds vertices one by one, and swaps vertices while that makes room for more. */
import { adjacent, type Graph } from "./graph.ts";

/**
 * Grows a clique from each vertex in turn, and returns the vertices of the largest one, ascending. Empty for a graph
 * without vertices.
 */
export function greedyClique(graph: Graph): readonly number[] {
  let best: readonly number[] = [];
  for (let v = 0; v < graph.vertices; v++) {
    const found = swapped(graph, grown(graph, [v]));
    if (found.length > best.length) best = found;
  }
  return best.toSorted((a, b) => a - b);
}

/** Returns the vertices outside the clique that are adjacent to all of its vertices. */
function candidatesOf(graph: Graph, clique: readonly number[]): readonly number[] {
  const all = Array.from({ length: graph.vertices }, (_, v) => v);
  return all.filter((v) => !clique.includes(v) && clique.every((u) => adjacent(graph, u, v)));
}

/**
 * Adds vertices that are adjacent to the whole clique until there are none. Each time, adds the vertex that leaves the
 * most candidates.
 */
function grown(graph: Graph, start: readonly number[]): readonly number[] {
  const clique = [...start];
  let candidates = candidatesOf(graph, clique);
  while (candidates.length > 0) {
    let [next, most, left]: [number, number, readonly number[]] = [-1, -1, []];
    for (const v of candidates) {
      const open = candidates.filter((u) => u !== v && adjacent(graph, u, v));
      if (open.length > most) [next, most, left] = [v, open.length, open];
    }
    clique.push(next);
    candidates = left;
  }
  return clique;
}

/** Swaps one vertex for another if the clique can then grow, and repeats while it does. */
function swapped(graph: Graph, clique: readonly number[]): readonly number[] {
  for (const out of clique) {
    const rest = clique.filter((v) => v !== out);
    for (const into of candidatesOf(graph, rest)) {
      if (into === out) continue;
      const larger = grown(graph, [...rest, into]);
      if (larger.length > clique.length) return swapped(graph, larger);
    }
  }
  return clique;
}
