/** Random graphs, each pair joined with the same probability. */
import { defineGenerator } from "../../../../envs/define.ts";
import { emptyGraph, joinRandomly } from "../../../../envs/lib/graph.ts";
import { defineParameters, minMax, type Range, ranges } from "../../../../envs/parameters.ts";

const parameters = defineParameters({
  ...minMax("vertices", ["Fewest vertices.", "Most vertices."], [6, 10], { min: 1, max: 100, integer: true }),
  density: { description: "Probability of an edge.", min: 0, max: 1, defaultValue: 0.4, integer: false },
});

function level(name: string, vertices: Range) {
  return {
    name,
    description: `${vertices.join(" to ")} vertices, density 0.4`,
    parameters: { ...ranges({ vertices }), density: 0.4 },
  };
}

export const generator = defineGenerator({
  parameters,
  levels: [level("easy", [6, 10]), level("hard", [20, 30])],
  generate({ vertices_min, vertices_max, density }, rng) {
    const graph = emptyGraph(rng.int(vertices_min, vertices_max));
    joinRandomly(graph, density, rng);
    return graph;
  },
});
