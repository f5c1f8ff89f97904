import { free, required } from "./sparse-graph.ts";
import type { SparseGraph } from "./sparse-graph.ts";

/**
 * The minimum 1-tree with every required and no forbidden edge, by Kruskal's algorithm. The
 * free edges stay sorted from one evaluation to the next, so that sorting them is cheap.
 */
export interface SparseTree {
  readonly graph: SparseGraph;
  readonly degree: Int32Array;
  /** Free edges by reduced cost. */
  readonly order: Int32Array;
  freeCount: number;
  readonly key: Int32Array;
  readonly inTree: Uint8Array;
  /** Component of each vertex: joined by required edges (base), and by the tree so far. */
  readonly base: Int32Array;
  readonly component: Int32Array;
  baseCost: number;
  leaf: number;
  /** The second edge at the leaf, which makes the spanning tree a 1-tree. */
  leafEdge: number;
  readonly seen: Uint8Array;
}

export function sparseTree(graph: SparseGraph): SparseTree {
  const { n, m } = graph;
  return {
    graph, degree: new Int32Array(n), order: new Int32Array(m), freeCount: 0,
    key: new Int32Array(m), inTree: new Uint8Array(m),
    base: new Int32Array(n), component: new Int32Array(n), baseCost: 0,
    leaf: -1, leafEdge: -1, seen: new Uint8Array(n),
  };
}

/** Takes over the graph's decisions; to be called before `evaluateSparse` whenever they changed. */
export function loadDecisions(tree: SparseTree): void {
  const { graph, base, order } = tree;
  const { n, m, status, tail, head, cost, trail } = graph;
  for (let v = 0; v < n; v++) base[v] = v;
  tree.baseCost = 0;
  for (let k = 0; k < graph.trailLength; k++) {
    const edge = trail[k]!;
    if (status[edge] !== required) continue;
    tree.baseCost += cost[edge]!;
    base[find(base, tail[edge]!)] = find(base, head[edge]!);
  }
  for (let v = 0; v < n; v++) base[v] = find(base, v);
  tree.freeCount = 0;
  for (let edge = 0; edge < m; edge++) if (status[edge] === free) order[tree.freeCount++] = edge;
}

function find(component: Int32Array, v: number): number {
  let root = v;
  for (let up = component[root]!; up !== root; up = component[root]!) {
    const above = component[up]!;
    component[root] = above;
    root = above;
  }
  return root;
}

/** The 1-tree's bound on the tours that keep the decisions; Infinity when there are none. */
export function evaluateSparse(tree: SparseTree, pi: Int32Array): number {
  const { degree, graph } = tree;
  sortFree(tree, pi);
  const spanned = span(tree);
  if (spanned === Infinity) return Infinity;
  let bound = spanned;
  for (let v = 0; v < graph.n; v++) bound += (degree[v]! - 2) * pi[v]!;
  return bound;
}

function sortFree(tree: SparseTree, pi: Int32Array): void {
  const { order, key, freeCount } = tree;
  const { tail, head, cost } = tree.graph;
  for (let k = 0; k < freeCount; k++) {
    const edge = order[k]!;
    const own = (cost[edge]! + pi[tail[edge]!]! + pi[head[edge]!]!) | 0;
    key[edge] = own;
    let slot = k;
    for (; slot > 0 && key[order[slot - 1]!]! > own; slot--) order[slot] = order[slot - 1]!;
    order[slot] = edge;
  }
}

/** Kruskal over the sorted free edges; returns the unreduced cost of the 1-tree. */
function span(tree: SparseTree): number {
  const { graph, order, inTree, base, component, degree, freeCount } = tree;
  const { n, tail, head, cost, requiredAt } = graph;
  component.set(base);
  degree.set(requiredAt);
  let sum = tree.baseCost;
  let missing = n - 1 - graph.requiredCount;
  let k = 0;
  for (; k < freeCount && missing > 0; k++) {
    const edge = order[k]!;
    const u = tail[edge]!;
    const v = head[edge]!;
    const a = find(component, u);
    const b = find(component, v);
    inTree[edge] = 0;
    if (a === b) continue;
    component[a] = b;
    inTree[edge] = 1;
    degree[u] = degree[u]! + 1;
    degree[v] = degree[v]! + 1;
    sum += cost[edge]!;
    missing--;
  }
  if (missing > 0) return Infinity;
  for (; k < freeCount; k++) inTree[order[k]!] = 0;
  return closeAtLeaf(tree, sum);
}

/** Adds the second edge of the leaf whose second edge is dearest: the last leaf met in order. */
function closeAtLeaf(tree: SparseTree, sum: number): number {
  const { graph, order, inTree, degree, seen, freeCount } = tree;
  const { n, tail, head } = graph;
  let leaves = 0;
  for (let v = 0; v < n; v++) {
    seen[v] = degree[v] === 1 ? 0 : 1;
    if (degree[v] === 1) leaves++;
  }
  for (let k = 0; k < freeCount; k++) {
    const edge = order[k]!;
    if (inTree[edge] === 1) continue;
    for (let v = tail[edge]!, last = head[edge]!; ; v = last) {
      if (seen[v] === 0) {
        seen[v] = 1;
        tree.leaf = v;
        tree.leafEdge = edge;
        leaves--;
      }
      if (v === last) break;
    }
    if (leaves === 0) break;
  }
  if (leaves > 0) return Infinity;
  inTree[tree.leafEdge] = 1;
  for (const v of [tail[tree.leafEdge]!, head[tree.leafEdge]!]) degree[v] = degree[v]! + 1;
  return sum + graph.cost[tree.leafEdge]!;
}
