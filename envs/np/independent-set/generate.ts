/** Random graphs with an independent set planted (FORGE A.5.9). Chance may leave a larger one. */
import type { Generator, Level, ParameterInfo, Parameters } from "../../environment.ts";
import { emptyGraph, type Graph, joinRandomly } from "../../lib/graph.ts";
import { sample } from "../../lib/rng.ts";
import { minAboveMax } from "../../parameters.ts";

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

// The generator's parameters, and the papers' levels (FORGE A.5.9), which leave the density open.

const COUNT = { min: 1, max: 128, integer: true } as const;
const DENSITY = { min: 0, max: 1, integer: false } as const;
const EDGE = "probability of an edge between two vertices that are not both in the planted set.";

export const parameters: readonly ParameterInfo[] = [
  { name: "vertices_min", description: "Fewest vertices.", defaultValue: 12, ...COUNT },
  { name: "vertices_max", description: "Most vertices.", defaultValue: 20, ...COUNT },
  { name: "set_min", description: "Size of the smallest independent set planted.", defaultValue: 4, ...COUNT },
  { name: "set_max", description: "Size of the largest independent set planted.", defaultValue: 8, ...COUNT },
  { name: "density_min", description: `Least ${EDGE}`, defaultValue: 0.15, ...DENSITY },
  { name: "density_max", description: `Greatest ${EDGE}`, defaultValue: 0.25, ...DENSITY },
];

/** What is wrong with parameters that are each in range. */
export function checkParameters(values: Parameters): string | undefined {
  const { set_min, vertices_min } = values as { readonly set_min: number; readonly vertices_min: number };
  if (set_min <= vertices_min) return minAboveMax(values);
  return `set_min must not be above vertices_min: ${set_min} > ${vertices_min}`;
}

function level(name: string, verticesMin: number, verticesMax: number, setMin: number, setMax: number): Level {
  const planted = `an independent set of ${setMin} to ${setMax} planted`;
  return {
    name,
    description: `${verticesMin} to ${verticesMax} vertices, ${planted}, density 0.15 to 0.25`,
    parameters: {
      ...{ vertices_min: verticesMin, vertices_max: verticesMax, set_min: setMin, set_max: setMax },
      ...{ density_min: 0.15, density_max: 0.25 },
    },
  };
}

export const levels: readonly Level[] = [
  level("easy", 12, 20, 4, 8),
  level("medium", 20, 30, 8, 12),
  level("hard", 30, 40, 12, 16),
  level("benchmark", 40, 50, 16, 20),
];
