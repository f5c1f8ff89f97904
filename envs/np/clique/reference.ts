/**
 * Generates graphs as the papers' public code does (OliverLeeXZ/NP-Engine, NP_tasks/maximum_clique_problem). That code
 * plants an independent set and takes the complement. Its edge probabilities .6 and .3 are therefore those of a
 * *missing* edge here.
 */
import { emptyGraph, type Graph, join, pairs } from "../../lib/graph.ts";
import { type Rng, sample } from "../../lib/rng.ts";

/** Probability that no edge joins two vertices outside the planted clique. */
const MISSING_OUTSIDE = 0.6;
/**
 * Probability that no edge joins a vertex outside the planted clique to a vertex in it. In addition, no edge joins a
 * vertex outside to one vertex of the clique, which is chosen at random for each vertex outside.
 */
const MISSING_BETWEEN = 0.3;

interface Sizes {
  readonly vertices_min: number;
  readonly vertices_max: number;
  readonly clique_min: number;
  readonly clique_max: number;
}

export function generateReference(p: Sizes, rng: Rng): Graph {
  const graph = emptyGraph(rng.int(p.vertices_min, p.vertices_max));
  const size = Math.min(rng.int(p.clique_min, p.clique_max), graph.vertices);
  const order = sample(graph.vertices, graph.vertices, rng);
  const planted = new Set(order.slice(0, size));
  const apart = new Map(order.slice(size).map((v) => [v, rng.pick([...planted])]));
  for (const [a, b] of pairs(graph.vertices)) {
    const inside = Number(planted.has(a)) + Number(planted.has(b));
    if (inside === 1 && (apart.get(a) === b || apart.get(b) === a)) continue;
    const missing = inside === 2 ? 0 : inside === 1 ? MISSING_BETWEEN : MISSING_OUTSIDE;
    if (rng.float() >= missing) join(graph, a, b);
  }
  return graph;
}
