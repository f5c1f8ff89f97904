/** Rules of provider.proto, and makers of rules on the fields of one message. The rules are in message-rules.ts and call-rules.ts. */
import { inspect } from "node:util";
import { onOneLine } from "../../../envs/lib/words.ts";

/** A rule in words: its name is the subject of the sentence. */
export interface RuleWords {
  /** Message and field, e.g. "ProvidedInstance.prompt". */
  readonly name: string;
  /** Rest of the sentence, e.g. "must have 1 to 16 messages". */
  readonly must: string;
  /** Whether a breach is only told to the operator. Left out: what breaks the rule is refused. */
  readonly isAdvice?: true;
}

/** A rule on a message or other evidence, and on what else decides whether it is kept. */
export interface Rule<Evidence, Context = unknown> extends RuleWords {
  /** Returns what came instead, in words; undefined: the rule is kept. */
  readonly broken: (evidence: Evidence, context: Context) => string | undefined;
}

/** A rule, and what came of it. */
export interface Tried {
  readonly rule: RuleWords;
  /** Words on the breach; undefined: the rule is kept, or was not tried. */
  readonly came: string | undefined;
  /** Why the rule was not tried; undefined: it was. */
  readonly skipped?: string | undefined;
}

export const breachWords = ({ rule: { name, must }, came = "" }: Tried): string => `${name} ${must}; got ${came}`;

export function rule<Evidence>(
  name: string,
  must: string,
  broken: (evidence: Evidence) => string | undefined,
): Rule<Evidence> {
  return { name, must, broken };
}

export const advice = <E, C>(given: Rule<E, C>): Rule<E, C> => ({ ...given, isAdvice: true });

/** Tries all rules on evidence. `skipped` says why there is none. */
export function tryRules<Evidence>(
  rules: readonly Rule<Evidence>[],
  evidence: Evidence | undefined,
  skipped?: string,
): readonly Tried[] {
  return rules.map((each) =>
    evidence === undefined
      ? { rule: each, came: undefined, skipped }
      : { rule: each, came: each.broken(evidence, undefined) },
  );
}

/** Returns the first breach for which a message is refused, in words; undefined: there is none. */
export function problemOf<Message, Context>(
  rules: readonly Rule<Message, Context>[],
  message: Message,
  context: Context,
): string | undefined {
  for (const each of rules) {
    const came = each.isAdvice === true ? undefined : each.broken(message, context);
    if (came !== undefined) return breachWords({ rule: each, came });
  }
  return undefined;
}

/** Counts code points, of which each has two UTF-16 units at most. */
export const isLonger = (text: string, max: number): boolean =>
  text.length > 2 * max || (text.length > max && [...text].length > max);

/** Returns a value that a provider sent, cut to what a message has room for. */
export const shown = (value: unknown): string =>
  value === undefined ? "none" : onOneLine(inspect(value, { maxStringLength: 64, maxArrayLength: 8 })).slice(0, 200);

/** Returns the texts of a field: of a text, a list or a map. */
const textsOf = (value: unknown): readonly string[] =>
  typeof value === "string" ? [value] : Object.values(value as Readonly<Record<string, string>>);

/** Returns entries of a list or a map, or bytes. */
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

/** Holds each of several items to rules of its own. */
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

/** Returns the first text that is there. */
export const firstOf = (texts: readonly (string | undefined)[]): string | undefined =>
  texts.find((text) => text !== undefined);
