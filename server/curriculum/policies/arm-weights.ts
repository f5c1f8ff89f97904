/**
 * Weights by arm id, for some of a run's arms. A policy has a set of weights for each of its stages, tiers or domains.
 */
import { invalid, type Invalid } from "../types.ts";
import { type ArmRecord, positive, WEIGHT_MAX, zeroOrMore } from "./policy.ts";

export type ArmWeights = Readonly<Record<string, number>>;

/** Checks weights by arm id: each arm exists, each weight is in range, and not all are 0. */
export function checkArmWeights(
  field: string,
  weights: ArmWeights,
  armIds: readonly string[],
  { zero }: { readonly zero: boolean },
): Invalid | undefined {
  const entries = Object.entries(weights);
  for (const [id, weight] of entries) {
    const name = `${field}["${id}"]`;
    if (!armIds.includes(id)) return invalid(name, "is not an arm of the run");
    const found = zero ? zeroOrMore(name, weight, WEIGHT_MAX) : positive(name, weight, WEIGHT_MAX);
    if (found !== undefined) return found;
  }
  const isNothing = entries.length > 0 && entries.every(([, weight]) => weight === 0);
  return isNothing ? invalid(field, "must not all be 0: give one arm a weight above 0") : undefined;
}

/**
 * Returns an arm's weight, or 0 if the arm has none. Only own properties of `weights` count, because an arm's id may be
 * "constructor".
 */
export function weightIn(weights: ArmWeights, id: string): number {
  return Object.hasOwn(weights, id) ? (weights[id] ?? 0) : 0;
}

/** Returns the numbers divided by their sum. If all are 0, they stay 0. */
export function normalized(shares: readonly number[]): readonly number[] {
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => (total > 0 ? share / total : 0));
}

/**
 * Returns each arm's share of draws, in proportion to `weight(id)` times the arm's weight in the run. The shares sum to
 * 1, or are all 0.
 */
export function sharesOf(weight: (id: string) => number, arms: readonly ArmRecord[]): readonly number[] {
  return normalized(arms.map((arm) => weight(arm.id) * arm.weight));
}
