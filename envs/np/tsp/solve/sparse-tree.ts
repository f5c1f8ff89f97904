/** Builds the minimum 1-tree that contains every required edge and no forbidden one, by Kruskal's algorithm. */
import { forbidden, free, required, type SparseGraph } from "./sparse-graph.ts";

export interface SparseTree {
  readonly graph: SparseGraph;
  readonly degree: Int32Array;
  /** Free (undecided) edges, by rising reduced cost. */
  readonly order: Int32Array;
  freeCount: number;
  readonly key: Int32Array;
  readonly inTree: Uint8Array;
  /** Representative of each vertex's component in the graph of only the required edges. */
  readonly base: Int32Array;
  /** Representative of each vertex's component in the tree so far. */
  readonly component: Int32Array;
  baseCost: number;
  leaf: number;
  /** Second edge at `leaf`, which makes the spanning tree a 1-tree. */
  leafEdge: number;
  /** 1 for a leaf of the tree whose second edge was not found yet, else 0. */
  readonly unmet: Uint8Array;
}

export function sparseTree(graph: SparseGraph): SparseTree {
  const { n, m } = graph;
  return {
    graph,
    degree: new Int32Array(n),
    order: new Int32Array(m),
    freeCount: 0,
    key: new Int32Array(m),
    inTree: new Uint8Array(m),
    base: new Int32Array(n),
    component: new Int32Array(n),
    baseCost: 0,
    leaf: -1,
    leafEdge: -1,
    unmet: new Uint8Array(n),
  };
}

/** Loads the graph's decisions into the tree. Call this before `evaluateSparse` after every change of the decisions. */
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

/** Returns the 1-tree's lower bound on the tours that keep the decisions, or Infinity if there is no such tour. */
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
    key[edge] = cost[edge]! + pi[tail[edge]!]! + pi[head[edge]!]!;
  }
  order.subarray(0, freeCount).sort((a, b) => key[a]! - key[b]!);
}

/**
 * Runs Kruskal's algorithm over the sorted free edges. Returns the cost of the 1-tree without multipliers, or Infinity
 * if the allowed edges contain no 1-tree.
 */
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

/**
 * Turns the spanning tree into a 1-tree: adds a second edge at the leaf whose cheapest second edge is dearest. That is
 * the last leaf to get one if the free edges are tried in the order of reduced cost. Returns the cost with that edge,
 * or Infinity if some leaf has no second edge.
 */
function closeAtLeaf(tree: SparseTree, sum: number): number {
  const { graph, order, inTree, degree, unmet, freeCount } = tree;
  const { n, tail, head, cost } = graph;
  let leaves = 0;
  for (let v = 0; v < n; v++) {
    unmet[v] = degree[v] === 1 ? 1 : 0;
    leaves += unmet[v]!;
  }
  for (let k = 0; k < freeCount && leaves > 0; k++) {
    const edge = order[k]!;
    if (inTree[edge] === 1) continue;
    leaves -= meet(tree, tail[edge]!, edge) + meet(tree, head[edge]!, edge);
  }
  if (leaves > 0) return Infinity;
  const edge = tree.leafEdge;
  inTree[edge] = 1;
  degree[tail[edge]!] = degree[tail[edge]!]! + 1;
  degree[head[edge]!] = degree[head[edge]!]! + 1;
  return sum + cost[edge]!;
}

/**
 * Called for the edges outside the tree in the order of reduced cost. If v is a leaf without a second edge, records
 * this edge as its second edge and returns 1. Otherwise returns 0.
 */
function meet(tree: SparseTree, v: number, edge: number): number {
  if (tree.unmet[v] === 0) return 0;
  tree.unmet[v] = 0;
  tree.leaf = v;
  tree.leafEdge = edge;
  return 1;
}

/**
 * For each free edge, how much the bound rises if the edge is decided contrary to the 1-tree: required if it is outside
 * the 1-tree, forbidden if it is inside. Infinity if no tour is then left.
 */
export interface Rises {
  readonly rise: Float64Array;
  readonly parent: Int32Array;
  readonly parentEdge: Int32Array;
  readonly depth: Int32Array;
  readonly queue: Int32Array;
}

export function rises(n: number, m: number): Rises {
  const array = (): Int32Array => new Int32Array(n);
  return { rise: new Float64Array(m), parent: array(), parentEdge: array(), depth: array(), queue: array() };
}

/** Fills `rise` for the 1-tree that was evaluated last. */
export function computeRises(out: Rises, tree: SparseTree): void {
  const { order, freeCount, inTree, key, leaf, leafEdge } = tree;
  const { tail, head } = tree.graph;
  const { rise } = out;
  root(out, tree);
  for (let k = 0; k < freeCount; k++) rise[order[k]!] = Infinity;
  let leafNext = Infinity;
  for (let k = 0; k < freeCount; k++) {
    const edge = order[k]!;
    if (inTree[edge] === 1) continue;
    if (tail[edge] === leaf || head[edge] === leaf) {
      leafNext = Math.min(leafNext, key[edge]!);
      rise[edge] = key[edge]! - key[leafEdge]!;
    } else rise[edge] = key[edge]! - coverPath(out, tree, edge);
  }
  rise[leafEdge] = leafNext - key[leafEdge]!;
  const stem = out.parentEdge[leaf]!;
  if (tree.graph.status[stem] !== required) rise[stem] = leafNext - key[stem]!;
}

/** Roots the spanning tree, without the leaf's second edge, at a vertex other than the leaf. */
function root(out: Rises, tree: SparseTree): void {
  const { n, first, incident, tail, head, status } = tree.graph;
  const { parent, parentEdge, depth, queue } = out;
  const top = tree.leaf === 0 ? n - 1 : 0;
  queue[0] = top;
  parent[top] = -1;
  parentEdge[top] = -1;
  depth[top] = 0;
  let reached = 1;
  for (let k = 0; k < reached; k++) {
    const v = queue[k]!;
    for (let i = first[v]!; i < first[v + 1]!; i++) {
      const edge = incident[i]!;
      if (edge === parentEdge[v] || edge === tree.leafEdge) continue;
      if (status[edge] === forbidden || (status[edge] === free && tree.inTree[edge] === 0)) continue;
      const w = tail[edge]! + head[edge]! - v;
      parent[w] = v;
      parentEdge[w] = edge;
      depth[w] = depth[v]! + 1;
      queue[reached++] = w;
    }
  }
}

/**
 * Walks the tree path between the ends of `edge`, which is outside the tree and could replace any free edge of the
 * path. Lowers the rises of these free edges accordingly. Returns the reduced cost of the dearest of them, or −Infinity
 * if there are none.
 */
function coverPath(out: Rises, tree: SparseTree, edge: number): number {
  const { key } = tree;
  const { tail, head, status } = tree.graph;
  const { rise, parent, parentEdge, depth } = out;
  const own = key[edge]!;
  let dearest = -Infinity;
  let u = tail[edge]!;
  let v = head[edge]!;
  while (u !== v) {
    if (depth[u]! < depth[v]!) {
      const deeper = v;
      v = u;
      u = deeper;
    }
    const step = parentEdge[u]!;
    u = parent[u]!;
    if (status[step] === required) continue;
    dearest = Math.max(dearest, key[step]!);
    rise[step] = Math.min(rise[step]!, own - key[step]!);
  }
  return dearest;
}
