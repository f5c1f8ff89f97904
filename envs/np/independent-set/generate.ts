/** Random graphs with an independent set planted (FORGE A.5.9). Chance may leave a larger one. */
import { defineGenerator } from "../../define.ts";
import { emptyGraph, joinRandomly } from "../../lib/graph.ts";
import { sample } from "../../lib/rng.ts";
import { defineParameters, minMax, type Range, ranges } from "../../parameters.ts";

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
});

/** The papers leave the density open (FORGE A.5.9). */
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
  levels: [
    level("easy", [12, 20], [4, 8]),
    level("medium", [20, 30], [8, 12]),
    level("hard", [30, 40], [12, 16]),
    level("benchmark", [40, 50], [16, 20]),
  ],
  generate(p, rng) {
    const graph = emptyGraph(rng.int(p.vertices_min, p.vertices_max));
    const size = rng.int(p.set_min, Math.min(p.set_max, graph.vertices));
    const set = new Set(sample(graph.vertices, size, rng));
    const density = p.density_min + (p.density_max - p.density_min) * rng.float();
    joinRandomly(graph, density, rng, (a, b) => !(set.has(a) && set.has(b)));
    return graph;
  },
  conflict({ set_min, vertices_min }) {
    if (set_min <= vertices_min) return undefined;
    return `set_min must not be above vertices_min: ${set_min} > ${vertices_min}`;
  },
});
