/** Finds the groups that a draw folds into the policy's state: which groups, in which updates, with which weights. */
import type { ClosedGroup, Group } from "./batches.ts";
import { looksBack } from "./policies/filter.ts";
import { definitionOf } from "./policies/registry.ts";
import { type ArmCounters, nothingTallied, type Range, type RunState } from "./state.ts";
import type { Remembered } from "./task-memory.ts";
import type { Policy, RunConfig } from "./types.ts";

/** Groups that a draw folds into the policy's state. */
export type Fold =
  /** Every batch before this index. */
  | { readonly kind: "through"; readonly batches: number }
  /** Groups that were closed, as [first, last] cursors. Used under an unbounded lag. */
  | { readonly kind: "groups"; readonly ranges: readonly Range[] };

/** Returns whether draws wait for due feedback and fold it in: the policy, its filter or an arm's rows need it. */
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

/** Returns the weight of an update batch's groups in the next draw. It is lower if their feedback is late. */
export function feedbackWeight({ config, batchesDrawn }: RunState, batch: number): number {
  const { lateFeedback } = config;
  return lateFeedback === undefined || batchesDrawn - 1 - batch <= lateFeedback.batchesMax ? 1 : lateFeedback.weight;
}

/** Returns the closed groups of each update of a fold, in cursor order. Groups with weight 0 are left out. */
export function updatesOf(state: RunState, fold: Fold): readonly (readonly ClosedGroup[])[] {
  const counted = state.batches.filter(({ index }) => feedbackWeight(state, index) > 0);
  if (fold.kind === "through") {
    const due = counted.filter(({ index }) => index >= state.batchesFolded && index < fold.batches);
    return due.map(({ groups }) => closedOf(groups));
  }
  const within = (cursor: number): boolean => fold.ranges.some(([from, to]) => from <= cursor && cursor <= to);
  return [counted.flatMap(({ groups }) => closedOf(groups).filter(({ task }) => within(task.cursor)))];
}

/** Returns the outcomes of the instances in a fold, in order. */
export function rememberedOf(updates: readonly (readonly ClosedGroup[])[]): readonly Remembered[] {
  return updates.flat().map(({ task, outcome }) => ({ hash: task.key.hash, outcome }));
}

/** Returns the arms' counters with the groups of a fold added. */
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
