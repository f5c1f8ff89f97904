/** A bandit's configuration: what of the contract's message each rule and signal reads, its defaults and its limits. */
import { create } from "@bufbuild/protobuf";
import {
  type BanditPolicy,
  BanditPolicySchema,
  BanditRule,
  BanditSignal,
  SignalRescaleSchema,
} from "../../../gen/gradus/v1/curriculum_pb.js";
import { type SignalName, signals } from "../../core/signals.ts";
import { invalid, type Invalid, isInvalid } from "../../core/types.ts";
import { chosen, positive, zeroOrMore } from "../policy.ts";
import { thompson, ucb } from "./discounted.ts";
import { emaSoftmax } from "./ema-softmax.ts";
import { exp3S } from "./exp3-s.ts";
import type { TrackRates } from "./progress.ts";
import { checkRescale, type Rescale, rescaleFromWire } from "./rescale.ts";
import type { Rule, RuleNumbers } from "./rule.ts";

/** The one place where rules are registered. Names are those of the contract's enum BanditRule. */
export const rules = {
  EMA_SOFTMAX: emaSoftmax,
  EXP3_S: exp3S,
  THOMPSON: thompson,
  UCB: ucb,
} as const satisfies Readonly<Record<string, Rule>>;

type RuleName = keyof typeof rules;

export interface BanditConfig extends RuleNumbers, TrackRates {
  readonly rule: RuleName;
  readonly signal: SignalName;
  /** The share spread evenly over the arms, in [0, 1], under every rule. */
  readonly epsilon: number;
  /** Undefined: signals are taken as they are. */
  readonly rescale: Rescale | undefined;
}

/** A choice of ours: ADSC gives no number. */
const DEFAULT_EPSILON = 0.1;

/** Of the bonus and the prior: signals are at most 1, and far above that nothing of them is left in a draw. */
const EXPLORATION_MAX = 1e9;
/** Of the softmax: above it the shares of arms whose values are 1 apart differ by less than a millionth. */
const TAU_MAX = 1e6;

interface NumberField {
  /** As the contract names it. */
  readonly field: string;
  readonly byDefault: number;
  /** The rules or the signal that read it. */
  readonly readBy: readonly (RuleName | SignalName)[];
  check(field: string, value: number): Invalid | undefined;
}

const rate = (field: string, value: number): Invalid | undefined => positive(field, value, 1);

/** α and τ are those of ADSC section 4; for the others the papers give no number, and the choice is ours. */
const fields: Readonly<Record<keyof RuleNumbers | keyof TrackRates, NumberField>> = {
  alpha: { field: "alpha", byDefault: 0.15, readBy: ["EMA_SOFTMAX"], check: rate },
  tau: {
    field: "tau",
    byDefault: 0.25,
    readBy: ["EMA_SOFTMAX"],
    check: (field, value) => positive(field, value, TAU_MAX),
  },
  exp3Rate: { field: "exp3_rate", byDefault: 0.1, readBy: ["EXP3_S"], check: rate },
  exp3Share: {
    field: "exp3_share",
    byDefault: 0.01,
    readBy: ["EXP3_S"],
    check: (field, value) => zeroOrMore(field, value, 1),
  },
  discount: { field: "discount", byDefault: 0.95, readBy: ["THOMPSON", "UCB"], check: rate },
  exploration: {
    field: "exploration",
    byDefault: 0.5,
    readBy: ["THOMPSON", "UCB"],
    check: (field, value) => zeroOrMore(field, value, EXPLORATION_MAX),
  },
  progressFastRate: {
    field: "progress_fast_rate",
    byDefault: 0.3,
    readBy: ["LEARNING_PROGRESS"],
    check: rate,
  },
  progressSlowRate: {
    field: "progress_slow_rate",
    byDefault: 0.05,
    readBy: ["LEARNING_PROGRESS"],
    check: rate,
  },
};

/** Object.keys forgets the names' type. */
const names = Object.keys(fields) as readonly (keyof typeof fields)[];

type Chosen = Pick<BanditConfig, "rule" | "signal">;

function isRead({ readBy }: NumberField, { rule, signal }: Chosen): boolean {
  return readBy.includes(rule) || readBy.includes(signal);
}

/** A number that is not read is refused: whoever gives it means another rule or signal. */
function numbersFromWire(message: BanditPolicy, chosenNames: Chosen): (RuleNumbers & TrackRates) | Invalid {
  const unread = names.find((name) => message[name] !== undefined && !isRead(fields[name], chosenNames));
  const read = (name: keyof typeof fields): number => message[name] ?? fields[name].byDefault;
  if (unread === undefined)
    return {
      alpha: read("alpha"),
      tau: read("tau"),
      exp3Rate: read("exp3Rate"),
      exp3Share: read("exp3Share"),
      discount: read("discount"),
      exploration: read("exploration"),
      progressFastRate: read("progressFastRate"),
      progressSlowRate: read("progressSlowRate"),
    };
  const { field, readBy } = fields[unread];
  const { rule, signal } = chosenNames;
  return invalid(field, `is read by ${readBy.join(" and ")} only, and this bandit is of ${rule} and ${signal}`);
}

export function configFromWire(message: BanditPolicy): BanditConfig | Invalid {
  const rule = chosen("rule", message.rule, BanditRule, rules, "EMA_SOFTMAX");
  if (isInvalid(rule)) return rule;
  const signal = chosen("signal", message.signal, BanditSignal, signals, "ABSOLUTE_ADVANTAGE");
  if (isInvalid(signal)) return signal;
  const numbers = numbersFromWire(message, { rule, signal });
  if (isInvalid(numbers)) return numbers;
  const { epsilon = DEFAULT_EPSILON, rescale } = message;
  return { rule, signal, epsilon, ...numbers, rescale: rescaleFromWire(rescale) };
}

export function configToWire(config: BanditConfig): BanditPolicy {
  const { rule, signal, epsilon, rescale } = config;
  const message = create(BanditPolicySchema, { rule: BanditRule[rule], signal: BanditSignal[signal], epsilon });
  for (const name of names) if (isRead(fields[name], config)) message[name] = config[name];
  if (rescale !== undefined) message.rescale = create(SignalRescaleSchema, { ...rescale });
  return message;
}

export function checkConfig(config: BanditConfig): Invalid | undefined {
  const epsilon = zeroOrMore("epsilon", config.epsilon, 1);
  if (epsilon !== undefined) return epsilon;
  for (const name of names) {
    const found = fields[name].check(fields[name].field, config[name]);
    if (found !== undefined) return found;
  }
  const { progressFastRate: fast, progressSlowRate: slow } = config;
  if (slow >= fast) return invalid("progress_slow_rate", `must be below progress_fast_rate, ${fast}, not ${slow}`);
  return checkRescale(config.rescale);
}
