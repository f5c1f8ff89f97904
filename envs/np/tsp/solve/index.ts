import { ascend, multipliers } from "./ascent.ts";
import type { AscentPlan, Multipliers } from "./ascent.ts";
import { denseTree, evaluateDense } from "./dense-tree.ts";
import type { DenseTree } from "./dense-tree.ts";
import { excessMatrix } from "./excess.ts";
import { lengthAtLeast, scaleInstance } from "./instance.ts";
import type { Instance } from "./instance.ts";
import { generator, kickTour } from "./kicks.ts";
import { linKernighan } from "./lin-kernighan.ts";
import { nearest } from "./near.ts";
import { prove } from "./proof.ts";
import type { Proof } from "./proof.ts";
import { tourOf } from "./tour.ts";
import type { Tour } from "./tour.ts";

export interface TspSolution {
  /** Every city once, from city 0; the way back is left out. */
  readonly tour: readonly number[];
  readonly value: number;
  /** No tour is shorter than this; equal to `value` when proven. */
  readonly bound: number;
  readonly proven: boolean;
  /** Branch-and-bound nodes searched. */
  readonly nodes: number;
}

export interface TspOptions {
  /** Branch-and-bound nodes at most; 0 leaves the root's bound. */
  readonly nodesMax?: number;
}

const rootPlan: AscentPlan = { iterations: 100, stepFirst: 1, shrink: 0.7, patience: 5 };
const farPlan: AscentPlan = { iterations: 100, stepFirst: 2, shrink: 0.8, patience: 10 };
const farRoundsMax = 30;
/** A gap this wide, as a share of the first tour, asks for more rounds. */
const wideGap = 0.1;
/** The rounds go on while one leaves at most this share of the gap. */
const farProgress = 0.98;
const nearByCost = 6;
const nearByExcess = 5;

/**
 * A shortest closed tour through a symmetric matrix of integers from 0 to 1e6, at least 3
 * cities: local search for a tour, 1-tree ascent for a bound (Held and Karp 1971), then
 * branch and bound on the edges that the bound leaves. Pure, and the same on every machine.
 */
export function solveTsp(distances: readonly (readonly number[])[], options: TspOptions = {}): TspSolution {
  const instance = scaleInstance(distances);
  const p = openProof(instance, options.nodesMax ?? nodesMaxDefault(instance.n));
  prove(p);
  const value = p.upper / instance.scale;
  return { tour: fromZero(p.local.tour), value, bound: p.bound, proven: p.bound === value, nodes: p.nodes };
}

/** A first tour, the root's bound, and the tour improved along the edges that the bound favours. */
function openProof(instance: Instance, nodesMax: number): Proof {
  const { n, scale, cost } = instance;
  const random = generator();
  const tour = tourOf(Array.from({ length: n }, (_, city) => city));
  const start = linKernighan(cost, tour, nearest(n, cost, Math.min(nearByCost, n - 1)));
  const first = kickTour(start, random, 0, 0);
  const tree = denseTree(instance);
  const m = multipliers(n);
  ascendRoot(tree, m, first - scale);
  const rootBound = evaluateDense(tree, m.best);
  const excess = excessMatrix(tree, m.best);
  const local = linKernighan(cost, tour, nearest(n, excess, Math.min(nearByExcess, n - 1)));
  const bound = lengthAtLeast(rootBound, scale);
  const upper = kickTour(local, random, 0, 0);
  return { instance, local, random, pi: m.best, rootBound, excess, upper, bound, nodes: 0, nodesMax };
}

/**
 * One ascent is enough for uniform distances. Clusters far apart leave a wide gap after it, as
 * their multipliers have far to go: more rounds with longer steps, while they close the gap.
 */
function ascendRoot(tree: DenseTree, m: Multipliers, cutoff: number): void {
  const evaluate = (pi: Int32Array): number => evaluateDense(tree, pi);
  let gap = cutoff - ascend(m, tree.degree, evaluate, cutoff, rootPlan);
  if (gap < wideGap * cutoff) return;
  for (let round = 0; round < farRoundsMax && gap >= 0; round++) {
    const left = cutoff - ascend(m, tree.degree, evaluate, cutoff, farPlan);
    if (left > farProgress * gap) return;
    gap = left;
  }
}

function fromZero(tour: Tour): number[] {
  const start = tour.at[0]!;
  return Array.from(tour.city, (_, k) => tour.city[(start + k) % tour.n]!);
}

/** A node costs about n²; this keeps 200 cities to seconds, and is never reached at 55. */
function nodesMaxDefault(n: number): number {
  return Math.min(20_000, Math.floor(6e7 / (n * n)));
}
