/**
 * Finds a long cycle as the papers' public code does. From every vertex, a path continues to the neighbour with the
 * fewest unvisited neighbours. The path is closed at the earliest vertex that its end is joined to. Then missing
 * vertices are inserted between consecutive ones.
 */
import { adjacent, type Graph, neighbours } from "../../lib/graph.ts";
import type { Cycle } from "./verify.ts";

/** Returns the longest cycle found, or undefined if no path closes to a cycle of at least 3 vertices. */
export function heuristic(graph: Graph): Cycle | undefined {
  let best: Cycle = [];
  for (let start = 0; start < graph.vertices && best.length < graph.vertices; start++) {
    const cycle = widened(graph, closed(graph, pathFrom(graph, start)));
    if (cycle.length > best.length) best = cycle;
  }
  return best.length === 0 ? undefined : best;
}

function pathFrom(graph: Graph, start: number): readonly number[] {
  const path = [start];
  const visited = new Set(path);
  for (;;) {
    const open = neighbours(graph, path.at(-1) as number).filter((v) => !visited.has(v));
    if (open.length === 0) return path;
    const waysOut = open.map((v) => neighbours(graph, v).filter((u) => !visited.has(u)).length);
    const next = open[waysOut.indexOf(Math.min(...waysOut))] as number;
    path.push(next);
    visited.add(next);
  }
}

function closed(graph: Graph, path: readonly number[]): Cycle {
  const end = path.at(-1) as number;
  const cycle = path.slice(path.findIndex((v) => v === end || adjacent(graph, v, end)));
  return cycle.length < 3 ? [] : cycle;
}

function widened(graph: Graph, cycle: Cycle): Cycle {
  for (let v = 0; v < graph.vertices; v++) {
    if (cycle.includes(v)) continue;
    const fits = (u: number, i: number): boolean =>
      adjacent(graph, u, v) && adjacent(graph, cycle[(i + 1) % cycle.length] as number, v);
    const place = cycle.findIndex(fits);
    if (place >= 0) return widened(graph, [...cycle.slice(0, place + 1), v, ...cycle.slice(place + 1)]);
  }
  return cycle;
}
