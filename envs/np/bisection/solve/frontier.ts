/**
 * Computes a bound after a search that ended early: the least bound among the leaves of a small tree. The tree
 * repeatedly branches on the leaf of least bound. The root alone may prove nothing. For three equal parts without edges
 * between them, the vectors lie at thirds of a circle, and the root does not see that one part must be cut.
 */
import { type Relaxation, rootBound } from "./bound.ts";
import { agreementOf, completed, cutOf, type Node, nodeOf, type Problem } from "./problem.ts";
import { leastDecided } from "./search.ts";

/**
 * Maximum number of branchings. Each computes two bounds; all branchings together take a quarter of a second of CPU
 * time.
 */
const BRANCHINGS = 6;

interface Leaf {
  readonly node: Node;
  /** Lower bound on every cut that the leaf's spins allow. */
  readonly bound: number;
  /**
   * Vectors from which the leaf's children start, and the vertex to branch on. The vertex is undefined if every vertex
   * is decided.
   */
  readonly vectors: Float64Array;
  readonly vertex: number | undefined;
}

/** Returns a lower bound on every cut, of at most `most`. `most` is the weight of a known cut. */
export function frontierBound(problem: Problem, relaxation: Relaxation, root: Int8Array, most: number): number {
  const leafOf = (spins: Int8Array, vectors: Float64Array, least: number): Leaf => {
    const node = nodeOf(problem, spins);
    const only = completed(node);
    if (only !== undefined) {
      const cut = Math.min(most, cutOf(problem, agreementOf(problem, only)));
      return { node, bound: cut, vectors, vertex: undefined };
    }
    relaxation.vectors = vectors.slice();
    const bound = rootBound(relaxation, node, least, most);
    return { node, bound, vectors: relaxation.vectors, vertex: leastDecided(relaxation, node) };
  };
  let leaves = [leafOf(root, relaxation.vectors, 0)];
  for (let branchings = 0; ; branchings++) {
    const worst = leaves.reduce((a, b) => (b.bound < a.bound ? b : a));
    const { node, vertex, vectors, bound } = worst;
    if (bound === most || vertex === undefined || branchings === BRANCHINGS) return bound;
    const children = [1, -1].map((side) => leafOf(node.spins.with(vertex, side), vectors, bound));
    leaves = [...leaves.filter((leaf) => leaf !== worst), ...children];
  }
}
