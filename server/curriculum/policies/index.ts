/** The one place where policies are registered. */
import { assertNever } from "../../../envs/lib/assert-never.ts";
import type { Policy } from "../types.ts";
import { bandit, type BanditState } from "./bandit.ts";
import { mixture, type MixtureState } from "./mixture.ts";
import type { ArmSignal, PolicyRule } from "./policy.ts";

export type PolicyState = MixtureState | BanditState;

/** A policy bound to its configuration and state: what a draw needs. */
export interface ActivePolicy {
  readonly takesFeedback: boolean;
  readonly state: PolicyState;
  readonly probabilities: (weights: readonly number[]) => readonly number[];
  readonly fold: (signals: readonly ArmSignal[]) => PolicyState;
  readonly values: () => readonly number[];
  readonly possible: (weights: readonly number[]) => readonly boolean[];
}

function bind<Config, State extends PolicyState>(
  rule: PolicyRule<Config, State>,
  config: Config,
  state: State | undefined,
  armCount: number,
): ActivePolicy {
  const own = state ?? rule.initial(armCount);
  return {
    takesFeedback: rule.takesFeedback,
    state: own,
    probabilities: (weights) => rule.probabilities(config, own, weights),
    fold: (signals) => rule.fold(config, own, signals),
    values: () => rule.values(own, armCount),
    possible: (weights) => rule.possible(weights),
  };
}

/** Binds a policy to a state. Where the state is another kind's, the policy starts afresh. */
export function activePolicy(policy: Policy, state: PolicyState | undefined, armCount: number): ActivePolicy {
  switch (policy.kind) {
    case "mixture":
      return bind(mixture, policy, state?.kind === "mixture" ? state : undefined, armCount);
    case "bandit":
      return bind(bandit, policy, state?.kind === "bandit" ? state : undefined, armCount);
    default:
      return assertNever(policy);
  }
}
