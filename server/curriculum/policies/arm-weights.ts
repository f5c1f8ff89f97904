/** Weights of some of a run's arms, by arm id. Stages, tiers and domains are made of them. */
import { invalid, type Invalid } from "../types.ts";
import { type ArmRecord, positive, WEIGHT_MAX, zeroOrMore } from "./policy.ts";

/** Weights by arm id. */
export type ArmWeights = Readonly<Record<string, number>>;

/** Checks weights of some of a run's arms: each arm exists, each weight is in range, and they are not all 0. */
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
  return isNothing ? invalid(field, "must not all be 0") : undefined;
}

/**
 * Returns the weight of an arm, 0 if it has none. An id may be the name of an object's property, such as "constructor".
 */
export function weightIn(weights: ArmWeights, id: string): number {
  return Object.hasOwn(weights, id) ? (weights[id] ?? 0) : 0;
}

/** Returns numbers in proportion, with the sum 1. If all are 0, they stay 0. */
export function normalized(shares: readonly number[]): readonly number[] {
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => (total > 0 ? share / total : 0));
}

/** Returns each arm's share, in proportion to `weight` times the arm's own weight. */
export function sharesOf(weight: (id: string) => number, arms: readonly ArmRecord[]): readonly number[] {
  return normalized(arms.map((arm) => weight(arm.id) * arm.weight));
}
