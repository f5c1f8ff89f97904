/**
 * Generates random graphs. Harder levels have separators: vertices whose removal splits the graph into at least as many
 * parts as there are separators. A cycle may then be unable to visit all parts.
 */
import { defineGenerator } from "../../define.ts";
import { edgeCount, emptyGraph, type Graph, join, joinAll, joinRandomly, pairs, reachable } from "../../lib/graph.ts";
import { type Rng, sample } from "../../lib/rng.ts";
import {
  defineParameters,
  laterSwitch,
  minMax,
  type Range,
  ranges,
  share,
  sizeAxis,
  wholeNumber,
} from "../../parameters.ts";

const parameters = defineParameters({
  ...minMax("vertices", ["Fewest vertices.", "Most vertices."], [15, 20], { min: 3, max: 60, integer: true }),
  density: share(
    "The mean share of all pairs of vertices that an edge joins. It is lower if the separators allow fewer edges.",
    0.2,
  ),
  ...minMax(
    "separators",
    [
      "Fewest separators: vertices whose removal splits the graph into as many parts as separators, plus the surplus. 0: none.",
      "Most separators.",
    ],
    [0, 0],
    { min: 0, max: 12, integer: true },
  ),
  ...minMax(
    "surplus",
    [
      "Fewest parts beyond the number of separators. A cycle must leave out this many parts.",
      "Most parts beyond the number of separators.",
    ],
    [0, 0],
    { min: 0, max: 12, integer: true },
  ),
  part_max: wholeNumber("Most vertices of a part, except for one part, which has all remaining vertices.", 1, [1, 10]),
  reference: laterSwitch(
    "1: graphs as the papers' public code makes them: a cycle through all vertices, and an edge between each other pair with the probability density.",
  ),
});

function level(name: string, vertices: Range, density: number, separators: Range, surplus: Range, part_max: number) {
  const parts = separators[1] > 0 ? ", with parts that no cycle can visit all" : "";
  const description = `${vertices.join(" to ")} vertices, ${100 * density}% of the pairs joined${parts}`;
  return { name, description, parameters: { ...ranges({ vertices, separators, surplus }), density, part_max } };
}

export const generator = defineGenerator({
  parameters,
  axes: [sizeAxis("vertices", [5, 60])],
  // Levels of the FORGE paper, section A.5.6, and `reference` from its public code.
  levels: [
    level("easy", [15, 20], 0.2, [0, 0], [0, 0], 1),
    level("medium", [20, 30], 0.3, [0, 0], [0, 0], 1),
    level("hard", [30, 40], 0.4, [4, 8], [0, 3], 2),
    level("benchmark", [40, 50], 0.5, [6, 12], [0, 4], 2),
    {
      name: "reference",
      description: "as the papers' public code makes its benchmark: 40 to 50 vertices, a cycle planted, density 0.5",
      parameters: {
        ...ranges({ vertices: [40, 50], separators: [0, 0], surplus: [0, 0] }),
        density: 0.5,
        part_max: 1,
        reference: 1,
      },
      byName: true,
    },
  ],
  generate(p, rng) {
    const vertices = rng.int(p.vertices_min, p.vertices_max);
    if (p.reference === 1) return withCycle(vertices, p.density, rng);
    const separators = rng.int(p.separators_min, p.separators_max);
    const surplus = rng.int(p.surplus_min, p.surplus_max);
    const parts = randomParts(vertices, separators, separators === 0 ? 0 : surplus, p.part_max, rng);
    if (parts === undefined) return undefined;
    const graph = joined(vertices, parts, p.density, rng);
    return hasCycle(graph) ? graph : undefined;
  },
});

/**
 * Puts the vertices at random into parts, or among the separators that join the parts. Returns each vertex's part, or
 * −1 for a separator. Part 0 gets the remaining vertices. Returns undefined if there are too few vertices.
 */
function randomParts(
  vertices: number,
  separators: number,
  surplus: number,
  partMax: number,
  rng: Rng,
): Int32Array | undefined {
  const partOf = new Int32Array(vertices);
  const order = sample(vertices, vertices, rng);
  let placed = 0;
  const place = (count: number, part: number): void => {
    for (const v of order.slice(placed, placed + count)) partOf[v] = part;
    placed += count;
  };
  place(separators, -1);
  for (let part = 1; part < separators + surplus; part++) place(rng.int(1, partMax), part);
  return placed < vertices ? partOf : undefined;
}

/**
 * Joins vertices at random to vertices of their own part and to separators. The probability is chosen so that the whole
 * graph has the requested density.
 */
function joined(vertices: number, partOf: Int32Array, density: number, rng: Rng): Graph {
  const graph = emptyGraph(vertices);
  const allowed = (a: number, b: number): boolean => partOf[a] === -1 || partOf[b] === -1 || partOf[a] === partOf[b];
  const all = [...pairs(vertices)];
  const probability = (density * all.length) / all.filter(([a, b]) => allowed(a, b)).length;
  joinRandomly(graph, probability, rng, allowed);
  // Join every vertex of a small part to every other. A small part that fell apart would create more parts than
  // requested.
  const members = Map.groupBy(partOf.keys(), (v) => partOf[v] as number);
  for (const [part, own] of members) if (part > 0) joinAll(graph, own);
  return graph;
}

/** Returns whether the graph contains any cycle, which it does if it has more edges than a forest. */
function hasCycle(graph: Graph): boolean {
  const seen = new Set<number>();
  let trees = 0;
  for (let v = 0; v < graph.vertices; v++) {
    if (seen.has(v)) continue;
    trees++;
    for (const u of reachable(graph, v)) seen.add(u);
  }
  return edgeCount(graph) > graph.vertices - trees;
}

/**
 * Generates a cycle through all vertices and adds random edges, as the papers' public code does (OliverLeeXZ/NP-Engine,
 * NP_tasks/hamiltonian_cycle).
 */
function withCycle(vertices: number, density: number, rng: Rng): Graph {
  const graph = emptyGraph(vertices);
  const order = sample(vertices, vertices, rng);
  for (const [i, v] of order.entries()) join(graph, v, order[(i + 1) % vertices] as number);
  joinRandomly(graph, density, rng);
  return graph;
}
