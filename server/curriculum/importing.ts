/** The state after an import: what it takes from the export, what it undoes, and where its history stands. */
import { isDeepStrictEqual } from "node:util";
import { definitionOf } from "./policies/registry.ts";
import type { Imported } from "./events.ts";
import type { Group } from "./batches.ts";
import { freshCounters, placeOf, reshaped } from "./reshaping.ts";
import { freshTable } from "./row-arms.ts";
import { incarnationOf, progressOf, type Range, type RunState } from "./state.ts";
import type { Arm, InstanceKey, Refusal } from "./types.ts";

/** Whether a run's history begins with that of an exported state: if so, all that came after the export is undone. */
function sharesHistory(before: RunState | undefined, state: RunState): boolean {
  return before?.incarnations.includes(incarnationOf(state)) ?? false;
}

/** By how many places an imported history comes after that of the run whose place it takes. */
export function historyOffset(before: RunState | undefined, state: RunState): number {
  return before === undefined || sharesHistory(before, state) ? 0 : before.nextSeq;
}

type Undone = "rolledBack" | "controlRolledBack";

/** Places that were already undone when the state was exported, and all that the run here has and the state has not. */
function undoneBy(before: RunState | undefined, state: RunState, name: Undone): readonly Range[] {
  if (before === undefined) return state[name];
  if (sharesHistory(before, state))
    return before.nextSeq > state.nextSeq ? [...state[name], [state.nextSeq, before.nextSeq - 1]] : state[name];
  return [[0, before.nextSeq - 1], ...moved(state[name], before.nextSeq)];
}

function moved(ranges: readonly Range[], offset: number): readonly Range[] {
  return ranges.map(([from, to]): Range => [from + offset, to + offset]);
}

/** The control changes of the run here stay in force. */
function undoneUnderControlOf(before: RunState, state: RunState): readonly Range[] {
  if (sharesHistory(before, state)) return before.controlRolledBack;
  return [...before.controlRolledBack, ...moved(state.controlRolledBack, before.nextSeq)];
}

/** The fields in which the tasks of an arm here are others than those of the exported arm, with both values. */
function differences(exported: Arm, here: Arm): readonly string[] {
  const [one, other] = [exported.spec, here.spec] as readonly Readonly<Record<string, unknown>>[];
  const names = Object.keys({ ...one, ...other }).filter((name) => !isDeepStrictEqual(one?.[name], other?.[name]));
  const shown = (value: unknown): string => JSON.stringify(value) ?? "unset";
  return names.map((name) => `${name} ${shown(one?.[name])} in the export and ${shown(other?.[name])} in the run`);
}

/** Why an exported state cannot go into the run here under the control of that run. */
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

/** Moves the policy on from the run's cursor, until it is as far as Advance brought it. */
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
 * An exported state under the control of the run here. Arms match by id, and stand in the export's order with new ones
 * behind; arms that the run here has not, or has removed, are removed and begin empty.
 */
export function underControlOf<Spec, Key extends InstanceKey>(
  here: RunState<Spec, Key>,
  state: RunState<Spec, Key>,
): RunState<Spec, Key> {
  const places = new Map(here.config.arms.map(({ id }, place) => [id, place]));
  const kept = state.config.arms.map((arm) => {
    const now = here.config.arms[places.get(arm.id) ?? -1];
    if (now === undefined) return { ...arm, removed: true };
    // How many rows there are belongs to what is known of them.
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
  const { advancedTo, configCreated, paused, pausedBy, pausedAtMs } = here;
  const control = { advancedTo, configCreated, weights, masks, paused, pausedBy, pausedAtMs };
  return { ...movedOnTo(shaped, advancedTo), ...control };
}

/** Tasks that were outstanding when the state was exported are outstanding again, and their time runs again. */
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
    // Any server may say which rows its pools have: the one that told of those in the export may be another store's.
    lists: state.lists.map((list) => ({ ...list, loadedAtMs: 0 })),
    evaluations: state.evaluations.map((round) => ({ ...round, seq: round.seq + offset })),
    version: before?.version ?? 0,
    createdAtMs: before?.createdAtMs ?? atMs,
    // Those whose exports have their history at the same places as this run.
    incarnations: [...(before ?? state).incarnations, incarnation],
    rolledBack: undoneBy(before, exported, "rolledBack"),
    controlRolledBack: keeping
      ? undoneUnderControlOf(keeping, exported)
      : undoneBy(before, exported, "controlRolledBack"),
    // The import's own record comes after all that there was.
    nextSeq: Math.max(state.nextSeq + offset, before?.nextSeq ?? 0) + 1,
  };
}
