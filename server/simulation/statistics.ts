/** Medians with runs that never arrived, and intervals by the bootstrap. */
import { rngFor } from "../../envs/lib/rng.ts";

/** Resamples of an interval. */
const RESAMPLES = 1000;

/** A quantile by linear interpolation. Infinity counts as what it is: a run that never arrived is later than any other. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  // Infinity − Infinity has no value.
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

/** 95% of a statistic of `count` items, by the percentile bootstrap: it is given the places of a resample. */
export function bootstrap(count: number, statistic: (places: readonly number[]) => number, seed: string): Interval {
  const rng = rngFor("bootstrap", seed, count);
  const values = Array.from({ length: RESAMPLES }, () =>
    statistic(Array.from({ length: count }, () => rng.int(0, count - 1))),
  ).filter((value) => !Number.isNaN(value));
  return { low: quantile(values, 0.025), high: quantile(values, 0.975) };
}
