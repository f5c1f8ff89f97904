/** A closed group as a policy is told of it. */
import type { ObservedGroup, PolicyDefinition } from "./policies/policy.ts";
import { type GroupOutcome, signalNamed } from "./signals.ts";
import type { Arm } from "./types.ts";

type SignalOf = (outcome: GroupOutcome, arm: Pick<Arm, "id" | "rewardRange">) => number | undefined;

/** What a policy asks a group for. */
export function signalOf(definition: PolicyDefinition, config: unknown): SignalOf {
  return (outcome, { id, rewardRange }) =>
    signalNamed(definition.signal?.(config, id) ?? "ABSOLUTE_ADVANTAGE")(outcome, rewardRange);
}

/** Where a group was drawn, and by how much it counts. */
type Place = Pick<ObservedGroup, "arm" | "hash" | "rank" | "weight" | "probability">;

export function observedGroup(arm: Arm, place: Place, outcome: GroupOutcome, signal: SignalOf): ObservedGroup {
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
