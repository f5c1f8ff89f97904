/**
 * Proves that a tour is optimal. Holds a tour, a bound, and the root's 1-tree data for each edge, and closes the gap
 * between tour and bound.
 */
import { type Instance, lengthAtLeast } from "./one-tree.ts";
import { explore, search, settleAll } from "./search.ts";
import { sparseGraph, type SparseGraph } from "./sparse-graph.ts";
import { type IndexedTour, setTour, tourCost } from "./tour.ts";

export interface Proof {
  readonly instance: Instance;
  /** The best tour found. */
  readonly tour: IndexedTour;
  /** Multipliers at the root of the search tree. */
  readonly pi: Int32Array;
  /** Lower bound at the root of the search tree, in scaled units. */
  readonly rootBound: number;
  /** For each edge, how far the bound rises if a tour must use the edge. */
  readonly excess: Int32Array;
  /** Scaled cost of the best tour. */
  upper: number;
  /** Lower bound on the length of every tour. */
  bound: number;
  nodes: number;
  readonly nodesMax: number;
}

/**
 * First step from the bound to a guess of the optimum, as a share of the gap between the bound and the length of the
 * current tour.
 */
const guessShare = 1 / 16;

/**
 * Raises the bound by guesses: searches for a tour shorter than bound + step, and doubles the step each time. The
 * optimum is mostly within 1% of the bound, where few edges survive. Refuting a guess is then cheap. If a better tour
 * exists, the search finds it far sooner than local search would.
 */
export function prove(p: Proof): void {
  const { scale } = p.instance;
  let step = Math.max(1, Math.floor((p.upper / scale - p.bound) * guessShare));
  while (p.bound * scale < p.upper) {
    const limit = Math.min(p.upper, (p.bound + step) * scale);
    if (!searchBelow(p, limit)) return;
    step *= 2;
  }
}

/** Searches for the shortest tour that costs less than `limit`. Returns false if the nodes ran out. */
function searchBelow(p: Proof, limit: number): boolean {
  const { scale, cost } = p.instance;
  const graph = survivors(p, limit - scale);
  if (!settleAll(graph)) {
    p.bound = limit / scale;
    return true;
  }
  const s = search(graph, scale, limit - scale, p.nodesMax - p.nodes);
  s.multipliers.best.set(p.pi);
  explore(s, p.rootBound);
  p.nodes += s.nodes;
  if (s.found !== undefined) {
    setTour(p.tour, orderOf(graph, s.found));
    p.upper = tourCost(cost, p.tour.city);
  }
  // The bound of an open node is at most the cutoff, so this value stays below the current tour.
  const isComplete = s.openBound === Infinity;
  p.bound = isComplete ? Math.min(limit, p.upper) / scale : Math.max(p.bound, lengthAtLeast(s.openBound, scale));
  return isComplete;
}

/** Returns the graph of the edges that a tour of cost at most `cutoff` may use according to the root's bound. */
function survivors(p: Proof, cutoff: number): SparseGraph {
  const { n, cost } = p.instance;
  const pairs: number[] = [];
  for (let i = 1; i < n; i++) {
    for (let j = 0; j < i; j++) if (p.rootBound + p.excess[i * n + j]! <= cutoff) pairs.push(i, j);
  }
  return sparseGraph(n, pairs, cost);
}

/** Returns the cities, from city 0, in the order of the tour that n edges make. */
function orderOf(graph: SparseGraph, edges: readonly number[]): number[] {
  const neighbours: number[][] = Array.from({ length: graph.n }, () => []);
  for (const edge of edges) {
    neighbours[graph.tail[edge]!]!.push(graph.head[edge]!);
    neighbours[graph.head[edge]!]!.push(graph.tail[edge]!);
  }
  const order = [0];
  for (let last = -1, at = 0; order.length < graph.n;) {
    const [a, b] = neighbours[at] as [number, number];
    const to = a === last ? b : a;
    last = at;
    at = to;
    order.push(at);
  }
  return order;
}
