/** What is known of the optimum: a tour, a bound, and what the root's 1-tree says of each edge. */
import { type Instance, lengthAtLeast } from "./one-tree.ts";
import { explore, search, type Search, settleAll } from "./search.ts";
import { sparseGraph, type SparseGraph } from "./sparse-graph.ts";
import { kickTour, type LinKernighan, setTour, tourCost } from "./tour.ts";

export interface Proof {
  readonly instance: Instance;
  /** Holds the best tour. */
  readonly local: LinKernighan;
  readonly random: () => number;
  /** The root's multipliers, its scaled bound, and the rise if an edge must be used. */
  readonly pi: Int32Array;
  readonly rootBound: number;
  readonly excess: Int32Array;
  /** Scaled cost of the best tour. */
  upper: number;
  /** No tour is shorter than this length. */
  bound: number;
  nodes: number;
  readonly nodesMax: number;
}

/** Nodes before a search starts again with what it learnt about where branches close. */
const restartFirst = 200;
const kicksFirst = 60;
/** The first guess reaches this share of the way from the bound to the tour at hand. */
const guessShare = 1 / 16;

/**
 * Raises the bound in guesses: is there a tour shorter than bound + step? The optimum is mostly
 * within 1% of the bound, where few edges survive, so that refuting a guess is cheap and a
 * good tour is found by the search, which local search would take far longer to find.
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

/** Looks for the shortest tour under the limit; false when the node budget ran out. */
function searchBelow(p: Proof, limit: number): boolean {
  const { scale } = p.instance;
  const graph = survivors(p, limit - scale);
  if (!settleAll(graph)) {
    p.bound = limit / scale;
    return true;
  }
  const s = search(graph, scale, limit - scale);
  for (let budget = restartFirst, kicks = kicksFirst; ; budget *= 2, kicks *= 2) {
    run(p, s, budget);
    if (s.openBound === Infinity) {
      p.bound = Math.min(limit, p.upper) / scale;
      return true;
    }
    if (p.nodes >= p.nodesMax) {
      // An open node's bound is within the cutoff, so this stays below the tour at hand.
      p.bound = Math.max(p.bound, lengthAtLeast(s.openBound, scale));
      return false;
    }
    p.upper = kickTour(p.local, p.random, kicks, p.bound * scale);
    if (p.upper === p.bound * scale) return true;
    s.cutoff = Math.min(s.cutoff, p.upper - scale);
  }
}

/** The edges that a tour of cost at most `cutoff` can have by the root's bound. */
function survivors(p: Proof, cutoff: number): SparseGraph {
  const { n, cost } = p.instance;
  const pairs: number[] = [];
  for (let i = 1; i < n; i++) {
    for (let j = 0; j < i; j++) if (p.rootBound + p.excess[i * n + j]! <= cutoff) pairs.push(i, j);
  }
  return sparseGraph(n, pairs, cost);
}

/** Searches from the root for at most `budget` nodes, and takes over the tour found. */
function run(p: Proof, s: Search, budget: number): void {
  const before = s.nodes;
  s.nodesMax = before + Math.min(budget, p.nodesMax - p.nodes);
  s.openBound = Infinity;
  s.multipliers.best.set(p.pi);
  explore(s, p.rootBound);
  p.nodes += s.nodes - before;
  if (s.found === undefined || s.cutoff + s.scale >= p.upper) return;
  setTour(p.local.tour, orderOf(s.graph, s.found));
  p.upper = tourCost(p.instance.cost, p.local.tour.city);
}

/** Walks the tour that n edges make, from city 0. */
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
