/** Solves the travelling salesman problem exactly, or with a bound if the nodes run out. */
import type { Solution } from "../../../environment.ts";
import { distanceBetween, tourLength, type TspInstance } from "../generate.ts";
import type { Tour } from "../verify.ts";
import {
  ascend,
  type AscentPlan,
  type DenseTree,
  denseTree,
  evaluateDense,
  type Instance,
  lengthAtLeast,
  multipliers,
  type Multipliers,
  scaleInstance,
} from "./one-tree.ts";
import { type Proof, prove } from "./proof.ts";
import { improveTour, type IndexedTour, linKernighan, nearest, tourOf } from "./tour.ts";

/**
 * Returns, for every edge, how far the 1-tree bound rises if a tour must use the edge. The rise is the edge's reduced
 * cost minus that of the dearest edge of the 1-tree that this edge would replace. The rise is 0 for edges of the
 * 1-tree.
 */
function excessMatrix(tree: DenseTree, pi: Int32Array): Int32Array {
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
  // Correct the entries of the leaf that has the 1-tree's extra edge: another edge of this leaf would replace the extra
  // edge, not an edge of the tree path.
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

const rootPlan: AscentPlan = { iterations: 100, stepFirst: 1, shrink: 0.7, patience: 5 };
const farPlan: AscentPlan = { iterations: 100, stepFirst: 2, shrink: 0.8, patience: 10 };
const farRoundsMax = 30;
/**
 * Gap between the first tour and the bound, as a share of the tour's length. If the gap is at least this wide, more
 * rounds of ascent follow.
 */
const wideGap = 0.1;
/**
 * A round of ascent should leave at most this share of the gap between bound and tour. If more is left, its steps were
 * too long, and the next round takes shorter ones.
 */
const farProgress = 0.98;
const farStepMin = 0.4;
const nearByCost = 6;
const nearByExcess = 5;

/**
 * Computes a first tour and the root's bound, then improves the tour along the edges that the bound favours. Returns
 * the proof's state before branching.
 */
function openProof(instance: Instance, nodesMax: number): Proof {
  const { n, scale, cost } = instance;
  const tour = tourOf(Array.from({ length: n }, (_, city) => city));
  const start = linKernighan(cost, tour, nearest(n, cost, Math.min(nearByCost, n - 1)));
  const first = improveTour(start);
  const tree = denseTree(instance);
  const m = multipliers(n);
  ascendRoot(tree, m, first - scale);
  const rootBound = evaluateDense(tree, m.best);
  const excess = excessMatrix(tree, m.best);
  const local = linKernighan(cost, tour, nearest(n, excess, Math.min(nearByExcess, n - 1)));
  const bound = lengthAtLeast(rootBound, scale);
  const upper = improveTour(local);
  return { instance, tour, pi: m.best, rootBound, excess, upper, bound, nodes: 0, nodesMax };
}

/**
 * Runs the subgradient ascent of the root's multipliers. One ascent is enough for uniform distances. If clusters are
 * far apart, the multipliers have far to go, and the gap stays wide. More rounds with longer steps follow; steps that
 * overshoot are shortened.
 */
function ascendRoot(tree: DenseTree, m: Multipliers, cutoff: number): void {
  const evaluate = (pi: Int32Array): number => evaluateDense(tree, pi);
  let gap = cutoff - ascend(m, tree.degree, evaluate, cutoff, rootPlan);
  if (gap < wideGap * cutoff) return;
  let { stepFirst } = farPlan;
  for (let round = 0; round < farRoundsMax && gap >= 0 && stepFirst > farStepMin; round++) {
    const left = cutoff - ascend(m, tree.degree, evaluate, cutoff, { ...farPlan, stepFirst });
    if (left > farProgress * gap) stepFirst *= 0.7;
    gap = left;
  }
}

/**
 * Finds a shortest closed tour, from city 0, of at least 3 cities whose distances are integers from 0 to 1e6. Local
 * search finds a tour, and 1-tree ascent a bound (Held and Karp 1971). Then branch and bound searches the edges that
 * the bound leaves. With nodesMax = 0, the bound is that of the root. Results are the same on every machine.
 */
export function solve(given: TspInstance, nodesMax?: number): Solution<Tour> {
  const instance = scaleInstance(matrixOf(given));
  const p = openProof(instance, nodesMax ?? nodesMaxDefault(instance.n));
  prove(p);
  const value = p.upper / instance.scale;
  return { answer: fromZero(p.tour), value, bound: p.bound, proven: p.bound === value, nodes: p.nodes };
}

function fromZero(tour: IndexedTour): number[] {
  const start = tour.at[0]!;
  return Array.from(tour.city, (_, k) => tour.city[(start + k) % tour.n]!);
}

/**
 * Returns the default maximum number of search nodes. A node costs about n² operations, so the search over 200 cities
 * takes seconds. The benchmark level needs at most 73 nodes, and its limit is 19,834.
 */
function nodesMaxDefault(n: number): number {
  return Math.min(20_000, Math.floor(6e7 / (n * n)));
}

/** Returns the length of the tour that visits the cities in numerical order. */
export function trivial(instance: TspInstance): number {
  return tourLength(instance, citiesOf(instance));
}

function citiesOf({ cities }: TspInstance): readonly number[] {
  return Array.from({ length: cities }, (_, city) => city);
}

function matrixOf(instance: TspInstance): readonly (readonly number[])[] {
  const cities = citiesOf(instance);
  return cities.map((a) => cities.map((b) => (a === b ? 0 : distanceBetween(instance, a, b))));
}
