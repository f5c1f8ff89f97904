/** A multi-armed bandit over the arms (ADSC 3.3): a rule turns signals into values, and values into probabilities. */
import { create } from "@bufbuild/protobuf";
import { type BanditPolicy, BanditPolicySchema, BanditRule, BanditSignal } from "../../gen/gradus/v1/curriculum_pb.js";
import { readNumbers } from "../json.ts";
import { type SignalName, signals } from "../signals.ts";
import { isInvalid } from "../types.ts";
import { chosen, first, inRange, type ObservedGroup, type PolicyDefinition, positive } from "./policy.ts";

/** ADSC section 4. */
const DEFAULT_ALPHA = 0.15;
const DEFAULT_TAU = 0.25;
/** A choice of ours: the paper gives no number. */
const DEFAULT_EPSILON = 0.1;

export interface BanditConfig {
  readonly rule: RuleName;
  readonly signal: SignalName;
  /** The moving average's rate, in (0, 1]. */
  readonly alpha: number;
  /** The softmax's temperature, above 0. */
  readonly tau: number;
  /** The share spread evenly over the arms, in [0, 1]. */
  readonly epsilon: number;
}

/** Q of each arm. */
export type BanditState = readonly number[];

interface Rule {
  probabilities(config: BanditConfig, values: BanditState): readonly number[];
  observe(config: BanditConfig, values: BanditState, groups: readonly ObservedGroup[]): BanditState;
}

const emaSoftmax: Rule = {
  /** p(c) = (1 − ε) softmax(Q/τ)(c) + ε/n (equation 6). */
  probabilities({ tau, epsilon }, values) {
    const greatest = Math.max(...values);
    // Relative to the greatest, so that nothing overflows: the softmax does not change.
    const powers = values.map((value) => Math.exp((value - greatest) / tau));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => (1 - epsilon) * (power / total) + epsilon / powers.length);
  },
  /** Q(c) ← (1 − α) Q(c) + α · mean of s(x), for the arms that have signals in this batch (equations 4 and 5). */
  observe({ alpha }, values, groups) {
    const sums = values.map(() => 0);
    const counts = values.map(() => 0);
    for (const { arm, signal } of groups) {
      if (signal === undefined) continue;
      sums[arm] = (sums[arm] ?? 0) + signal;
      counts[arm] = (counts[arm] ?? 0) + 1;
    }
    return values.map((value, arm) => {
      const count = counts[arm] ?? 0;
      return count === 0 ? value : (1 - alpha) * value + alpha * ((sums[arm] ?? 0) / count);
    });
  },
};

/** The one place where rules are registered. Names are those of the contract's enum BanditRule. */
const rules = { EMA_SOFTMAX: emaSoftmax } as const satisfies Readonly<Record<string, Rule>>;

type RuleName = keyof typeof rules;

export const bandit: PolicyDefinition<BanditPolicy, BanditConfig, BanditState> = {
  kind: "bandit",
  fromWire(message) {
    const rule = chosen("rule", message.rule, BanditRule, rules, "EMA_SOFTMAX");
    if (isInvalid(rule)) return rule;
    const signal = chosen("signal", message.signal, BanditSignal, signals, "ABSOLUTE_ADVANTAGE");
    if (isInvalid(signal)) return signal;
    const { alpha = DEFAULT_ALPHA, tau = DEFAULT_TAU, epsilon = DEFAULT_EPSILON } = message;
    return { rule, signal, alpha, tau, epsilon };
  },
  toWire({ rule, signal, ...numbers }) {
    const value = create(BanditPolicySchema, { rule: BanditRule[rule], signal: BanditSignal[signal], ...numbers });
    return { case: "bandit", value };
  },
  check: ({ alpha, tau, epsilon }) =>
    first([
      () => positive("alpha", alpha, 1),
      () => positive("tau", tau, Number.MAX_VALUE),
      () => inRange("epsilon", epsilon, 0, 1),
    ]),
  takesFeedback: true,
  signal: ({ signal }) => signal,
  initial: (_config, armCount) => new Array<number>(armCount).fill(0),
  inherit: (_config, values) => values,
  resize: (_config, values, armCount) => Array.from({ length: armCount }, (_, arm) => values[arm] ?? 0),
  state: { encode: (values) => values, decode: readNumbers },
  probabilities: (config, values) => rules[config.rule].probabilities(config, values),
  observe: (config, values, groups) => rules[config.rule].observe(config, values, groups),
  values: (values) => values,
};
