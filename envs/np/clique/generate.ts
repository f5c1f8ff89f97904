/**
 * Generates random graphs with a planted clique (FORGE A.5.8). The graph may happen to contain a larger clique, so the
 * baseline comes from a solver.
 */
import { defineGenerator } from "../../define.ts";
import { emptyGraph, joinAll, joinRandomly } from "../../lib/graph.ts";
import { sample } from "../../lib/rng.ts";
import { defineParameters, laterSwitch, minMax, type Range, ranges, share, sizeAxis } from "../../parameters.ts";
import { generateReference } from "./reference.ts";

const parameters = defineParameters({
  ...minMax("vertices", ["Fewest vertices.", "Most vertices."], [4, 8], { min: 2, max: 128, integer: true }),
  ...minMax(
    "clique",
    ["Size of the smallest clique planted.", "Size of the largest clique planted; always smaller than the graph."],
    [2, 4],
    { min: 1, max: 127, integer: true },
  ),
  density: share("Probability of an edge between two vertices that are not both in the planted clique.", 0.5),
  reference: laterSwitch("1: graphs as the papers' public code makes them; the density has no effect."),
});

/** Builds a level. The papers do not specify the density (FORGE A.5.8). */
function level(name: string, vertices: Range, clique: Range) {
  return {
    name,
    description: `${vertices[0]} to ${vertices[1]} vertices, a clique of ${clique[0]} to ${clique[1]} planted, density 0.5`,
    parameters: { ...ranges({ vertices, clique }), density: 0.5 },
  };
}

export const generator = defineGenerator({
  parameters,
  axes: [sizeAxis("vertices", [6, 128])],
  levels: [
    level("easy", [4, 8], [2, 4]),
    level("medium", [8, 12], [2, 4]),
    level("hard", [12, 16], [2, 6]),
    level("benchmark", [16, 20], [4, 8]),
    {
      name: "reference",
      description: "as the papers' public code makes its benchmark: 16 to 20 vertices, a clique of 4 to 8 planted",
      parameters: { ...ranges({ vertices: [16, 20], clique: [4, 8] }), density: 0.5, reference: 1 },
      byName: true,
    },
  ],
  generate(p, rng) {
    if (p.reference === 1) return generateReference(p, rng);
    const { vertices_min, vertices_max, clique_min, clique_max, density } = p;
    const graph = emptyGraph(rng.int(vertices_min, vertices_max));
    // A clique of the whole graph would leave nothing to find.
    const size = rng.int(clique_min, Math.min(clique_max, graph.vertices - 1));
    joinAll(graph, sample(graph.vertices, size, rng));
    joinRandomly(graph, density, rng);
    return graph;
  },
  conflict({ clique_min, vertices_min }) {
    if (clique_min < vertices_min) return undefined;
    return `clique_min must be below vertices_min: ${clique_min} ≥ ${vertices_min}`;
  },
});
