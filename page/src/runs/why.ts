/** Which arm is drawn most now, and why: what its policy goes by, in words. */
import type { ArmState } from "../../../clients/ts/src/public.ts";
import { figure, percent } from "../words.ts";
import { policyName, type ReadRun } from "./state.ts";

export interface Why {
  readonly armId: string;
  readonly probability: number;
  readonly words: string;
}

/** Shares up to so much above an even one differ little. */
const ALIKE = 1.25;

export function mostDrawn(run: ReadRun): Why | undefined {
  const arms = run.state.arms.filter(({ removed }) => !removed);
  const [first, ...others] = [...arms].sort((a, b) => b.probability - a.probability);
  if (first === undefined) return undefined;
  const { armId, probability } = first;
  const alike = others.length > 0 && probability < ALIKE / arms.length;
  const words = alike ? `All arms are drawn nearly alike. ${reasonOf(run, first)}` : reasonOf(run, first);
  return { armId, probability, words };
}

function reasonOf({ state }: ReadRun, arm: ArmState): string {
  const name = policyName(state.policy);
  const { value, weight } = arm;
  const others = state.arms.filter(({ armId, removed }) => armId !== arm.armId && !removed);
  switch (name) {
    case "frontier":
      return `The frontier policy draws where success is near 0.29, for there most is learnt, and where it rises: of this arm it expects ${figure(value)}${arm.groups === 0n ? ", having seen no group of it yet" : ""}.${solved(arm)}`;
    case "bandit":
      if (others.length === 0)
        return `It is the run's only arm, and the bandit's value of it is ${figure(value)}.${solved(arm)}`;
      return `The bandit's value of it is ${figure(value)}, and ${figure(Math.max(...others.map((other) => other.value)))} of the next best: its groups moved the policy most.${solved(arm)}`;
    case "mixture":
      return `The mixture is fixed: its weight is ${figure(weight)} of ${figure(state.arms.reduce((sum, each) => sum + (each.removed ? 0 : each.weight), 0))}.`;
    case "staged":
    case "replay":
    case "forgetting":
      return `The run is in a part of its ${name} plan that gives it the most weight.${solved(arm)}`;
    case "competence":
      return `Its tier is the one to be mastered next.${solved(arm)}`;
    default:
      return `The policy ${name} values it at ${figure(value)}.${solved(arm)}`;
  }
}

function solved({ recentSolvedShare }: ArmState): string {
  return recentSolvedShare === undefined ? "" : ` ${percent(recentSolvedShare)} of its newest samples are solved.`;
}
