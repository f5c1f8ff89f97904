/** Which arms an update batch may draw: masks (ours and the operator's) and hard constraints (ADSC 3.3). */
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

/** What of the arms can be drawn. */
export interface Drawable {
  /** By arm; 0 for an arm that cannot be drawn. They sum to 1. */
  readonly probabilities: readonly number[];
  /** Whether each arm can be drawn, were it for a constraint only. */
  readonly possible: readonly boolean[];
}

/** The arms' weights, but 0 for an arm all of whose rows lie outside of the filter's range of ranks. */
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
 * A policy's probabilities without the arms whose weight is 0, those that are masked, and those that the policy does not
 * draw from now; the others keep their proportions. The same for all policies. Undefined: no arm is left.
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
  // A softmax underflows: what is left of it says nothing of these arms.
  const share = (of: number): number => (total > 0 ? of / total : 1 / count);
  return { probabilities: p.map((of, i) => (possible[i] ? share(of) : 0)), possible };
}

/** Least numbers of tasks of each class in one update batch. */
export interface Quotas {
  readonly real: number;
  readonly hard: number;
}

/** What a draw needs to know of an arm. */
export interface ArmClass {
  readonly real: boolean;
  readonly hard: boolean;
  /** An arm that cannot be drawn is not drawn for a quota either. */
  readonly possible: boolean;
}

/** Rounds a share of a whole number up; 1e-9 keeps 0.07 · 100 = 7.000000000000001 from becoming 8. */
function shareUp(share: number, size: number): number {
  return Math.max(0, Math.ceil(share * size - 1e-9));
}

/** The quotas of update batch `batch`, of `size` tasks. */
export function quotasOf(constraints: Constraints, batch: number, size: number): Quotas {
  const real = Math.max(shareUp(constraints.realShareMin, size), shareUp(1 - constraints.syntheticShareMax, size));
  const hard = batch < constraints.hardWarmupBatches ? 0 : shareUp(constraints.hardShareMin, size);
  return { real, hard };
}

export function armClasses(arms: readonly Arm[], possible: readonly boolean[]): readonly ArmClass[] {
  return arms.map((arm, i) => ({ real: arm.source === "real", hard: arm.hard, possible: possible[i] === true }));
}

/** Draws one of the arms allowed, by p among them; evenly where p has vanished (a softmax underflows). */
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
  // Rounding can leave a trace of `left` after the last arm.
  return last;
}

/** The slots of a batch as they are being repaired, with the counts that the quotas are about. */
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
 * Moves randomly chosen slots that lack the quality `want` to arms that have it, until its quota is met. A slot that
 * the other quota cannot spare moves only to arms that have both.
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
 * The arm of each slot of an update batch. Slots are drawn independently by p; where a quota is missed, as few slots as
 * it lacks, evenly chosen, are drawn again by p among the arms that the quota counts. So a batch that meets its quotas
 * by chance is an unconstrained draw, and one that does not meets them exactly. The real quota goes first; one pass over
 * the slots is enough for each, because a slot that cannot move never becomes able to (checkConstraints has seen to it
 * that enough can). A quota that only arms count for which are masked just now is missed: a judge that is down must not
 * stop a run.
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
    invalid(`policy.constraints.${field}`, `${message} in an update batch of ${size}`);
  if (real > 0 && !possible.some((arm) => arm.real)) {
    const field = constraints.realShareMin > 0 ? "real_share_min" : "synthetic_share_max";
    return refuse(field, `asks for ${real} real tasks, but no arm that can be drawn has real tasks,`);
  }
  if (hard > 0 && !possible.some((arm) => arm.hard)) {
    return refuse("hard_share_min", `asks for ${hard} hard tasks, but no arm that can be drawn is hard,`);
  }
  if (real + hard > size && !possible.some((arm) => arm.real && arm.hard)) {
    return refuse("hard_share_min", `${hard} hard tasks and ${real} real ones do not fit, as no arm is both,`);
  }
  return undefined;
}

/**
 * Whether every update batch of a run has arms to draw, and can meet the constraints: in each phase of its policy, the
 * full ones, and the last one where what is left of the length leaves it short. Masks pass, so they do not count.
 */
export function checkConstraints(run: {
  readonly arms: readonly Arm[];
  readonly policy: Policy;
  readonly weights: readonly number[];
  readonly promptsPerUpdate: number;
  readonly length: number;
  /** Tasks to train on that are drawn already; left out: none. */
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
