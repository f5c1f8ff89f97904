import { ascend, multipliers } from "./ascent.ts";
import type { AscentPlan, Multipliers } from "./ascent.ts";
import { denseTree, evaluateDense } from "./dense-tree.ts";
import type { DenseTree } from "./dense-tree.ts";
import { excessMatrix } from "./excess.ts";
import { lengthAtLeast } from "./instance.ts";
import type { Instance } from "./instance.ts";
import { generator, kickTour } from "./kicks.ts";
import { linKernighan } from "./lin-kernighan.ts";
import { nearest } from "./near.ts";
import type { Proof } from "./proof.ts";
import { tourOf } from "./tour.ts";

const rootPlan: AscentPlan = { iterations: 100, stepFirst: 1, shrink: 0.7, patience: 5 };
const farPlan: AscentPlan = { iterations: 100, stepFirst: 2, shrink: 0.8, patience: 10 };
const farRoundsMax = 30;
/** A gap this wide, as a share of the first tour, asks for more rounds. */
const wideGap = 0.1;
/** A round that leaves more of the gap than this overshot: the next takes shorter steps. */
const farProgress = 0.98;
const farStepMin = 0.4;
const nearByCost = 6;
const nearByExcess = 5;

/** A first tour, the root's bound, and the tour improved along the edges that the bound favours. */
export function openProof(instance: Instance, nodesMax: number): Proof {
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
 * their multipliers have far to go: more rounds with longer steps, shortened where they overshoot.
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
