/** A run's history: a record for each update batch, round of evaluation and control change, as they happened. */
import { isMany, type Told } from "./by-arm.ts";
import { findRound } from "./evaluation-rounds.ts";
import type { RunEvent } from "./events.ts";
import { soFar } from "./group-changes.ts";
import { whyClosed } from "./groups.ts";
import type { RewardSums } from "./signals.ts";
import { type Batch, type Group, usefulGroups } from "./batches.ts";
import type { EvaluationRound, RunState } from "./state.ts";
import type { Policy, RunConfig } from "./types.ts";
import { type EvaluationView, evaluationView, means, type RunShape, shapeOf } from "./run-view.ts";

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
  /** Sum and count of the rewards by arm; undefined: the run has many arms, or the record is older than these. */
  readonly rewardSums?: readonly number[] | undefined;
  readonly rewardCounts?: readonly number[] | undefined;
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
    | "rows"
    | "import";
  /** Of the first task that it applies to. */
  readonly cursor: number;
  readonly policy?: Policy;
  /** The run's since then; left out of what was written before it was kept. */
  readonly shape?: RunShape;
  /** By arm id. */
  readonly weights?: Readonly<Record<string, number>>;
  /** Of the arm that is masked or no longer. */
  readonly armId?: string;
  readonly reason: string;
  /** Of groups that were closed, as their event has it; left out of what an older server wrote. */
  readonly cause?: string;
  /** The name of the token of whoever asked for it; left out: the server did it by itself, or it asks for no token. */
  readonly by?: string;
}

/** Changes of groups and imports are no control: they go with what was learned. */
const OF_GROUPS: ReadonlySet<ControlRecord["control"]> = new Set(["close_groups", "reopen_groups", "import"]);

/** Whether a record tells of a change that stays in force when an import puts the learned state back. */
export function isControlChange(record: HistoryRecord): boolean {
  return record.kind === "control" && !OF_GROUPS.has(record.control);
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
  /** Of a batch's, what the record of the batch before it tells of its draw, if this one goes on from there. */
  readonly toldBefore?: Told | null;
}

function sumsOf(group: Group): RewardSums {
  return group.kind === "closed" ? group.outcome : soFar(group);
}

function evaluationRecord(round: EvaluationRound, config: RunConfig): HistoryRecord {
  return { kind: "evaluation", ...evaluationView(round, config), epoch: round.epoch, atMs: round.openedAtMs };
}

/** Gives the record at a place of the history as it is now, where it is not settled: it may yet be another. */
export function unsettledRecords(state: RunState): (seq: number) => HistoryRecord | undefined {
  const { batches, evaluations, config } = state;
  const open = new Map<number, () => HistoryRecord>();
  for (const batch of batches) if (!isSettled(state, batch)) open.set(batch.seq, () => batchRecord(batch, config));
  for (const round of evaluations) if (round.missing > 0) open.set(round.seq, () => evaluationRecord(round, config));
  return (seq) => open.get(seq)?.();
}

function isSettled(state: RunState, { index, groups }: Batch): boolean {
  return groups.every((group) => group.kind === "closed" && whyClosed(state, index, group) !== undefined);
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
    prompts,
    released: groups.length,
    useful: usefulGroups(batch, config),
    ...means(batch.groups.map(sumsOf)),
    ...(!isMany(probabilities.length) && rewardsByArm(groups, probabilities.length)),
  };
}

/** Of many arms most would be zeros, in each record. */
function rewardsByArm(groups: readonly Group[], armCount: number) {
  const rewardSums = new Array<number>(armCount).fill(0);
  const rewardCounts = new Array<number>(armCount).fill(0);
  for (const group of groups) {
    const { sum, count } = sumsOf(group);
    rewardSums[group.task.arm]! += sum;
    rewardCounts[group.task.arm]! += count;
  }
  return { rewardSums, rewardCounts };
}

function control(event: RunEvent, { cursor, config }: RunState): ControlRecord | undefined {
  const base = { kind: "control", cursor, reason: "" } as const;
  switch (event.kind) {
    case "policyUpdated":
      return { ...base, control: "policy", policy: event.policy };
    case "weightsSet": {
      const weights = config.arms.map((arm, i) => [arm.id, event.weights[i] ?? 0] as const);
      return { ...base, control: "weights", weights: Object.fromEntries(weights) };
    }
    case "advanced":
      return { ...base, control: "advance" };
    case "armMasked":
      return { ...base, control: "mask", armId: config.arms[event.arm]?.id ?? "", reason: event.reason };
    case "armUnmasked":
      return { ...base, control: "unmask", armId: config.arms[event.arm]?.id ?? "" };
    case "paused":
      return { ...base, control: "pause" };
    case "resumed":
      return { ...base, control: "resume" };
    case "closed":
      return { ...base, control: "close_groups", reason: event.reason, cause: event.cause };
    case "reopened":
      return { ...base, control: "reopen_groups" };
    case "reshaped":
      return { ...base, control: "shape", shape: shapeOf(config), ...(event.policy && { policy: event.policy }) };
    case "rowsSeen":
      return event.reason === "" ? undefined : { ...base, control: "rows", reason: event.reason };
    case "imported":
      return { ...base, control: "import" };
    default:
      return undefined;
  }
}

/**
 * What an event writes: its own record; the batch that it draws; batches that it closes, in place of what was written
 * when they were drawn; those that an import opens again; the same of rounds of evaluation. `after` is the state before
 * batches are dropped; `by`: who asked for it.
 */
export function historyWrites(
  before: RunState | undefined,
  event: RunEvent,
  after: RunState,
  { atMs, by = "" }: { readonly atMs: number; readonly by?: string | undefined },
): readonly PlacedRecord[] {
  const own = control(event, after);
  const told = { epoch: after.epoch, atMs, ...(by !== "" && { by }) };
  const change = own === undefined ? [] : [{ seq: after.nextSeq - 1, record: { ...own, ...told } }];
  const batches = after.batches.filter((batch, i) => {
    if (event.kind === "imported") return batch.open > 0;
    if (event.kind === "reopened") return batch !== before?.batches[i];
    // No event but an import moves batches before trimming: they are at the same places, or new at the end.
    const was = before?.batches[i];
    return was === undefined || (was !== batch && was.open > 0 && batch.open === 0);
  });
  return [
    ...change,
    ...batches.map((batch) => ({
      seq: batch.seq,
      record: batchRecord(batch, after.config),
      toldBefore: batch.toldBefore,
    })),
    ...roundsToWrite(before, event, after).map((round) => ({
      seq: round.seq,
      record: evaluationRecord(round, after.config),
    })),
  ];
}

/** Whose records an event writes: rounds that it opens, closes or drops unfinished, and those that an import opens again. */
function roundsToWrite(before: RunState | undefined, event: RunEvent, after: RunState): readonly EvaluationRound[] {
  const { evaluations } = after;
  switch (event.kind) {
    case "evaluationOpened": {
      const dropped = before?.evaluations.filter((round) => round.missing > 0 && findRound(after, round) === undefined);
      return [...(dropped ?? []), ...evaluations.slice(-1)];
    }
    case "rowsSeen":
    case "evaluated":
      return evaluations.filter(
        (round) => round.missing === 0 && before !== undefined && findRound(before, round)?.missing !== 0,
      );
    case "imported":
      return evaluations.filter(({ missing }) => missing > 0);
    default:
      return [];
  }
}
