/**
 * Makes the records of a run's history: one for each update batch, evaluation round and control change, in order of
 * time.
 */
import { isMany, type RecordedNumbers } from "./by-arm.ts";
import { findRound } from "./evaluation-rounds.ts";
import type { RunEvent } from "./events.ts";
import { soFar } from "./group-changes.ts";
import { whyClosed } from "./groups.ts";
import { outcomeOf, type RewardSums } from "./advantages.ts";
import { type Batch, type Group, usefulGroups } from "./batches.ts";
import { type Lengths, lengthsOf } from "./lengths.ts";
import type { EvaluationRound, RunState } from "./state.ts";
import type { Policy, RunConfig } from "./types.ts";
import { type EvaluationView, evaluationView, means, type RunShape, shapeOf } from "./run-view.ts";

interface BatchRecord {
  readonly kind: "batch";
  readonly batch: number;
  readonly cursor: number;
  /** Probability of each arm in the draw. */
  readonly probabilities: readonly number[];
  /** Policy's estimate for each arm, for display, e.g. the learning signal that it expects. */
  readonly values: readonly number[];
  /** Number of tasks drawn from each arm, spare (reserve) ones included. */
  readonly counts: readonly number[];
  readonly closed: boolean;
  readonly prompts: number;
  readonly released: number;
  readonly useful: number;
  readonly rewardMean?: number | undefined;
  readonly solvedShare?: number | undefined;
  /** Sum of each arm's rewards. Undefined: the run has many arms, or an older server wrote the record. */
  readonly rewardSums?: readonly number[] | undefined;
  /** Number of each arm's rewards. Undefined if `rewardSums` is undefined. */
  readonly rewardCounts?: readonly number[] | undefined;
  /**
   * Number of solved samples of each arm. Undefined: `rewardSums` is undefined, the trainer reports advantages instead
   * of rewards, or an older server wrote the record.
   */
  readonly solvedCounts?: readonly number[] | undefined;
  /** Total length of the batch's completions that have results, in tokens or characters. Unset: not known. */
  readonly lengths?: Lengths | undefined;
  /**
   * For each arm that grows (its levels open one by one): the value of its highest open level. 0: the arm does not
   * grow. Unset: no arm grows.
   */
  readonly frontiers?: readonly number[];
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
    | "import"
    | "note"
    | "tags";
  /** Position in the run, counted in tasks, of the first task to which the change applies. */
  readonly cursor: number;
  readonly policy?: Policy;
  /**
   * Completions per task, tasks per update batch and length of the run after the change. Unset in records of older
   * servers.
   */
  readonly shape?: RunShape;
  readonly weights?: Readonly<Record<string, number>>;
  /** Id of the arm that was masked or unmasked, or whose next level was opened. */
  readonly armId?: string;
  readonly reason: string;
  /** Why groups were closed: the contract's enum CloseCause in lower case. Unset in records of older servers. */
  readonly cause?: string;
  /** Name of the caller's token. Unset: the server made the change, or it does not require tokens. */
  readonly by?: string;
}

/** Kinds of control records that an import undoes together with the learned state. */
const OF_GROUPS: ReadonlySet<ControlRecord["control"]> = new Set(["close_groups", "reopen_groups", "import"]);

/**
 * Returns whether a record is a control change, e.g. new weights. An import that restores the learned state may leave
 * such changes in force.
 */
export function isControlChange(record: HistoryRecord): boolean {
  return record.kind === "control" && !OF_GROUPS.has(record.control);
}

type EvaluationRecord = EvaluationView & { readonly kind: "evaluation" };

export type HistoryRecord = (BatchRecord | ControlRecord | EvaluationRecord) & {
  /** Epoch of the run when the record was made: 0, or a greater number after each import. */
  readonly epoch: number;
  /** Time at which the batch was drawn, the round was opened, or the control change was made. */
  readonly atMs: number;
};

/** Record as readers see it, with the mark whether an import has undone it. */
export type HistoryEntry = HistoryRecord & {
  /** Whether an import has undone the recorded event. */
  readonly rolledBack: boolean;
};

/** A record and its position in the history. */
export interface PlacedRecord {
  readonly seq: number;
  readonly record: HistoryRecord;
  /**
   * For an update batch whose record stores only changes by arm: the previous batch's numbers, to which the changes
   * apply.
   */
  readonly toldBefore?: RecordedNumbers | null;
}

const NOTHING: RewardSums = outcomeOf([], 0, 0);

function sumsOf(group: Group): RewardSums {
  if (group.kind === "closed") return group.outcome;
  return group.missing === group.results.length ? NOTHING : soFar(group);
}

function evaluationRecord(round: EvaluationRound, config: RunConfig): HistoryRecord {
  return { kind: "evaluation", ...evaluationView(round, config), epoch: round.epoch, atMs: round.openedAtMs };
}

/**
 * Returns a function that takes a history position and makes the record there from the state, if the record may still
 * change. It returns undefined if the stored record is final.
 */
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
  const { index, cursor, epoch, drawnAtMs, probabilities, values, frontiers, open, groups, prompts } = batch;
  const counts = probabilities.map(() => 0);
  const sums = groups.map(sumsOf);
  const lengths = lengthsOf(groups);
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
    ...means(sums),
    ...(lengths && { lengths }),
    ...(frontiers.length > 0 && { frontiers }),
    ...(!isMany(probabilities.length) && rewardsByArm(groups, sums, probabilities.length)),
  };
}

/**
 * Returns the sum and the number of each arm's rewards, and the number of its solved samples, if known. In runs of many
 * arms these fields are left out, because most numbers would be 0.
 */
function rewardsByArm(groups: readonly Group[], sums: readonly RewardSums[], armCount: number) {
  const rewardSums = new Array<number>(armCount).fill(0);
  const rewardCounts = new Array<number>(armCount).fill(0);
  const solvedCounts = new Array<number>(armCount).fill(0);
  let isKnown = true;
  for (const [i, { sum, count, solved }] of sums.entries()) {
    const { arm } = groups[i]!.task;
    rewardSums[arm]! += sum;
    rewardCounts[arm]! += count;
    solvedCounts[arm]! += solved ?? 0;
    isKnown &&= solved !== null;
  }
  return { rewardSums, rewardCounts, ...(isKnown && { solvedCounts }) };
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
      return {
        ...base,
        control: "advance",
        ...(event.arm !== undefined && { armId: config.arms[event.arm]?.id ?? "" }),
      };
    case "armMasked":
      return { ...base, control: "mask", armId: config.arms[event.arm]?.id ?? "", reason: event.reason };
    case "armUnmasked":
      return { ...base, control: "unmask", armId: config.arms[event.arm]?.id ?? "" };
    case "paused":
      return { ...base, control: "pause" };
    case "resumed":
      return { ...base, control: "resume" };
    case "noted":
      return { ...base, control: "note", reason: event.note };
    case "tagged":
      return { ...base, control: "tags", reason: event.tags.join(", ") };
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
 * Returns the history records to write for an event: the record of the event itself, and those of update batches and
 * evaluation rounds that it opens, closes or reopens. `after` still holds the old batches that `trim` drops next. `by`
 * is the name of the caller's token.
 */
export function historyWrites(
  before: RunState | undefined,
  event: RunEvent,
  after: RunState,
  { atMs, by = "" }: { readonly atMs: number; readonly by?: string | undefined },
): readonly PlacedRecord[] {
  const own = control(event, after);
  const origin = { epoch: after.epoch, atMs, ...(by !== "" && { by }) };
  const change = own === undefined ? [] : [{ seq: after.nextSeq - 1, record: { ...own, ...origin } }];
  const batches = after.batches.filter((batch, i) => {
    if (event.kind === "imported") return batch.open > 0;
    if (event.kind === "reopened") return batch !== before?.batches[i];
    // Only an import moves batches to other positions in the list. Other events add a batch at the end, or replace a
    // batch at its position.
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

/**
 * Returns the evaluation rounds whose records an event writes. An event may open a round, complete it, or drop it
 * before it is complete. An import may make rounds incomplete again.
 */
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
