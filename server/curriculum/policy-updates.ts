/** Finds the closed groups from which the policy learns at the draw of an update batch, and their weights. */
import type { ClosedGroup, Group } from "./batches.ts";
import { looksBack } from "./policies/filter.ts";
import { definitionOf } from "./policies/registry.ts";
import { type ArmCounters, nothingTallied, type Range, type RunState } from "./state.ts";
import type { Remembered } from "./task-memory.ts";
import type { Policy, RunConfig } from "./types.ts";

/** Closed groups from which the policy learns at the draw of an update batch. */
export type Fold =
  /**
   * Groups of the update batches with an index below `batches`, except groups from which the policy has learned before.
   */
  | { readonly kind: "through"; readonly batches: number }
  /** Closed groups whose cursors lie in these ranges, [first, last]. Used if the feedback lag is unbounded. */
  | { readonly kind: "groups"; readonly ranges: readonly Range[] };

/**
 * Returns whether draws wait for feedback that is due. They do if something learns from feedback: the policy, its
 * filter, or an arm that chooses rows by pass rate.
 */
export function takesFeedback({
  policy,
  config,
}: {
  readonly policy: Policy;
  readonly config: Pick<RunConfig, "arms">;
}) {
  const { takesFeedback: learns } = definitionOf(policy);
  return learns || looksBack(policy.filter) || config.arms.some(({ rows }) => rows !== undefined);
}

function closedOf(groups: readonly Group[]): readonly ClosedGroup[] {
  return groups.filter((group) => group.kind === "closed");
}

/**
 * Returns the weight with which an update batch's groups change the policy at the next draw. It is below 1 if their
 * feedback is late and the run lowers the weight of late feedback.
 */
export function feedbackWeight({ config, batchesDrawn }: RunState, batch: number): number {
  const { lateFeedback } = config;
  return lateFeedback === undefined || batchesDrawn - 1 - batch <= lateFeedback.batchesMax ? 1 : lateFeedback.weight;
}

/**
 * Returns the closed groups from which the policy learns, as one list for each update, in cursor order. Groups of
 * weight 0 are left out.
 */
export function updatesOf(state: RunState, fold: Fold): readonly (readonly ClosedGroup[])[] {
  const counted = state.batches.filter(({ index }) => feedbackWeight(state, index) > 0);
  if (fold.kind === "through") {
    const due = counted.filter(({ index }) => index >= state.batchesFolded && index < fold.batches);
    return due.map(({ groups }) => closedOf(groups));
  }
  const within = (cursor: number): boolean => fold.ranges.some(([from, to]) => from <= cursor && cursor <= to);
  return [counted.flatMap(({ groups }) => closedOf(groups).filter(({ task }) => within(task.cursor)))];
}

/**
 * Returns the instance's hash and the outcome of each group in the updates, in order. The filter's memory stores these.
 */
export function rememberedOf(updates: readonly (readonly ClosedGroup[])[]): readonly Remembered[] {
  return updates.flat().map(({ task, outcome }) => ({ hash: task.key.hash, outcome }));
}

/** Returns the arms' counters with the groups of these updates added to `folded`, the sums that policies read. */
export function withFolded(
  arms: readonly ArmCounters[],
  updates: readonly (readonly ClosedGroup[])[],
): readonly ArmCounters[] {
  const tallies = arms.map(({ folded }) => folded);
  for (const { task, outcome } of updates.flat()) {
    if (outcome.count === 0) continue;
    const { groups, count, sum, solved } = tallies[task.arm] ?? nothingTallied;
    tallies[task.arm] = {
      groups: groups + 1,
      count: count + outcome.count,
      sum: sum + outcome.sum,
      solved: solved === null || outcome.solved === null ? null : solved + outcome.solved,
    };
  }
  return arms.map((arm, i) => ({ ...arm, folded: tallies[i] ?? nothingTallied }));
}
