/**
 * Random graphs with a colouring planted (FORGE A.5.10). A clique across its classes makes it optimal, and the graph is
 * connected: without either, most easy graphs would be bipartite.
 */
import type { Generator, Level, ParameterInfo, Parameters } from "../../environment.ts";
import { adjacent, connect, edgeCount, emptyGraph, type Graph, join, joinAll, pairs } from "../../lib/graph.ts";
import { sample } from "../../lib/rng.ts";
import { minAboveMax } from "../../parameters.ts";

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

// The generator's parameters, and the papers' levels (FORGE A.5.10).

const COUNT = { min: 2, max: 70, integer: true } as const;

export const parameters: readonly ParameterInfo[] = [
  { name: "vertices_min", description: "Fewest vertices.", defaultValue: 8, ...COUNT },
  { name: "vertices_max", description: "Most vertices.", defaultValue: 12, ...COUNT },
  { name: "colors_min", description: "Fewest colours that a graph may take.", defaultValue: 3, ...COUNT },
  { name: "colors_max", description: "Most colours that a graph may take.", defaultValue: 4, ...COUNT },
  {
    name: "density",
    description:
      "Share of all pairs of vertices that are joined. More are where the planted clique or connecting the graph takes more, fewer where the colours allow no more.",
    ...{ min: 0, max: 1, defaultValue: 0.2, integer: false },
  },
];

/** What is wrong with parameters that are each in range. */
export function checkParameters(values: Parameters): string | undefined {
  const { colors_min, vertices_min } = values as { readonly colors_min: number; readonly vertices_min: number };
  if (colors_min <= vertices_min) return minAboveMax(values);
  return `colors_min must not be above vertices_min: ${colors_min} > ${vertices_min}`;
}

interface Sizes {
  readonly vertices: readonly [number, number];
  readonly colors: readonly [number, number];
  readonly density: number;
}

function level(name: string, { vertices, colors, density }: Sizes): Level {
  return {
    name,
    description: `${vertices.join(" to ")} vertices, ${colors.join(" to ")} colours, density ${density}`,
    parameters: {
      ...{ vertices_min: vertices[0], vertices_max: vertices[1], colors_min: colors[0], colors_max: colors[1] },
      density,
    },
  };
}

export const levels: readonly Level[] = [
  level("easy", { vertices: [8, 12], colors: [3, 4], density: 0.2 }),
  level("medium", { vertices: [15, 22], colors: [4, 6], density: 0.35 }),
  level("hard", { vertices: [25, 32], colors: [6, 8], density: 0.5 }),
  level("benchmark", { vertices: [32, 40], colors: [6, 8], density: 0.5 }),
];
