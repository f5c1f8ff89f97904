/** Instances as plain JSON, for solvers outside: what the scripts in cpsat/ read. */
import { onesOf } from "../../envs/lib/bit-matrix.ts";
import { adjacent, type Graph, pairs } from "../../envs/lib/graph.ts";
import type { BisectionInstance } from "../../envs/np/bisection/generate.ts";
import type { KnapsackInstance } from "../../envs/np/knapsack/generate.ts";
import type { MeetingsInstance } from "../../envs/np/meetings/generate.ts";
import type { SetCoverInstance } from "../../envs/np/set-cover/generate.ts";
import type { SubsetSumInstance } from "../../envs/np/subset-sum/generate.ts";
import { distanceBetween, type TspInstance } from "../../envs/np/tsp/generate.ts";

function plainGraph(graph: Graph): unknown {
  return { vertices: graph.vertices, edges: [...pairs(graph.vertices)].filter(([a, b]) => adjacent(graph, a, b)) };
}

function plainCover({ subsets }: SetCoverInstance): unknown {
  return { elements: subsets.columns, subsets: Array.from({ length: subsets.rows }, (_, row) => onesOf(subsets, row)) };
}

function plainWeights({ vertices, edges }: BisectionInstance): unknown {
  return { vertices, edges: edges.map(({ a, b, weight }) => [a, b, weight]) };
}

function plainKnapsack({ capacity, weights, values }: KnapsackInstance): unknown {
  return { capacity, weights: [...weights], values: [...values] };
}

function plainSubsetSum({ target, numbers }: SubsetSumInstance): unknown {
  return { target, numbers: [...numbers] };
}

function plainDistances(instance: TspInstance): unknown {
  const cities = [...Array(instance.cities).keys()];
  return { distances: cities.map((a) => cities.map((b) => (a === b ? 0 : distanceBetween(instance, a, b)))) };
}

/** By environment; the script has the same name. */
export const plain: Readonly<Record<string, (instance: never) => unknown>> = {
  "np/clique": plainGraph,
  "np/independent-set": plainGraph,
  "np/coloring": plainGraph,
  "np/set-cover": plainCover,
  "np/hamiltonian": plainGraph,
  "np/bisection": plainWeights,
  "np/knapsack": plainKnapsack,
  "np/subset-sum": plainSubsetSum,
  "np/meetings": (instance: MeetingsInstance): unknown => instance,
  "np/tsp": plainDistances,
};
