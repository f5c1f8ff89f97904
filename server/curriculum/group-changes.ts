/**
 * Changes groups of a run: records results, and closes, hands out or reopens groups. It also turns spare (reserve)
 * tasks into groups.
 */
import type { HandedOut } from "./events.ts";
import { meanFacts, outcomeOf, type GroupOutcome, type RewardRange } from "./advantages.ts";
import {
  type Batch,
  batchEnd,
  blankSamples,
  type ClosedGroup,
  type DrawnTask,
  type Group,
  type GroupResults,
  isUseless,
  type OpenGroup,
  placesInOrder,
  shared,
  type TaskSamples,
  withSamples,
} from "./batches.ts";
import { addLengths, type Lengths, lengthsOf } from "./lengths.ts";
import { type ArmCounters, positionAt, type RunState } from "./state.ts";
import type { InstanceKey, RunConfig } from "./types.ts";

/** Maximum number of recent groups whose rewards are averaged for an arm (see ArmState in the contract). */
const RECENT_MAX = 256;

/**
 * Returns the reward range of an arm, used to ignore rounding. Undefined: an older server created the run, and rewards
 * are compared exactly.
 */
function rangeOf({ arms, ignoresRounding }: RunConfig, arm: number): RewardRange | undefined {
  return ignoresRounding ? arms[arm]?.rewardRange : undefined;
}

/** Returns the outcome that an open group would have if it were closed with the results so far. */
export function soFar(group: TaskSamples, range?: RewardRange): GroupOutcome {
  const places = placesInOrder(group);
  const results = places?.map((place) => group.results[place] ?? null) ?? group.results;
  const rewards: number[] = [];
  let solved = 0;
  let quality = 0;
  let known: Readonly<Record<string, number>>[] | undefined;
  // A plain loop is faster than an iterator here, and this runs for every group of a run.
  for (let i = 0; i < results.length; i++) {
    const result = results[i];
    if (result?.kind !== "reward") continue;
    rewards.push(result.reward);
    if (result.solved) solved++;
    quality += result.quality ?? Number(result.solved);
    if (result.facts !== undefined) (known ??= []).push(result.facts);
  }
  const outcome = outcomeOf(rewards, solved, quality, range);
  return known === undefined ? outcome : { ...outcome, facts: meanFacts(known) };
}

/** Converts an open group to a closed one with this outcome. */
export function closed<Key extends InstanceKey>(group: OpenGroup<Key>, outcome: GroupOutcome): ClosedGroup<Key> {
  const { task, handedOutAtMs, digests, results, lengths } = group;
  const base = { task, handedOutAtMs, digests, ...(lengths && { lengths }) };
  return { kind: "closed", ...base, results: shared(results), outcome, folded: false };
}

/** Returns the group with new results recorded. The group closes when no result is missing any more. */
export function withResults<Key extends InstanceKey>(
  group: OpenGroup<Key>,
  recorded: GroupResults,
  range: RewardRange | undefined,
): Group<Key> {
  const missing = group.missing - recorded.indices.length;
  const lengths = addLengths(group.lengths, recorded.lengths);
  const next: OpenGroup<Key> = { ...group, ...withSamples(group, recorded), missing, ...(lengths && { lengths }) };
  return missing === 0 ? closed(next, soFar(next, range)) : next;
}

/**
 * Adds newly closed groups to an arm's counters, in order. All groups of a change are added at once, because each call
 * copies the list of recent groups.
 */
function countClosed(before: ArmCounters, groups: readonly ClosedGroup[]): ArmCounters {
  const more = groups.flatMap(({ outcome: { count, sum, solved } }) => (count === 0 ? [] : [{ count, sum, solved }]));
  const arm = withLengths(before, addLengths(before.lengths, lengthsOf(groups)));
  if (more.length === 0) return arm;
  const kept = Math.max(0, RECENT_MAX - more.length);
  const recent = arm.recent.length > kept ? arm.recent.slice(arm.recent.length - kept) : arm.recent;
  return { ...arm, groups: arm.groups + more.length, recent: recent.concat(more.slice(-RECENT_MAX)) };
}

function withLengths(arm: ArmCounters, lengths: Lengths | undefined): ArmCounters {
  return lengths === arm.lengths ? arm : { ...arm, lengths };
}

/**
 * Returns the index of the first batch, from `from` on, that has an open group. If no batch has one, it returns the
 * number of drawn batches.
 */
function closedThrough(state: RunState, batches: readonly Batch[], from: number): number {
  const open = batches.find((batch) => batch.index >= from && batch.open > 0);
  return open?.index ?? state.batchesDrawn;
}

/** Applies `change` to the open groups at these cursors. Cursors without an open group are skipped. */
export function changeGroups<Spec, Key extends InstanceKey, At extends { readonly cursor: number }>(
  state: RunState<Spec, Key>,
  places: readonly At[],
  change: (group: OpenGroup<Key>, at: At, range: RewardRange | undefined) => Group<Key>,
): RunState<Spec, Key> {
  const batches = [...state.batches];
  const arms = [...state.arms];
  const copied = new Map<number, Group<Key>[]>();
  const closedOf = new Map<number, ClosedGroup[]>();
  let closedNow = 0;
  for (const at of places) {
    const position = positionAt(state, at.cursor);
    const batch = batches[position];
    const place = at.cursor - (batch?.cursor ?? 0);
    const group = batch?.groups[place];
    if (batch === undefined || group?.kind !== "open") continue;
    const next = change(group, at, rangeOf(state.config, group.task.arm));
    const groups = copied.get(position) ?? [...batch.groups];
    copied.set(position, groups);
    groups[place] = next;
    batches[position] = { ...batch, groups, open: batch.open - Number(next.kind === "closed") };
    if (next.kind === "open") continue;
    closedNow++;
    const { arm } = next.task;
    const ofArm = closedOf.get(arm);
    if (ofArm === undefined) closedOf.set(arm, [next]);
    else ofArm.push(next);
  }
  if (closedNow === 0) return { ...state, batches };
  for (const [arm, ofArm] of closedOf) arms[arm] = countClosed(arms[arm] as ArmCounters, ofArm);
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
 * Returns the spare (reserve) tasks of a batch that become groups now: one for each useless group. The result does not
 * depend on the order in which groups closed.
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

export function countIssued(arm: ArmCounters, repeat: boolean): ArmCounters {
  return { ...arm, issued: arm.issued + 1, repeats: arm.repeats + Number(repeat) };
}

/** Returns a new open group of a task, without results. */
export function freshGroup<Key extends InstanceKey>(task: DrawnTask<Key>, numGenerations: number): OpenGroup<Key> {
  const { digests, results } = blankSamples(numGenerations);
  return { kind: "open", task, handedOutAtMs: null, digests, results, missing: numGenerations };
}

export function handedOut<Spec, Key extends InstanceKey>(
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

/** Reopens closed groups, so that they accept the missing results. They keep the results that they have. */
export function reopened<Spec, Key extends InstanceKey>(
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
    const { task, digests, results, lengths } = group;
    const missing = results.filter((result) => result === null).length;
    const base = { task, handedOutAtMs: atMs, digests, ...(lengths && { lengths }) };
    const open: OpenGroup<Key> = { kind: "open", ...base, results, missing };
    batches[position] = { ...batch, groups: batch.groups.with(cursor - batch.cursor, open), open: batch.open + 1 };
    arms[task.arm] = uncountClosed(arms[task.arm] as ArmCounters, group);
    first = Math.min(first, batch.index);
  }
  return { ...state, batches, arms, groupsOpen: state.groupsOpen + cursors.length, batchesClosed: first };
}

/**
 * Subtracts a reopened group from its arm's counters, and removes it from the arm's list of recent groups if it is
 * still there.
 */
function uncountClosed(before: ArmCounters, { outcome: { count, sum, solved }, lengths }: ClosedGroup): ArmCounters {
  const arm = withLengths(before, addLengths(before.lengths, lengths, -1));
  if (count === 0) return arm;
  const place = arm.recent.findLastIndex((one) => one.count === count && one.sum === sum && one.solved === solved);
  return { ...arm, groups: arm.groups - 1, recent: arm.recent.filter((_, i) => i !== place) };
}
