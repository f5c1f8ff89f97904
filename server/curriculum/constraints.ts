/**
 * Chooses the arms of an update batch. Masked arms are left out, and constraints are kept, e.g. a minimum share of real
 * tasks (ADSC 3.3).
 */
import type { Rng } from "../../envs/lib/rng.ts";
import { rowsWithin } from "./policies/ranks.ts";
import { definitionOf } from "./policies/registry.ts";
import {
  invalid,
  slotsFor,
  type Arm,
  type Constraints,
  type DynamicSampling,
  type Invalid,
  type Policy,
} from "./types.ts";

/** Probabilities of the arms in a draw, after removing arms that must not be drawn, e.g. masked ones. */
export interface Drawable {
  /** Probabilities by arm; their sum is 1. An arm that cannot be drawn has 0. */
  readonly probabilities: readonly number[];
  /** Whether each arm can be drawn. An arm of probability 0 may be drawn to meet a constraint. */
  readonly possible: readonly boolean[];
}

/**
 * Returns the arms' weights for a draw. An arm gets 0 if the policy's task filter excludes all of its rows by their
 * rank (their place in the order from easy to hard).
 */
export function drawnWeights(
  { filter }: Policy,
  arms: readonly Pick<Arm, "id" | "source">[],
  weights: readonly number[],
): readonly number[] {
  if (filter?.ranks === undefined) return weights;
  return weights.map((weight, i) => {
    const arm = arms[i];
    return arm?.source === "real" && rowsWithin(filter.ranks, arm.id) === 0 ? 0 : weight;
  });
}

/**
 * Returns the policy's probabilities `p` without the arms that cannot be drawn: masked ones, ones of weight 0, and ones
 * outside the policy's current stage. The other arms keep their proportions. Undefined: no arm is left.
 */
export function drawableProbabilities(
  policy: Policy,
  p: readonly number[],
  weights: readonly number[],
  masks: readonly (string | null)[],
): Drawable | undefined {
  const excludes = definitionOf(policy).phases !== undefined;
  const possible = p.map((share, i) => (weights[i] ?? 0) > 0 && masks[i] === null && (share > 0 || !excludes));
  const count = possible.filter((can) => can).length;
  if (count === 0) return undefined;
  if (count === p.length) return { probabilities: p, possible };
  const total = p.reduce((sum, share, i) => sum + (possible[i] ? share : 0), 0);
  // If the probabilities of all drawable arms have underflowed to 0 in a softmax, these arms share evenly.
  const share = (of: number): number => (total > 0 ? of / total : 1 / count);
  return { probabilities: p.map((of, i) => (possible[i] ? share(of) : 0)), possible };
}

/** Minimum numbers of tasks with real data and of hard tasks in one update batch. */
export interface Quotas {
  readonly real: number;
  readonly hard: number;
}

/** Properties of an arm that decide whether a draw may choose it. */
export interface ArmClass {
  readonly real: boolean;
  readonly hard: boolean;
  /** Whether the arm can be drawn at all, even to meet a quota. */
  readonly possible: boolean;
}

/** Rounds share · size up to a whole number. Subtracting 1e-9 keeps 0.07 · 100 = 7.000000000000001 from becoming 8. */
function shareUp(share: number, size: number): number {
  return Math.max(0, Math.ceil(share * size - 1e-9));
}

/** Returns the quotas of the update batch with index `batch` and `size` tasks. */
export function quotasOf(constraints: Constraints, batch: number, size: number): Quotas {
  const real = Math.max(shareUp(constraints.realShareMin, size), shareUp(1 - constraints.syntheticShareMax, size));
  const hard = batch < constraints.hardWarmupBatches ? 0 : shareUp(constraints.hardShareMin, size);
  return { real, hard };
}

export function armClasses(arms: readonly Arm[], possible: readonly boolean[]): readonly ArmClass[] {
  return arms.map((arm, i) => ({ real: arm.source === "real", hard: arm.hard, possible: possible[i] === true }));
}

/** Draws one of the allowed arms in proportion to p. If p is 0 for all of them, each is equally likely. */
function pickArm(p: readonly number[], allowed: readonly number[], rng: Rng): number {
  const total = allowed.reduce((sum, arm) => sum + (p[arm] ?? 0), 0);
  if (!(total > 0)) return rng.pick(allowed);
  let left = rng.float() * total;
  let last = -1;
  for (const arm of allowed) {
    const share = p[arm] ?? 0;
    if (share <= 0) continue;
    if (left < share) return arm;
    left -= share;
    last = arm;
  }
  // Rounding can leave a small positive `left` after the last arm. Then the last arm is drawn.
  return last;
}

/**
 * Arms chosen for the slots of an update batch (one slot for each task), with the numbers of slots that have real and
 * hard tasks. `repair` changes the arms until the quotas are met.
 */
interface Slots {
  readonly arms: number[];
  readonly classes: readonly ArmClass[];
  real: number;
  hard: number;
}

function move(slots: Slots, slot: number, arm: number): void {
  const from = slots.classes[slots.arms[slot] as number] as ArmClass;
  const to = slots.classes[arm] as ArmClass;
  slots.real += Number(to.real) - Number(from.real);
  slots.hard += Number(to.hard) - Number(from.hard);
  slots.arms[slot] = arm;
}

/**
 * Gives randomly chosen slots (tasks of the batch) an arm with real tasks, or with hard ones, as `want` says, until
 * that quota is met. If a slot is also needed for the other quota, its new arm must be both real and hard.
 */
function repair(slots: Slots, want: "real" | "hard", quotas: Quotas, p: readonly number[], rng: Rng): void {
  if (slots[want] >= quotas[want]) return;
  const other = want === "real" ? "hard" : "real";
  const wanted = slots.classes.flatMap((arm, i) => (arm.possible && arm[want] ? [i] : []));
  const both = wanted.filter((arm) => slots.classes[arm]?.[other]);
  for (const slot of rng.shuffle([...slots.arms.keys()])) {
    if (slots[want] >= quotas[want]) return;
    const now = slots.classes[slots.arms[slot] as number] as ArmClass;
    if (now[want]) continue;
    const allowed = now[other] && slots[other] <= quotas[other] ? both : wanted;
    if (allowed.length > 0) move(slots, slot, pickArm(p, allowed, rng));
  }
}

/**
 * Returns the arm of each slot (task) of an update batch. Each slot first gets an arm at random with the probabilities
 * `p`. If too few slots have real (or hard) tasks, just enough random slots get another arm that has such tasks; the
 * quota of real tasks comes first. One pass for each quota is enough: a slot that must keep its arm now must keep it
 * later too, and checkConstraints ensures enough slots. If all arms of a quota are masked, the quota is missed, so that
 * an outage of a judge does not stop a run.
 */
export function assignSlots(
  classes: readonly ArmClass[],
  p: readonly number[],
  quotas: Quotas,
  size: number,
  rng: Rng,
): readonly number[] {
  const every = classes.flatMap((arm, i) => (arm.possible ? [i] : []));
  const arms = Array.from({ length: size }, () => pickArm(p, every, rng));
  const count = (want: "real" | "hard"): number => arms.filter((arm) => classes[arm]?.[want]).length;
  const slots: Slots = { arms, classes, real: count("real"), hard: count("hard") };
  repair(slots, "real", quotas, p, rng);
  repair(slots, "hard", quotas, p, rng);
  return slots.arms;
}

function unmet(classes: readonly ArmClass[], constraints: Constraints, size: number): Invalid | undefined {
  const possible = classes.filter((arm) => arm.possible);
  const { real, hard } = quotasOf(constraints, Infinity, size);
  const refuse = (field: string, message: string): Invalid =>
    invalid(
      `policy.constraints.${field}`,
      `${message} in an update batch of ${size}: change the share, or add such an arm`,
    );
  if (real > 0 && !possible.some((arm) => arm.real)) {
    const field = constraints.realShareMin > 0 ? "real_share_min" : "synthetic_share_max";
    return refuse(field, `asks for ${real} real tasks, but no arm that can be drawn has real tasks,`);
  }
  if (hard > 0 && !possible.some((arm) => arm.hard)) {
    return refuse("hard_share_min", `asks for ${hard} hard tasks, but no arm that can be drawn is hard,`);
  }
  if (real + hard > size && !possible.some((arm) => arm.real && arm.hard)) {
    return refuse(
      "hard_share_min",
      `asks for ${hard} hard tasks beside ${real} real ones, but these are too many, because no arm is both hard and real,`,
    );
  }
  return undefined;
}

/**
 * Checks that every update batch of a run has arms to draw and can meet the constraints. It checks full batches and the
 * shorter last batch, for each stage of the policy. Masks are ignored, because they are temporary.
 */
export function checkConstraints(run: {
  readonly arms: readonly Arm[];
  readonly policy: Policy;
  readonly weights: readonly number[];
  readonly promptsPerUpdate: number;
  readonly length: number;
  /** Number of prompts drawn so far, without the spare tasks of dynamic sampling. Unset: 0. */
  readonly prompts?: number;
  readonly dynamicSampling?: DynamicSampling | undefined;
}): Invalid | undefined {
  const ids = run.arms.map(({ id }) => id);
  const phases = definitionOf(run.policy).phases?.(run.policy.config, ids) ?? [ids.map(() => true)];
  const left = run.length === 0 ? Infinity : run.length - (run.prompts ?? 0);
  const tail = left === Infinity ? 0 : left % run.promptsPerUpdate;
  const full = left >= run.promptsPerUpdate ? [run.promptsPerUpdate] : [];
  const sizes = (tail > 0 ? [...full, tail] : full).map((prompts) => slotsFor(prompts, run.dynamicSampling));
  for (const [i, phase] of phases.entries()) {
    const possible = phase.map((draws, arm) => draws && (run.weights[arm] ?? 0) > 0);
    if (!possible.includes(true)) {
      const where = phases.length > 1 ? ` in stage ${i + 1} of the policy` : "";
      return invalid("weights", `leave no arm that can be drawn${where}: at least one must be above 0`);
    }
    const classes = armClasses(run.arms, possible);
    for (const size of sizes) {
      const found = unmet(classes, run.policy.constraints, size);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
