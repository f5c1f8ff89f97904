/** Random graphs, and in harder ones separators whose removal leaves too many parts (SPEC.md section 2). */
import type { Generator } from "../../environment.ts";
import { edgeCount, emptyGraph, joinAll, joinRandomly, pairs, reachable } from "../../lib/graph.ts";
import type { Graph } from "../../lib/graph.ts";
import type { Rng } from "../../lib/rng.ts";
import { sample } from "../../lib/sample.ts";

export const generator: Generator<Graph> = {
  draw(parameters, rng) {
    const p = parameters as Readonly<Record<Name, number>>;
    const vertices = rng.int(p.vertices_min, p.vertices_max);
    const separators = rng.int(p.separators_min, p.separators_max);
    const surplus = rng.int(p.surplus_min, p.surplus_max);
    const parts = drawParts(vertices, separators, separators === 0 ? 0 : surplus, p.part_max, rng);
    if (parts === undefined) return undefined;
    const graph = joined(vertices, parts, p.density, rng);
    return hasCycle(graph) ? graph : undefined;
  },
};

type Name =
  | "vertices_min"
  | "vertices_max"
  | "density"
  | "separators_min"
  | "separators_max"
  | "surplus_min"
  | "surplus_max"
  | "part_max";

/** For each vertex its part, −1 for a separator; undefined: there are too few vertices. Part 0 gets what is left. */
function drawParts(
  vertices: number,
  separators: number,
  surplus: number,
  partMax: number,
  rng: Rng,
): Int32Array | undefined {
  const partOf = new Int32Array(vertices);
  const order = sample(vertices, vertices, rng);
  let placed = 0;
  const place = (count: number, part: number): void => {
    for (const v of order.slice(placed, placed + count)) partOf[v] = part;
    placed += count;
  };
  place(separators, -1);
  for (let part = 1; part < separators + surplus; part++) place(rng.int(1, partMax), part);
  return placed < vertices ? partOf : undefined;
}

/** Parts are joined within and to the separators, at random, so densely that the whole has the density asked for. */
function joined(vertices: number, partOf: Int32Array, density: number, rng: Rng): Graph {
  const graph = emptyGraph(vertices);
  const allowed = (a: number, b: number): boolean => partOf[a] === -1 || partOf[b] === -1 || partOf[a] === partOf[b];
  const all = [...pairs(vertices)];
  const probability = (density * all.length) / all.filter(([a, b]) => allowed(a, b)).length;
  joinRandomly(graph, probability, rng, allowed);
  // A small part that fell apart would be more parts than were asked for.
  const members = Map.groupBy(partOf.keys(), (v) => partOf[v] as number);
  for (const [part, own] of members) if (part > 0) joinAll(graph, own);
  return graph;
}

/** Whether there are more edges than a forest has. */
function hasCycle(graph: Graph): boolean {
  const seen = new Set<number>();
  let trees = 0;
  for (let v = 0; v < graph.vertices; v++) {
    if (seen.has(v)) continue;
    trees++;
    for (const u of reachable(graph, v)) seen.add(u);
  }
  return edgeCount(graph) > graph.vertices - trees;
}
