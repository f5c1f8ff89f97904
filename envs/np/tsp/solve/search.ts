/** Searches over the edges of a sparse graph by depth-first branch and bound (Volgenant and Jonker 1982). */
import { ascend, type AscentPlan, excessOf, multipliers, type Multipliers } from "./one-tree.ts";
import { forbid, forbidden, free, require, required, type SparseGraph, undoTo } from "./sparse-graph.ts";
import {
  computeRises,
  evaluateSparse,
  loadDecisions,
  rises,
  type Rises,
  sparseTree,
  type SparseTree,
} from "./sparse-tree.ts";

/**
 * Returns the edge to branch on: a free edge of the 1-tree at a vertex with more than two edges in the 1-tree. Prefers
 * edges where branches were often closed and much is decided already. With equal weights, prefers the edge whose
 * removal raises the bound most. The count of closed branches matters if all difficulty lies in one corner, as in
 * instances with many ties. Without this count, the search enumerates every other corner first: 20,000 nodes and more
 * instead of hundreds.
 */
function chooseEdge(s: Search): number {
  const { tree, graph, blame } = s;
  const { rise } = s.rises;
  const { requiredAt, tail, head } = graph;
  let best = -1;
  let bestWeight = -1;
  for (let k = 0; k < tree.freeCount; k++) {
    const edge = tree.order[k]!;
    if (tree.inTree[edge] === 0) continue;
    const u = tail[edge]!;
    const v = head[edge]!;
    if (tree.degree[u]! < 3 && tree.degree[v]! < 3) continue;
    const weight = blame[u]! + blame[v]! + requiredAt[u]! + requiredAt[v]!;
    if (weight < bestWeight || (weight === bestWeight && rise[edge]! <= rise[best]!)) continue;
    bestWeight = weight;
    best = edge;
  }
  return best;
}

/** Counts, at both ends of an edge, that a decision on this edge closed its branch of the search at once. */
function blameEdge(s: Search, edge: number): void {
  const u = s.graph.tail[edge]!;
  const v = s.graph.head[edge]!;
  s.blame[u] = s.blame[u]! + 1;
  s.blame[v] = s.blame[v]! + 1;
}

/**
 * Makes the decisions that follow from every new decision. A vertex with two required edges has no other edge. A vertex
 * with only two allowed edges needs both. The ends of a required path stay unjoined until the path contains every city.
 * Returns false if no tour is left.
 */
function propagate(graph: SparseGraph): boolean {
  const { trail, tail, head, status } = graph;
  while (graph.followed < graph.trailLength) {
    const at = graph.followed++;
    const edge = trail[at]!;
    const isRequired = status[edge] === required;
    if (isRequired && !keepPathOpen(graph, at)) return false;
    if (!settle(graph, tail[edge]!, isRequired) || !settle(graph, head[edge]!, isRequired)) return false;
  }
  return true;
}

/**
 * Decides the free edges of a vertex if its required or allowed edges leave no choice. If `isRequired` is true and two
 * edges are required, forbids the others. If it is false and only two edges are allowed, requires both. Returns false
 * if no tour is left.
 */
function settle(graph: SparseGraph, v: number, isRequired: boolean): boolean {
  const { first, incident, status, requiredAt, allowedAt } = graph;
  if (isRequired ? requiredAt[v] !== 2 : allowedAt[v] !== 2) return true;
  for (let k = first[v]!; k < first[v + 1]!; k++) {
    const edge = incident[k]!;
    if (status[edge] !== free) continue;
    if (!(isRequired ? forbid(graph, edge) : require(graph, edge))) return false;
  }
  return true;
}

/**
 * Forbids the edge that would close a path of required edges before it contains every city. `at` is the index in the
 * trail of the decision that made the path. Returns false if no tour is left.
 */
function keepPathOpen(graph: SparseGraph, at: number): boolean {
  const { n, trailEnds, first, incident, tail, head, status } = graph;
  if (graph.requiredCount >= n - 1) return true;
  const a = trailEnds[2 * at]!;
  const b = trailEnds[2 * at + 1]!;
  for (let k = first[a]!; k < first[a + 1]!; k++) {
    const edge = incident[k]!;
    if (status[edge] === forbidden || tail[edge]! + head[edge]! - a !== b) continue;
    if (status[edge] === free && !forbid(graph, edge)) return false;
  }
  return true;
}

/** Makes the decisions that follow from the number of edges at each vertex. Returns false if the graph has no tour. */
export function settleAll(graph: SparseGraph): boolean {
  for (let v = 0; v < graph.n; v++) {
    if (graph.allowedAt[v]! < 2 || !settle(graph, v, false)) return false;
  }
  return propagate(graph);
}

export interface Search {
  readonly graph: SparseGraph;
  readonly scale: number;
  readonly tree: SparseTree;
  readonly rises: Rises;
  readonly multipliers: Multipliers;
  readonly evaluate: (pi: Int32Array) => number;
  /** Number of decisions on edges at each vertex that closed their branch at once. */
  readonly blame: Int32Array;
  /** Maximum scaled cost of the tours searched for. The search closes a node whose bound exceeds it. */
  cutoff: number;
  nodes: number;
  /** Maximum number of nodes. The search then leaves the remaining nodes unexplored. */
  readonly nodesMax: number;
  /** Least bound of the nodes left unexplored. Infinity if the search was complete. */
  openBound: number;
  /** Edges of the shortest tour found, whose scaled cost is cutoff + scale. Undefined before a tour is found. */
  found: readonly number[] | undefined;
}

const nodePlan: AscentPlan = { iterations: 20, stepFirst: 0.8, shrink: 0.7, patience: 4 };

export function search(graph: SparseGraph, scale: number, cutoff: number, nodesMax: number): Search {
  const tree = sparseTree(graph);
  return {
    graph,
    scale,
    tree,
    rises: rises(graph.n, graph.m),
    multipliers: multipliers(graph.n),
    evaluate: (pi) => evaluateSparse(tree, pi),
    blame: new Int32Array(graph.n),
    cutoff,
    nodes: 0,
    nodesMax,
    openBound: Infinity,
    found: undefined,
  };
}

/**
 * Explores the node given by the graph's decisions. `bound` is the best bound known for the node. Returns false if the
 * node was closed without branching.
 */
export function explore(s: Search, bound: number): boolean {
  if (s.nodes >= s.nodesMax) {
    s.openBound = Math.min(s.openBound, bound);
    return true;
  }
  s.nodes++;
  const raised = tighten(s);
  if (raised === Infinity) return false;
  branch(s, Math.max(bound, raised));
  return true;
}

/**
 * Alternates subgradient ascent with decisions that the bound forces, until nothing changes. Returns the bound, or
 * Infinity if the node is closed.
 */
function tighten(s: Search): number {
  const { graph, tree, multipliers: m } = s;
  for (;;) {
    if (graph.requiredCount === graph.n) return record(s);
    loadDecisions(tree);
    ascend(m, tree.degree, s.evaluate, s.cutoff, nodePlan);
    const bound = evaluateSparse(tree, m.best);
    if (bound > s.cutoff) return Infinity;
    if (excessOf(tree.degree) === 0) return record(s);
    computeRises(s.rises, tree);
    const before = graph.trailLength;
    if (!decideByBound(s, bound) || !propagate(graph)) return Infinity;
    if (graph.trailLength === before) return bound;
  }
}

/**
 * Decides every edge for which the opposite decision would raise the bound above the cutoff. Returns false if no tour
 * is left.
 */
function decideByBound(s: Search, bound: number): boolean {
  const { graph, tree } = s;
  const { rise } = s.rises;
  const spare = s.cutoff - bound;
  for (let k = 0; k < tree.freeCount; k++) {
    const edge = tree.order[k]!;
    if (rise[edge]! <= spare) continue;
    if (!(tree.inTree[edge] === 1 ? require(graph, edge) : forbid(graph, edge))) return false;
  }
  return true;
}

function branch(s: Search, bound: number): void {
  const { best } = s.multipliers;
  const edge = chooseEdge(s);
  const pi = best.slice();
  tryDecision(s, edge, forbid, bound);
  if (bound > s.cutoff) return;
  best.set(pi);
  tryDecision(s, edge, require, bound);
}

function tryDecision(s: Search, edge: number, decide: typeof forbid, bound: number): void {
  const { graph } = s;
  const mark = graph.trailLength;
  if (!(decide(graph, edge) && propagate(graph) && explore(s, bound))) blameEdge(s, edge);
  undoTo(graph, mark);
}

/**
 * Stores the tour made of the required edges, with the 1-tree's free edges if needed, and closes the node. Returns
 * Infinity.
 */
function record(s: Search): number {
  const { graph, tree } = s;
  const complete = graph.requiredCount === graph.n;
  const edges: number[] = [];
  let cost = 0;
  for (let edge = 0; edge < graph.m; edge++) {
    const status = graph.status[edge]!;
    if (status !== required && (complete || status !== free || tree.inTree[edge] === 0)) continue;
    edges.push(edge);
    cost += graph.cost[edge]!;
  }
  if (cost <= s.cutoff) {
    s.found = edges;
    s.cutoff = cost - s.scale;
  }
  return Infinity;
}
