import { forbidden, free, required } from "./sparse-graph.ts";
import type { SparseTree } from "./sparse-tree.ts";

/**
 * For each free edge, by how much the bound rises when the edge is decided against the
 * 1-tree: required though outside it, or forbidden though in it. Infinity: no tour is left.
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

/** Hangs the spanning tree (without the leaf's second edge) from a vertex other than the leaf. */
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
 * Walks the tree path between the ends of an edge outside the tree. The edge may stand in for
 * each free edge on it; returns the dearest of those, which it would replace.
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
