/** Random graphs with an independent set planted (FORGE A.5.9). Chance may leave a larger one. */
import type { Generator } from "../../environment.ts";
import { emptyGraph, joinRandomly } from "../../lib/graph.ts";
import type { Graph } from "../../lib/graph.ts";
import { sample } from "../../lib/sample.ts";

export const generator: Generator<Graph> = {
  draw(parameters, rng) {
    const p = parameters as Readonly<Record<Name, number>>;
    const graph = emptyGraph(rng.int(p.vertices_min, p.vertices_max));
    const size = rng.int(p.set_min, Math.min(p.set_max, graph.vertices));
    const set = new Set(sample(graph.vertices, size, rng));
    const density = p.density_min + (p.density_max - p.density_min) * rng.float();
    joinRandomly(graph, density, rng, (a, b) => !(set.has(a) && set.has(b)));
    return graph;
  },
};

type Name = "vertices_min" | "vertices_max" | "set_min" | "set_max" | "density_min" | "density_max";
