/** Compares the means of 500 instances of the level `reference` with those that the papers' public code gives. */
import { expect } from "vitest";
import type { Environment } from "../../../../envs/environment.ts";
import { draw, levelOf } from "../draws.ts";

export const COUNT = 500;
/** Deviations that chance hardly ever reaches: one time in 16,000. */
const DEVIATIONS_MAX = 4;

/** Returns the 500 instances, equal at every call. */
export function drawReference<Instance>(environment: Environment<Instance>): readonly Instance[] {
  const parameters = levelOf(environment, "reference");
  return Array.from({ length: COUNT }, (_, seed) => draw(environment, parameters, seed));
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Expects that the values' mean is this one, within the deviation that chance allows. */
export function expectMean(values: readonly number[], expected: number): void {
  const centre = mean(values);
  const spread = Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
  expect(Math.abs(centre - expected), `mean ${centre}, and not ${expected}`).toBeLessThanOrEqual(
    (DEVIATIONS_MAX * spread) / Math.sqrt(values.length) + 1e-9,
  );
}

/** Each whole number of a range comes, none beside it does, and each as often as the others but for chance. */
export function expectEven(values: readonly number[], [min, max]: readonly [number, number]): void {
  const size = max - min + 1;
  const probability = 1 / size;
  const deviation = Math.sqrt(values.length * probability * (1 - probability));
  const counts = Map.groupBy(values, (value) => value);
  expect([...counts.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, i) => min + i));
  for (const each of counts.values())
    expect(Math.abs(each.length - values.length * probability)).toBeLessThanOrEqual(DEVIATIONS_MAX * deviation);
}

/** Every whole number from the first to the second. */
export function range(min: number, max: number): readonly number[] {
  return Array.from({ length: max - min + 1 }, (_, i) => min + i);
}

/** Returns the number of pairs of `count` things. */
export function pairsOf(count: number): number {
  return (count * (count - 1)) / 2;
}
