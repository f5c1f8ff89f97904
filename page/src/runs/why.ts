/** Explains which arms are drawn most and why, by the rule of the run's policy. */
import type { ArmState } from "../../../clients/ts/src/public.ts";
import { count, figure, percent } from "../words.ts";
import { policyName, type ReadRun } from "./state.ts";

export interface Why {
  readonly armId: string;
  readonly probability: number;
  readonly words: string;
  /** The arms drawn most, at most TOP. */
  readonly top: readonly ArmState[];
  /** Number of further arms that are drawn, and their probability together. */
  readonly others: { readonly count: number; readonly probability: number };
}

/** If the largest share of an arm is below this multiple of an equal share, all arms count as drawn alike. */
const ALIKE = 1.25;

/** Maximum number of arms in the table of the arms drawn most. */
const TOP = 5;

/** Number of last closed groups of an arm that its recent means cover (ArmState.recent_solved_share). */
export const RECENT_GROUPS = 256;

/** Returns the arm drawn most, with a reason. Undefined if no arm can be drawn. */
export function mostDrawn({ state }: Pick<ReadRun, "state">): Why | undefined {
  const drawn = state.arms.filter(isDrawn).sort((a, b) => b.probability - a.probability);
  const [first, ...others] = drawn;
  if (first === undefined) return undefined;
  const alike = others.length > 0 && first.probability < ALIKE / drawn.length;
  const reason = reasonOf(policyName(state.policy), first, others);
  return {
    armId: first.armId,
    probability: first.probability,
    words: [...(alike ? [`All ${count(drawn.length)} arms are drawn nearly alike.`] : []), reason, solved(first)]
      .filter((part) => part !== "")
      .join(" "),
    top: drawn.slice(0, TOP),
    others: {
      count: Math.max(0, drawn.length - TOP),
      probability: drawn.slice(TOP).reduce((sum, arm) => sum + arm.probability, 0),
    },
  };
}

/**
 * Returns whether an arm can be drawn. The draws of an arm that is removed, masked or of weight 0 go to the other arms.
 */
function isDrawn({ removed, weight, maskedReason, probability }: ArmState): boolean {
  return !removed && weight > 0 && maskedReason === undefined && probability > 0;
}

function reasonOf(policy: string, arm: ArmState, others: readonly ArmState[]): string {
  const value = figure(arm.value);
  switch (policy) {
    case "frontier":
      return frontierReason(arm, others);
    case "bandit":
      return banditReason(arm, others);
    case "mixture": {
      const whole = [arm, ...others].reduce((sum, { weight }) => sum + weight, 0);
      return `The mixture is fixed: the arm's weight is ${figure(arm.weight)} of ${figure(whole)}.`;
    }
    case "staged":
    case "replay":
    case "forgetting":
      return `The run is in a part of its ${policy} plan that gives this arm the most weight.`;
    case "competence":
      return "The arm's tier is the one to be mastered next.";
    default:
      return `The policy ${policy} values the arm at ${value}.`;
  }
}

/** Success rate at which the frontier policy prefers an arm most. */
const PEAK = 2 / 7;

/**
 * Returns the frontier policy's interest in an arm, from 0 to 1, by its expected success alone
 * (server/curriculum/policies/frontier.ts).
 */
function interest(arm: ArmState): number {
  const m = expected(arm);
  return (m ** 2 * (1 - m) ** 5) / (PEAK ** 2 * (1 - PEAK) ** 5);
}

/**
 * Returns whether the policy has learnt from no group of the arm yet. Even a closed group counts only after the run's
 * feedback lag, in update batches.
 */
export function isNew({ value }: ArmState): boolean {
  return value === 0;
}

/** Returns the expected success of an arm. The policy assumes one half for a new arm. */
export function expected(arm: ArmState): number {
  return isNew(arm) ? 0.5 : arm.value;
}

/** Interest (from 0 to 1) below which an arm gets little more than an equal share of the draws. */
const LITTLE = 0.05;

/** Explains the frontier policy's choice. The table of the arms drawn most has the three factors of its interest. */
function frontierReason(arm: ArmState, others: readonly ArmState[]): string {
  const rule =
    "The frontier policy prefers arms whose success is near 0.29 or rises, and leaves those that practice does not move.";
  if (isNew(arm)) return `${rule} It has taken in no group of this arm yet: new arms are tried first.`;
  const isOfInterest = [arm, ...others].some((each) => interest(each) >= LITTLE);
  return isOfInterest ? rule : `${rule} No arm is near 0.29, so each has little more than an even share.`;
}

function banditReason(arm: ArmState, others: readonly ArmState[]): string {
  const value = figure(arm.value);
  const best = others.reduce<ArmState | undefined>((so, one) => (so && so.value >= one.value ? so : one), undefined);
  if (best === undefined) return `It is the only arm that is drawn, and the bandit values it at ${value}.`;
  if (best.value <= arm.value)
    return `The bandit values it at ${value}, and the next best, ${best.armId}, at ${figure(best.value)}.`;
  return `The bandit values it at ${value}, and ${best.armId} at ${figure(best.value)}: it also tries arms that it knows little of.`;
}

function solved({ recentSolvedShare, groups }: ArmState): string {
  if (recentSolvedShare === undefined) return "";
  const recent = groups < BigInt(RECENT_GROUPS) ? groups : BigInt(RECENT_GROUPS);
  const newest = recent === 1n ? "its only closed group" : `its last ${count(recent)} closed groups`;
  return `${percent(recentSolvedShare)} of the samples in ${newest} are solved.`;
}
