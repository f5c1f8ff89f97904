/** A run for its readers: as it stands, all that the contract's RunState shows; and its history. */
import { rngFor } from "../../envs/lib/rng.ts";
import { valuesOf } from "./apply.ts";
import { soFar } from "./group-changes.ts";
import { drawableProbabilities } from "./constraints.ts";
import { type EvaluationView, evaluationView, newestEvaluations, roundsToWrite } from "./evaluation-view.ts";
import type { RunEvent } from "./events.ts";
import { definitionOf } from "./policies/registry.ts";
import type { View } from "./policies/policy.ts";
import type { RewardSums } from "./signals.ts";
import {
  incarnationOf,
  isDone,
  progressOf,
  usefulGroups,
  type ArmCounters,
  type Batch,
  type EvaluationRound,
  type Group,
  type RunState,
} from "./state.ts";
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
function means(groups: readonly RewardSums[]): {
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

// The history: a record for each update batch, round of evaluation and control change, in the order they happened.

interface BatchRecord {
  readonly kind: "batch";
  readonly batch: number;
  readonly cursor: number;
  /** By arm, as the next two. */
  readonly probabilities: readonly number[];
  readonly values: readonly number[];
  readonly counts: readonly number[];
  readonly closed: boolean;
  readonly prompts: number;
  readonly released: number;
  readonly useful: number;
  readonly rewardMean?: number | undefined;
  readonly solvedShare?: number | undefined;
}

interface ControlRecord {
  readonly kind: "control";
  readonly control:
    | "policy"
    | "weights"
    | "advance"
    | "mask"
    | "unmask"
    | "pause"
    | "resume"
    | "close_groups"
    | "reopen_groups"
    | "shape"
    | "import";
  /** Of the first task that it applies to. */
  readonly cursor: number;
  readonly policy?: Policy;
  /** By arm id. */
  readonly weights?: Readonly<Record<string, number>>;
  /** Of the arm that is masked or no longer. */
  readonly armId?: string;
  readonly reason: string;
}

type EvaluationRecord = EvaluationView & { readonly kind: "evaluation" };

export type HistoryRecord = (BatchRecord | ControlRecord | EvaluationRecord) & {
  /** The run's, when it happened. */
  readonly epoch: number;
  /** When it happened; of a batch, when it was drawn; of a round of evaluation, when it was opened. */
  readonly atMs: number;
};

/** A record as the run has it now. */
export type HistoryEntry = HistoryRecord & {
  /** An import has undone it. */
  readonly rolledBack: boolean;
};

/** A record and its place in the history. */
export interface PlacedRecord {
  readonly seq: number;
  readonly record: HistoryRecord;
}

function sumsOf(group: Group): RewardSums {
  return group.kind === "closed" ? group.outcome : soFar(group);
}

function evaluationRecord(round: EvaluationRound, config: RunConfig): HistoryRecord {
  return { kind: "evaluation", ...evaluationView(round, config), epoch: round.epoch, atMs: round.openedAtMs };
}

/** Gives the record at a place of the history as it is now, where it is not settled yet. */
export function openRecords({ batches, evaluations, config }: RunState): (seq: number) => HistoryRecord | undefined {
  const open = new Map<number, () => HistoryRecord>();
  for (const batch of batches) if (batch.open > 0) open.set(batch.seq, () => batchRecord(batch, config));
  for (const round of evaluations) if (round.missing > 0) open.set(round.seq, () => evaluationRecord(round, config));
  return (seq) => open.get(seq)?.();
}

function batchRecord(batch: Batch, config: RunConfig): HistoryRecord {
  const { index, cursor, epoch, drawnAtMs, probabilities, values, open, groups, prompts } = batch;
  const counts = probabilities.map(() => 0);
  for (const { arm } of [...groups.map(({ task }) => task), ...batch.reserve]) counts[arm] = (counts[arm] ?? 0) + 1;
  return {
    kind: "batch",
    epoch,
    atMs: drawnAtMs,
    batch: index,
    cursor,
    probabilities,
    values,
    counts,
    closed: open === 0,
    ...{ prompts, released: groups.length, useful: usefulGroups(batch, config) },
    ...means(batch.groups.map(sumsOf)),
  };
}

function control(event: RunEvent, { cursor, config }: RunState): ControlRecord | undefined {
  const base = { kind: "control", cursor, reason: "" } as const;
  switch (event.kind) {
    case "policy_updated":
      return { ...base, control: "policy", policy: event.policy };
    case "weights_set": {
      const weights = config.arms.map((arm, i) => [arm.id, event.weights[i] ?? 0] as const);
      return { ...base, control: "weights", weights: Object.fromEntries(weights) };
    }
    case "advanced":
      return { ...base, control: "advance" };
    case "arm_masked":
      return { ...base, control: "mask", armId: config.arms[event.arm]?.id ?? "", reason: event.reason };
    case "arm_unmasked":
      return { ...base, control: "unmask", armId: config.arms[event.arm]?.id ?? "" };
    case "paused":
      return { ...base, control: "pause" };
    case "resumed":
      return { ...base, control: "resume" };
    case "closed":
      return { ...base, control: "close_groups", reason: event.reason };
    case "reopened":
      return { ...base, control: "reopen_groups" };
    case "reshaped":
      return { ...base, control: "shape", ...(event.policy && { policy: event.policy }) };
    case "imported":
      return { ...base, control: "import" };
    default:
      return undefined;
  }
}

/**
 * What an event writes: its own record; the batch that it draws; batches that it closes, in place of what was written
 * when they were drawn; those that an import opens again; the same of rounds of evaluation. `after` is the state before batches are dropped.
 */
export function historyWrites(
  before: RunState | undefined,
  event: RunEvent,
  after: RunState,
  atMs: number,
): readonly PlacedRecord[] {
  const own = control(event, after);
  const change = own === undefined ? [] : [{ seq: after.nextSeq - 1, record: { ...own, epoch: after.epoch, atMs } }];
  const batches = after.batches.filter((batch, i) => {
    if (event.kind === "imported") return batch.open > 0;
    if (event.kind === "reopened") return batch !== before?.batches[i];
    // No event but an import moves batches before trimming: they are at the same places, or new at the end.
    const was = before?.batches[i];
    return was === undefined || (was !== batch && was.open > 0 && batch.open === 0);
  });
  return [
    ...change,
    ...batches.map((batch) => ({ seq: batch.seq, record: batchRecord(batch, after.config) })),
    ...roundsToWrite(before, event, after).map((round) => ({
      seq: round.seq,
      record: evaluationRecord(round, after.config),
    })),
  ];
}
