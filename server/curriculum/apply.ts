/** The fold: an event after a state gives the next state. */
import { assertNever } from "../../envs/lib/assert-never.ts";
import { decodeState } from "./codec.ts";
import type { BatchDrawn, FeedbackEntry, FoldRecord, RunEvent } from "./events.ts";
import { changeGroups, closed, closedAsReported, withEntries } from "./groups.ts";
import { addIssued, issuedHashes } from "./issued-hashes.ts";
import { activePolicy } from "./policies/index.ts";
import { batchesKept, type Batch, type Group, type OpenGroup, type RunState } from "./state.ts";
import type { Arm, RunConfig } from "./types.ts";

type Created = Extract<RunEvent, { kind: "created" }>;
type Imported = Extract<RunEvent, { kind: "imported" }>;

function created({ runId, config, atMs }: Created): RunState {
  return {
    runId,
    version: 0,
    config,
    createdAtMs: atMs,
    policy: config.policy,
    weights: config.arms.map((arm) => arm.weight),
    policyState: activePolicy(config.policy, undefined, config.arms.length).state,
    paused: false,
    epochs: [{ epoch: 0, cursor: 0 }],
    cursor: 0,
    handedOut: 0,
    batchesDrawn: 0,
    batchesClosed: 0,
    batchesFolded: 0,
    groupsOpen: 0,
    samplesRecorded: 0,
    probabilities: undefined,
    arms: config.arms.map(() => ({ issued: 0, repeats: 0, nextOrdinal: 0, groups: 0, recent: [] })),
    batches: [],
    issued: issuedHashes(),
    nextSeq: 0,
  };
}

/** Marks closed groups as folded in. */
function markFolded(batches: readonly Batch[], folded: FoldRecord): readonly Batch[] {
  if (folded.kind === "through" || folded.ranges.length === 0) return batches;
  const marked = (cursor: number): boolean => folded.ranges.some(([first, last]) => first <= cursor && cursor <= last);
  return batches.map((batch) => {
    const end = batch.cursor + batch.groups.length;
    if (!folded.ranges.some(([first, last]) => first < end && batch.cursor <= last)) return batch;
    const groups = batch.groups.map((group, i) =>
      group.kind === "closed" && marked(batch.cursor + i) ? { ...group, folded: true } : group,
    );
    return { ...batch, groups };
  });
}

function drawnBatch(event: BatchDrawn, config: RunConfig, seq: number): Batch {
  const groups = event.tasks.map((task): OpenGroup => ({
    ...task,
    kind: "open",
    handedOutAtMs: null,
    samples: new Array<null>(config.numGenerations).fill(null),
    missing: config.numGenerations,
  }));
  const { batch: index, cursor, probabilities, values } = event;
  return { index, cursor, seq, probabilities, values, groups, open: groups.length };
}

function batchDrawn(state: RunState, event: BatchDrawn): RunState {
  const arms = state.arms.map((arm) => ({ ...arm }));
  for (const { arm: index, ordinal, repeat } of event.tasks) {
    const arm = arms[index] as (typeof arms)[number];
    arm.issued++;
    arm.repeats += Number(repeat);
    arm.nextOrdinal = ordinal + 1;
  }
  const batches = markFolded(state.batches, event.folded);
  return {
    ...state,
    policyState: event.policyState,
    probabilities: event.probabilities,
    cursor: event.cursor + event.tasks.length,
    batchesDrawn: event.batch + 1,
    batchesFolded: event.folded.kind === "through" ? event.folded.batches : state.batchesFolded,
    groupsOpen: state.groupsOpen + event.tasks.length,
    arms,
    batches: [...batches, drawnBatch(event, state.config, state.nextSeq)],
    issued: addIssued(
      state.issued,
      event.tasks.map((task) => task.hash),
    ),
    nextSeq: state.nextSeq + 1,
  };
}

function handedOut(state: RunState, through: number, atMs: number): RunState {
  const batches = state.batches.map((batch) => {
    const end = batch.cursor + batch.groups.length;
    if (end <= state.handedOut || through <= batch.cursor) return batch;
    const groups = batch.groups.map((group, i): Group => {
      const cursor = batch.cursor + i;
      return state.handedOut <= cursor && cursor < through ? { ...group, handedOutAtMs: atMs } : group;
    });
    return { ...batch, groups };
  });
  return { ...state, batches, handedOut: through };
}

function feedback(state: RunState, entries: readonly FeedbackEntry[]): RunState {
  const byCursor = Map.groupBy(entries, (entry) => entry.cursor);
  const changes = new Map(
    [...byCursor].map(([cursor, of]) => [cursor, (group: OpenGroup, arm: Arm) => withEntries(group, of, arm)] as const),
  );
  return { ...changeGroups(state, changes), samplesRecorded: state.samplesRecorded + entries.length };
}

/** Tasks that were outstanding when the state was exported are outstanding again, and their time runs again. */
function imported(before: RunState | undefined, event: Imported): RunState {
  const state = decodeState(event.state);
  const nextSeq = before?.nextSeq ?? 0;
  // The history tells the import first, then the batches that are still open, each at a new place.
  let seq = nextSeq + 1;
  const batches = state.batches.map((batch) => ({
    ...batch,
    seq: batch.open > 0 ? seq++ : batch.seq,
    groups: batch.groups.map((group) =>
      group.handedOutAtMs === null ? group : { ...group, handedOutAtMs: event.atMs },
    ),
  }));
  const kept = event.fresh ? [] : state.epochs;
  const start = { epoch: event.epoch, cursor: event.fresh ? 0 : state.cursor };
  return {
    ...state,
    runId: event.runId,
    version: before?.version ?? 0,
    createdAtMs: before?.createdAtMs ?? event.atMs,
    epochs: [...kept, start],
    batches,
    nextSeq: seq,
  };
}

/** The next state, before batches are dropped that nothing will be asked of again. */
function reduce(state: RunState, event: Exclude<RunEvent, Created | Imported>): RunState {
  switch (event.kind) {
    case "batch_drawn":
      return batchDrawn(state, event);
    case "handed_out":
      return handedOut(state, event.through, event.atMs);
    case "feedback":
      return feedback(state, event.entries);
    case "advantages_reported": {
      const samples = event.groups.reduce((count, group) => count + group.advantages.length, 0);
      const changes = new Map(
        event.groups.map((report) => [
          report.cursor,
          (group: OpenGroup, arm: Arm) => closedAsReported(group, report, arm),
        ]),
      );
      return { ...changeGroups(state, changes), samplesRecorded: state.samplesRecorded + samples };
    }
    case "groups_closed":
      return {
        ...changeGroups(state, new Map(event.cursors.map((cursor) => [cursor, closed]))),
        nextSeq: state.nextSeq + 1,
      };
    case "policy_updated": {
      const policyState = activePolicy(event.policy, state.policyState, state.config.arms.length).state;
      return { ...state, policy: event.policy, policyState, nextSeq: state.nextSeq + 1 };
    }
    case "weights_set":
      return { ...state, weights: event.weights, nextSeq: state.nextSeq + 1 };
    case "paused":
      return { ...state, paused: true, nextSeq: state.nextSeq + 1 };
    case "resumed":
      return { ...state, paused: false, nextSeq: state.nextSeq + 1 };
    default:
      return assertNever(event);
  }
}

function isSpent(state: RunState, batch: Batch): boolean {
  if (batch.open > 0) return false;
  if (state.config.lag.kind === "batches") return batch.index < state.batchesFolded;
  return batch.groups.every((group) => group.kind === "closed" && group.folded);
}

/** Drops the oldest batches that are closed and folded in, beyond those kept. */
function trim(state: RunState): RunState {
  const kept = batchesKept(state.config);
  if (state.batches.length <= kept) return state;
  const spent = state.batches.filter((batch) => isSpent(state, batch));
  if (spent.length <= kept) return state;
  const dropped = new Set(spent.slice(0, spent.length - kept));
  return { ...state, batches: state.batches.filter((batch) => !dropped.has(batch)) };
}

/** The state after an event, still with all batches that the event touched, so that the history can be written. */
export function applyUntrimmed(state: RunState | undefined, event: RunEvent): RunState {
  const next = (): RunState => {
    if (event.kind === "created") return created(event);
    if (event.kind === "imported") return imported(state, event);
    if (state === undefined) throw new Error(`a journal begins with "created" or "imported", not "${event.kind}"`);
    return reduce(state, event);
  };
  return { ...next(), version: (state?.version ?? 0) + 1 };
}

export function afterEvent(untrimmed: RunState): RunState {
  return trim(untrimmed);
}

/** The state after an event; the first event of a journal comes after undefined. */
export function apply(state: RunState | undefined, event: RunEvent): RunState {
  return afterEvent(applyUntrimmed(state, event));
}
