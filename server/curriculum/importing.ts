/**
 * Computes the state after an import: the parts taken from the export, the history that is undone, and positions in the
 * history.
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
 * Returns whether a run's history begins with that of the exported state. If so, the import undoes everything after the
 * export.
 */
function sharesHistory(before: RunState | undefined, state: RunState): boolean {
  return before?.incarnations.includes(incarnationOf(state)) ?? false;
}

/** Returns how many positions an imported history moves back, behind that of the run that it replaces. */
export function historyOffset(before: RunState | undefined, state: RunState): number {
  return before === undefined || sharesHistory(before, state) ? 0 : before.nextSeq;
}

type Undone = "rolledBack" | "controlRolledBack";

/**
 * Returns the ranges that are undone after an import. They include the ranges undone before the export, and everything
 * in this run that the exported state does not have.
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
 * Returns the undone ranges of control changes, if the run keeps its control: its own control changes stay in force.
 */
function undoneUnderControlOf(before: RunState, state: RunState): readonly Range[] {
  if (sharesHistory(before, state)) return before.controlRolledBack;
  return [...before.controlRolledBack, ...moved(state.controlRolledBack, before.nextSeq)];
}

/** Returns the fields in which the specifications of an exported arm and of the run's arm differ, with both values. */
function differences(exported: Arm, here: Arm): readonly string[] {
  const [one, other] = [exported.spec, here.spec] as readonly Readonly<Record<string, unknown>>[];
  const names = Object.keys({ ...one, ...other }).filter((name) => !isDeepStrictEqual(one?.[name], other?.[name]));
  const shown = (value: unknown): string => JSON.stringify(value) ?? "unset";
  return names.map((name) => `${name} ${shown(one?.[name])} in the export and ${shown(other?.[name])} in the run`);
}

/** Returns why an exported state cannot be imported under the control of the run here. Undefined: it can. */
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

/** Advances the policy from the run's cursor until it has reached the place to which Advance moved it. */
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
 * Returns an exported state under the control of the run here. Arms match by id. They keep the export's order, and new
 * arms follow. Arms that the run here does not have, or has removed, are removed and lose their counters.
 */
export function underControlOf<Spec, Key extends InstanceKey>(
  here: RunState<Spec, Key>,
  state: RunState<Spec, Key>,
): RunState<Spec, Key> {
  const places = new Map(here.config.arms.map(({ id }, place) => [id, place]));
  const kept = state.config.arms.map((arm) => {
    const now = here.config.arms[places.get(arm.id) ?? -1];
    if (now === undefined) return { ...arm, removed: true };
    // The number of rows belongs to the knowledge of the rows, so it comes from the export.
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

/**
 * Returns the state after an import. Tasks that were outstanding at the export are outstanding again, with new
 * timeouts.
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
    // Any server may report the rows of its pools, because those in the export may come from another store's server.
    lists: state.lists.map((list) => ({ ...list, loadedAtMs: 0 })),
    evaluations: state.evaluations.map((round) => ({ ...round, seq: round.seq + offset })),
    version: before?.version ?? 0,
    createdAtMs: before?.createdAtMs ?? atMs,
    // Exports of these incarnations have their history at the same positions as this run.
    incarnations: [...(before ?? state).incarnations, incarnation],
    rolledBack: undoneBy(before, exported, "rolledBack"),
    controlRolledBack: keeping
      ? undoneUnderControlOf(keeping, exported)
      : undoneBy(before, exported, "controlRolledBack"),
    // The record of the import comes after all earlier ones.
    nextSeq: Math.max(state.nextSeq + offset, before?.nextSeq ?? 0) + 1,
  };
}
