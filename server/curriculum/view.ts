/** A run for its readers as it stands: all that the contract's RunState shows. */
import { rngFor } from "../../envs/lib/rng.ts";
import { valuesOf } from "./apply.ts";
import { drawableProbabilities } from "./constraints.ts";
import { type EvaluationView, newestEvaluations } from "./evaluation-view.ts";
import type { View } from "./policies/policy.ts";
import { definitionOf } from "./policies/registry.ts";
import type { RewardSums } from "./signals.ts";
import { type ArmCounters, incarnationOf, isDone, progressOf, type RunState } from "./state.ts";
import type { InstanceKey, Policy, RunConfig } from "./types.ts";

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
  /** Undefined: it is drawn from. */
  readonly maskedReason: string | undefined;
  readonly removed: boolean;
}

export interface StateView {
  readonly runId: string;
  readonly incarnation: string;
  /** Imports so far. */
  readonly epoch: number;
  /** Changes since creation. */
  readonly version: number;
  readonly cursor: number;
  /** Of the first update batch that is not closed. */
  readonly firstOpenCursor: number;
  readonly batchesDrawn: number;
  readonly batchesClosed: number;
  readonly groupsOutstanding: number;
  readonly samplesRecorded: number;
  readonly paused: boolean;
  readonly done: boolean;
  readonly policy: Policy;
  /** In the configuration's order. */
  readonly arms: readonly ArmView[];
  /** The newest round of each evaluation arm. */
  readonly evaluations: readonly EvaluationView[];
}

export interface RunView<Spec = unknown> {
  readonly runId: string;
  /** As it was created. */
  readonly config: RunConfig<Spec>;
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

/** What a policy sees of a run when the next update batch is drawn. */
export function viewOf(state: RunState): View {
  const { config, weights, arms, batchesDrawn } = state;
  return {
    progress: progressOf(state),
    rng: () => rngFor("policy", config.seed, batchesDrawn),
    arms: config.arms.map(({ id, source, hard }, i) => {
      const { issued, folded } = arms[i] as ArmCounters;
      const weight = weights[i] ?? 0;
      return { id, source, hard, weight, issued, groups: folded.groups, ...means([folded]) };
    }),
  };
}

/** Of groups that an arm closed last: they are looked at with every change of the run, and few changes close a group. */
const recentMeans = new WeakMap<readonly RewardSums[], ReturnType<typeof means>>();

function meansOfRecent(recent: readonly RewardSums[]): ReturnType<typeof means> {
  const known = recentMeans.get(recent) ?? means(recent);
  recentMeans.set(recent, known);
  return known;
}

function armView(state: RunState, i: number, probability: number, value: number): ArmView {
  const { issued, groups, recent, repeats } = state.arms[i] as ArmCounters;
  const { rewardMean, solvedShare } = meansOfRecent(recent);
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
    maskedReason: state.masks[i] ?? undefined,
    removed: state.config.arms[i]?.removed ?? false,
  };
}

/** As the next update batch would be drawn; 0 where no arm can be drawn. */
function nextProbabilities(state: RunState): readonly number[] {
  const { policy, weights, masks } = state;
  const definition = definitionOf(policy);
  const view = viewOf(state);
  const policyState = definition.pass?.(policy.config, state.policyState, view.progress)?.state ?? state.policyState;
  const p = definition.probabilities(policy.config, policyState, view);
  return drawableProbabilities(policy, p, weights, masks)?.probabilities ?? p.map(() => 0);
}

export function stateView(state: RunState): StateView {
  const probabilities = state.probabilities ?? nextProbabilities(state);
  const values = valuesOf(state.policy, state.policyState, state.config);
  return {
    runId: state.runId,
    incarnation: incarnationOf(state),
    epoch: state.epoch,
    version: state.version - 1,
    cursor: state.cursor,
    firstOpenCursor: state.batches.find(({ open }) => open > 0)?.cursor ?? state.cursor,
    batchesDrawn: state.batchesDrawn,
    batchesClosed: state.batchesClosed,
    groupsOutstanding: state.groupsOpen,
    samplesRecorded: state.samplesRecorded,
    paused: state.paused,
    done: isDone(state),
    policy: state.policy,
    arms: state.config.arms.map((_, i) => armView(state, i, probabilities[i] ?? 0, values[i] ?? 0)),
    evaluations: newestEvaluations(state),
  };
}

export function runView<Spec, Key extends InstanceKey>(state: RunState<Spec, Key>): RunView<Spec> {
  return { runId: state.runId, config: state.configCreated, state: stateView(state), createdAtMs: state.createdAtMs };
}
