/**
 * Generates random graphs with a planted colouring (FORGE A.5.10). A clique across the colour classes makes the
 * colouring optimal, and the graph is connected. Without both, most easy graphs would be bipartite.
 */
import { defineGenerator } from "../../define.ts";
import {
  adjacent,
  connect,
  edgeCount,
  emptyGraph,
  type Graph,
  join,
  joinAll,
  joinRandomly,
  pairs,
} from "../../lib/graph.ts";
import { type Rng, sample } from "../../lib/rng.ts";
import { defineParameters, laterSwitch, minMax, type Range, ranges, share, sizeAxis } from "../../parameters.ts";

const COUNT = { min: 2, max: 70, integer: true };

const parameters = defineParameters({
  ...minMax("vertices", ["Fewest vertices.", "Most vertices."], [8, 12], COUNT),
  ...minMax(
    "colors",
    ["Fewest colours of the planted colouring.", "Most colours of the planted colouring."],
    [3, 4],
    COUNT,
  ),
  density: share(
    "Share of all pairs of vertices that an edge joins. It is higher if the planted clique or a connected graph needs more edges, and lower if the colours allow fewer.",
    0.2,
  ),
  reference: laterSwitch(
    "1: graphs as the papers' public code makes them. Vertices get random colours, and each two of different colours are joined with the probability density. No clique is planted, and the graph may be disconnected.",
  ),
});

function level(name: string, vertices: Range, colors: Range, density: number) {
  return {
    name,
    description: `${vertices.join(" to ")} vertices, ${colors.join(" to ")} colours, density ${density}`,
    parameters: { ...ranges({ vertices, colors }), density },
  };
}

export const generator = defineGenerator({
  parameters,
  axes: [sizeAxis("vertices", [6, 70])],
  // Levels of the FORGE paper, section A.5.10, and `reference` from its public code.
  levels: [
    level("easy", [8, 12], [3, 4], 0.2),
    level("medium", [15, 22], [4, 6], 0.35),
    level("hard", [25, 32], [6, 8], 0.5),
    level("benchmark", [32, 40], [6, 8], 0.5),
    {
      name: "reference",
      description: "as the papers' public code makes its benchmark: 32 to 40 vertices, 6 to 8 colours, density 0.5",
      parameters: { ...ranges({ vertices: [32, 40], colors: [6, 8] }), density: 0.5, reference: 1 },
      byName: true,
    },
  ],
  generate({ vertices_min, vertices_max, colors_min, colors_max, density, reference }, rng) {
    const graph = emptyGraph(rng.int(vertices_min, vertices_max));
    const { vertices } = graph;
    const colors = rng.int(colors_min, Math.min(colors_max, vertices));
    if (reference === 1) return joinColors(graph, colors, density, rng);
    const order = sample(vertices, vertices, rng);
    const color = new Int32Array(vertices);
    // Put one vertex of each colour into the clique. The other vertices get a random colour.
    for (const [i, v] of order.entries()) color[v] = i < colors ? i : rng.int(0, colors - 1);
    const allowed = (a: number, b: number): boolean => color[a] !== color[b];
    joinAll(graph, order.slice(0, colors));
    connect(graph, rng, allowed);
    const missing = Math.round((density * vertices * (vertices - 1)) / 2) - edgeCount(graph);
    const open = [...pairs(vertices)].filter(([a, b]) => allowed(a, b) && !adjacent(graph, a, b));
    for (const [a, b] of rng.shuffle(open).slice(0, Math.max(0, missing))) join(graph, a, b);
    return graph;
  },
  conflict({ colors_min, vertices_min }) {
    if (colors_min <= vertices_min) return undefined;
    return `colors_min must not be above vertices_min: ${colors_min} > ${vertices_min}`;
  },
});

/** Generates edges as the papers' public code does (OliverLeeXZ/NP-Engine, NP_tasks/GCP_D). */
function joinColors(graph: Graph, colors: number, density: number, rng: Rng): Graph {
  const color = Array.from({ length: graph.vertices }, () => rng.int(1, colors));
  joinRandomly(graph, density, rng, (a, b) => color[a] !== color[b]);
  return graph;
}
