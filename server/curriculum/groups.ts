/** How groups change, and what a change of groups does to the state. */
import { groupSignal, meanAbsolute } from "./advantages.ts";
import type { FeedbackEntry, ReportedGroup } from "./events.ts";
import {
  batchPosition,
  type ArmCounters,
  type Batch,
  type ClosedGroup,
  type Group,
  type OpenGroup,
  type RewardSums,
  type RunState,
  type Sample,
} from "./state.ts";
import type { Arm } from "./types.ts";

/** Groups that an arm's recent means look back on (contract: ArmState). */
const RECENT_MAX = 256;

/** Rewards by sample_index, those that are there. */
function rewardsOf(samples: readonly (Sample | null)[]): readonly number[] {
  return samples.flatMap((sample) => (sample?.result.kind === "reward" ? [sample.result.reward] : []));
}

/** The rewards of an open group so far, or of a closed one. */
export function rewardSums(group: Group): RewardSums {
  if (group.kind === "closed") return group.rewards;
  const rewards = rewardsOf(group.samples);
  const solved = group.samples.filter((sample) => sample?.result.kind === "reward" && sample.result.solved).length;
  return { count: rewards.length, sum: rewards.reduce((sum, reward) => sum + reward, 0), solved };
}

/** Closes a group with what it has. */
export function closed(group: OpenGroup, arm: Arm): ClosedGroup {
  const { arm: index, ordinal, hash, repeat, draft, handedOutAtMs, samples } = group;
  return {
    kind: "closed",
    ...{ arm: index, ordinal, hash, repeat, draft, handedOutAtMs },
    digests: samples.map((sample) => sample?.digest ?? null),
    signal: groupSignal(rewardsOf(samples), arm.rewardRange) ?? null,
    rewards: rewardSums(group),
    folded: false,
  };
}

/** Closes a group with advantages that the trainer computed, divided by the scheme's span like our own. */
export function closedAsReported(group: OpenGroup, report: ReportedGroup, arm: Arm): ClosedGroup {
  const { advantages, rewardMean } = report;
  const count = rewardMean === null ? 0 : Math.max(1, advantages.length);
  return {
    ...closed(group, arm),
    signal: meanAbsolute(advantages, arm.rewardRange) ?? null,
    rewards: { count, sum: count * (rewardMean ?? 0), solved: null },
  };
}

/** Records results of one group; the last one that it waits for closes it. */
export function withEntries(group: OpenGroup, entries: readonly FeedbackEntry[], arm: Arm): Group {
  const samples = [...group.samples];
  for (const { sample, digest, result } of entries) samples[sample] = { digest, result };
  const missing = samples.filter((sample) => sample === null).length;
  const next: OpenGroup = { ...group, samples, missing };
  return missing === 0 ? closed(next, arm) : next;
}

function countClosed(arm: ArmCounters, rewards: RewardSums): ArmCounters {
  if (rewards.count === 0) return arm;
  return { ...arm, groups: arm.groups + 1, recent: [...arm.recent, rewards].slice(-RECENT_MAX) };
}

/** The first batch from `from` on that is not closed. */
function closedThrough(state: RunState, batches: readonly Batch[], from: number): number {
  const open = batches.find((batch) => batch.index >= from && batch.open > 0);
  return open?.index ?? state.batchesDrawn;
}

/** Applies changes to open groups, by cursor; a change of a group that is not there or closed does nothing. */
export function changeGroups(
  state: RunState,
  changes: ReadonlyMap<number, (group: OpenGroup, arm: Arm) => Group>,
): RunState {
  const batches = [...state.batches];
  const arms = [...state.arms];
  const copied = new Map<number, Group[]>();
  let groupsOpen = state.groupsOpen;
  for (const [cursor, change] of changes) {
    const position = batchPosition(state, Math.floor(cursor / state.config.promptsPerUpdate));
    const batch = batches[position];
    const group = batch?.groups[cursor - batch.cursor];
    if (batch === undefined || group?.kind !== "open") continue;
    const next = change(group, state.config.arms[group.arm] as Arm);
    const groups = copied.get(position) ?? [...batch.groups];
    copied.set(position, groups);
    groups[cursor - batch.cursor] = next;
    batches[position] = { ...batch, groups, open: batch.open - Number(next.kind === "closed") };
    if (next.kind === "open") continue;
    groupsOpen--;
    arms[next.arm] = countClosed(arms[next.arm] as ArmCounters, next.rewards);
  }
  return { ...state, batches, arms, groupsOpen, batchesClosed: closedThrough(state, batches, state.batchesClosed) };
}
