/** Makes the view of a closed group that a policy receives. */
import type { ObservedGroup, PolicyDefinition } from "./policies/policy.ts";
import type { GroupOutcome } from "./advantages.ts";
import { signalNamed } from "./signals.ts";
import type { Arm } from "./types.ts";

type SignalOf = (outcome: GroupOutcome, arm: Pick<Arm, "id" | "rewardRange">) => number | undefined;

/** Returns the function that computes the signal that a policy reads from a group. */
export function signalOf(definition: PolicyDefinition, config: unknown): SignalOf {
  return (outcome, { id, rewardRange }) =>
    signalNamed(definition.signal?.(config, id) ?? "ABSOLUTE_ADVANTAGE")(outcome, rewardRange);
}

/** Arm and probability with which a group was drawn, and its weight. */
type GroupPlace = Pick<ObservedGroup, "arm" | "hash" | "rank" | "weight" | "probability">;

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
