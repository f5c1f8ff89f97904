/** Makes the views of a run that clients read: the content of the contract's RunState, with evaluation rounds. */
import { rngFor } from "../../envs/lib/rng.ts";
import { valuesOf } from "./apply.ts";
import { drawableProbabilities, drawnWeights } from "./constraints.ts";
import { type Growth, grows, levelCount, valueOf } from "./growth.ts";
import { malformedShare, type MalformedShare } from "./malformed-samples.ts";
import type { PractisedView, View } from "./policies/policy.ts";
import { definitionOf } from "./policies/registry.ts";
import { masksOf, placesIn, type RowList } from "./row-lists.ts";
import type { RewardSums } from "./advantages.ts";
import {
  type ArmCounters,
  type EvaluationPage,
  type EvaluationRound,
  incarnationOf,
  isDone,
  progressOf,
  type RunState,
} from "./state.ts";
import type { InstanceKey, Policy, RunConfig } from "./types.ts";

export type ArmView = ReturnType<typeof armView> & {
  /** Levels of an arm that grows. Unset: the arm does not grow, or an older server wrote the summary. */
  readonly growth?: GrowthView;
};

/** Evaluation round, as clients read it. */
export interface EvaluationView {
  readonly armId: string;
  readonly round: number;
  /** Number of tasks that the run had drawn when the round was opened. */
  readonly cursor: number;
  /** Number of tasks in the evaluation arm's set. */
  readonly tasks: number;
  /** Number of the round's samples that have arrived. */
  readonly samples: number;
  /** Number of samples that arrived without a reward. */
  readonly withoutReward: number;
  /** Mean reward over the samples with a reward. Undefined: there are none. */
  readonly rewardMean?: number | undefined;
  /** Share of solved samples among those with a reward. Undefined: there are none. */
  readonly solvedShare?: number | undefined;
  readonly closed: boolean;
}

export interface StateView {
  readonly runId: string;
  readonly incarnation: string;
  /** Epoch of the run: 0 at its creation, and greater after each import. */
  readonly epoch: number;
  /** Number of events in the run's journal after the event that created the run. */
  readonly version: number;
  readonly cursor: number;
  /** Cursor (position in the run, counted in tasks) of the oldest update batch that has an open group. */
  readonly firstOpenCursor: number;
  readonly batchesDrawn: number;
  readonly batchesClosed: number;
  readonly groupsOutstanding: number;
  readonly samplesRecorded: number;
  /**
   * Counts of answers that could not be parsed, over the last complete window of scored samples. If the run ended
   * before, they are over all samples. Null: not known yet.
   */
  readonly malformed: MalformedShare | null;
  readonly paused: boolean;
  /** Name of the token that paused the run. Unset in summaries of older servers. */
  readonly pausedBy?: string;
  /** Time at which the run was paused. Unset in summaries of older servers. */
  readonly pausedAtMs?: number;
  /** Note in which people describe the run. Unset in summaries of older servers, like `tags`. */
  readonly note?: string;
  readonly tags?: readonly string[];
  readonly done: boolean;
  readonly policy: Policy;
  /** Arms in the configuration's order. */
  readonly arms: readonly ArmView[];
  /** The newest round of each evaluation arm. */
  readonly evaluations: readonly EvaluationView[];
  /** Sizes of the next update batch and of the run. */
  readonly shape: RunShape;
  /** State of each pool, sorted by name. Unset in summaries of older servers. */
  readonly pools?: readonly PoolView[];
}

/** Data pool, as the run knows it. */
export interface PoolView extends Pick<RowList, "digest"> {
  readonly name: string;
  /** Number of the pool's rows in the levels and splits from which the run's arms draw. */
  readonly rows: number;
  /** Number of rows that were removed from the pool since the run first saw it. */
  readonly gone: number;
}

/** Sizes of a run: completions per prompt, prompts per update batch, and total prompts. */
export type RunShape = Pick<RunConfig, "numGenerations" | "promptsPerUpdate" | "length">;

export function shapeOf({ numGenerations, promptsPerUpdate, length }: RunShape): RunShape {
  return { numGenerations, promptsPerUpdate, length };
}

export interface RunView<Spec = unknown> {
  readonly runId: string;
  readonly config: RunConfig<Spec>;
  /** Current configuration, with changes since creation, e.g. added arms. */
  readonly configNow: RunConfig<Spec>;
  readonly state: StateView;
  readonly createdAtMs: number;
}

/**
 * Returns the mean reward and the share of solved samples of these groups together. Undefined: there is no reward, or
 * it is not known which samples are solved.
 */
export function means(groups: readonly RewardSums[]): {
  readonly rewardMean: number | undefined;
  readonly solvedShare: number | undefined;
} {
  let [count, sum, knownCount, solved] = [0, 0, 0, 0];
  // A plain loop is fastest, and each change that closes an update batch goes over hundreds of groups of each arm.
  for (let i = 0; i < groups.length; i++) {
    const group = groups[i] as RewardSums;
    count += group.count;
    sum += group.sum;
    if (group.solved === null) continue;
    knownCount += group.count;
    solved += group.solved;
  }
  return {
    rewardMean: count > 0 ? sum / count : undefined,
    solvedShare: knownCount > 0 ? solved / knownCount : undefined,
  };
}

/** Returns the run's state in the form that policies read to choose arms for the next update batch. */
export function viewOf(state: RunState): View {
  const { config, weights, arms, batchesDrawn } = state;
  return {
    progress: progressOf(state),
    rng: () => rngFor("policy", config.seed, batchesDrawn),
    arms: config.arms.map(({ id, source, hard, grow }, i) => {
      const { issued, folded } = arms[i] as ArmCounters;
      const weight = weights[i] ?? 0;
      const levels = grow && { levels: levelCount(grow), guess: grow.guess };
      return { id, source, hard, weight, issued, groups: folded.groups, ...means([folded]), ...levels };
    }),
  };
}

/**
 * Cache of an arm's mean reward and solved share, by its list of recent groups. Every change of the run reads these,
 * but few changes close a group.
 */
const recentMeans = new WeakMap<readonly RewardSums[], ReturnType<typeof means>>();

function meansOfRecent(recent: readonly RewardSums[]): ReturnType<typeof means> {
  const known = recentMeans.get(recent) ?? means(recent);
  recentMeans.set(recent, known);
  return known;
}

/** Numbers about an arm that the run's policy computes, i.e. the rule that gives each arm its probability. */
interface Estimates {
  readonly value: number;
  /**
   * How fast the arm's success rises, and its practice. Unset: the policy does not measure them, or an older server
   * wrote the summary.
   */
  readonly practised?: PractisedView | undefined;
}

function armView(state: RunState, i: number, probability: number, { value, practised }: Estimates) {
  const { issued, groups, recent, repeats, lengths } = state.arms[i] as ArmCounters;
  const { rewardMean, solvedShare } = meansOfRecent(recent);
  return {
    armId: state.config.arms[i]?.id ?? "",
    probability,
    value,
    ...(practised && { practised }),
    weight: state.weights[i] ?? 0,
    issued,
    groups,
    recentRewardMean: rewardMean,
    recentSolvedShare: solvedShare,
    repeats,
    lengths,
    /** Reason for masking the arm. Undefined: it is not masked. */
    maskedReason: state.masks[i] ?? undefined,
    removed: state.config.arms[i]?.removed ?? false,
  };
}

/** Levels of an arm that grows (its levels of difficulty open one by one), as clients read them. */
export interface GrowthView extends Pick<Growth, "axis" | "cap"> {
  /** Value of the arm's highest open level. */
  readonly frontier: number;
  /** Levels that are open or have had a group, in ascending order. */
  readonly levels: readonly {
    readonly value: number;
    /** Share of the arm's next tasks that are of the level. */
    readonly share: number;
    /** Expected success of the level's next group. 0: the level has had no group. */
    readonly success: number;
    readonly retired: boolean;
  }[];
}

/** For each arm that grows (its levels open one by one), returns its levels. Undefined for the other arms. */
function growthViews(state: RunState): readonly (GrowthView | undefined)[] {
  const { policy, policyState, config } = state;
  if (!grows(config)) return [];
  const levels = definitionOf(policy).levels?.(policy.config, policyState, viewOf(state)) ?? [];
  return config.arms.map(({ grow }, arm) => {
    const of = levels[arm];
    if (grow === undefined || of === undefined) return undefined;
    const shown = of.success.flatMap((success, level) => {
      if (level > of.top && success === 0) return [];
      const [share = 0, retired = false] = [of.shares[level], of.retired[level]];
      return [{ value: valueOf(grow, level), share, success, retired }];
    });
    return { axis: grow.axis, cap: grow.cap, frontier: valueOf(grow, of.top), levels: shown };
  });
}

/** Returns the probability that the next update batch draws each arm. All are 0 if no arm can be drawn. */
function nextProbabilities(state: RunState): readonly number[] {
  const { policy, config, weights } = state;
  const definition = definitionOf(policy);
  const view = viewOf(state);
  const policyState = definition.pass?.(policy.config, state.policyState, view.progress)?.state ?? state.policyState;
  const p = definition.probabilities(policy.config, policyState, view);
  const drawable = drawableProbabilities(policy, p, drawnWeights(policy, config.arms, weights), masksOf(state));
  return drawable?.probabilities ?? p.map(() => 0);
}

// Functions for evaluation rounds. A run's state shows the newest round of each evaluation arm, and its history shows
// all rounds.

/** Sums over the samples on one page (256 tasks) of an evaluation round. */
interface Sums {
  readonly samples: number;
  readonly rewards: number;
  readonly sum: number;
  readonly solved: number;
}

/** Cache of sums by page. Every change of the run reads them, but most changes leave all pages as they are. */
const pageSums = new WeakMap<EvaluationPage, Sums>();

/**
 * Returns the sums over a page's samples. Samples are added in the order of task number and sample index. So the sums
 * are identical to the last bit, in whatever order samples arrived.
 */
function sumsOf(page: EvaluationPage): Sums {
  const found = pageSums.get(page);
  if (found !== undefined) return found;
  const sums = { samples: 0, rewards: 0, sum: 0, solved: 0 };
  for (const task of page) {
    for (const result of task?.results ?? []) {
      if (result === null) continue;
      sums.samples++;
      if (result.kind !== "reward") continue;
      sums.rewards++;
      sums.sum += result.reward;
      sums.solved += Number(result.solved);
    }
  }
  pageSums.set(page, sums);
  return sums;
}

function figures({ pages }: EvaluationRound) {
  const all = pages.map(sumsOf);
  const total = (name: keyof Sums): number => all.reduce((sum, page) => sum + page[name], 0);
  const [samples, rewards] = [total("samples"), total("rewards")];
  const counts = { samples, withoutReward: samples - rewards };
  if (rewards === 0) return counts;
  return { ...counts, rewardMean: total("sum") / rewards, solvedShare: total("solved") / rewards };
}

export function evaluationView(round: EvaluationRound, { evaluationArms }: RunConfig): EvaluationView {
  return {
    armId: evaluationArms[round.arm]?.id ?? "",
    round: round.round,
    cursor: round.cursor,
    tasks: round.size - round.leftOut.size,
    ...figures(round),
    closed: round.missing === 0,
  };
}

/** Returns the newest round of each evaluation arm. */
function newestEvaluations({ config, evaluations }: RunState): readonly EvaluationView[] {
  return config.evaluationArms.flatMap((_, arm) => {
    const newest = evaluations.findLast((round) => round.arm === arm);
    return newest === undefined ? [] : [evaluationView(newest, config)];
  });
}

function poolViews(lists: readonly RowList[]): readonly PoolView[] {
  const pools = [...Map.groupBy(lists, ({ pool }) => pool)].sort(([a], [b]) => (a < b ? -1 : 1));
  return pools.map(([name, of]) => {
    const gone = of.reduce((sum, list) => sum + list.gone.size, 0);
    const places = of.reduce((sum, list) => sum + placesIn(list), 0);
    return { name, digest: of[0]?.digest ?? "", rows: places - gone, gone };
  });
}

export function stateView(state: RunState): StateView {
  const probabilities = state.probabilities ?? nextProbabilities(state);
  const values = valuesOf(state.policy, state.policyState, state.config);
  const practised = definitionOf(state.policy).practised?.(state.policyState);
  const shown = { ...state, masks: masksOf(state) };
  const growths = growthViews(state);
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
    malformed: malformedShare(state.malformed, isDone(state)),
    paused: state.paused,
    pausedBy: state.pausedBy,
    pausedAtMs: state.pausedAtMs,
    note: state.note,
    tags: state.tags,
    done: isDone(state),
    policy: state.policy,
    arms: state.config.arms.map((_, i) => ({
      ...armView(shown, i, probabilities[i] ?? 0, { value: values[i] ?? 0, practised: practised?.[i] }),
      ...(growths[i] && { growth: growths[i] }),
    })),
    evaluations: newestEvaluations(state),
    shape: shapeOf(state.config),
    pools: poolViews(state.lists),
  };
}

export function runView<Spec, Key extends InstanceKey>(state: RunState<Spec, Key>): RunView<Spec> {
  const { runId, config: configNow, configCreated: config, createdAtMs } = state;
  return { runId, config, configNow, state: stateView(state), createdAtMs };
}
