/**
 * A bound where the search was left open: the least among the leaves of a small tree, of which that of the least bound is
 * branched on again and again. The root alone may say nothing: of three equal parts that no edge joins, whose vectors
 * lie at thirds of a circle, it does not see that one must be cut.
 */
import { type Relaxation, rootBound } from "./bound.ts";
import { agreementOf, completed, cutOf, type Node, nodeOf, type Problem } from "./problem.ts";
import { leastDecided } from "./search.ts";

/** Each takes two bounds: together a quarter of a second of CPU time. */
const BRANCHINGS = 6;

interface Leaf {
  readonly node: Node;
  /** No cut that its spins allow is lighter. */
  readonly bound: number;
  /** What stands in the relaxation for its children to go on from, and the vertex to branch on; undefined: none. */
  readonly vectors: Float64Array;
  readonly vertex: number | undefined;
}

/** No cut is lighter than this, which is at most `most`, the weight of a cut. */
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
