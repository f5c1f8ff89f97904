/**
 * Finds parts of a control change, e.g. of new weights, that do not affect any draw. For each such part, the caller
 * gets a warning of one sentence.
 */
import { isDeepStrictEqual } from "node:util";
import { definitionOf } from "./policies/registry.ts";
import type { NewShape } from "./decide-shape.ts";
import { isDrawn, type RunState } from "./state.ts";
import type { Policy } from "./types.ts";

/** Shares that differ by less than this count as equal. */
const TOLERANCE = 1e-12;

/** Returns a warning if the run has already issued all its tasks, because then no change affects a draw. */
export function ofAnyChange(state: RunState): readonly string[] {
  if (!isDrawn(state)) return [];
  return [`the run has issued all of its ${state.config.length} tasks: it draws no more unless you raise its length`];
}

/**
 * Returns each arm's share of the total weight of the arms marked in `among`, e.g. those of one stage. The other arms
 * get 0.
 */
function partsOf(weights: readonly number[], among: readonly boolean[]): readonly number[] {
  const own = weights.map((weight, i) => (among[i] === true ? weight : 0));
  const total = own.reduce((sum, weight) => sum + weight, 0);
  return own.map((weight) => (total > 0 ? weight / total : 0));
}

function differ(a: readonly number[], b: readonly number[]): boolean {
  return a.some((each, i) => Math.abs(each - (b[i] ?? 0)) > TOLERANCE);
}

/**
 * Returns warnings about a change of weights. `changed` holds the weights that the caller gave, by arm id; all ids are
 * arms of the run. `weights` holds the weights of all arms after the change.
 */
export function ofWeights(
  state: RunState,
  changed: Readonly<Record<string, number>>,
  weights: readonly number[],
): readonly string[] {
  const { policy, config, weights: before } = state;
  const drawn = ofAnyChange(state);
  if (drawn.length > 0) return drawn;
  const ids = Object.keys(changed);
  if (ids.length === 0) return ["no weight was given"];
  if (!differ(weights, before)) return [`${quoted(ids)}: the arms already have this weight`];
  const armIds = config.arms.map(({ id }) => id);
  // Under every policy, an arm is drawn only if its weight is above 0.
  const turned = armIds.filter((_, i) => (weights[i] ?? 0) > 0 !== (before[i] ?? 0) > 0);
  const sharing = definitionOf(policy).sharing?.(policy.config, armIds) ?? [armIds.map(() => true)];
  if (sharing.length === 0) {
    const idle = ids.filter((id) => !turned.includes(id));
    const words = `the policy ${policy.kind} chooses arms by what it has learnt, so a weight only says whether it may draw an arm (above 0) or not (0)`;
    return idle.length === 0 ? [] : [`${quoted(idle)}: ${words}`];
  }
  const isSame = sharing.every((among) => !differ(partsOf(weights, among), partsOf(before, among)));
  if (turned.length > 0 || !isSame) return [];
  return [
    `${quoted(ids)}: the shares do not change, because a weight only counts relative to the other arms of its stage, its tier or the run`,
  ];
}

export function ofPolicy(state: RunState, policy: Policy): readonly string[] {
  const drawn = ofAnyChange(state);
  if (drawn.length > 0) return drawn;
  return isDeepStrictEqual(state.policy, policy) ? ["the run already has this policy"] : [];
}

export function ofShape(state: RunState, shape: NewShape<unknown>): readonly string[] {
  const { config, policy: before } = state;
  const { addArms, removeArms, growArms = [], policy, rated: _rated, ...numbers } = shape;
  const given = [
    ["num_generations", numbers.numGenerations, config.numGenerations],
    ["prompts_per_update", numbers.promptsPerUpdate, config.promptsPerUpdate],
    ["length", numbers.length, config.length],
  ] as const;
  const same = given.flatMap(([name, now, was]) => (now === was ? [`${name} is already ${was}`] : []));
  const samePolicy =
    policy !== undefined && isDeepStrictEqual(before, policy) ? ["the run already has this policy"] : [];
  const asked = given.some(([, now]) => now !== undefined) || policy !== undefined;
  const sameCaps = growArms.flatMap(({ id, grow }) =>
    config.arms.some((arm) => arm.id === id && arm.grow?.cap === grow?.cap)
      ? [`the cap of "${id}" is already ${grow?.cap}`]
      : [],
  );
  const nothing =
    !asked && addArms.length + removeArms.length + growArms.length === 0 ? ["the request contains no change"] : [];
  const drawn = shape.length === undefined ? ofAnyChange(state) : [];
  return [...drawn, ...same, ...sameCaps, ...samePolicy, ...nothing];
}

export function ofPause({ paused }: RunState): readonly string[] {
  return paused ? ["the run is already paused"] : [];
}

export function ofResume({ paused }: RunState): readonly string[] {
  return paused ? [] : ["the run is not paused"];
}

function quoted(ids: readonly string[]): string {
  return ids.map((id) => `"${id}"`).join(", ");
}
