/** Random graphs with a clique planted (FORGE A.5.8). Chance may make a larger one: the baseline does not rely on it. */
import type { Generator } from "../../environment.ts";
import { emptyGraph, joinAll, joinRandomly } from "../../lib/graph.ts";
import type { Graph } from "../../lib/graph.ts";
import { sample } from "../../lib/sample.ts";

export const generator: Generator<Graph> = {
  draw(parameters, rng) {
    const { vertices_min, vertices_max, clique_min, clique_max, density } = parameters as Readonly<
      Record<Name, number>
    >;
    const graph = emptyGraph(rng.int(vertices_min, vertices_max));
    // The whole graph as a clique would leave nothing to find.
    const size = rng.int(clique_min, Math.min(clique_max, graph.vertices - 1));
    joinAll(graph, sample(graph.vertices, size, rng));
    joinRandomly(graph, density, rng);
    return graph;
  },
};

type Name = "vertices_min" | "vertices_max" | "clique_min" | "clique_max" | "density";
