/**
 * Proves that a tour is optimal. Holds a tour, a bound, and the root's 1-tree data for each edge, and closes the gap
 * between tour and bound.
 */
import { type Instance, lengthAtLeast } from "./one-tree.ts";
import { explore, search, type Search, settleAll } from "./search.ts";
import { sparseGraph, type SparseGraph } from "./sparse-graph.ts";
import { kickTour, type LinKernighan, setTour, tourCost } from "./tour.ts";

export interface Proof {
  readonly instance: Instance;
  /** Local search that holds the best tour. */
  readonly local: LinKernighan;
  readonly random: () => number;
  /** Multipliers and scaled bound of the root. `excess` has the rise of the bound if a tour must use the edge. */
  readonly pi: Int32Array;
  readonly rootBound: number;
  readonly excess: Int32Array;
  /** Scaled cost of the best tour. */
  upper: number;
  /** Lower bound on the length of every tour. */
  bound: number;
  nodes: number;
  readonly nodesMax: number;
}

/** Number of nodes after which a search first restarts. The restart uses the counts of closed branches. */
const restartFirst = 20000000;
const kicksFirst = 0;
/** Share of the way from the bound to the current tour that the first guess covers. */
const guessShare = 1 / 16;

/**
 * Raises the bound by guesses, and asks for each whether a tour is shorter than bound + step. The optimum is mostly
 * within 1% of the bound, where few edges survive. Refuting a guess is then cheap. If a better tour exists, the search
 * finds it far sooner than local search would.
 */
export function prove(p: Proof): void {
  const { scale } = p.instance;
  let step = p.upper / scale;
  while (p.bound * scale < p.upper) {
    const limit = Math.min(p.upper, (p.bound + step) * scale);
    if (!searchBelow(p, limit)) return;
    step *= 2;
  }
}

/** Searches for the shortest tour that costs less than `limit`. Returns false if the nodes ran out. */
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
      // The bound of an open node is at most the cutoff, so this value stays below the current tour.
      p.bound = Math.max(p.bound, lengthAtLeast(s.openBound, scale));
      return false;
    }
    p.upper = kickTour(p.local, p.random, kicks, p.bound * scale);
    if (p.upper === p.bound * scale) return true;
    s.cutoff = Math.min(s.cutoff, p.upper - scale);
  }
}

/** Returns the graph of the edges that a tour of cost at most `cutoff` may use, judged by the root's bound. */
function survivors(p: Proof, cutoff: number): SparseGraph {
  const { n, cost } = p.instance;
  const pairs: number[] = [];
  for (let i = 1; i < n; i++) {
    for (let j = 0; j < i; j++) if (p.rootBound + p.excess[i * n + j]! <= cutoff) pairs.push(i, j);
  }
  return sparseGraph(n, pairs, cost);
}

/** Searches from the root for at most `budget` nodes, and stores the tour found. */
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
