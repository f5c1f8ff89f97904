/**
 * Computes differences between two JSON values and applies them. A draw changes a policy's state only for a few arms,
 * so the journal stores differences of that state.
 */
import { FormatError, isList, type Json, readList, readNumber, readObject } from "./json.ts";

/**
 * Difference between two values. Null: none. `{as}` holds the whole new value. `{at, to}` holds indices of list items
 * and their differences. `{of}` holds differences by field name.
 */
type Difference = Json;

function isObject(json: Json): json is { readonly [name: string]: Json } {
  return typeof json === "object" && json !== null && !isList(json);
}

function sameNames(before: { readonly [name: string]: Json }, now: { readonly [name: string]: Json }): boolean {
  const names = Object.keys(now);
  return names.length === Object.keys(before).length && names.every((name) => Object.hasOwn(before, name));
}

/**
 * Minimum length of a list of numbers or texts from which only changed items are stored. If a shorter list has changed,
 * it is stored whole. Lists of lists or objects are always compared item by item.
 */
const SHORT = 16;

export function differenceOf(before: Json, now: Json): Difference {
  if (Object.is(before, now)) return null;
  if (isList(before) && isList(now) && before.length === now.length) {
    const of = now.map((item, i) => differenceOf(before[i] as Json, item));
    const at = [...of.keys()].filter((i) => of[i] !== null);
    if (at.length === 0) return null;
    const isShort = now.length < SHORT && !at.some((i) => typeof now[i] === "object");
    return isShort ? { as: now } : { at, to: at.map((i) => of[i] as Json) };
  }
  if (isObject(before) && isObject(now) && sameNames(before, now)) {
    const of = Object.entries(now).map(([name, value]) => [name, differenceOf(before[name] as Json, value)] as const);
    const differing = of.filter(([, difference]) => difference !== null);
    return differing.length === 0 ? null : { of: Object.fromEntries(differing) };
  }
  return { as: now };
}

/**
 * Applies a difference to a value and returns the result. Throws a FormatError if the difference does not fit the
 * value.
 */
export function withDifference(before: Json, difference: Difference): Json {
  if (difference === null) return before;
  const { as, at, to, of } = readObject(difference);
  if (as !== undefined) return as;
  if (at !== undefined) {
    const items = [...readList(before)];
    const given = readList(to);
    for (const [i, place] of readList(at).entries()) {
      const index = readNumber(place);
      if (!(index < items.length))
        throw new FormatError(`a list has no item ${index}, which a stored change refers to`);
      items[index] = withDifference(items[index] as Json, given[i] ?? null);
    }
    return items;
  }
  const fields = { ...readObject(before) };
  for (const [name, value] of Object.entries(readObject(of)))
    fields[name] = withDifference(fields[name] ?? null, value);
  return fields;
}
