/** A run as it stands, for readers: all that the contract's RunState shows. */
import { currentPolicy, epochOf, isDone, type ArmCounters, type RewardSums, type RunState } from "./state.ts";
import type { Policy, RunConfig } from "./types.ts";

export interface ArmView {
  readonly armId: string;
  readonly probability: number;
  readonly value: number;
  readonly weight: number;
  readonly issued: number;
  readonly groups: number;
  readonly recentRewardMean: number | undefined;
  readonly recentSolvedShare: number | undefined;
  readonly repeats: number;
}

export interface StateView {
  readonly runId: string;
  readonly epoch: number;
  /** Changes since creation. */
  readonly version: number;
  readonly cursor: number;
  readonly batchesDrawn: number;
  readonly batchesClosed: number;
  readonly groupsOutstanding: number;
  readonly samplesRecorded: number;
  readonly paused: boolean;
  readonly done: boolean;
  readonly policy: Policy;
  /** In the configuration's order. */
  readonly arms: readonly ArmView[];
}

export interface RunView {
  readonly runId: string;
  /** As it was created. */
  readonly config: RunConfig;
  readonly state: StateView;
  readonly createdAtMs: number;
}

/** Mean reward and share of solved samples; undefined: no reward, or solved is not known. */
export function means(groups: readonly RewardSums[]): {
  readonly rewardMean: number | undefined;
  readonly solvedShare: number | undefined;
} {
  const total = (of: readonly RewardSums[], what: (sums: RewardSums) => number): number =>
    of.reduce((sum, group) => sum + what(group), 0);
  const count = total(groups, (group) => group.count);
  const known = groups.filter((group) => group.solved !== null);
  const knownCount = total(known, (group) => group.count);
  return {
    rewardMean: count > 0 ? total(groups, (group) => group.sum) / count : undefined,
    solvedShare: knownCount > 0 ? total(known, (group) => group.solved ?? 0) / knownCount : undefined,
  };
}

function armView(state: RunState, i: number, probability: number, value: number): ArmView {
  const { issued, groups, recent, repeats } = state.arms[i] as ArmCounters;
  const { rewardMean, solvedShare } = means(recent);
  return {
    armId: state.config.arms[i]?.id ?? "",
    probability,
    value,
    weight: state.weights[i] ?? 0,
    issued,
    groups,
    recentRewardMean: rewardMean,
    recentSolvedShare: solvedShare,
    repeats,
  };
}

export function stateView(state: RunState): StateView {
  const active = currentPolicy(state);
  const probabilities = state.probabilities ?? active.probabilities(state.weights);
  const values = active.values();
  return {
    runId: state.runId,
    epoch: epochOf(state),
    version: state.version - 1,
    cursor: state.cursor,
    batchesDrawn: state.batchesDrawn,
    batchesClosed: state.batchesClosed,
    groupsOutstanding: state.groupsOpen,
    samplesRecorded: state.samplesRecorded,
    paused: state.paused,
    done: isDone(state),
    policy: state.policy,
    arms: state.config.arms.map((_, i) => armView(state, i, probabilities[i] ?? 0, values[i] ?? 0)),
  };
}

export function runView(state: RunState): RunView {
  return { runId: state.runId, config: state.config, state: stateView(state), createdAtMs: state.createdAtMs };
}
