/**
 * Computes a run's state after an import: what the export restores, what part of the history is undone, and the new
 * history positions.
 */
import { isDeepStrictEqual } from "node:util";
import { definitionOf } from "./policies/registry.ts";
import type { Imported } from "./events.ts";
import type { Group } from "./batches.ts";
import { freshCounters, placeOf, reshaped } from "./apply-shape.ts";
import { freshTable } from "./row-arms.ts";
import { incarnationOf, progressOf, type Range, type RunState } from "./state.ts";
import type { Arm, InstanceKey, Refusal } from "./types.ts";

/**
 * Returns whether the exported state is an earlier state of this run. The import then undoes everything since the
 * export.
 */
function sharesHistory(before: RunState | undefined, state: RunState): boolean {
  return before?.incarnations.includes(incarnationOf(state)) ?? false;
}

/**
 * Returns the number that is added to all history positions of an imported state. If the state comes from another run,
 * its history is placed after the history of the run that it replaces. Otherwise it is 0.
 */
export function historyOffset(before: RunState | undefined, state: RunState): number {
  return before === undefined || sharesHistory(before, state) ? 0 : before.nextSeq;
}

type Undone = "rolledBack" | "controlRolledBack";

/**
 * Returns the ranges of history positions that are undone after an import: those that were undone before the export,
 * and all of this run's entries that the export lacks.
 */
function undoneBy(before: RunState | undefined, state: RunState, name: Undone): readonly Range[] {
  if (before === undefined) return state[name];
  if (sharesHistory(before, state))
    return before.nextSeq > state.nextSeq ? [...state[name], [state.nextSeq, before.nextSeq - 1]] : state[name];
  return [[0, before.nextSeq - 1], ...moved(state[name], before.nextSeq)];
}

function moved(ranges: readonly Range[], offset: number): readonly Range[] {
  return ranges.map(([from, to]): Range => [from + offset, to + offset]);
}

/**
 * Returns the ranges of history positions whose control changes are undone, if the run keeps its own control (policy,
 * weights and the like) at an import. The run's own control changes stay in force.
 */
function undoneUnderControlOf(before: RunState, state: RunState): readonly Range[] {
  if (sharesHistory(before, state)) return before.controlRolledBack;
  return [...before.controlRolledBack, ...moved(state.controlRolledBack, before.nextSeq)];
}

/**
 * Describes each field in which the specifications of an exported arm and of the run's arm differ, with both values.
 */
function differences(exported: Arm, here: Arm): readonly string[] {
  const [one, other] = [exported.spec, here.spec] as readonly Readonly<Record<string, unknown>>[];
  const names = Object.keys({ ...one, ...other }).filter((name) => !isDeepStrictEqual(one?.[name], other?.[name]));
  const shown = (value: unknown): string => JSON.stringify(value) ?? "unset";
  return names.map((name) => `${name} ${shown(one?.[name])} in the export but ${shown(other?.[name])} in the run`);
}

/**
 * Returns why an exported state cannot be imported into a run that keeps its own arms, weights and policy. Undefined:
 * it can be imported.
 */
export function refusedUnderControlOf<Spec, Key extends InstanceKey>(
  here: RunState<Spec, Key>,
  state: RunState<Spec, Key>,
  haveSameTasks: (one: Spec, other: Spec) => boolean = isDeepStrictEqual,
): Refusal | undefined {
  const found = state.config.arms.flatMap((exported) => {
    const others = here.config.arms.filter(({ id, spec }) => id === exported.id && !haveSameTasks(exported.spec, spec));
    const fields = others.flatMap((arm) => differences(exported, arm));
    return fields.length === 0 ? [] : [`arm "${exported.id}" has ${fields.join(", ")}`];
  });
  if (found[0] === undefined) return undefined;
  const message = `${found[0]}: import it under another run id, or with restore_control`;
  return { kind: "failed_precondition", message };
}

/**
 * Calls the policy's `advance` until the policy is at least as far in its schedule as `place`. Before the import, an
 * operator had moved the policy to this place by the RPC Advance, and imports keep that.
 */
function movedOnTo<State extends RunState>(state: State, place: number): State {
  let now = state;
  while (placeOf(now) < place) {
    const { policy, policyState } = now;
    const next = definitionOf(policy).advance?.(policy.config, policyState, progressOf(now));
    if (next?.kind !== "advanced") break;
    now = { ...now, policyState: next.state };
  }
  return now;
}

/**
 * Returns the exported state with this run's control: its arms, policy, weights, masks and sizes. Arms match by id and
 * keep the export's order; new arms come after them. Exported arms that this run lacks or has removed are marked as
 * removed, and lose their counters.
 */
export function underControlOf<Spec, Key extends InstanceKey>(
  here: RunState<Spec, Key>,
  state: RunState<Spec, Key>,
): RunState<Spec, Key> {
  const places = new Map(here.config.arms.map(({ id }, place) => [id, place]));
  const kept = state.config.arms.map((arm) => {
    const now = here.config.arms[places.get(arm.id) ?? -1];
    if (now === undefined) return { ...arm, removed: true };
    // The table of what the run has learned about rows comes from the export, so the number of rows comes from there
    // too.
    return now.rows && arm.rows ? { ...now, rows: { ...now.rows, rows: arm.rows.rows } } : now;
  });
  const ids = new Set(kept.map(({ id }) => id));
  const arms = [...kept, ...here.config.arms.filter(({ id }) => !ids.has(id))];
  const isGone = (i: number): boolean => arms[i]?.removed === true && state.config.arms[i]?.removed !== true;
  const learned = {
    ...state,
    arms: state.arms.map((counters, i) => (isGone(i) ? freshCounters : counters)),
    rows: state.rows.map((table, i) => (isGone(i) || kept[i]?.rows === undefined ? freshTable(kept[i] ?? {}) : table)),
  };
  const { numGenerations, promptsPerUpdate, length, timeToLiveMs, given } = here.config;
  const config = { ...state.config, arms, numGenerations, promptsPerUpdate, length, timeToLiveMs, given };
  const policy = isDeepStrictEqual(state.policy, here.policy) ? null : here.policy;
  const shaped = reshaped(learned, { kind: "reshaped", config, policy });
  const from = arms.map(({ id }) => places.get(id) ?? -1);
  const weights = from.map((place) => here.weights[place] ?? 0);
  const masks = from.map((place) => here.masks[place] ?? null);
  const { advancedTo, configCreated, paused, pausedBy, pausedAtMs, note, tags } = here;
  const control = { advancedTo, configCreated, weights, masks, paused, pausedBy, pausedAtMs, note, tags };
  return { ...movedOnTo(shaped, advancedTo), ...control };
}

/**
 * Returns the state after an import. Tasks handed out before the export count as handed out again now, so their
 * timeouts start anew.
 */
export function imported<Spec, Key extends InstanceKey>(
  before: RunState<Spec, Key> | undefined,
  { runId, incarnation, epoch, atMs, state: exported, keeps }: Imported<Spec, Key>,
): RunState<Spec, Key> {
  const offset = historyOffset(before, exported);
  const keeping = keeps === undefined ? undefined : before;
  const state = keeping === undefined ? exported : { ...underControlOf(keeping, exported), ...keeps };
  const batches = state.batches.map((batch) => ({
    ...batch,
    seq: batch.seq + offset,
    groups: batch.groups.map((group): Group<Key> =>
      group.handedOutAtMs === null ? group : { ...group, handedOutAtMs: atMs },
    ),
  }));
  return {
    ...state,
    runId,
    epoch,
    batches,
    // With the time 0, the rows that any server has loaded count as newer. The time in the export may come from a
    // server that uses another store.
    lists: state.lists.map((list) => ({ ...list, loadedAtMs: 0 })),
    evaluations: state.evaluations.map((round) => ({ ...round, seq: round.seq + offset })),
    version: before?.version ?? 0,
    createdAtMs: before?.createdAtMs ?? atMs,
    // If an export has one of these names as its incarnation, it comes from this run, and its history has the same
    // positions.
    incarnations: [...(before ?? state).incarnations, incarnation],
    rolledBack: undoneBy(before, exported, "rolledBack"),
    controlRolledBack: keeping
      ? undoneUnderControlOf(keeping, exported)
      : undoneBy(before, exported, "controlRolledBack"),
    // The record of the import comes after all earlier ones.
    nextSeq: Math.max(state.nextSeq + offset, before?.nextSeq ?? 0) + 1,
  };
}
