/**
 * Types and makers of the provider rules, and functions that try them. The rules are in
 * message-rules.ts and call-rules.ts.
 */
import { inspect } from "node:util";
import { onOneLine } from "../../../envs/lib/escape.ts";

/** A rule in words. Its name is the subject of the sentence. */
export interface RuleWords {
  /** Message and field, e.g. "ProvidedInstance.prompt". */
  readonly name: string;
  /** Rest of the sentence, e.g. "must have 1 to 16 messages". */
  readonly must: string;
  /** Set if a breach is only reported to the operator. Undefined if a breach is refused. */
  readonly isAdvice?: true;
}

/** Why a provider's call failed. */
export type FailureKind = "raised" | "timeout" | "crashed" | "memory" | "unavailable";

/** How a rule is broken: what came instead, in words, or a call that failed. */
export type Breach = string | { readonly kind: FailureKind; readonly words: string };

/** A rule on a message or other evidence. The context is what else decides whether it is kept. */
export interface Rule<Evidence, Context = unknown> extends RuleWords {
  /** Returns undefined if the rule is kept. */
  readonly broken: (evidence: Evidence, context: Context) => Breach | undefined;
}

/** A rule and the result of trying it. */
export interface TriedRule {
  readonly rule: RuleWords;
  /** The breach in words; undefined if the rule is kept or was not tried. */
  readonly came: string | undefined;
  /** Set if the rule is broken by a call that failed. */
  readonly failure?: FailureKind;
  /** Why the rule was not tried; undefined if it was. */
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

/** Tries all rules on evidence. `skipped` says why evidence is undefined. */
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

/** Returns the first breach for which a message is refused, in words; undefined if there is none. */
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

/** Returns whether a text has more than `max` code points. Each has at most two UTF-16 units. */
export const isLonger = (text: string, max: number): boolean =>
  text.length > 2 * max || (text.length > max && [...text].length > max);

/** Returns a provider's value as text, cut to fit into an error message. */
export const shown = (value: unknown): string =>
  value === undefined ? "none" : onOneLine(inspect(value, { maxStringLength: 64, maxArrayLength: 8 })).slice(0, 200);

/** Returns the texts in a field that is a text, a list or a map. */
const textsOf = (value: unknown): readonly string[] =>
  typeof value === "string" ? [value] : Object.values(value as Readonly<Record<string, string>>);

/** Returns the number of entries of a list or a map, or of bytes of a text. */
const sizeOf = (value: unknown): number =>
  typeof value === "string"
    ? Buffer.byteLength(value)
    : value instanceof Uint8Array
      ? value.length
      : Object.keys(value as object).length;

/** Makes rules on the fields of one message. */
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

/** Turns rules on an item into rules on all items of some evidence. */
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
