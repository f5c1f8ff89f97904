/**
 * Generates random graphs with a planted independent set (FORGE A.5.9). The graph may happen to contain a larger
 * independent set.
 */
import { defineGenerator } from "../../define.ts";
import { emptyGraph, type Graph, join, joinRandomly } from "../../lib/graph.ts";
import { type Rng, sample } from "../../lib/rng.ts";
import { defineParameters, laterSwitch, minMax, type Range, ranges, sizeAxis } from "../../parameters.ts";

const COUNT = { min: 1, max: 128, integer: true };
const EDGE = "probability of an edge between two vertices that are not both in the planted set.";

const parameters = defineParameters({
  ...minMax("vertices", ["Fewest vertices.", "Most vertices."], [12, 20], COUNT),
  ...minMax(
    "set",
    ["Size of the smallest independent set planted.", "Size of the largest independent set planted."],
    [4, 8],
    COUNT,
  ),
  ...minMax("density", [`Least ${EDGE}`, `Greatest ${EDGE}`], [0.15, 0.25], { min: 0, max: 1, integer: false }),
  reference: laterSwitch(
    "1: graphs as the papers' public code makes them, where each vertex outside of the planted set has a neighbour in it.",
  ),
});

/** Builds a level. The papers do not specify the density (FORGE A.5.9). */
function level(name: string, vertices: Range, set: Range) {
  const planted = `an independent set of ${set.join(" to ")} planted`;
  return {
    name,
    description: `${vertices.join(" to ")} vertices, ${planted}, density 0.15 to 0.25`,
    parameters: ranges({ vertices, set, density: [0.15, 0.25] }),
  };
}

export const generator = defineGenerator({
  parameters,
  axes: [sizeAxis("vertices", [10, 128])],
  levels: [
    level("easy", [12, 20], [4, 8]),
    level("medium", [20, 30], [8, 12]),
    level("hard", [30, 40], [12, 16]),
    level("benchmark", [40, 50], [16, 20]),
    {
      name: "reference",
      description:
        "as the papers' public code makes its benchmark: 40 to 50 vertices, an independent set of 16 to 20 planted, density 0.4",
      parameters: { ...ranges({ vertices: [40, 50], set: [16, 20], density: [0.4, 0.4] }), reference: 1 },
      byName: true,
    },
  ],
  generate(p, rng) {
    const graph = emptyGraph(rng.int(p.vertices_min, p.vertices_max));
    const size = rng.int(p.set_min, Math.min(p.set_max, graph.vertices));
    const set = new Set(sample(graph.vertices, size, rng));
    if (p.reference === 1) tieToSet(graph, [...set], rng);
    const density = p.density_min + (p.density_max - p.density_min) * rng.float();
    joinRandomly(graph, density, rng, (a, b) => !(set.has(a) && set.has(b)));
    return graph;
  },
  conflict({ set_min, vertices_min }) {
    if (set_min <= vertices_min) return undefined;
    return `set_min must not be above vertices_min: ${set_min} > ${vertices_min}`;
  },
});

/**
 * Joins each vertex outside the planted set to a random vertex in it, as the papers' public code does
 * (OliverLeeXZ/NP-Engine, NP_tasks/maximum_set).
 */
function tieToSet(graph: Graph, set: readonly number[], rng: Rng): void {
  for (let v = 0; v < graph.vertices; v++) if (!set.includes(v)) join(graph, v, rng.pick(set));
}
