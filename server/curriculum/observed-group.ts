/** Converts a closed group to the form that policies observe. */
import type { ObservedGroup, PolicyDefinition } from "./policies/policy.ts";
import type { GroupOutcome } from "./advantages.ts";
import { signalNamed } from "./signals.ts";
import type { Arm } from "./types.ts";

type SignalOf = (outcome: GroupOutcome, arm: Pick<Arm, "id" | "rewardRange">) => number | undefined;

/**
 * Returns the function that computes a closed group's learning signal for this policy, e.g. the mean absolute
 * advantage.
 */
export function signalOf(definition: PolicyDefinition, config: unknown): SignalOf {
  return (outcome, { id, rewardRange }) =>
    signalNamed(definition.signal?.(config, id) ?? "ABSOLUTE_ADVANTAGE")(outcome, rewardRange);
}

/** Fields of an observed group that the outcome does not give, such as its arm, weight and draw probability. */
type GroupPlace = Pick<ObservedGroup, "arm" | "hash" | "rank" | "weight" | "probability" | "place">;

export function observedGroup(arm: Arm, place: GroupPlace, outcome: GroupOutcome, signal: SignalOf): ObservedGroup {
  const { count, sum, solved, deviation } = outcome;
  return {
    ...place,
    armId: arm.id,
    rewardMean: count > 0 ? sum / count : undefined,
    rewardDeviation: count > 0 ? (deviation ?? undefined) : undefined,
    solvedShare: count > 0 && solved !== null ? solved / count : undefined,
    signal: signal(outcome, arm),
    ...(outcome.facts && { facts: outcome.facts }),
  };
}
