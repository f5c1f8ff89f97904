/** Event sourcing of a run: applies an event of the journal to the run's state and returns the next state. */
import { assertNever } from "../../envs/lib/assert-never.ts";
import { numbersToRecord, toldBefore } from "./by-arm.ts";
import { withEvaluated, withLeftOut, withRound } from "./evaluation-rounds.ts";
import type { BatchDrawn, Created, ReportedGroup, RowsSeen, RunEvent } from "./events.ts";
import { afterDrawn, frontiersOf, levelCount } from "./growth.ts";
import { addIssued, issuedHashes, nextGeneration } from "./issued-hashes.ts";
import { looksBack } from "./policies/filter.ts";
import { definitionOf } from "./policies/registry.ts";
import { reportedOutcome } from "./advantages.ts";
import type { Batch, GroupResults } from "./batches.ts";
import { nothingMalformed, withMalformed } from "./malformed-samples.ts";
import { type Fold, rememberedOf, takesFeedback, updatesOf, withFolded } from "./policy-updates.ts";
import { type ArmCounters, type RunState, tasksKept } from "./state.ts";
import { afterFold, freshTable, withRated } from "./row-arms.ts";
import { leftOutOf, listOf, placesIn, withReached, withRowsSeen } from "./row-lists.ts";
import { withListed } from "./row-table.ts";
import { remember, taskMemory } from "./task-memory.ts";
import type { InstanceKey, Policy, RunConfig } from "./types.ts";
import {
  changeGroups,
  closed,
  countIssued,
  freshGroup,
  handedOut,
  reopened,
  soFar,
  withResults,
} from "./group-changes.ts";
import { imported } from "./importing.ts";
import { freshCounters, placeOf, policyUpdated, reshaped } from "./apply-shape.ts";

type Change<Spec, Key extends InstanceKey> = Exclude<RunEvent<Spec, Key>, { kind: "created" | "imported" }>;

const notPaused = { paused: false, pausedBy: "", pausedAtMs: 0 } as const;

function created<Spec>({ runId, incarnation, config, atMs }: Created<Spec>): RunState<Spec, never> {
  return {
    runId,
    version: 0,
    config,
    configCreated: config,
    createdAtMs: atMs,
    policy: config.policy,
    policyState: definitionOf(config.policy).initial(config.policy.config, config.arms.length, 0),
    weights: config.arms.map((arm) => arm.weight),
    masks: config.arms.map(() => null),
    ...notPaused,
    note: "",
    tags: [],
    incarnations: [incarnation],
    epoch: 0,
    rolledBack: [],
    controlRolledBack: [],
    advancedTo: 0,
    cursor: 0,
    prompts: 0,
    handedOut: 0,
    batchesDrawn: 0,
    batchesClosed: 0,
    batchesFolded: 0,
    groupsOpen: 0,
    samplesRecorded: 0,
    malformed: nothingMalformed,
    probabilities: null,
    arms: config.arms.map(() => freshCounters),
    batches: [],
    issued: issuedHashes(),
    memory: looksBack(config.policy.filter) ? taskMemory() : null,
    lists: [],
    rows: config.arms.map(freshTable),
    evaluations: [],
    nextSeq: 0,
  };
}

/**
 * Marks the closed groups from which the policy has learned at a draw of an update batch, so that it learns from each
 * group once. Only runs with an unbounded feedback lag need the marks.
 */
function markFolded<Key extends InstanceKey>(batches: readonly Batch<Key>[], fold: Fold): readonly Batch<Key>[] {
  if (fold.kind === "through" || fold.ranges.length === 0) return batches;
  const marked = (cursor: number): boolean => fold.ranges.some(([first, last]) => first <= cursor && cursor <= last);
  return batches.map((batch) => {
    const end = batch.cursor + batch.groups.length;
    if (!fold.ranges.some(([first, last]) => first < end && batch.cursor <= last)) return batch;
    const groups = batch.groups.map((group) =>
      group.kind === "closed" && marked(group.task.cursor) ? { ...group, folded: true } : group,
    );
    return { ...batch, groups };
  });
}

function drawnBatch<Key extends InstanceKey>(
  { batch: index, atMs: drawnAtMs, cursor, probabilities, tasks, prompts, policyState }: BatchDrawn<Key>,
  state: RunState,
): Batch<Key> {
  const { config, policy, epoch, nextSeq: seq } = state;
  const { numGenerations } = config;
  const groups = tasks.slice(0, prompts).map((task) => freshGroup(task, numGenerations));
  const before = toldBefore(state, index);
  const values = numbersToRecord(
    before?.values,
    valuesOf(policy, policyState, config),
    new Set(tasks.map(({ arm }) => arm)),
  );
  const reserve = tasks.slice(prompts);
  const frontiers = frontiersOf(config.arms, topsOf(policy, policyState, config));
  const drawn = { index, cursor, seq, epoch, drawnAtMs, probabilities, values, frontiers, toldBefore: before };
  return { ...drawn, numGenerations, groups, prompts, reserve, open: groups.length };
}

/**
 * Returns the policy's estimate for each arm, for display, e.g. the learning signal that it expects. All are 0 if the
 * policy has no estimates.
 */
export function valuesOf(policy: Policy, policyState: unknown, { arms }: RunConfig): readonly number[] {
  return definitionOf(policy).values?.(policy.config, policyState) ?? arms.map(() => 0);
}

/**
 * Returns the index of the highest open level of each arm that grows, i.e. whose levels of difficulty open one by one.
 * Undefined for other arms.
 */
function topsOf(policy: Policy, policyState: unknown, { arms }: RunConfig): readonly (number | undefined)[] {
  const definition = definitionOf(policy);
  return arms.map(({ grow }, arm) => grow && definition.top?.(policyState, arm, levelCount(grow)));
}

function drawn<Spec, Key extends InstanceKey>(state: RunState<Spec, Key>, event: BatchDrawn<Key>): RunState<Spec, Key> {
  const { fold, tasks, prompts, restarts } = event;
  const observed = takesFeedback(state) ? updatesOf(state, fold) : [];
  const folded = withFolded(state.arms, observed);
  const arms = restarts ? folded.map((arm) => ({ ...arm, nextOrdinal: 0, nextInLevels: [] })) : [...folded];
  for (const [i, { arm: index, ordinal, repeat }] of tasks.entries()) {
    const arm = arms[index] as ArmCounters;
    const next = afterDrawn(state.config.arms[index] ?? {}, arm, ordinal);
    arms[index] = { ...(i < prompts ? countIssued(arm, repeat) : arm), ...next };
  }
  return {
    ...state,
    policyState: event.policyState,
    probabilities: event.probabilities,
    cursor: event.cursor + tasks.length,
    prompts: state.prompts + prompts,
    batchesDrawn: event.batch + 1,
    batchesFolded: fold.kind === "through" ? fold.batches : state.batchesFolded,
    groupsOpen: state.groupsOpen + prompts,
    arms,
    batches: [...markFolded(state.batches, fold), drawnBatch(event, state)],
    issued: addIssued(
      restarts ? nextGeneration(state.issued) : state.issued,
      tasks.map(({ key }) => key.hash),
    ),
    memory: state.memory && remember(state.memory, rememberedOf(observed)),
    lists: restarts ? withReached(state) : state.lists,
    rows: afterFold(state, observed),
    nextSeq: state.nextSeq + 1,
  };
}

function feedback<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  groups: readonly GroupResults[],
): RunState<Spec, Key> {
  const count = groups.reduce((sum, { indices }) => sum + indices.length, 0);
  const next = changeGroups(state, groups, withResults);
  const malformed = withMalformed(state.malformed, groups);
  return { ...next, samplesRecorded: state.samplesRecorded + count, malformed };
}

function reported<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  groups: readonly ReportedGroup[],
): RunState<Spec, Key> {
  const count = groups.reduce((sum, { advantages }) => sum + advantages.length, 0);
  const next = changeGroups(state, groups, (group, { advantages, rewardMean }, range) =>
    closed(group, reportedOutcome(advantages, rewardMean, range)),
  );
  return { ...next, samplesRecorded: state.samplesRecorded + count };
}

/**
 * Applies the event that a server loaded a data pool with new or removed rows. Arms that choose their rows by pass rate
 * get a table entry for each row. Evaluation rounds no longer wait for removed rows.
 */
function rowsSeen<Spec, Key extends InstanceKey>(state: RunState<Spec, Key>, event: RowsSeen): RunState<Spec, Key> {
  const lists = withRowsSeen(state, event, event.lists);
  const arms = state.config.arms.map((arm) => {
    const list = arm.rows && listOf(lists, arm.id);
    const rows = list === undefined ? arm.rows?.rows : placesIn(list);
    return arm.rows === undefined || rows === undefined || rows === arm.rows.rows
      ? arm
      : { ...arm, rows: { ...arm.rows, rows } };
  });
  const isSame = arms.every((arm, i) => arm === state.config.arms[i]);
  const config = isSame ? state.config : { ...state.config, arms };
  const seen: RunState<Spec, Key> = {
    ...state,
    lists,
    config,
    policy: event.policy ?? state.policy,
    rows: state.rows.map((table, i) => {
      const list = listOf(lists, arms[i]?.id ?? "");
      return table === null || list === undefined ? table : withListed(table, placesIn(list), list.gone);
    }),
    evaluations: state.evaluations.map((round) =>
      withLeftOut(
        round,
        leftOutOf({ lists, config }, round.arm),
        config.evaluationArms[round.arm]?.numGenerations ?? 0,
      ),
    ),
  };
  return event.reason === "" ? seen : withHistoryEntry(seen);
}

/** Reserves the next position in the run's history for the record of a change, and returns the new state. */
function withHistoryEntry<Spec, Key extends InstanceKey>(state: RunState<Spec, Key>): RunState<Spec, Key> {
  return { ...state, nextSeq: state.nextSeq + 1 };
}

/** Returns the state after an event, before `trim` drops old batches. */
function reduce<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  event: Change<Spec, Key>,
): RunState<Spec, Key> {
  const masked = (arm: number, reason: string | null): RunState<Spec, Key> =>
    withHistoryEntry({ ...state, masks: state.masks.with(arm, reason) });
  switch (event.kind) {
    case "drawn":
      return drawn(state, event);
    case "handedOut":
      return handedOut(state, event);
    case "feedback":
      return feedback(state, event.groups);
    case "reported":
      return reported(state, event.groups);
    case "closed": {
      const places = event.cursors.map((cursor) => ({ cursor }));
      return withHistoryEntry(changeGroups(state, places, (group, _, range) => closed(group, soFar(group, range))));
    }
    case "rowsRated":
      return { ...state, rows: withRated(state.rows, event) };
    case "rowsSeen":
      return rowsSeen(state, event);
    case "reopened":
      return withHistoryEntry(reopened(state, event.cursors, event.atMs));
    case "reshaped":
      return withHistoryEntry(reshaped(state, event));
    case "policyUpdated":
      return withHistoryEntry(policyUpdated(state, event.policy));
    case "weightsSet":
      return withHistoryEntry({ ...state, weights: event.weights });
    case "advanced": {
      const moved = withHistoryEntry({ ...state, policyState: event.policyState });
      return { ...moved, advancedTo: placeOf(moved) };
    }
    case "armMasked":
      return masked(event.arm, event.reason);
    case "armUnmasked":
      return masked(event.arm, null);
    case "paused":
      return withHistoryEntry({ ...state, paused: true, pausedBy: event.by, pausedAtMs: event.atMs });
    case "resumed":
      return withHistoryEntry({ ...state, ...notPaused });
    case "noted":
      return withHistoryEntry({ ...state, note: event.note });
    case "tagged":
      return withHistoryEntry({ ...state, tags: event.tags });
    case "evaluationOpened":
      return withHistoryEntry(withRound(state, event));
    case "evaluated":
      return withEvaluated(state, event);
    default:
      return assertNever(event);
  }
}

function isSpent(state: RunState, batch: Batch): boolean {
  if (batch.open > 0) return false;
  if (state.config.lag.kind === "batches") return batch.index < state.batchesFolded;
  return batch.groups.every((group) => group.kind === "closed" && group.folded);
}

/**
 * Drops old update batches that are closed and from which the policy has learned. The newest of them stay, with at
 * least `tasksKept` tasks in total, because clients may still ask for these tasks.
 */
export function trim<Spec, Key extends InstanceKey>(state: RunState<Spec, Key>): RunState<Spec, Key> {
  const { batches, config } = state;
  const kept = tasksKept(config);
  // Usually the run has too few tasks for any batch to be dropped. The number of tasks since the oldest batch, a
  // difference of cursors, shows that without a loop.
  if (batches.length === 0 || state.cursor - (batches[0] as Batch).cursor <= kept) return state;
  const spent = batches.filter((batch) => isSpent(state, batch));
  const dropped = new Set<Batch>();
  let tasks = spent.reduce((sum, { groups }) => sum + groups.length, 0);
  for (const batch of spent) {
    tasks -= batch.groups.length;
    if (tasks < kept) break;
    dropped.add(batch);
  }
  return dropped.size === 0 ? state : { ...state, batches: batches.filter((batch) => !dropped.has(batch)) };
}

/**
 * Returns the state after an event, without dropping old update batches. The history is written from this state, and
 * `trim` drops the batches afterwards.
 */
export function applyUntrimmed<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key> | undefined,
  event: RunEvent<Spec, Key>,
): RunState<Spec, Key> {
  const next = (): RunState<Spec, Key> => {
    if (event.kind === "created") return created(event);
    if (event.kind === "imported") return imported(state, event);
    if (state === undefined) throw new Error(`a journal begins with "created" or "imported", not "${event.kind}"`);
    return reduce(state, event);
  };
  return { ...next(), version: (state?.version ?? 0) + 1 };
}

/** Returns the state after an event. A journal's first event is applied to `undefined`. */
export function apply<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key> | undefined,
  event: RunEvent<Spec, Key>,
): RunState<Spec, Key> {
  return trim(applyUntrimmed(state, event));
}
