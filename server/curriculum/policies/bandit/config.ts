/** Configuration of the bandit policy, with the defaults and limits of each rule's and each signal's fields. */
import { LIMITS } from "../../../../proto/limits.ts";
import type { Json } from "../../json.ts";
import { type SignalName, signals } from "../../signals.ts";
import { invalid, type Invalid } from "../../types.ts";
import { fieldsOf, UnreadField } from "../fields.ts";
import { positive, zeroOrMore } from "../policy.ts";
import { thompson, ucb } from "./discounted.ts";
import { emaSoftmax } from "./ema-softmax.ts";
import { exp3S } from "./exp3-s.ts";
import type { TrackRates } from "./progress.ts";
import { checkRescale, readRescale, type Rescale, writeRescale } from "./rescale.ts";
import type { Rule, RuleNumbers } from "./rule.ts";

/** Rules by name. The names are those of the contract's messages, in upper case. */
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
  /** Share ε of draws that is spread evenly over the arms, in [0, 1], under every rule. */
  readonly epsilon: number;
  /** Rescaling of signals by their quantiles. Undefined: signals are not rescaled. */
  readonly rescale: Rescale | undefined;
}

/** Default of `epsilon` (ε). ADSC gives no number. */
const DEFAULT_EPSILON = 0.1;

/** Maximum of `exploration`. Signals are at most 1, so a greater value would hardly change draws. */
const EXPLORATION_MAX = LIMITS.UcbRule.exploration.max;
/**
 * Maximum temperature of the softmax. Above it, the shares of two arms whose values differ by 1 would differ by less
 * than a millionth.
 */
const TAU_MAX = LIMITS.EmaSoftmaxRule.tau.max;

type Numbers = RuleNumbers & TrackRates;

/** Default numbers. Those of α and τ are from ADSC section 4. The papers give no numbers for the others. */
const DEFAULTS: Numbers = {
  alpha: 0.15,
  tau: 0.25,
  exp3Rate: 0.1,
  exp3Share: 0.01,
  discount: 0.95,
  exploration: 0.5,
  progressFastRate: 0.3,
  progressSlowRate: 0.05,
};

interface NumberField {
  readonly name: keyof Numbers;
  /** Name of the number's field in the contract. */
  readonly field: string;
  readonly check: (field: string, value: number) => Invalid | undefined;
}

const rate = (field: string, value: number): Invalid | undefined => positive(field, value, 1);

const discounted: readonly NumberField[] = [
  { name: "discount", field: "discount", check: rate },
  { name: "exploration", field: "exploration", check: (field, value) => zeroOrMore(field, value, EXPLORATION_MAX) },
];

/**
 * Fields of the bandit policy that apply only to one rule or one signal, by the name of the rule or signal. In the
 * contract, each rule or signal with such fields has its own message.
 */
const parts: Readonly<Record<RuleName | "LEARNING_PROGRESS", readonly NumberField[]>> = {
  EMA_SOFTMAX: [
    { name: "alpha", field: "alpha", check: rate },
    { name: "tau", field: "tau", check: (field, value) => positive(field, value, TAU_MAX) },
  ],
  EXP3_S: [
    { name: "exp3Rate", field: "rate", check: rate },
    { name: "exp3Share", field: "share", check: (field, value) => zeroOrMore(field, value, 1) },
  ],
  THOMPSON: discounted,
  UCB: discounted,
  LEARNING_PROGRESS: [
    { name: "progressFastRate", field: "fast_rate", check: rate },
    { name: "progressSlowRate", field: "slow_rate", check: rate },
  ],
};

type Part = keyof typeof parts;

const fieldOf = <Name extends Part>(part: Name): Lowercase<Name> => part.toLowerCase() as Lowercase<Name>;

/** Names of the rules. The cast restores the type that Object.keys loses. */
const ruleNames = Object.keys(rules) as readonly RuleName[];

/**
 * Reads a bandit's configuration. It refuses settings of a rule or signal that is not chosen, because they would have
 * no effect.
 */
export function readConfig(parameters: Json): BanditConfig {
  const own = ["signal", "epsilon", "rescale"] as const;
  const fields = fieldsOf(parameters, [...ruleNames.map(fieldOf), "learning_progress", ...own]);
  const [rule = "EMA_SOFTMAX", other] = ruleNames.filter((name) => fields.has(fieldOf(name)));
  if (other !== undefined)
    throw new UnreadField(fieldOf(other), `must not be given together with ${fieldOf(rule)}: remove one`);
  const signal = fields.choice("signal", signals, "BANDIT_SIGNAL_", "ABSOLUTE_ADVANTAGE");
  if (signal !== "LEARNING_PROGRESS" && fields.has("learning_progress"))
    throw new UnreadField(
      "learning_progress",
      `is only for the signal LEARNING_PROGRESS, and the signal is ${signal}: remove it`,
    );
  const numbers = { ...DEFAULTS };
  for (const part of [rule, "LEARNING_PROGRESS"] as const) {
    const given = fields.object(
      fieldOf(part),
      parts[part].map(({ field }) => field),
    );
    for (const { name, field } of parts[part]) numbers[name] = given?.number(field) ?? DEFAULTS[name];
  }
  const epsilon = fields.number("epsilon") ?? DEFAULT_EPSILON;
  return { rule, signal, epsilon, ...numbers, rescale: readRescale(fields) };
}

export function writeConfig(config: BanditConfig): { readonly [name: string]: Json } {
  const { rule, signal, epsilon, rescale } = config;
  const written = (part: Part): { readonly [name: string]: Json } => ({
    [fieldOf(part)]: Object.fromEntries(parts[part].map(({ name, field }) => [field, config[name]])),
  });
  return {
    ...written(rule),
    signal: `BANDIT_SIGNAL_${signal}`,
    ...(signal === "LEARNING_PROGRESS" && written(signal)),
    epsilon,
    ...(rescale && { rescale: writeRescale(rescale) }),
  };
}

export function checkConfig(config: BanditConfig): Invalid | undefined {
  const epsilon = zeroOrMore("epsilon", config.epsilon, 1);
  if (epsilon !== undefined) return epsilon;
  for (const part of [config.rule, "LEARNING_PROGRESS"] as const)
    for (const { name, field, check } of parts[part]) {
      const found = check(`${fieldOf(part)}.${field}`, config[name]);
      if (found !== undefined) return found;
    }
  const { progressFastRate: fast, progressSlowRate: slow } = config;
  if (slow >= fast) return invalid("learning_progress.slow_rate", `must be below fast_rate, ${fast}, not ${slow}`);
  return checkRescale(config.rescale);
}
