/**
 * Compares a run's draws with those of another policy, which learns from the groups that the run recorded. The groups
 * come from the run's own draws. So the comparison does not show what a model would have learned under the other
 * policy.
 */
import { planDraw } from "./draw.ts";
import type { RunEvent } from "./events.ts";
import type { Fold } from "./policy-updates.ts";
import { definitionOf, readsOf } from "./policies/registry.ts";
import type { RunState } from "./state.ts";
import type { Policy } from "./types.ts";

export interface ComparedDraw {
  /** Index of the update batch, counted from 0. */
  readonly batch: number;
  readonly cursor: number;
  /** Probability of each arm in the draw, as the run recorded it. */
  readonly recorded: readonly number[];
  /** Probability of each arm under the other policy. Undefined: the other policy can draw no arm. */
  readonly probabilities: readonly number[] | undefined;
}

/**
 * Returns a function that takes each event of a run, in order, with the states before and after it. If the event is the
 * draw of an update batch, the function returns the comparison of this draw.
 */
export function createComparison(policy: Policy) {
  const definition = definitionOf(policy);
  let policyState: unknown;
  /** Number of update batches, counted from the first, from which the policy has learned. */
  let folded = 0;

  /**
   * Returns the groups to learn from: the ones from which the run's own policy learned, without batches that were still
   * open.
   */
  const foldOf = (fold: Fold, { batchesClosed }: RunState): Fold =>
    fold.kind === "groups" ? fold : { ...fold, batches: Math.max(folded, Math.min(fold.batches, batchesClosed)) };

  return (event: RunEvent, before: RunState | undefined, after: RunState): ComparedDraw | undefined => {
    if (before === undefined || event.kind === "imported") {
      policyState = definition.initial(policy.config, after.config.arms.length, after.prompts);
      folded = after.batchesFolded;
    } else if (event.kind === "reshaped") {
      const arms = after.config.arms.length;
      policyState = definition.resize?.(policy.config, policyState, arms, after.prompts) ?? policyState;
    } else if (event.kind === "drawn") {
      const { batch, cursor, probabilities: recorded } = event;
      const fold = foldOf(event.fold, before);
      const plan = planDraw({ ...before, policy, policyState, batchesFolded: folded }, fold);
      if (plan.kind !== "plan") return { batch, cursor, recorded, probabilities: undefined };
      policyState = plan.policyState;
      if (fold.kind === "through") folded = fold.batches;
      return { batch, cursor, recorded, probabilities: plan.probabilities };
    }
    return undefined;
  };
}

/**
 * Returns the name of an extra score value that the policy reads, but that the run did not record, because its own
 * policy does not read the value. Undefined: there is none.
 */
export function unrecordedValue(policy: Policy, own: Policy): string | undefined {
  const recorded = readsOf(own);
  return readsOf(policy).find((name) => !recorded.includes(name));
}
