/**
 * Reads a policy's parameters from unchecked JSON, field by field. Errors name the field and its value. A field may be
 * written as newest_share or newestShare; null means unset.
 */
import { didYouMean } from "../../../envs/lib/text.ts";
import { escaped } from "../../../envs/lib/escape.ts";
import { isList, type Json } from "../json.ts";
import { invalid, type Invalid } from "../types.ts";

/** Error for a field that cannot be read. `readPolicy` catches it and returns it as a value. */
export class UnreadField extends Error {
  readonly invalid: Invalid;

  constructor(field: string, message: string) {
    super(`${field}: ${message}`);
    this.invalid = invalid(field, message);
  }
}

/** Fields of one JSON object. For an unset field, the methods return undefined, an empty value or false. */
export interface Fields<Name extends string = string> {
  /** Returns the field's path within the parameters, e.g. "stages[0].share". */
  pathOf(name: Name): string;
  has(name: Name): boolean;
  number(name: Name): number | undefined;
  /** Returns the field as a number, or as `word` if that is its value. */
  numberOr<Word extends string>(name: Name, word: Word): number | Word | undefined;
  /** Returns the field as a whole number. */
  count(name: Name): number | undefined;
  flag(name: Name): boolean;
  text(name: Name): string;
  /** Returns the field as an object of numbers. */
  numbers(name: Name): Readonly<Record<string, number>>;
  /**
   * Returns the field as a key of `table`. The text may be in any case, and with or without the contract's enum prefix,
   * e.g. "COMPETENCE_STEP_WIDEN" or "widen".
   */
  choice<Entry extends string>(
    name: Name,
    table: Readonly<Record<Entry, unknown>>,
    prefix: string,
    byDefault: NoInfer<Entry>,
  ): Entry;
  /** Returns the field as an object whose values are keys of `table`, read as by `choice`. */
  choices<Entry extends string>(
    name: Name,
    table: Readonly<Record<Entry, unknown>>,
    prefix: string,
    byDefault: NoInfer<Entry>,
  ): Readonly<Record<string, Entry>>;
  /** Returns the fields of an inner object, or of each object in a list. `names` lists the fields that it may have. */
  object<Inner extends string>(name: Name, names: readonly Inner[]): Fields<Inner> | undefined;
  objects<Inner extends string>(name: Name, names: readonly Inner[]): readonly Fields<Inner>[];
}

function refuse(field: string, message: string): never {
  throw new UnreadField(field, message);
}

function wants(field: string, what: string, json: Json): never {
  return refuse(field, `wants ${what}; got ${JSON.stringify(json).slice(0, 100)}`);
}

/** Texts with which ProtoJSON writes numbers that JSON cannot express. */
const unnumbered: ReadonlyMap<Json, number> = new Map([
  ["NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
]);

function numberOf(field: string, json: Json): number {
  return typeof json === "number" ? json : (unnumbered.get(json) ?? wants(field, "a number", json));
}

function entriesOf(field: string, json: Json, what: string): readonly (readonly [string, Json])[] {
  return typeof json === "object" && json !== null && !isList(json) ? Object.entries(json) : wants(field, what, json);
}

/** Reads each value of an object with `as`, which gets the value and its path. A long key is cut off in the path. */
function namedOf<T>(field: string, json: Json, what: string, as: (json: Json, field: string) => T): Record<string, T> {
  const pathOf = (key: string): string => `${field}["${key.slice(0, 64)}"]`;
  return Object.fromEntries(entriesOf(field, json, what).map(([key, value]) => [key, as(value, pathOf(key))]));
}

/** Returns the key of `table` that a value names, with or without the contract's enum prefix. */
function choiceOf<Entry extends string>(
  field: string,
  value: Json,
  table: Readonly<Record<Entry, unknown>>,
  prefix: string,
  byDefault: NoInfer<Entry>,
): Entry {
  const word = typeof value === "string" ? value.toUpperCase().replace(prefix, "") : value;
  const entries = Object.keys(table) as Entry[];
  // A client with a newer contract may send an enum number that this server does not know.
  if (typeof word === "number") return word === 0 ? byDefault : refuse(field, `${word} is not a value of this enum`);
  if (word === "UNSPECIFIED") return byDefault;
  return (
    entries.find((entry) => entry === word) ??
    wants(field, `one of ${entries.map((entry) => entry.toLowerCase()).join(", ")}`, value)
  );
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns a reader of the object's fields. `path` is the object's own path, "" for the parameters themselves. */
export function fieldsOf<Name extends string>(json: Json, names: readonly Name[], path = ""): Fields<Name> {
  const holder = path === "" ? "parameters" : path;
  const pathOf = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const refuseName = (key: string): never => {
    const near =
      didYouMean(key, names) ||
      `; ${names.length === 0 ? "its parent takes no fields" : `known fields: ${names.join(", ")}`}`;
    if (/^\w{1,64}$/.test(key)) return refuse(pathOf(key), `is not a known field${near}`);
    return refuse(holder, `there is no field '${escaped(key.slice(0, 64))}'${near}`);
  };
  const given = new Map<Name, Json>();
  for (const [key, value] of entriesOf(holder, json, "fields")) {
    const name = names.find((each) => each === key || camelCase(each) === key);
    if (name === undefined) return refuseName(key);
    if (given.has(name)) refuse(pathOf(name), "is given twice: remove one");
    if (value !== null) given.set(name, value);
  }
  const read = <T>(name: Name, as: (json: Json, field: string) => T): T | undefined => {
    const value = given.get(name);
    return value === undefined ? undefined : as(value, pathOf(name));
  };
  return {
    pathOf,
    has: (name) => given.has(name),
    number: (name) => read(name, (value, field) => numberOf(field, value)),
    numberOr: (name, word) => read(name, (value, field) => (value === word ? word : numberOf(field, value))),
    count: (name) =>
      read(name, (value, field) => {
        // ProtoJSON writes 64-bit numbers as text.
        const number = typeof value === "string" && /^\d{1,20}$/.test(value) ? Number(value) : numberOf(field, value);
        return Number.isInteger(number) ? number : wants(field, "a whole number", value);
      }),
    flag: (name) =>
      read(name, (value, field) => (typeof value === "boolean" ? value : wants(field, "true or false", value))) ??
      false,
    text: (name) =>
      read(name, (value, field) => (typeof value === "string" ? value : wants(field, "text", value))) ?? "",
    numbers: (name) =>
      read(name, (value, field) => namedOf(field, value, "names with numbers", (number, at) => numberOf(at, number))) ??
      {},
    choice: (name, table, prefix, byDefault) =>
      read(name, (value, field) => choiceOf(field, value, table, prefix, byDefault)) ?? byDefault,
    choices: (name, table, prefix, byDefault) =>
      read(name, (value, field) =>
        namedOf(field, value, "names with words", (word, at) => choiceOf(at, word, table, prefix, byDefault)),
      ) ?? {},
    object: (name, inner) => read(name, (value, field) => fieldsOf(value, inner, field)),
    objects: (name, inner) =>
      read(name, (value, field) =>
        isList(value) ? value.map((each, i) => fieldsOf(each, inner, `${field}[${i}]`)) : wants(field, "a list", value),
      ) ?? [],
  };
}
