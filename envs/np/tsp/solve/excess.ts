import type { DenseTree } from "./dense-tree.ts";

/**
 * For every edge, by how much the 1-tree bound rises when a tour must use it: its reduced
 * cost less that of the dearest edge it would replace (0 on the tree itself).
 */
export function excessMatrix(tree: DenseTree, pi: Int32Array): Int32Array {
  const { n, cost } = tree.instance;
  const { order, parent, leaf, leafMate } = tree;
  const dearest = new Int32Array(n * n);
  for (let k = 1; k < n; k++) {
    const v = order[k]!;
    const up = parent[v]!;
    const step = cost[v * n + up]! + pi[v]! + pi[up]!;
    for (let e = 0; e < k; e++) {
      const w = order[e]!;
      const path = w === up ? step : Math.max(step, dearest[up * n + w]!);
      dearest[v * n + w] = path;
      dearest[w * n + v] = path;
    }
  }
  // An edge at the leaf replaces the leaf's second edge, not an edge of the tree path.
  const second = cost[leaf * n + leafMate]! + pi[leaf]! + pi[leafMate]!;
  for (let w = 0; w < n; w++) {
    if (w === leaf || w === (leaf === 0 ? order[1] : parent[leaf])) continue;
    dearest[leaf * n + w] = second;
    dearest[w * n + leaf] = second;
  }
  for (let v = 0; v < n; v++) {
    for (let w = 0; w < n; w++) {
      dearest[v * n + w] = v === w ? 0 : cost[v * n + w]! + pi[v]! + pi[w]! - dearest[v * n + w]!;
    }
  }
  return dearest;
}
