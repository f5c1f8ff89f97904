/**
 * Types of the rules that providers must keep, and functions to define and apply them. The rules are in
 * message-rules.ts and call-rules.ts.
 */
import { inspect } from "node:util";
import { onOneLine } from "../../../envs/lib/escape.ts";

/** A rule as a sentence. Its name is the subject, e.g. "ProvidedInstance.prompt must have 1 to 16 messages". */
export interface RuleWords {
  /** Message and field, e.g. "ProvidedInstance.prompt". */
  readonly name: string;
  /** Rest of the sentence, e.g. "must have 1 to 16 messages". */
  readonly must: string;
  /**
   * Set if a breach of the rule is only reported to the operator. Unset: a message or level that breaks the rule is
   * refused.
   */
  readonly isAdvice?: true;
}

/** Kind of failure of a call to a provider. "raised": its code threw an exception. */
export type FailureKind = "raised" | "timeout" | "crashed" | "memory" | "unavailable";

/** How a rule is broken: the wrong value in words, or a call that failed. */
export type Breach = string | { readonly kind: FailureKind; readonly words: string };

/**
 * A rule that evidence must keep, e.g. a message or the results of calls. `Context` is additional data that the rule
 * needs.
 */
export interface Rule<Evidence, Context = unknown> extends RuleWords {
  /** Returns how the evidence breaks the rule. Undefined: it keeps the rule. */
  readonly broken: (evidence: Evidence, context: Context) => Breach | undefined;
}

/** A rule and the result of applying it. */
export interface TriedRule {
  readonly rule: RuleWords;
  /** How the rule is broken, in words, e.g. the wrong value. Undefined: the rule is kept, or was not applied. */
  readonly came: string | undefined;
  /** Kind of failure, if the rule is broken because a call failed. */
  readonly failure?: FailureKind;
  /** Why the rule was not applied. Undefined: it was. */
  readonly skipped?: string | undefined;
}

export const breachWords = ({ rule: { name, must }, came = "" }: TriedRule): string => `${name} ${must}; got ${came}`;

export function rule<Evidence>(
  name: string,
  must: string,
  broken: (evidence: Evidence) => Breach | undefined,
): Rule<Evidence> {
  return { name, must, broken };
}

export const advice = <E, C>(given: Rule<E, C>): Rule<E, C> => ({ ...given, isAdvice: true });

/** Applies all rules to the evidence. If there is no evidence, `skipped` says why. */
export function tryRules<Evidence>(
  rules: readonly Rule<Evidence>[],
  evidence: Evidence | undefined,
  skipped?: string,
): readonly TriedRule[] {
  return rules.map((each) => {
    if (evidence === undefined) return { rule: each, came: undefined, skipped };
    const breach = each.broken(evidence, undefined);
    if (breach === undefined || typeof breach === "string") return { rule: each, came: breach };
    return { rule: each, came: breach.words, failure: breach.kind };
  });
}

/**
 * Returns, in words, how the message breaks a rule: the first broken rule that is not mere advice. Undefined: there is
 * none.
 */
export function problemOf<Message, Context>(
  rules: readonly Rule<Message, Context>[],
  message: Message,
  context: Context,
): string | undefined {
  for (const each of rules) {
    const breach = each.isAdvice === true ? undefined : each.broken(message, context);
    if (breach === undefined) continue;
    return breachWords({ rule: each, came: typeof breach === "string" ? breach : breach.words });
  }
  return undefined;
}

/**
 * Returns whether a text has more than `max` code points. The first comparison is fast: a code point has at most two
 * UTF-16 units.
 */
export const isLonger = (text: string, max: number): boolean =>
  text.length > 2 * max || (text.length > max && [...text].length > max);

/** Formats a provider's value for an error message: on one line, at most 200 characters. */
export const shown = (value: unknown): string =>
  value === undefined ? "none" : onOneLine(inspect(value, { maxStringLength: 64, maxArrayLength: 8 })).slice(0, 200);

/** Returns the texts that a field holds. The field is a text, a list of texts, or a map to texts. */
const textsOf = (value: unknown): readonly string[] =>
  typeof value === "string" ? [value] : Object.values(value as Readonly<Record<string, string>>);

/** Returns the number of entries of a list or a map, or the number of UTF-8 bytes of a text. */
const sizeOf = (value: unknown): number =>
  typeof value === "string"
    ? Buffer.byteLength(value)
    : value instanceof Uint8Array
      ? value.length
      : Object.keys(value as object).length;

/** Returns functions that make rules on the fields of one message, named `message`. */
export function rulesOn<Message, Context = unknown>(message: string) {
  type Field = string & keyof Message;
  const on = <F extends Field>(
    field: F,
    must: string,
    isKept: (value: Message[F], message: Message, context: Context) => boolean,
    came: (value: Message[F], message: Message) => string = shown,
  ): Rule<Message, Context> => ({
    name: `${message}.${field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
    must,
    broken: (given, context) => (isKept(given[field], given, context) ? undefined : came(given[field], given)),
  });
  const size = (field: Field, [min, max]: readonly [number, number], unit: string = field): Rule<Message, Context> => {
    const must = `must have ${min === 0 ? "at most" : `${min} to`} ${max} ${unit}`;
    const isKept = (value: unknown): boolean => sizeOf(value) >= min && sizeOf(value) <= max;
    return on(field, must, isKept, (value) => String(sizeOf(value)));
  };
  const characters = (field: Field, max: number): Rule<Message, Context> => {
    const isKept = (value: unknown): boolean => !textsOf(value).some((text) => isLonger(text, max));
    return on(field, `must have at most ${max} characters`, isKept, () => "more");
  };
  return { on, size, characters };
}

/** Turns rules on one item into rules on each item of a list. */
export function each<Evidence, Context, Item, ItemContext>(
  itemsOf: (evidence: Evidence) => readonly Item[],
  rules: readonly Rule<Item, ItemContext>[],
  contextOf: (all: readonly Item[], evidence: Evidence, context: Context) => ItemContext,
): readonly Rule<Evidence, Context>[] {
  return rules.map((given) => ({
    ...given,
    broken: (evidence, context) => {
      const all = itemsOf(evidence);
      const of = contextOf(all, evidence, context);
      return firstOf(all.map((item) => given.broken(item, of)));
    },
  }));
}

/** Returns the first item that is not undefined. */
export const firstOf = <Item>(items: readonly (Item | undefined)[]): Item | undefined =>
  items.find((item) => item !== undefined);
