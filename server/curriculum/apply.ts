/** The fold: an event after a state gives the next state. */
import { assertNever } from "../../envs/lib/assert-never.ts";
import type { BatchDrawn, Created, HandedOut, Imported, ReportedGroup, Reshaped, RunEvent } from "./events.ts";
import { addIssued, issuedHashes, nextGeneration } from "./issued-hashes.ts";
import { looksBack } from "./policies/filter.ts";
import { takesFeedback } from "./policies/needs.ts";
import { definitionOf } from "./policies/registry.ts";
import { outcomeOf, reportedOutcome, type GroupOutcome, type RewardSums } from "./signals.ts";
import {
  batchEnd,
  incarnationOf,
  isUseless,
  nothingTallied,
  positionAt,
  progressOf,
  rememberedOf,
  tasksKept,
  updatesOf,
  withFolded,
  type ArmCounters,
  type Batch,
  type ClosedGroup,
  type DrawnTask,
  type Fold,
  type Group,
  type GroupResults,
  type OpenGroup,
  type Range,
  type RunState,
} from "./state.ts";
import { remember, taskMemory } from "./task-memory.ts";
import type { InstanceKey, Policy, RunConfig } from "./types.ts";

/** Groups that an arm's recent means look back on (contract: ArmState). */
const RECENT_MAX = 256;

type Change<Spec, Key extends InstanceKey> = Exclude<RunEvent<Spec, Key>, { kind: "created" | "imported" }>;

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
    paused: false,
    incarnations: [incarnation],
    epoch: 0,
    rolledBack: [],
    cursor: 0,
    prompts: 0,
    handedOut: 0,
    batchesDrawn: 0,
    batchesClosed: 0,
    batchesFolded: 0,
    groupsOpen: 0,
    samplesRecorded: 0,
    probabilities: null,
    arms: config.arms.map(() => freshCounters),
    batches: [],
    issued: issuedHashes(),
    memory: looksBack(config.policy.filter) ? taskMemory() : null,
    nextSeq: 0,
  };
}

// How groups change.

/** What an open group has come to so far. */
export function soFar({ results }: Pick<OpenGroup, "results">): GroupOutcome {
  const rewards: number[] = [];
  let solved = 0;
  for (const result of results) {
    if (result?.kind !== "reward") continue;
    rewards.push(result.reward);
    solved += Number(result.solved);
  }
  return outcomeOf(rewards, solved);
}

/** Closes a group with what it has, or with what was reported of it. */
function closed<Key extends InstanceKey>(group: OpenGroup<Key>, outcome = soFar(group)): ClosedGroup<Key> {
  const { task, handedOutAtMs, digests, results } = group;
  return { kind: "closed", task, handedOutAtMs, digests, results, outcome, folded: false };
}

/** Records results of one group; the last one that it waits for closes it. */
function withResults<Key extends InstanceKey>(group: OpenGroup<Key>, recorded: GroupResults): Group<Key> {
  const digests = group.digests.slice();
  const results = group.results.slice();
  for (const [i, index] of recorded.indices.entries()) {
    digests[index] = recorded.digests[i] ?? null;
    results[index] = recorded.results[i] ?? null;
  }
  const missing = group.missing - recorded.indices.length;
  const next: OpenGroup<Key> = { ...group, digests, results, missing };
  return missing === 0 ? closed(next) : next;
}

function countClosed(arm: ArmCounters, { count, sum, solved }: RewardSums): ArmCounters {
  if (count === 0) return arm;
  const recent = arm.recent.length < RECENT_MAX ? arm.recent.slice() : arm.recent.slice(1);
  recent.push({ count, sum, solved });
  return { ...arm, groups: arm.groups + 1, recent };
}

/** The first batch from `from` on that is not closed. */
function closedThrough(state: RunState, batches: readonly Batch[], from: number): number {
  const open = batches.find((batch) => batch.index >= from && batch.open > 0);
  return open?.index ?? state.batchesDrawn;
}

/** Applies `change` to the open groups at some cursors; a cursor whose group is not there or closed is passed over. */
function changeGroups<Spec, Key extends InstanceKey, At extends { readonly cursor: number }>(
  state: RunState<Spec, Key>,
  places: readonly At[],
  change: (group: OpenGroup<Key>, at: At) => Group<Key>,
): RunState<Spec, Key> {
  const batches = [...state.batches];
  const arms = [...state.arms];
  const copied = new Map<number, Group<Key>[]>();
  let closedNow = 0;
  for (const at of places) {
    const position = positionAt(state, at.cursor);
    const batch = batches[position];
    const place = at.cursor - (batch?.cursor ?? 0);
    const group = batch?.groups[place];
    if (batch === undefined || group?.kind !== "open") continue;
    const next = change(group, at);
    const groups = copied.get(position) ?? [...batch.groups];
    copied.set(position, groups);
    groups[place] = next;
    batches[position] = { ...batch, groups, open: batch.open - Number(next.kind === "closed") };
    if (next.kind === "open") continue;
    closedNow++;
    arms[next.task.arm] = countClosed(arms[next.task.arm] as ArmCounters, next.outcome);
  }
  if (closedNow === 0) return { ...state, batches };
  let groupsOpen = state.groupsOpen - closedNow;
  for (const position of copied.keys()) {
    const batch = batches[position] as Batch<Key>;
    const more = released(batch, state.config);
    if (more.length === 0) continue;
    groupsOpen += more.length;
    batches[position] = withReleased(batch, more);
    for (const { arm, repeat } of more) arms[arm] = countIssued(arms[arm] as ArmCounters, repeat);
  }
  return { ...state, batches, arms, groupsOpen, batchesClosed: closedThrough(state, batches, state.batchesClosed) };
}

/**
 * The tasks of a batch's reserve that may be given out now: one for each group that has proved useless. It depends on
 * what the groups came to, and not on the order in which they did.
 */
function released<Key extends InstanceKey>(
  batch: Batch<Key>,
  { dynamicSampling }: RunConfig,
): readonly DrawnTask<Key>[] {
  if (batch.reserve.length === 0 || dynamicSampling === undefined) return [];
  const useless = batch.groups.filter(
    (group) => group.kind === "closed" && isUseless(group, dynamicSampling.alike),
  ).length;
  return batch.reserve.slice(0, Math.max(0, batch.prompts + useless - batch.groups.length));
}

function withReleased<Key extends InstanceKey>(batch: Batch<Key>, more: readonly DrawnTask<Key>[]): Batch<Key> {
  const groups = [...batch.groups, ...more.map((task) => freshGroup(task, batch.numGenerations))];
  return { ...batch, groups, reserve: batch.reserve.slice(more.length), open: batch.open + more.length };
}

function countIssued(arm: ArmCounters, repeat: boolean): ArmCounters {
  return { ...arm, issued: arm.issued + 1, repeats: arm.repeats + Number(repeat) };
}

// How each event changes the state.

/** Marks closed groups as folded in. */
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

/** A task's group before anything is known of it. */
function freshGroup<Key extends InstanceKey>(task: DrawnTask<Key>, numGenerations: number): OpenGroup<Key> {
  const none = new Array<null>(numGenerations).fill(null);
  return { kind: "open", task, handedOutAtMs: null, digests: none, results: none, missing: numGenerations };
}

function drawnBatch<Key extends InstanceKey>(
  { batch: index, atMs: drawnAtMs, cursor, probabilities, tasks, prompts, policyState }: BatchDrawn<Key>,
  { config, policy, epoch, nextSeq: seq }: RunState,
): Batch<Key> {
  const { numGenerations } = config;
  const groups = tasks.slice(0, prompts).map((task) => freshGroup(task, numGenerations));
  const values = valuesOf(policy, policyState, config);
  const reserve = tasks.slice(prompts);
  const drawn = { index, cursor, seq, epoch, drawnAtMs, probabilities, values };
  return { ...drawn, numGenerations, groups, prompts, reserve, open: groups.length };
}

/** What a policy thinks each arm is worth. */
export function valuesOf(policy: Policy, policyState: unknown, { arms }: RunConfig): readonly number[] {
  return definitionOf(policy).values?.(policy.config, policyState) ?? arms.map(() => 0);
}

function drawn<Spec, Key extends InstanceKey>(state: RunState<Spec, Key>, event: BatchDrawn<Key>): RunState<Spec, Key> {
  const { fold, tasks, prompts, restarts } = event;
  const observed = takesFeedback(state.policy) ? updatesOf(state, fold) : [];
  const folded = withFolded(state.arms, observed);
  const arms = restarts ? folded.map((arm) => ({ ...arm, nextOrdinal: 0 })) : [...folded];
  for (const [i, { arm: index, ordinal, repeat }] of tasks.entries()) {
    const arm = arms[index] as ArmCounters;
    arms[index] = { ...(i < prompts ? countIssued(arm, repeat) : arm), nextOrdinal: ordinal + 1 };
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
    nextSeq: state.nextSeq + 1,
  };
}

function handedOut<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  { from, through, atMs }: HandedOut,
): RunState<Spec, Key> {
  const isMeant = ({ handedOutAtMs, task: { cursor } }: Group<Key>): boolean =>
    handedOutAtMs === null && from <= cursor && cursor < through;
  const batches = state.batches.map((batch) => {
    if (batchEnd(batch) <= from || through <= batch.cursor || !batch.groups.some(isMeant)) return batch;
    const groups = batch.groups.map((group) => (isMeant(group) ? { ...group, handedOutAtMs: atMs } : group));
    return { ...batch, groups };
  });
  return { ...state, batches, handedOut: Math.max(state.handedOut, through) };
}

function feedback<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  groups: readonly GroupResults[],
): RunState<Spec, Key> {
  const count = groups.reduce((sum, { indices }) => sum + indices.length, 0);
  const next = changeGroups(state, groups, withResults);
  return { ...next, samplesRecorded: state.samplesRecorded + count };
}

function reported<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  groups: readonly ReportedGroup[],
): RunState<Spec, Key> {
  const count = groups.reduce((sum, { advantages }) => sum + advantages.length, 0);
  const next = changeGroups(state, groups, (group, { advantages, rewardMean }) =>
    closed(group, reportedOutcome(advantages, rewardMean)),
  );
  return { ...next, samplesRecorded: state.samplesRecorded + count };
}

/** Groups open again, with what they had. */
function reopened<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  cursors: readonly number[],
  atMs: number,
): RunState<Spec, Key> {
  const batches = [...state.batches];
  const arms = [...state.arms];
  let first = state.batchesClosed;
  for (const cursor of cursors) {
    const position = positionAt(state, cursor);
    const batch = batches[position];
    const group = batch?.groups[cursor - batch.cursor];
    if (batch === undefined || group?.kind !== "closed") continue;
    const { task, digests, results } = group;
    const missing = results.filter((result) => result === null).length;
    const open: OpenGroup<Key> = { kind: "open", task, handedOutAtMs: atMs, digests, results, missing };
    batches[position] = { ...batch, groups: batch.groups.with(cursor - batch.cursor, open), open: batch.open + 1 };
    arms[task.arm] = uncountClosed(arms[task.arm] as ArmCounters, group.outcome);
    first = Math.min(first, batch.index);
  }
  return { ...state, batches, arms, groupsOpen: state.groupsOpen + cursors.length, batchesClosed: first };
}

/** Of the groups that an arm closed last the one with this outcome is taken away again, if it is still among them. */
function uncountClosed(arm: ArmCounters, { count, sum, solved }: RewardSums): ArmCounters {
  if (count === 0) return arm;
  const place = arm.recent.findLastIndex((one) => one.count === count && one.sum === sum && one.solved === solved);
  return { ...arm, groups: arm.groups - 1, recent: arm.recent.filter((_, i) => i !== place) };
}

const freshCounters: ArmCounters = Object.freeze({
  ...{ issued: 0, repeats: 0, nextOrdinal: 0, groups: 0, recent: [], folded: nothingTallied },
});

/** The arms there were stay at their places, so that only new ones come behind them. */
function reshaped<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  { config, policy }: Reshaped<Spec>,
): RunState<Spec, Key> {
  const resized: RunState<Spec, Key> = {
    ...state,
    config,
    arms: config.arms.map((_, i) => state.arms[i] ?? freshCounters),
    weights: config.arms.map(({ weight, removed }, i) => (removed ? 0 : (state.weights[i] ?? weight))),
    masks: config.arms.map((_, i) => state.masks[i] ?? null),
    probabilities: state.probabilities && config.arms.map((_, i) => state.probabilities?.[i] ?? 0),
    policyState: resizedPolicy(state, config.arms.length),
  };
  return policy === null ? resized : policyUpdated(resized, policy);
}

function resizedPolicy({ policy, policyState, prompts }: RunState, armCount: number): unknown {
  const definition = definitionOf(policy);
  return definition.resize?.(policy.config, policyState, armCount, prompts) ?? policyState;
}

function policyUpdated<Spec, Key extends InstanceKey>(state: RunState<Spec, Key>, policy: Policy): RunState<Spec, Key> {
  const definition = definitionOf(policy);
  const policyState =
    policy.kind === state.policy.kind && definition.inherit !== undefined
      ? definition.inherit(policy.config, state.policyState, state.policy.config, progressOf(state))
      : definition.initial(policy.config, state.config.arms.length, state.prompts);
  const memory = looksBack(policy.filter) ? (state.memory ?? taskMemory()) : null;
  return { ...state, policy, policyState, memory };
}

/** Whether a run's history begins with that of an exported state: if so, all that came after the export is undone. */
function sharesHistory(before: RunState | undefined, state: RunState): boolean {
  return before?.incarnations.includes(incarnationOf(state)) ?? false;
}

/** By how many places an imported history comes after that of the run whose place it takes. */
export function historyOffset(before: RunState | undefined, state: RunState): number {
  return before === undefined || sharesHistory(before, state) ? 0 : before.nextSeq;
}

/** What was already undone when the state was exported, and all that the run here has and the state has not. */
function rolledBackBy(before: RunState | undefined, state: RunState): readonly Range[] {
  if (before === undefined) return state.rolledBack;
  if (sharesHistory(before, state))
    return before.nextSeq > state.nextSeq
      ? [...state.rolledBack, [state.nextSeq, before.nextSeq - 1]]
      : state.rolledBack;
  const offset = before.nextSeq;
  const moved = state.rolledBack.map(([from, to]): Range => [from + offset, to + offset]);
  return [[0, offset - 1], ...moved];
}

/** Tasks that were outstanding when the state was exported are outstanding again, and their time runs again. */
function imported<Spec, Key extends InstanceKey>(
  before: RunState<Spec, Key> | undefined,
  { runId, incarnation, epoch, atMs, state }: Imported<Spec, Key>,
): RunState<Spec, Key> {
  const offset = historyOffset(before, state);
  const batches = state.batches.map((batch) => ({
    ...batch,
    seq: batch.seq + offset,
    groups: batch.groups.map((group): Group<Key> =>
      group.handedOutAtMs === null ? group : { ...group, handedOutAtMs: atMs },
    ),
  }));
  return {
    ...state,
    ...{ runId, epoch, batches },
    version: before?.version ?? 0,
    createdAtMs: before?.createdAtMs ?? atMs,
    // Those whose exports have their history at the same places as this run.
    incarnations: [...(before ?? state).incarnations, incarnation],
    rolledBack: rolledBackBy(before, state),
    // The import's own record comes after all that there was.
    nextSeq: Math.max(state.nextSeq + offset, before?.nextSeq ?? 0) + 1,
  };
}

/** A change that is told in the history by an entry of its own. */
function told<Spec, Key extends InstanceKey>(state: RunState<Spec, Key>): RunState<Spec, Key> {
  return { ...state, nextSeq: state.nextSeq + 1 };
}

/** The next state, before batches are dropped that nothing will be asked of again. */
function reduce<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  event: Change<Spec, Key>,
): RunState<Spec, Key> {
  const masked = (arm: number, reason: string | null): RunState<Spec, Key> =>
    told({ ...state, masks: state.masks.with(arm, reason) });
  switch (event.kind) {
    case "drawn":
      return drawn(state, event);
    case "handed_out":
      return handedOut(state, event);
    case "feedback":
      return feedback(state, event.groups);
    case "reported":
      return reported(state, event.groups);
    case "closed": {
      const places = event.cursors.map((cursor) => ({ cursor }));
      return told(changeGroups(state, places, (group) => closed(group)));
    }
    case "reopened":
      return told(reopened(state, event.cursors, event.atMs));
    case "reshaped":
      return told(reshaped(state, event));
    case "policy_updated":
      return told(policyUpdated(state, event.policy));
    case "weights_set":
      return told({ ...state, weights: event.weights });
    case "advanced":
      return told({ ...state, policyState: event.policyState });
    case "arm_masked":
      return masked(event.arm, event.reason);
    case "arm_unmasked":
      return masked(event.arm, null);
    case "paused":
      return told({ ...state, paused: true });
    case "resumed":
      return told({ ...state, paused: false });
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
export function trim<Spec, Key extends InstanceKey>(state: RunState<Spec, Key>): RunState<Spec, Key> {
  const { batches, config } = state;
  const kept = tasksKept(config);
  // As nearly always: with a look at the oldest alone.
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

/** The state after an event, still with all batches that the event touched, so that the history can be written. */
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

/** The state after an event; the first event of a journal comes after undefined. */
export function apply<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key> | undefined,
  event: RunEvent<Spec, Key>,
): RunState<Spec, Key> {
  return trim(applyUntrimmed(state, event));
}
