/**
 * Random graphs with a colouring planted (FORGE A.5.10). A clique across its classes makes it optimal, and the graph is
 * connected: without either, most easy graphs would be bipartite.
 */
import type { Generator } from "../../environment.ts";
import { adjacent, connect, edgeCount, emptyGraph, join, joinAll, pairs } from "../../lib/graph.ts";
import type { Graph } from "../../lib/graph.ts";
import { sample } from "../../lib/sample.ts";

export const generator: Generator<Graph> = {
  draw(parameters, rng) {
    const { vertices_min, vertices_max, colors_min, colors_max, density } = parameters as Readonly<
      Record<Name, number>
    >;
    const graph = emptyGraph(rng.int(vertices_min, vertices_max));
    const { vertices } = graph;
    const colors = rng.int(colors_min, Math.min(colors_max, vertices));
    const order = sample(vertices, vertices, rng);
    const color = new Int32Array(vertices);
    // One vertex of each class is in the clique; the others choose their class.
    for (const [i, v] of order.entries()) color[v] = i < colors ? i : rng.int(0, colors - 1);
    const allowed = (a: number, b: number): boolean => color[a] !== color[b];
    joinAll(graph, order.slice(0, colors));
    connect(graph, rng, allowed);
    const missing = Math.round((density * vertices * (vertices - 1)) / 2) - edgeCount(graph);
    const open = [...pairs(vertices)].filter(([a, b]) => allowed(a, b) && !adjacent(graph, a, b));
    for (const [a, b] of rng.shuffle(open).slice(0, Math.max(0, missing))) join(graph, a, b);
    return graph;
  },
};

type Name = "vertices_min" | "vertices_max" | "colors_min" | "colors_max" | "density";
