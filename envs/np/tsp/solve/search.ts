import { ascend, excessOf, multipliers } from "./ascent.ts";
import type { AscentPlan, Multipliers } from "./ascent.ts";
import { blameEdge, chooseEdge } from "./branching.ts";
import { propagate } from "./propagate.ts";
import { computeRises, rises } from "./rises.ts";
import type { Rises } from "./rises.ts";
import { forbid, free, require, required, undoTo } from "./sparse-graph.ts";
import type { SparseGraph } from "./sparse-graph.ts";
import { evaluateSparse, loadDecisions, sparseTree } from "./sparse-tree.ts";
import type { SparseTree } from "./sparse-tree.ts";

/** Depth-first branch and bound over the edges of a sparse graph (Volgenant and Jonker 1982). */
export interface Search {
  readonly graph: SparseGraph;
  readonly scale: number;
  readonly tree: SparseTree;
  readonly rises: Rises;
  readonly multipliers: Multipliers;
  readonly evaluate: (pi: Int32Array) => number;
  /** How many branches on edges at each vertex were closed at once. */
  readonly blame: Int32Array;
  /** Tours up to this scaled cost are looked for; a node whose bound exceeds it is closed. */
  cutoff: number;
  nodes: number;
  /** Nodes are left open from this count on. */
  nodesMax: number;
  /** The least bound of the nodes left open; Infinity when the search was complete. */
  openBound: number;
  /** Edges of the best tour found, at cost cutoff + scale. */
  found: readonly number[] | undefined;
}

const nodePlan: AscentPlan = { iterations: 20, stepFirst: 0.8, shrink: 0.7, patience: 4 };

export function search(graph: SparseGraph, scale: number, cutoff: number): Search {
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
    nodesMax: 0,
    openBound: Infinity,
    found: undefined,
  };
}

/**
 * Explores the node that the graph's decisions make; `bound` is what is known of it so far.
 * False when it was closed without branching.
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

/** Ascent, then decisions by bound, until there are none; Infinity when the node is closed. */
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

/** Settles every edge that, decided against the 1-tree, would lift the bound over the cutoff. */
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

/** Keeps the tour that the required edges, or they and the 1-tree, make; closes the node. */
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
