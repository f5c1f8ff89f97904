/**
 * Applies changes of a run's arms, sizes (num_generations, prompts_per_update, length) or policy to the run's state.
 * The policy's state is adapted to the change.
 */
import { looksBack } from "./policies/filter.ts";
import { definitionOf } from "./policies/registry.ts";
import type { Reshaped } from "./events.ts";
import { freshTable } from "./row-arms.ts";
import { type ArmCounters, nothingTallied, progressOf, type RunState } from "./state.ts";
import { taskMemory } from "./task-memory.ts";
import type { InstanceKey, Policy } from "./types.ts";

export const freshCounters: ArmCounters = Object.freeze({
  issued: 0,
  repeats: 0,
  nextOrdinal: 0,
  nextInLevels: [],
  groups: 0,
  recent: [],
  folded: nothingTallied,
});

/**
 * Returns the run's state after a change of arms, sizes (e.g. num_generations) or policy. Existing arms keep their
 * indices, and new arms come after them.
 */
export function reshaped<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  { config, policy }: Reshaped<Spec>,
): RunState<Spec, Key> {
  const resized: RunState<Spec, Key> = {
    ...state,
    config,
    arms: config.arms.map((_, i) => state.arms[i] ?? freshCounters),
    rows: config.arms.map((arm, i) => state.rows[i] ?? freshTable(arm)),
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

export function policyUpdated<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  policy: Policy,
): RunState<Spec, Key> {
  const definition = definitionOf(policy);
  const policyState =
    policy.kind === state.policy.kind && definition.inherit !== undefined
      ? definition.inherit(policy.config, state.policyState, state.policy.config, progressOf(state))
      : definition.initial(policy.config, state.config.arms.length, state.prompts);
  const memory = looksBack(policy.filter) ? (state.memory ?? taskMemory()) : null;
  const next = { ...state, policy, policyState, memory };
  return { ...next, advancedTo: Math.min(state.advancedTo, placeOf(next)) };
}

/**
 * Returns how far the policy is in its schedule, as a number, e.g. the index of its stage. 0 for policies that the RPC
 * Advance cannot move.
 */
export function placeOf(state: RunState): number {
  const { policy, policyState } = state;
  return definitionOf(policy).place?.(policy.config, policyState, progressOf(state)) ?? 0;
}
