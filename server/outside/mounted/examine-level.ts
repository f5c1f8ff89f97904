/**
 * Examines levels of mounted environments by the rules in message-rules.ts and call-rules.ts. The server examines each
 * level before it gives tasks of the level. `gradus conformance` and `gradus env check` report the result of each rule.
 */
import { advance, ON_ADVANCING } from "./advance-rules.ts";
import {
  answer,
  draw,
  type Instances,
  make,
  ON_ANSWERING,
  ON_DRAWING,
  ON_MAKING,
  ON_REPEATING,
  repeat,
  type Subject,
} from "./call-rules.ts";
import type { Described, DescribedLevel } from "./read-description.ts";
import type { Provider } from "./provider.ts";
import { breachWords, type Rule, rule, type TriedRule, tryRules } from "./rules.ts";

export type Finding =
  /**
   * The level may be served. `advice` lists broken rules that are only reported to the operator. Undefined: no rule is
   * broken.
   */
  | { readonly kind: "lawful"; readonly advice?: readonly string[] }
  /** The level breaks a rule and is not served. `why` names the rule. */
  | { readonly kind: "unlawful"; readonly why: string }
  /** The provider did not answer, so the level could not be examined. */
  | { readonly kind: "unavailable"; readonly why: string };

/** The result of one part of an examination, e.g. all rules about making instances. */
export interface Examined {
  readonly part: string;
  readonly tried: readonly TriedRule[];
  /** Total time of the provider's calls, in milliseconds. */
  readonly ms: number;
}

const NO_INSTANCE = "no instance of the level keeps the rules";

export const ON_DESCRIBE: readonly Rule<{ readonly change: string | undefined }>[] = [
  rule(
    "EnvironmentProvider.Describe",
    "must be the same in every call while the provider runs",
    ({ change }) => change,
  ),
];

/**
 * Number of times that a level is examined before it is refused for a timeout. One timeout proves little: on a busy
 * machine a worker may spend all of its time limit waiting for a processor.
 */
const TIMEOUTS_MAX = 2;

/**
 * Tests a level against the provider rules. Stops after the first part of the examination in which a rule is broken.
 * Never rejects.
 */
export async function tryLevel(
  provider: Provider,
  described: Described,
  level: DescribedLevel,
  signal: AbortSignal,
  timeouts = 0,
): Promise<Finding> {
  const advice: string[] = [];
  for await (const { tried } of examine({ provider, described, level, signal })) {
    if (signal.aborted) return { kind: "unavailable", why: "the server stops" };
    const broken = tried.filter(({ came }) => came !== undefined);
    const refused = broken.find((each) => each.rule.isAdvice !== true);
    if (refused?.failure === "timeout" && timeouts + 1 < TIMEOUTS_MAX)
      return tryLevel(provider, described, level, signal, timeouts + 1);
    if (refused !== undefined) {
      const kind = refused.failure === "unavailable" ? "unavailable" : "unlawful";
      return { kind, why: breachWords(refused) };
    }
    advice.push(...broken.map(breachWords));
  }
  return lawful(advice);
}

/** Returns the result for a level that may be served. `advice` may be empty. */
export function lawful(advice: readonly string[]): Finding {
  return advice.length === 0 ? { kind: "lawful" } : { kind: "lawful", advice };
}

/** Tests a level against all provider rules, and yields the result of each part. `more` adds further parts. */
export async function* examine(
  subject: Subject,
  more?: (subject: Subject, made: Instances) => AsyncIterable<Examined>,
): AsyncGenerator<Examined> {
  const { evidence, ...making } = await timed("Making", ON_MAKING, make(subject));
  yield making;
  const [one, ...others] = making.tried.some(({ came }) => came !== undefined) ? [] : (evidence?.made ?? []);
  const made = one && ([one, ...others] as const);
  yield timed("Repeating", ON_REPEATING, made && repeat(subject, made));
  const { turns } = subject.described;
  if (turns === undefined) yield timed("Answering", ON_ANSWERING, made && answer(subject, made));
  else yield timed("Advancing", ON_ADVANCING, made && advance(subject, made, turns));
  if (subject.described.draws) yield timed("Drawing", ON_DRAWING, made && draw(subject, made));
  if (made !== undefined && more !== undefined && turns === undefined) yield* more(subject, made);
}

/**
 * Waits for results of the provider, applies the rules to them, and measures the time. If `gathering` is undefined,
 * i.e. there is no instance to test with, the rules count as skipped.
 */
export async function timed<Evidence extends object>(
  part: string,
  rules: readonly Rule<Evidence>[],
  gathering: Promise<Evidence> | undefined,
) {
  const beganMs = performance.now();
  const evidence = await gathering;
  const tried = tryRules(rules, evidence, NO_INSTANCE);
  return { part, evidence, tried, ms: performance.now() - beganMs };
}
