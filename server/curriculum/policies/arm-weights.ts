/** Weights over some of a run's arms, by their ids: what stages, tiers and domains are made of. */
import { invalid, type Invalid } from "../types.ts";
import { type ArmRecord, positive, WEIGHT_MAX, zeroOrMore } from "./policy.ts";

/** By arm id. */
export type ArmWeights = Readonly<Record<string, number>>;

/** Weights of some of a run's arms, one of which at least is above 0. */
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

/** The weight of an arm, 0 where it has none. Ids may be words that objects know, such as "constructor". */
export function weightIn(weights: ArmWeights, id: string): number {
  return Object.hasOwn(weights, id) ? (weights[id] ?? 0) : 0;
}

/** Numbers in proportion, with a sum of 1; all 0 where they are. */
export function normalized(shares: readonly number[]): readonly number[] {
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => (total > 0 ? share / total : 0));
}

/** Each arm's share: in proportion to its weight here times its own. */
export function sharesOf(weight: (id: string) => number, arms: readonly ArmRecord[]): readonly number[] {
  return normalized(arms.map((arm) => weight(arm.id) * arm.weight));
}
