/**
 * Checks requested changes of a run's arms, sizes (num_generations, prompts_per_update, length) and policy, and makes
 * the event that applies them.
 */
import { checkConfig, checkParts } from "./check-config.ts";
import { checkGreater } from "./check-growth.ts";
import type { Reshaped } from "./events.ts";
import type { RowsRated } from "./row-arms.ts";
import type { RunState } from "./state.ts";
import { type Arm, type InstanceKey, invalid, type Invalid, type Policy, type Refusal } from "./types.ts";

/**
 * Requested changes of a run's arms, sizes and policy. A field that is undefined leaves its value in the run unchanged.
 */
export interface NewShape<Spec> {
  readonly addArms: readonly Arm<Spec>[];
  /** Ids of the arms to remove. */
  readonly removeArms: readonly string[];
  /**
   * Arms whose `grow.cap`, the limit of their levels' values, is raised, with their new specifications. Unset: none.
   */
  readonly growArms?: readonly Arm<Spec>[];
  readonly numGenerations: number | undefined;
  readonly promptsPerUpdate: number | undefined;
  readonly length: number | undefined;
  readonly policy: Policy | undefined;
  /**
   * Pass rates (shares of solved samples) that the client gives for the rows of new arms. The run starts with them and
   * then measures its own.
   */
  readonly rated?: readonly RowsRated[];
}

function checkRemoved(state: RunState, { removeArms }: NewShape<unknown>): Invalid | undefined {
  for (const [i, id] of removeArms.entries()) {
    const arm = state.config.arms.find((one) => one.id === id);
    if (arm === undefined) return invalid(`remove_arms[${i}]`, `"${id}" is not an arm of the run`);
    if (arm.removed) return invalid(`remove_arms[${i}]`, `"${id}" is already removed from the run: leave it out`);
  }
  return undefined;
}

function checkAdded({ config }: RunState, { addArms }: NewShape<unknown>): Invalid | undefined {
  const taken = addArms.findIndex(({ id }) => config.evaluationArms.some((one) => one.id === id));
  if (taken < 0) return undefined;
  return invalid(
    `add_arms[${taken}].id`,
    `"${addArms[taken]?.id}" is the id of an evaluation arm of the run: choose another`,
  );
}

function checkLength({ prompts }: RunState, { length }: NewShape<unknown>): Invalid | undefined {
  if (length === undefined || length === 0 || length >= prompts) return undefined;
  return invalid("length", `must be 0 or at least ${prompts}, the tasks issued so far, not ${length}`);
}

function checkGrown(state: RunState, { growArms = [], removeArms }: NewShape<unknown>): Invalid | undefined {
  for (const { id, grow } of growArms) {
    const field = `grow_arms["${id}"]`;
    const arm = state.config.arms.find((one) => one.id === id);
    if (arm === undefined || arm.removed || removeArms.includes(id)) return invalid(field, "is not an arm of the run");
    const found = grow && checkGreater(field, arm.grow, grow);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the event that changes the run, or the reason why the change is refused. */
export function decideShape<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  shape: NewShape<Spec>,
): Reshaped<Spec> | Refusal {
  const wrong =
    checkRemoved(state, shape) ?? checkAdded(state, shape) ?? checkLength(state, shape) ?? checkGrown(state, shape);
  if (wrong !== undefined) return wrong;
  const removed = new Set(shape.removeArms);
  const grown = new Map(shape.growArms?.map((arm) => [arm.id, arm]));
  const kept = state.config.arms.map((arm) =>
    removed.has(arm.id) ? { ...arm, removed: true } : (grown.get(arm.id) ?? arm),
  );
  const config = {
    ...state.config,
    arms: [...kept, ...shape.addArms],
    numGenerations: shape.numGenerations ?? state.config.numGenerations,
    promptsPerUpdate: shape.promptsPerUpdate ?? state.config.promptsPerUpdate,
    length: shape.length ?? state.config.length,
  };
  const policy = shape.policy ?? state.policy;
  const weights = config.arms.map((arm, i) => (arm.removed ? 0 : (state.weights[i] ?? arm.weight)));
  // The policy in force may differ from the policy with which the run was created.
  const { length, promptsPerUpdate } = shape;
  const isCut = [length, promptsPerUpdate, shape.policy].some((changed) => changed !== undefined);
  const found = checkConfig({ ...config, policy }, weights, state) ?? (isCut ? checkParts(config, policy) : undefined);
  return found ?? { kind: "reshaped", config, policy: shape.policy ?? null };
}
