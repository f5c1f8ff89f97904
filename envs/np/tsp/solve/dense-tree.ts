import type { Instance } from "./instance.ts";

/**
 * The minimum 1-tree of the complete graph under reduced costs cost + pi(u) + pi(v): a
 * spanning tree and, at one of its leaves, the second cheapest edge. Whichever leaf is
 * taken, a tour is no cheaper; the leaf with the dearest second edge gives the best bound.
 */
export interface DenseTree {
  readonly instance: Instance;
  readonly degree: Int32Array;
  /** The tree edge by which each vertex was reached (0 is the root). */
  readonly parent: Int32Array;
  /** Vertices in the order reached, so that a parent comes before its children. */
  readonly order: Int32Array;
  readonly key: Int32Array;
  readonly rest: Int32Array;
  /** The chosen leaf and the other end of its second edge. */
  leaf: number;
  leafMate: number;
}

export function denseTree(instance: Instance): DenseTree {
  const { n } = instance;
  const array = (): Int32Array => new Int32Array(n);
  return {
    instance,
    degree: array(),
    parent: array(),
    order: array(),
    key: array(),
    rest: array(),
    leaf: 0,
    leafMate: 0,
  };
}

/** Builds the 1-tree; returns the lower bound on every tour, in scaled units. */
export function evaluateDense(tree: DenseTree, pi: Int32Array): number {
  const { n, cost } = tree.instance;
  span(tree, pi);
  attachLeaf(tree, pi);
  const { parent, degree } = tree;
  let bound = cost[tree.leaf * n + tree.leafMate]!;
  for (let v = 1; v < n; v++) bound += cost[parent[v]! * n + v]!;
  for (let v = 0; v < n; v++) bound += (degree[v]! - 2) * pi[v]!;
  return bound;
}

/** Prim's algorithm on the complete graph, from vertex 0. */
function span(tree: DenseTree, pi: Int32Array): void {
  const { degree, parent, order, key, rest } = tree;
  const { n, cost } = tree.instance;
  for (let v = 0; v < n; v++) {
    rest[v] = v + 1;
    key[v] = 0x7fffffff;
  }
  degree.fill(0);
  order[0] = 0;
  let u = 0;
  for (let left = n - 1, reached = 1; left > 0; left--, reached++) {
    const row = u * n;
    const own = pi[u]!;
    let nearest = 0x7fffffff;
    let slot = 0;
    for (let k = 0; k < left; k++) {
      const v = rest[k]!;
      const reduced = (cost[row + v]! + own + pi[v]!) | 0;
      let known = key[v]!;
      if (reduced < known) {
        key[v] = known = reduced;
        parent[v] = u;
      }
      if (known < nearest) {
        nearest = known;
        slot = k;
      }
    }
    u = rest[slot]!;
    rest[slot] = rest[left - 1]!;
    order[reached] = u;
    degree[u] = degree[u]! + 1;
    degree[parent[u]!] = degree[parent[u]!]! + 1;
  }
}

/** Closes the 1-tree at the leaf whose second cheapest edge is dearest. */
function attachLeaf(tree: DenseTree, pi: Int32Array): void {
  const { degree, parent, order } = tree;
  const { n } = tree.instance;
  let best = -Infinity;
  for (let v = 0; v < n; v++) {
    if (degree[v] !== 1) continue;
    const mate = nearestOther(tree.instance, pi, v, v === 0 ? order[1]! : parent[v]!);
    const reduced = tree.instance.cost[v * n + mate]! + pi[v]! + pi[mate]!;
    if (reduced <= best) continue;
    best = reduced;
    tree.leaf = v;
    tree.leafMate = mate;
  }
  degree[tree.leaf] = 2;
  degree[tree.leafMate] = degree[tree.leafMate]! + 1;
}

/** The vertex nearest to v by reduced cost, other than v and `except`. */
export function nearestOther(instance: Instance, pi: Int32Array, v: number, except: number): number {
  const { n, cost } = instance;
  let nearest = 0x7fffffff;
  let found = -1;
  for (let w = 0; w < n; w++) {
    if (w === v || w === except) continue;
    const reduced = cost[v * n + w]! + pi[w]!;
    if (reduced >= nearest) continue;
    nearest = reduced;
    found = w;
  }
  return found;
}
