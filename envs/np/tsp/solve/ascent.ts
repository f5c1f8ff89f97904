import { multiplierMax } from "./instance.ts";

/** Subgradient ascent on the multipliers of a 1-tree bound (Held and Karp 1971). */
export interface Multipliers {
  readonly n: number;
  /** The best multipliers found. */
  readonly best: Int32Array;
  readonly current: Int32Array;
  /** The tree degrees of the step before, for momentum. */
  readonly previous: Int32Array;
}

export interface AscentPlan {
  readonly iterations: number;
  /** The first step, as a share of Polyak's step to the cutoff. */
  readonly stepFirst: number;
  /** The step is multiplied by `shrink` after `patience` steps without a better bound. */
  readonly shrink: number;
  readonly patience: number;
}

export function multipliers(n: number): Multipliers {
  return { n, best: new Int32Array(n), current: new Int32Array(n), previous: new Int32Array(n) };
}

/**
 * Starts at `best`, leaves the best multipliers there and returns their bound. Stops as soon
 * as the bound exceeds `cutoff` or the 1-tree is a tour. `evaluate` fills `degree`.
 */
export function ascend(
  m: Multipliers,
  degree: Int32Array,
  evaluate: (pi: Int32Array) => number,
  cutoff: number,
  plan: AscentPlan,
): number {
  const { best, current, previous } = m;
  current.set(best);
  let bestBound = evaluate(current);
  let bound = bestBound;
  let share = plan.stepFirst;
  let stale = 0;
  previous.set(degree);
  for (let round = 0; round < plan.iterations && bestBound <= cutoff; round++) {
    const excess = excessOf(degree);
    if (excess === 0) break;
    move(m, degree, (share * (cutoff + 1 - bound)) / excess);
    bound = evaluate(current);
    if (bound > bestBound) {
      bestBound = bound;
      best.set(current);
      stale = 0;
    } else if (++stale >= plan.patience) {
      stale = 0;
      share *= plan.shrink;
    }
  }
  return bestBound;
}

/** The squared length of the subgradient; 0 for a tour. */
export function excessOf(degree: Int32Array): number {
  let sum = 0;
  for (let v = 0; v < degree.length; v++) {
    const off = degree[v]! - 2;
    sum += off * off;
  }
  return sum;
}

/** One step, 0.7 along this subgradient and 0.3 along the last (Volgenant and Jonker 1982). */
function move(m: Multipliers, degree: Int32Array, step: number): void {
  const { current, previous, n } = m;
  for (let v = 0; v < n; v++) {
    const now = degree[v]! - 2;
    const before = previous[v]! - 2;
    previous[v] = degree[v]!;
    if (now === 0 && before === 0) continue;
    const moved = current[v]! + Math.round(step * (0.7 * now + 0.3 * before));
    current[v] = Math.max(-multiplierMax, Math.min(multiplierMax, moved));
  }
}
