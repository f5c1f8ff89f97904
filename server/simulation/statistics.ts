/**
 * Computes quantiles and bootstrap confidence intervals over simulated runs, some of which never reach their target.
 */
import { rngFor } from "../../envs/lib/rng.ts";

/** Number of bootstrap resamples for an interval. */
const RESAMPLES = 1000;

/**
 * Returns a quantile by linear interpolation. Infinity stands for a run that never reached the target, and counts as
 * greater than all other values.
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  // If both are Infinity, their difference would be NaN.
  return low === high ? low : low + (high - low) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the 95% confidence interval of a statistic over `count` items, by the percentile bootstrap. `statistic` gets
 * the indices of the items in a resample.
 */
export function bootstrap(count: number, statistic: (places: readonly number[]) => number, seed: string): Interval {
  const rng = rngFor("bootstrap", seed, count);
  const values = Array.from({ length: RESAMPLES }, () =>
    statistic(Array.from({ length: count }, () => rng.int(0, count - 1))),
  ).filter((value) => !Number.isNaN(value));
  return { low: quantile(values, 0.025), high: quantile(values, 0.975) };
}
