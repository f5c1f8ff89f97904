/** Random graphs with a clique planted (FORGE A.5.8). Chance may make a larger one: the baseline does not rely on it. */
import type { Generator, Level, ParameterInfo, Parameters } from "../../environment.ts";
import { emptyGraph, type Graph, joinAll, joinRandomly } from "../../lib/graph.ts";
import { sample } from "../../lib/rng.ts";
import { minAboveMax } from "../../parameters.ts";

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

// The generator's parameters, and the papers' levels (FORGE A.5.8), which leave the density open.

const VERTICES = { min: 2, max: 128, integer: true } as const;
const CLIQUE = { min: 1, max: 127, integer: true } as const;
const DENSITY = { min: 0, max: 1, integer: false } as const;

export const parameters: readonly ParameterInfo[] = [
  { name: "vertices_min", description: "Fewest vertices.", defaultValue: 4, ...VERTICES },
  { name: "vertices_max", description: "Most vertices.", defaultValue: 8, ...VERTICES },
  { name: "clique_min", description: "Size of the smallest clique planted.", defaultValue: 2, ...CLIQUE },
  {
    name: "clique_max",
    description: "Size of the largest clique planted; always smaller than the graph.",
    defaultValue: 4,
    ...CLIQUE,
  },
  {
    name: "density",
    description: "Probability of an edge between two vertices that are not both in the planted clique.",
    defaultValue: 0.5,
    ...DENSITY,
  },
];

/** What is wrong with parameters that are each in range. */
export function checkParameters(values: Parameters): string | undefined {
  const { clique_min, vertices_min } = values as { readonly clique_min: number; readonly vertices_min: number };
  if (clique_min < vertices_min) return minAboveMax(values);
  return `clique_min must be below vertices_min: ${clique_min} ≥ ${vertices_min}`;
}

function level(name: string, vertices: readonly [number, number], clique: readonly [number, number]): Level {
  return {
    name,
    description: `${vertices[0]} to ${vertices[1]} vertices, a clique of ${clique[0]} to ${clique[1]} planted, density 0.5`,
    parameters: {
      ...{ vertices_min: vertices[0], vertices_max: vertices[1] },
      ...{ clique_min: clique[0], clique_max: clique[1] },
      density: 0.5,
    },
  };
}

export const levels: readonly Level[] = [
  level("easy", [4, 8], [2, 4]),
  level("medium", [8, 12], [2, 4]),
  level("hard", [12, 16], [2, 6]),
  level("benchmark", [16, 20], [4, 8]),
];
