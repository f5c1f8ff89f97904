/** Seeded graphs of every kind that the solver must stand. */
import { emptyGraph, type Graph, graphOf, join, joinRandomly, neighbours, pairs } from "../../../../envs/lib/graph.ts";
import { type Rng, rngFor } from "../../../../envs/lib/rng.ts";

function random(n: number, density: number, rng: Rng): Graph {
  const graph = emptyGraph(n);
  joinRandomly(graph, density, rng);
  return graph;
}

/** Two sides, one larger than the other by up to three: the smaller separates the larger into single vertices. */
function bipartite(n: number, rng: Rng): Graph {
  const small = Math.max(1, Math.floor(n / 2) - rng.int(0, 1));
  const graph = emptyGraph(n);
  joinRandomly(graph, 0.7, rng, (a, b) => a < small !== b < small);
  return graph;
}

/** Dense lots that share single vertices or edges, in a row: blocks, and separators of two. */
function chain(n: number, rng: Rng): Graph {
  const graph = emptyGraph(n);
  const lot = rng.int(3, 5);
  joinRandomly(graph, 0.9, rng, (a, b) => Math.abs(Math.floor(a / lot) - Math.floor(b / lot)) === 0 || b - a === 1);
  for (let v = lot; v < n; v += lot) if (rng.int(0, 1) === 1 && v >= 2) join(graph, v, v - 2);
  return graph;
}

/** Each vertex has about three neighbours: long cycles exist, but no bound is near. */
function cubic(n: number, rng: Rng): Graph {
  const graph = emptyGraph(n);
  for (let round = 0; round < 3; round++) {
    const order = rng.shuffle(Array.from({ length: n }, (_, v) => v));
    for (let i = 0; i + 1 < n; i += 2) join(graph, order[i]!, order[i + 1]!);
  }
  return graph;
}

/** Few vertices joined to all, and nothing else but some edges among the rest. */
function hubs(n: number, rng: Rng): Graph {
  const count = rng.int(1, Math.max(1, Math.floor(n / 3)));
  const graph = emptyGraph(n);
  for (const [a, b] of pairs(n)) if (a < count || rng.int(1, 8) === 1) join(graph, a, b);
  return graph;
}

/** Generators by name, one for each kind. */
export const kinds: Readonly<Record<string, (n: number, rng: Rng) => Graph>> = {
  "random, density 0.15": (n, rng) => random(n, 0.15, rng),
  "random, density 0.25": (n, rng) => random(n, 0.25, rng),
  "random, density 0.4": (n, rng) => random(n, 0.4, rng),
  "random, density 0.8": (n, rng) => random(n, 0.8, rng),
  empty: (n) => emptyGraph(n),
  complete: (n, rng) => random(n, 1, rng),
  bipartite,
  chain,
  cubic,
  hubs,
};

/** The graph with its vertices called otherwise. */
export function relabelled(graph: Graph, seed: number): Graph {
  const names = rngFor("relabel", seed).shuffle(Array.from({ length: graph.vertices }, (_, v) => v));
  const lists: number[][] = names.map(() => []);
  for (const [v, name] of names.entries()) lists[name] = neighbours(graph, v).map((u) => names[u]!);
  return graphOf(lists);
}
