/** Searches the sides of vertices depth first, by branch and bound with the semidefinite bound. */
import { matrixFor, provesAbove, type Relaxation, sumVectors, sweep } from "./bound.ts";
import { agreementOf, completed, type Node, nodeOf, type Problem } from "./problem.ts";
import type { Found } from "./tabu.ts";

export interface Search {
  readonly problem: Problem;
  readonly relaxation: Relaxation;
  readonly matrix: Float64Array;
  /** Maximum number of nodes. The search then leaves the remaining nodes unexplored, and sets `open`. */
  readonly nodesMax: number;
  /**
   * Number of multiplications in the nodes so far. Once it reaches `workMax`, the search leaves the remaining nodes
   * unexplored.
   */
  work: number;
  readonly workMax: number;
  best: Found;
  nodes: number;
  /** True if nodes were left unexplored, so that the best cut found is not proven. */
  open: boolean;
}

export function searchOf(problem: Problem, relaxation: Relaxation, best: Found, nodesMax: number): Search {
  const limits = { nodesMax, work: 0, workMax: WORK_MAX };
  return { problem, relaxation, matrix: matrixFor(problem.n), ...limits, best, nodes: 0, open: false };
}

/**
 * Maximum number of multiplications, about one second of CPU time. Instances of the levels need at most a tenth of it.
 */
const WORK_MAX = 3e8;

const SWEEPS_MAX = 400;
/**
 * Minimum number of sweeps over the relaxation's vectors at the root. The vectors start at random, and tell only after
 * these sweeps on which vertex to branch.
 */
const SWEEPS_FIRST = 60;
/**
 * Number of sweeps over the relaxation's vectors between attempts to certify the bound. The sum of the vectors is
 * recomputed at the same interval.
 */
const SWEEPS_BETWEEN = 5;
/** Sweeps count as converged if they gain less than this share of the distance between the value and the target. */
const SETTLED = 1e-5;

/** Explores every way to decide the undecided spins, which are 0. Starts from the relaxation's current vectors. */
export function explore(search: Search, spins: Int8Array): void {
  if (search.nodes >= search.nodesMax || search.work >= search.workMax) {
    search.open = true;
    return;
  }
  search.nodes++;
  const node = nodeOf(search.problem, spins);
  const complete = completed(node);
  if (complete !== undefined) record(search, complete);
  else if (!isClosed(search, node)) branch(search, node);
}

function record(search: Search, spins: Int8Array): void {
  const agreement = agreementOf(search.problem, spins);
  if (agreement > search.best.agreement) search.best = { spins, agreement };
}

/**
 * Returns whether the relaxation proves that a node contains no better cut than the best one known. The proof needs a
 * value of the relaxation above a target, and sweeps lower the value. The function returns false once the value is not
 * above the target.
 */
function isClosed(search: Search, node: Node): boolean {
  const { relaxation, matrix, best, nodes, problem } = search;
  const { free } = node;
  const edges = free.reduce((sum, v) => sum + problem.neighbours[v]!.length, 0);
  const [workOfSweep, workOfProof] = [(edges + 4 * free.length) * relaxation.rank, free.length ** 3 / 6];
  // A cut that is lighter by one unit has an agreement that is greater by two.
  const target = -2 * (best.agreement + 2 - node.agreement);
  let before = Infinity;
  for (let sweeps = 1; sweeps <= SWEEPS_MAX; sweeps++) {
    if (sweeps % SWEEPS_BETWEEN === 1) sumVectors(relaxation, node);
    const value = sweep(relaxation, node);
    search.work += workOfSweep;
    if (value <= target && (nodes > 1 || sweeps > SWEEPS_FIRST)) return false;
    if (sweeps % SWEEPS_BETWEEN !== 0) continue;
    if (value > target) search.work += workOfProof;
    if (value > target && provesAbove(relaxation, node, target, matrix)) return true;
    if (sweeps >= SWEEPS_FIRST && before - value < SETTLED * (value - target)) return false;
    before = value;
  }
  return false;
}

/** Decides the side of one more vertex: explores first the side that its vector tends to, then the other side. */
function branch(search: Search, node: Node): void {
  const { relaxation } = search;
  const v = leastDecided(relaxation, node);
  const vectors = relaxation.vectors.slice();
  const side = vectors[v * relaxation.rank]! < 0 ? -1 : 1;
  explore(search, node.spins.with(v, side));
  relaxation.vectors = vectors;
  explore(search, node.spins.with(v, -side));
}

/** Returns the free vertex whose vector is farthest from both sides, weighted by the total weight of its edges. */
function leastDecided({ rank, vectors }: Relaxation, { problem, free }: Node): number {
  let [chosen, most] = [-1, -Infinity];
  for (const v of free) {
    const along = vectors[v * rank]!;
    const doubt = (1 - along * along) * (problem.degree[v]! + 1);
    if (doubt > most) [chosen, most] = [v, doubt];
  }
  return chosen;
}
